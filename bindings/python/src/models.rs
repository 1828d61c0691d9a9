//! Networks that are ready for matrices of some size. Making one takes a few hundred times as long as using it.

use crate::error::guard;
use denise::{Error, File, Model, Options};
use std::sync::{Arc, Mutex, TryLockError};

/// What a network is made for, but for the size of the matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// 0: the network's own.
    pub(crate) k: usize,
    pub(crate) correlation: bool,
    pub(crate) missing: bool,
    pub(crate) careful: bool,
    pub(crate) threads: usize,
    pub(crate) half_weights: bool,
    pub(crate) byte_weights: bool,
}

/// Kinds and sizes that are kept.
const MOST: usize = 16;

/// The networks that were used last, all with the weights of one file.
pub(crate) struct Models {
    /// `None`: the built-in network.
    file: Option<File>,
    kept: Mutex<Vec<(usize, Kind, Arc<Model>)>>,
}

impl Models {
    pub(crate) const fn new(file: Option<File>) -> Models {
        Models {
            file,
            kept: Mutex::new(Vec::new()),
        }
    }

    /// One for n×n matrices that has been used, if there is one.
    ///
    /// Never waits for long: where the lock cannot be had, as after a fork in the wrong moment, there is none.
    pub(crate) fn find(&self, n: usize, kind: Kind) -> Option<Arc<Model>> {
        self.locked(|kept| {
            let found = kept.iter().find(|(own, its, _)| (*own, *its) == (n, kind));
            found.map(|(_, _, model)| model.clone())
        })
        .flatten()
    }

    /// A new one, which is kept. To be called without the interpreter.
    pub(crate) fn make(&self, n: usize, kind: Kind) -> Result<Arc<Model>, Error> {
        let options = Options {
            n,
            k: kind.k,
            correlation: kind.correlation,
            missing: kind.missing,
            careful: kind.careful,
            threads: kind.threads,
            half_weights: kind.half_weights,
            byte_weights: kind.byte_weights,
            ..Options::default()
        };
        let model = guard(|| match &self.file {
            None => Model::builtin(&options),
            Some(file) => Model::new(file, &options),
        })?;
        let model = Arc::new(model);
        let oldest = self.locked(|kept| {
            kept.push((n, kind, model.clone()));
            (kept.len() > MOST).then(|| kept.remove(0))
        });
        // Outside of the lock: its threads end first.
        drop(oldest);
        Ok(model)
    }

    fn locked<T>(&self, body: impl FnOnce(&mut Vec<(usize, Kind, Arc<Model>)>) -> T) -> Option<T> {
        for _ in 0..1000 {
            match self.kept.try_lock() {
                Ok(mut kept) => return Some(body(&mut kept)),
                Err(TryLockError::Poisoned(poisoned)) => {
                    return Some(body(&mut poisoned.into_inner()));
                }
                Err(TryLockError::WouldBlock) => std::thread::yield_now(),
            }
        }
        None
    }
}

/// With the weights that are built in.
pub(crate) static BUILTIN: Models = Models::new(None);
