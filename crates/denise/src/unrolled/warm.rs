//! What the first call would otherwise wait for.
//!
//! Code comes into memory page by page as it is first run, which takes ten times as long as a call of one small matrix.
//! So a network runs once while the first of its kind is loaded: on a small matrix and with few layers, since all sizes
//! and layers share their code.

use super::EXTRA;
use super::buffers::Workspace;
use super::engine::{Engine, WIDEST};
use super::lanes::SIDE;
use super::layers::Stages;
use crate::batch::{Batch, Outputs, Report};
use crate::memory::filled;
use crate::simd::{Isa, Real};
use crate::status::Error;
use crate::team::Team;
use core::sync::atomic::{AtomicU64, Ordering};

/// Up to this size the single shape has code of its own for some numbers of vectors in a column, three of the widest at
/// most; larger matrices share theirs.
const SPECIAL: usize = 3 * WIDEST;

/// The kinds that ran last, one for each precision: a process that loads the same again need not wait again. Whoever
/// loads at the same time may miss the note, and runs it once more.
static WARM: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

impl<F: Real> Engine<F> {
    /// Runs all code that a call runs, in both shapes if both are used.
    pub(super) fn warm_up(
        &self,
        isa: Isa,
        stages: Stages<'_>,
        workspace: &mut Workspace,
    ) -> Result<(), Error> {
        let (n, side) = (self.stand_in(), self.side_by_side(isa));
        let kind = self.kind(isa, n, side);
        let warm = &WARM[usize::from(size_of::<F>() == 8)];
        if warm.load(Ordering::Relaxed) != kind {
            self.run_once(isa, stages, workspace, n, side)?;
            warm.store(kind, Ordering::Relaxed);
        }
        Ok(())
    }

    /// A size that runs the same code.
    fn stand_in(&self) -> usize {
        if self.n() <= SPECIAL {
            self.n()
        } else {
            self.n().min((SPECIAL + 1).max(self.k() + EXTRA + 1))
        }
    }

    /// Differs wherever other code may run; never 0.
    fn kind(&self, isa: Isa, n: usize, side: usize) -> u64 {
        let portable = matches!(isa, Isa::Portable(_));
        let widest = has_two_widths(isa);
        let flags = [
            portable,
            widest,
            self.correlation,
            self.careful,
            self.missing,
        ];
        let flags = flags
            .iter()
            .fold(1, |bits, &flag| 2 * bits + u64::from(flag));
        (flags << 48) | ((n as u64) << 32) | ((self.k() as u64) << 16) | side as u64
    }

    /// One matrix of size `n`, and as many smaller ones as lie side by side.
    fn run_once(
        &self,
        isa: Isa,
        stages: Stages<'_>,
        workspace: &mut Workspace,
        n: usize,
        side: usize,
    ) -> Result<(), Error> {
        let (Some(first), Some(last)) = (stages.layers.first(), stages.layers.last()) else {
            return Ok(());
        };
        let few = [*first, *last];
        let few = Stages {
            layers: &few,
            mend: &stages.mend[..stages.mend.len().min(1)],
            follow: &[],
        };
        self.like(n, few)?.run_batches(isa, workspace, &[1])?;
        if side == 1 {
            return Ok(());
        }
        let small = self.like(self.small(), few)?;
        // Half of the lanes may run on vectors of half the width.
        let side = side.min(WIDEST);
        let counts = [side, side.div_ceil(2)];
        let counts = if has_two_widths(isa) {
            &counts[..]
        } else {
            &counts[1..]
        };
        small.run_batches(isa, workspace, counts)
    }

    /// The smallest size that runs the same code side by side: more than one block, and as much of the last one.
    fn small(&self) -> usize {
        let least = (self.k() + EXTRA + 1).max(SIDE + 1);
        let small = least + (self.n() + SIDE * least - least) % SIDE;
        small.min(self.n())
    }

    /// A network of another size, and of a few layers.
    fn like(&self, n: usize, few: Stages<'_>) -> Result<Engine<F>, Error> {
        let mut engine = Engine::<F>::new(n, self.k(), few)?;
        engine.correlation = self.correlation;
        engine.careful = self.careful;
        engine.missing = self.missing;
        Ok(engine)
    }

    /// Batches of so many matrices each, the last with all that may be asked for: columns of U are put in order one matrix
    /// after the other, with the same code, which takes longer than the rest.
    fn run_batches(
        &self,
        isa: Isa,
        workspace: &mut Workspace,
        counts: &[usize],
    ) -> Result<(), Error> {
        let (n, k) = (self.n(), self.k());
        let most = counts.iter().copied().max().unwrap_or_default();
        let mut m = filled(most * n * n, F::ONE)?;
        for m in m.chunks_exact_mut(n * n) {
            for x in m.iter_mut().step_by(n + 1) {
                *x = F::from_f64(2.0);
            }
        }
        let mut u = filled(most * n * k, F::ZERO)?;
        let (mut l, mut s) = (filled(m.len(), F::ZERO)?, filled(m.len(), F::ZERO)?);
        let mut reports = [Report::default(); WIDEST];
        for hole in [false, true] {
            if hole && !self.missing {
                break;
            }
            if hole {
                m[n] = F::NAN;
            }
            for (at, &count) in counts.iter().enumerate() {
                let values = count * n * n;
                let last = at + 1 == counts.len();
                let out = Outputs {
                    u: last.then_some(&mut u[..count * n * k]),
                    l: Some(&mut l[..values]),
                    s: Some(&mut s[..values]),
                    reports: Some(&mut reports[..count]),
                };
                let batch = Batch::new(n, k, &m[..values], out)?;
                // What comes out does not matter.
                let _ = self.decompose(isa, &Team::alone(), workspace, batch);
            }
        }
        Ok(())
    }
}

/// Whether batches end on narrower vectors than they begin on.
fn has_two_widths(isa: Isa) -> bool {
    #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
    return matches!(isa, Isa::Avx512(_));
    #[cfg(not(all(target_arch = "x86_64", feature = "avx512")))]
    {
        let _ = isa;
        false
    }
}

#[cfg(test)]
mod tests {
    use crate::{Model, Options};

    #[test]
    fn networks_of_every_kind_can_be_warmed_up() {
        for (n, k) in [
            (2, 1),
            (3, 2),
            (20, 3),
            (24, 23),
            (25, 24),
            (61, 32),
            (200, 5),
        ] {
            for flags in 0..8 {
                let options = Options {
                    correlation: flags & 1 != 0,
                    careful: flags & 2 != 0,
                    missing: flags & 4 != 0,
                    max_concurrency: 1,
                    ..Options::size(n, k)
                };
                let model = Model::builtin(&options).expect("memory");
                assert_eq!((model.n(), model.k()), (n, k));
            }
        }
    }
}
