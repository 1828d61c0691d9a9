//! What the outputs of a graph are.

use super::error::{Refused, shown};
use super::proto::Port;
use super::value::{Elements, Factor, Value};
use crate::memory::{copied, owned, push};
use crate::status::{Error, text};

/// One output of the graph.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Output {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// What is in it, row by row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    U,
    L,
    S,
}

/// What each output is, and the U that all of them come from.
pub(super) fn outputs<'v>(
    ports: &[Port<'_>],
    n: usize,
    value: impl Fn(&str) -> Option<&'v Value>,
) -> Result<(Vec<Output>, Factor), Refused> {
    let mut found: Option<Factor> = None;
    let mut outputs: Vec<Output> = Vec::new();
    for port in ports {
        let name = shown(port.name);
        let refuse =
            |reason: &str| Refused::unsupported(text(format_args!("output \"{name}\" {reason}")));
        let value = value(port.name).ok_or_else(|| {
            Refused::damaged(text(format_args!("output \"{name}\" is given by no node")))
        })?;
        let sizes = value.shape.iter().copied().filter(|&size| size != 1);
        let whole = |entries: &[u32]| {
            // L is symmetric: it may be transposed.
            let right = |(e, &entry): (usize, &u32)| {
                let entry = entry as usize;
                e == entry || e % n * n + e / n == entry
            };
            entries.len() == n * n && entries.iter().enumerate().all(right)
        };
        let (kind, u) = match &value.elements {
            Elements::Picks { stage, picks } if picks.len().is_multiple_of(n) => {
                let k = picks.len() / n;
                let flat = sizes.clone().eq([n * k]);
                if !flat && !sizes.clone().eq([n, k]) {
                    return Err(refuse("must have n x k values, in n rows"));
                }
                let u = Factor {
                    k,
                    stage: *stage,
                    picks: copied(picks)?,
                };
                (Kind::U, u)
            }
            Elements::Low { u, entries } if whole(entries) => (Kind::L, copy(u)?),
            Elements::Sparse { u, entries } if whole(entries) => (Kind::S, copy(u)?),
            _ => return Err(refuse("is not U, L = U times its transpose, or S = M - L")),
        };
        if outputs
            .iter()
            .any(|other| other.name == port.name || other.kind == kind)
        {
            return Err(refuse("is there twice"));
        }
        if found.as_ref().is_some_and(|found| *found != u) {
            return Err(refuse("belongs to another U than the output before"));
        }
        found = Some(u);
        let name = owned(port.name)?;
        push(&mut outputs, Output { name, kind })?;
    }
    match found {
        Some(u) => Ok((outputs, u)),
        None => Err(Refused::unsupported("the model has no output")),
    }
}

fn copy(u: &Factor) -> Result<Factor, Error> {
    Ok(Factor {
        k: u.k,
        stage: u.stage,
        picks: copied(&u.picks)?,
    })
}
