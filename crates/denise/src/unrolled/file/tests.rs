//! Files that are sound, and every way to damage one.

use super::*;
use denise_data::protobuf::{field, number};

const LAYERS: &str = "shared 0.5 0.09 0.5 0.09 0.5 0.7 0.1\nown 0 1e-20 100 9e-6 1 -4 -0.9 -0.25";

fn entry(key: &str, value: &[u8]) -> Vec<u8> {
    field(
        METADATA,
        [field(KEY, key.as_bytes()), field(VALUE, value)].concat(),
    )
}

/// A model without metadata; with a field of every wire type.
fn onnx() -> Vec<u8> {
    let mut bytes = vec![8, 8];
    bytes.extend(field(GRAPH, b"\x12\x01g"));
    bytes.extend(number(1000 << 3 | 1));
    bytes.extend([0; 8]);
    bytes.extend(number(1001 << 3 | 5));
    bytes.extend([0; 4]);
    bytes
}

fn with(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = onnx();
    for (key, value) in entries {
        bytes.extend(entry(key, value.as_bytes()));
    }
    bytes
}

const GOOD: [(&str, &str); 5] = [
    ("author", "anyone"),
    ("denise.topology", "unrolled 2"),
    ("denise.n", "20"),
    ("denise.k", "3"),
    ("denise.layers", LAYERS),
];

/// `GOOD` with another value for one key.
fn changed(key: &str, value: &str) -> Vec<u8> {
    with(&GOOD.map(|(name, old)| (name, if name == key { value } else { old })))
}

fn status(bytes: &[u8]) -> Status {
    read(bytes).expect_err("must be refused").status
}

/// They may be left out, but must make sense if they are there.
#[test]
fn mending_layers_are_read() {
    let mut file: Vec<(&str, &str)> = GOOD.to_vec();
    assert!(read(&with(&file)).unwrap().mend.is_empty());
    file.push(("denise.mend", LAYERS));
    let read_back = read(&with(&file)).unwrap();
    assert_eq!(read_back.mend, read_back.layers);
    for bad in ["", "own", "own 1 2 3 4 5 6 nan", "neither 1 2 3 4 5 6 7"] {
        *file.last_mut().unwrap() = ("denise.mend", bad);
        assert_eq!(status(&with(&file)), Status::Format, "{bad:?}");
    }
}

#[test]
fn sizes_and_weights_are_read() {
    let file = read(&with(&GOOD)).unwrap();
    let expected = [
        Layer {
            curvature: Curvature::Shared,
            alpha: 0.5,
            beta: 0.09,
            gamma: 0.5,
            delta: 0.09,
            sigma: 0.5,
            eta: 0.7,
            mu: 0.1,
            nu: 0.0,
        },
        Layer {
            curvature: Curvature::Own,
            alpha: 0.0,
            beta: 1e-20,
            gamma: 100.0,
            delta: 9e-6,
            sigma: 1.0,
            eta: -4.0,
            mu: -0.9,
            nu: -0.25,
        },
    ];
    assert_eq!((file.n, file.k), (20, 3));
    assert_eq!(file.layers, expected);
    let first = LAYERS.split('\n').next().unwrap();
    let most = vec![first; MAX_LAYERS].join("\n");
    let file = read(&changed("denise.layers", &most)).unwrap();
    assert_eq!(file.layers.len(), MAX_LAYERS);
}

#[test]
fn other_models_are_not_supported() {
    assert_eq!(status(&onnx()), Status::Unsupported);
    assert_eq!(status(&with(&GOOD[..1])), Status::Unsupported);
    for topology in [
        "",
        "dense",
        "Unrolled 2",
        "unrolled",
        "unrolled ",
        "unrolled 3",
    ] {
        let error = read(&changed("denise.topology", topology)).expect_err("must be refused");
        // Whoever has a file of the first version is told what to do.
        let old = topology == "unrolled";
        assert_eq!(
            error.message.contains("version 0.1"),
            old,
            "{}",
            error.message
        );
        let want = if old {
            Status::Format
        } else {
            Status::Unsupported
        };
        assert_eq!(error.status, want);
    }
    assert_eq!(status(&changed("denise.n", "513")), Status::Unsupported);
    assert_eq!(status(&changed("denise.k", "33")), Status::Unsupported);
}

