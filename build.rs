//! Generates the C header from `src` and names the shared library.

use std::path::PathBuf;
use std::{env, fs};

/// The number in the soname; `denise_abi_version` returns it.
const ABI: u32 = 2;

/// The files with C types and functions, in the order in which the header has their functions.
const SOURCES: [&str; 11] = [
    "options",
    "method",
    "model",
    "report",
    "decompose",
    "covariance",
    "rank",
    "stream",
    "status",
    "version",
    "solve",
];

fn main() {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=cbindgen.toml");
    // The committed header is compared with this one by tests/header.rs; `make header` copies it.
    let header = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo")).join("denise.h");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let mut config =
        cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml");
    config.after_includes = Some(version_macros());
    let builder = cbindgen::Builder::new().with_config(config);
    let bindings = SOURCES
        .iter()
        .map(|name| root.join("src").join(name).with_extension("rs"))
        .fold(builder, |builder, source| builder.with_src(source))
        .generate()
        .expect("src can be turned into a header");
    let mut text = Vec::new();
    bindings.write(&mut text);
    fs::write(&header, text).expect("OUT_DIR is writable");
    println!("cargo::rustc-env=DENISE_HEADER={}", header.display());
    println!("cargo::rustc-env=DENISE_ABI={ABI}");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // nodelete: a host that closes and opens the library again finds it as it was.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libdenise.so.{ABI},-z,nodelete");
    }
}

/// The version in Cargo.toml, for the preprocessor.
fn version_macros() -> String {
    let mut text = String::from(
        "\n// The version of this header. denise_version tells that of the library.\n",
    );
    for part in ["MAJOR", "MINOR", "PATCH"] {
        let number = env::var(format!("CARGO_PKG_VERSION_{part}")).expect("set by cargo");
        text += &format!("#define DENISE_VERSION_{part} {number}\n");
    }
    text
}
