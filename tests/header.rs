//! The committed header is the one that the build generates.

#[test]
fn the_header_is_up_to_date() {
    let generated = std::fs::read_to_string(env!("DENISE_HEADER")).expect("written by build.rs");
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/include/denise.h");
    let committed = std::fs::read_to_string(committed).expect("include/denise.h is committed");
    assert!(
        generated == committed,
        "include/denise.h is stale: run `make header`"
    );
}