#[test]
fn missing_and_repeated_keys_are_refused() {
    for missing in 2..GOOD.len() {
        let mut entries = GOOD.to_vec();
        entries.remove(missing);
        assert_eq!(status(&with(&entries)), Status::Format);
    }
    for repeated in 1..GOOD.len() {
        let mut entries = GOOD.to_vec();
        entries.push(GOOD[repeated]);
        assert_eq!(status(&with(&entries)), Status::Format);
    }
}

#[test]
fn nonsense_in_the_metadata_is_refused() {
    for n in ["", "0", "3", "-20", "+20", " 20", "20.0", "0x14", "twenty"] {
        assert_eq!(status(&changed("denise.n", n)), Status::Format, "{n}");
    }
    for k in ["", "0", "20", "-1", "99999999999999999999999"] {
        assert_eq!(status(&changed("denise.k", k)), Status::Format, "{k}");
    }
    let many = vec!["own 0 1 0 1 0 0 0"; MAX_LAYERS + 1].join("\n");
    for layers in [
        "",
        "\n",
        "own",
        "own 0 1 0 1 0 0",
        "own 0 1 0 1 0 0 0 0 0",
        "own 0 1 0 1 0 0 0\n",
        "own  0 1 0 1 0 0 0",
        "Own 0 1 0 1 0 0 0",
        "own 0 1 0 1 0 0 zero",
        "own 0 1 0 1 0 0 nan",
        "own inf 1 0 1 0 0 0",
        "own 0 0 0 1 0 0 0",
        "own 0 1 0 1 0 5 0",
        "own 0 1 0 1 0 1e999 0",
        &many,
    ] {
        assert_eq!(
            status(&changed("denise.layers", layers)),
            Status::Format,
            "{layers}"
        );
    }
    let mut bytes = with(&GOOD[..4]);
    bytes.extend(entry("denise.layers", b"own \xff"));
    assert_eq!(status(&bytes), Status::Format);
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let bytes = with(&GOOD);
    for len in 0..bytes.len() {
        // Up to the topology, a cut between two fields leaves a valid model of another kind.
        let status = status(&bytes[..len]);
        assert!(
            matches!(status, Status::Format | Status::Unsupported),
            "{len}: {status:?}"
        );
    }
}

#[test]
fn a_changed_byte_does_no_harm() {
    let good = with(&GOOD);
    for at in 0..good.len() {
        for byte in 0..=u8::MAX {
            let mut bytes = good.clone();
            bytes[at] = byte;
            if let Ok(file) = read(&bytes) {
                assert!(check_size(file.n, file.k).is_ok());
                assert!(file.layers.iter().all(Layer::is_sound));
            }
        }
    }
}

#[test]
fn what_is_no_onnx_is_refused() {
    let mut files: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"\n".to_vec(),
        b"a text file, for example".to_vec(),
        b"\x89PNG\r\n\x1a\n".to_vec(),
        vec![0; 100],
        vec![0xff; 100],
    ];
    // Metadata, but no version and no graph.
    files.push(onnx()[2..].to_vec());
    files.push(entry("denise.topology", b"unrolled 2"));
    // Fields of the wrong type.
    for tag in [IR_VERSION << 3 | 2, GRAPH << 3, METADATA << 3] {
        files.push([with(&GOOD), number(tag), vec![0]].concat());
    }
    // A group; field number 0; a field number, a number and lengths that are too large.
    for tail in [
        number(9 << 3 | 3),
        vec![0, 0],
        [number(1 << 32), vec![0]].concat(),
        [vec![0x48], vec![0xff; 9], vec![2]].concat(),
        [vec![0x48], vec![0x80; 10], vec![0]].concat(),
        [vec![0x4a], number(u64::MAX)].concat(),
        [vec![0x4a], number(1 << 40)].concat(),
        [vec![0x4a], number(1)].concat(),
        [vec![0x72], number(u64::from(u32::MAX))].concat(),
    ] {
        files.push([with(&GOOD), tail].concat());
    }
    // Absurd lengths inside an entry.
    for len in [3, 1 << 31, u64::MAX] {
        let inner = [vec![0x0a], number(len), vec![b'x', b'y']].concat();
        files.push([with(&GOOD), field(METADATA, &inner)].concat());
    }
    for bytes in files {
        assert_eq!(status(&bytes), Status::Format, "{bytes:?}");
    }
    // The largest numbers that are allowed.
    let largest = [vec![0x48], vec![0xff; 9], vec![1]].concat();
    assert!(read(&[with(&GOOD), largest].concat()).is_ok());
}
