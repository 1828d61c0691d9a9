//! Reads a network from an ONNX file.
//!
//! Such a file holds a graph that any ONNX runtime can run. The library has its own kernels and needs
//! only the sizes and weights, which the file repeats as text in its metadata:
//!
//! | key | value |
//! |---|---|
//! | `denise.topology` | `unrolled 2`; version 0.1 wrote `unrolled`, whose weights mean something else |
//! | `denise.n`, `denise.k` | the sizes, in decimal |
//! | `denise.layers` | a line per layer: `shared` or `own`, then the weights of [`Layer`]; the last may be left out: 0 |
//! | `denise.mend` | likewise the layers that come first where entries are missing; may be left out |
//! | `denise.follow` | likewise the layers that follow U from tick to tick of a stream; may be left out |
//!
//! Files come from anywhere, so nothing in them is believed: every length is checked against what is
//! left of the file, and nothing is allocated but the layers.

use super::layers::{Curvature, Layer, Stages};
use crate::size::{DEFAULT_K, DEFAULT_N, check_size};
use crate::status::{Error, Status};
use crate::wire::{Field, Message, cut_off};
use core::cell::Cell;

/// More than any network needs.
const MAX_LAYERS: usize = 64;
const WEIGHTS: usize = 8;

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
    /// Those that come first where entries are missing: up to 64, or none.
    pub mend: Vec<Layer>,
    /// Those that follow U from one tick of a stream to the next: up to 64, or none.
    pub follow: Vec<Layer>,
}

impl File {
    /// The network built into the library.
    pub fn builtin() -> Result<File, Error> {
        Ok(File {
            n: DEFAULT_N,
            k: DEFAULT_K,
            layers: layers(BUILTIN)?,
            mend: layers(BUILTIN_MEND)?,
            follow: layers(BUILTIN_FOLLOW)?,
        })
    }

    /// A network built into the library, by its name: "default", or "fast", which has fewer layers.
    pub fn named(name: &str) -> Option<Result<File, Error>> {
        match name {
            "default" => Some(File::builtin()),
            "fast" => Some(File::with_layers(FAST)),
            _ => None,
        }
    }

    /// The network built into the library with other layers, in the text of `denise.layers`. Those that missing entries
    /// and streams need stay.
    pub fn with_layers(text: &str) -> Result<File, Error> {
        Ok(File {
            layers: layers(text)?,
            ..File::builtin()?
        })
    }

    /// Its layers.
    pub fn stages(&self) -> Stages<'_> {
        Stages {
            layers: &self.layers,
            mend: &self.mend,
            follow: &self.follow,
        }
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
/// The `denise.layers` of models/fast.onnx.
const FAST: &str = include_str!("../../models/fast.layers").trim_ascii_end();
/// The `denise.mend` of the former, which both have.
const BUILTIN_MEND: &str = include_str!("../../models/default.mend").trim_ascii_end();
/// And its `denise.follow`.
const BUILTIN_FOLLOW: &str = include_str!("../../models/default.follow").trim_ascii_end();

fn read(bytes: &[u8]) -> Result<File, Error> {
    let metadata = Metadata::find(bytes)?;
    match metadata.topology {
        Some("unrolled 2") => {}
        Some("unrolled") => {
            return Err(Error::new(
                Status::Format,
                "the file was written by version 0.1 of denise, whose networks had another start and other \
                 thresholds; train or finetune again with this version",
            ));
        }
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
        mend: metadata.mend.map_or(Ok(Vec::new()), layers)?,
        follow: metadata.follow.map_or(Ok(Vec::new()), layers)?,
    })
}

fn damaged(what: impl core::fmt::Display) -> Error {
    let message = format_args!("{what}; the file is damaged: get or write it again");
    Error::format(Status::Format, message)
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
        return Err(Error::format(Status::Format, message));
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
    let (last, first) = weights.split_last_mut()?;
    for weight in first {
        *weight = words.next()?.parse().ok()?;
    }
    if let Some(word) = words.next() {
        *last = word.parse().ok()?;
    }
    if words.next().is_some() {
        return None;
    }
    let [alpha, beta, gamma, delta, sigma, eta, mu, nu] = weights;
    Some(Layer {
        curvature,
        alpha,
        beta,
        gamma,
        delta,
        sigma,
        eta,
        mu,
        nu,
    })
}

/// What the metadata says, as text.
#[derive(Default)]
struct Metadata<'a> {
    topology: Option<&'a str>,
    n: Option<&'a str>,
    k: Option<&'a str>,
    layers: Option<&'a str>,
    mend: Option<&'a str>,
    follow: Option<&'a str>,
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
            b"denise.mend" => &mut self.mend,
            b"denise.follow" => &mut self.follow,
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
mod tests;
