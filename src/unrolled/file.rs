//! Reads a network from an ONNX file.
//!
//! Such a file holds a graph that any ONNX runtime can run. The library has its own kernels and needs
//! only the sizes and weights, which the file repeats as text in its metadata:
//!
//! | key | value |
//! |---|---|
//! | `denise.topology` | `unrolled` |
//! | `denise.n`, `denise.k` | the sizes, in decimal |
//! | `denise.layers` | one line per layer: `shared` or `own`, then the weights in the order of [`Layer`] |
//!
//! Files come from anywhere, so nothing in them is believed: every length is checked against what is
//! left of the file, and nothing is allocated but the layers.

use super::layers::{Curvature, Layer};
use crate::memory;
use crate::model::{DEFAULT_K, DEFAULT_N, check_size};
use crate::status::{Error, Status};
use crate::wire::{Field, Message, cut_off};
use core::cell::Cell;

/// More than any network needs.
const MAX_LAYERS: usize = 64;
const WEIGHTS: usize = 7;

/// Fields of `ModelProto`.
const IR_VERSION: u64 = 1;
const GRAPH: u64 = 7;
const METADATA: u64 = 14;
/// Fields of `StringStringEntryProto`.
const KEY: u64 = 1;
const VALUE: u64 = 2;

/// A network as a file describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// Size of the matrices that it was trained for; it takes any other.
    pub n: usize,
    /// Rank of L that it was trained for; it takes any other.
    pub k: usize,
    /// 1 to 64 of them, with sound weights.
    pub layers: Vec<Layer>,
}

impl File {
    /// The network built into the library.
    pub fn builtin() -> Result<File, Error> {
        Ok(File {
            n: DEFAULT_N,
            k: DEFAULT_K,
            layers: layers(BUILTIN)?,
        })
    }

    /// Reads the bytes of a file.
    ///
    /// [`Status::Format`] if they are damaged or make no sense, [`Status::Unsupported`] if they are an
    /// ONNX model of another kind or size, [`Status::Memory`].
    pub fn read(bytes: &[u8]) -> Result<File, Error> {
        read(bytes)
    }
}

/// The `denise.layers` of models/default.onnx.
const BUILTIN: &str = include_str!("../../models/default.layers").trim_ascii_end();

fn read(bytes: &[u8]) -> Result<File, Error> {
    let metadata = Metadata::find(bytes)?;
    match metadata.topology {
        Some("unrolled") => {}
        Some(_) => {
            return Err(Error::new(
                Status::Unsupported,
                "the file's denise.topology is not one that this version knows; use a newer version",
            ));
        }
        None => {
            return Err(Error::new(
                Status::Unsupported,
                "the file is an ONNX model, but not one of denise: its metadata has no \
                 denise.topology; use a file that the program denise wrote",
            ));
        }
    }
    let n = size(metadata.n, "the file's metadata has no valid denise.n")?;
    let k = size(metadata.k, "the file's metadata has no valid denise.k")?;
    check_size(n, k).map_err(|error| match error.status {
        Status::Argument => Error::new(Status::Format, error.message),
        _ => error,
    })?;
    let text = metadata
        .layers
        .ok_or_else(|| damaged("the file's metadata has no denise.layers"))?;
    Ok(File {
        n,
        k,
        layers: layers(text)?,
    })
}

fn damaged(what: impl core::fmt::Display) -> Error {
    let message = format_args!("{what}; the file is damaged: get or write it again");
    memory::error(Status::Format, message)
}

fn size(text: Option<&str>, what: &str) -> Result<usize, Error> {
    text.filter(|text| text.bytes().all(|digit| digit.is_ascii_digit()))
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| damaged(what))
}

fn layers(text: &str) -> Result<Vec<Layer>, Error> {
    // Counted no further than matters.
    let count = text.split('\n').take(MAX_LAYERS + 1).count();
    if count > MAX_LAYERS {
        let message =
            format_args!("the file has more than {MAX_LAYERS} layers, the most there may be");
        return Err(memory::error(Status::Format, message));
    }
    let mut layers = Vec::new();
    layers.try_reserve_exact(count)?;
    for (t, line) in text.split('\n').enumerate() {
        let layer = layer(line).ok_or_else(|| damaged(format_args!("layer {t} cannot be read")))?;
        if !layer.is_sound() {
            let what = format_args!("layer {t} has a weight that is not finite or out of range");
            return Err(damaged(what));
        }
        layers.push(layer);
    }
    Ok(layers)
}

fn layer(line: &str) -> Option<Layer> {
    let mut words = line.split(' ');
    let curvature = match words.next()? {
        "shared" => Curvature::Shared,
        "own" => Curvature::Own,
        _ => return None,
    };
    let mut weights = [0.0; WEIGHTS];
    for weight in &mut weights {
        *weight = words.next()?.parse().ok()?;
    }
    if words.next().is_some() {
        return None;
    }
    let [alpha, beta, gamma, delta, sigma, eta, mu] = weights;
    Some(Layer {
        curvature,
        alpha,
        beta,
        gamma,
        delta,
        sigma,
        eta,
        mu,
    })
}

/// What the metadata says, as text.
#[derive(Default)]
struct Metadata<'a> {
    topology: Option<&'a str>,
    n: Option<&'a str>,
    k: Option<&'a str>,
    layers: Option<&'a str>,
}

impl<'a> Metadata<'a> {
    /// Walks through the fields of a `ModelProto`.
    fn find(bytes: &'a [u8]) -> Result<Metadata<'a>, Error> {
        let mut metadata = Metadata::default();
        let (mut version, mut graph) = (false, false);
        let left = Cell::new(usize::MAX);
        let mut fields = Message::new(bytes, &left);
        while let Some((number, value)) = fields.next()? {
            match (number, value) {
                (IR_VERSION, Field::Number(_)) => version = true,
                (GRAPH, Field::Bytes(_)) => graph = true,
                (METADATA, Field::Bytes(entry)) => metadata.take(entry)?,
                (IR_VERSION | GRAPH | METADATA, _) => return Err(cut_off()),
                _ => {}
            }
        }
        // Many things happen to be a sequence of fields, the empty file among them.
        if version && graph {
            Ok(metadata)
        } else {
            Err(cut_off())
        }
    }

    /// Takes in a `StringStringEntryProto`.
    fn take(&mut self, entry: &'a [u8]) -> Result<(), Error> {
        // A field that is left out is empty.
        let (mut key, mut value): (&[u8], &[u8]) = (&[], &[]);
        let left = Cell::new(usize::MAX);
        let mut fields = Message::new(entry, &left);
        while let Some(field) = fields.next()? {
            match field {
                (KEY, Field::Bytes(text)) => key = text,
                (VALUE, Field::Bytes(text)) => value = text,
                (KEY | VALUE, _) => return Err(cut_off()),
                _ => {}
            }
        }
        let place = match key {
            b"denise.topology" => &mut self.topology,
            b"denise.n" => &mut self.n,
            b"denise.k" => &mut self.k,
            b"denise.layers" => &mut self.layers,
            _ => return Ok(()),
        };
        if place.is_some() {
            return Err(damaged("a key appears twice in the file's metadata"));
        }
        let text = core::str::from_utf8(value)
            .map_err(|_| damaged("the file's metadata is not text where it must be"))?;
        *place = Some(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYERS: &str = "shared 0.5 0.09 0.5 0.09 0.5 0.7 0.1\nown 0 1e-20 100 9e-6 1 -4 -0.9";

    fn number(mut x: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while x >= 0x80 {
            bytes.push(x as u8 | 0x80);
            x >>= 7;
        }
        bytes.push(x as u8);
        bytes
    }

    fn field(tag: u64, value: &[u8]) -> Vec<u8> {
        [&number(tag << 3 | 2), &number(value.len() as u64), value].concat()
    }

    fn entry(key: &str, value: &[u8]) -> Vec<u8> {
        field(
            METADATA,
            &[field(KEY, key.as_bytes()), field(VALUE, value)].concat(),
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
        ("denise.topology", "unrolled"),
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
        for topology in ["", "dense", "Unrolled", "unrolled "] {
            let bytes = changed("denise.topology", topology);
            assert_eq!(status(&bytes), Status::Unsupported);
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
            "own 0 1 0 1 0 0 0 0",
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
        files.push(entry("denise.topology", b"unrolled"));
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
}
