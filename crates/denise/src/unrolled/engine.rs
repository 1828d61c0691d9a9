//! Walks through a batch, and chooses the shape of the kernel for each group of matrices.

mod group;

use super::DIRECTION;
use super::buffers::{Buffers, Workspace, width};
use super::forward::Weights;
use super::lanes::Lanes;
use super::layers::{Curvature, Layer, Stages};
use super::omega::omega;
use super::shape::Layout;
use super::single::Single;
use super::{Bounds, bounds};
use crate::batch::Batch;
use crate::checksum::checksum;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
use crate::simd::narrow;
use crate::simd::{Isa, Real, Vector, Vectors};
use crate::status::{Error, Status};
use crate::team::Team;
use core::ffi::CStr;
pub(super) use group::Ready;

/// Above this the lanes shape no longer fits the second-level cache, and the single shape, which needs
/// less memory and wastes few lanes on large matrices, takes over. Servers with AVX-512 have at least twice the cache.
const fn lanes_memory<V: Vector>() -> usize {
    if size_of::<V>() > 32 {
        768 << 10
    } else {
        384 << 10
    }
}

/// Lanes of the widest vectors that the kernels are tested with.
pub(super) const WIDEST: usize = 16;

/// The network for one n and k in one precision.
pub(crate) struct Engine<F> {
    n: usize,
    k: usize,
    bounds: Bounds,
    /// A column of ones, then those of Ω, small; rows up to a whole number of the widest vectors are zero.
    directions: Vec<F>,
    layers: Vec<Layer<F>>,
    /// Those that come first where entries are missing.
    mend: Vec<Layer<F>>,
    /// Those that follow U from one tick of a stream to the next.
    follow: Vec<Layer<F>>,
    /// Whether the correlation matrix is split, and the result scaled back.
    pub(super) correlation: bool,
    /// Whether every start goes through all layers, and the best result is kept.
    pub(super) careful: bool,
    /// Whether NaN is an entry that is not known.
    pub(super) missing: bool,
}

/// Which kernel shapes may be used; tests compare them.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shapes {
    Both,
    #[cfg(test)]
    Lanes,
    #[cfg(test)]
    Single,
}

impl<F: Real> Engine<F> {
    pub(crate) fn new(n: usize, k: usize, stages: Stages<'_>) -> Result<Engine<F>, Error> {
        let mut engine = Engine {
            n,
            k,
            bounds: bounds(k),
            directions: Vec::new(),
            layers: Vec::new(),
            mend: Vec::new(),
            follow: Vec::new(),
            correlation: false,
            careful: false,
            missing: false,
        };
        let rows = n.next_multiple_of(WIDEST);
        let width = width(n, k);
        engine.directions.try_reserve_exact(rows * (width + 1))?;
        engine.directions.resize(rows * (width + 1), F::ZERO);
        engine.directions[..n].fill(F::ONE);
        for (at, x) in omega(n, width).enumerate() {
            let place = (1 + at % width) * rows + at / width;
            engine.directions[place] = F::from_f64(DIRECTION * x);
        }
        for (to, from) in [
            (&mut engine.layers, stages.layers),
            (&mut engine.mend, stages.mend),
            (&mut engine.follow, stages.follow),
        ] {
            to.try_reserve_exact(from.len())?;
            to.extend(from.iter().map(Layer::cast::<F>));
        }
        Ok(engine)
    }

    pub(crate) fn workspace(&self, isa: Isa) -> Result<Workspace, Error> {
        Workspace::new(self.workspace_bytes(isa), true)
    }

    /// Bytes of working memory that a call needs.
    pub(crate) fn workspace_bytes(&self, isa: Isa) -> usize {
        let len = match isa {
            Isa::Portable(simd) => self.workspace_len_for(Vectors::<F::Portable>::new(simd)),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(simd) => self.workspace_len_for(Vectors::<F::Avx2>::new(simd)),
            #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
            Isa::Avx512(simd) => {
                let rest = self.workspace_len_for(Vectors::<F::Avx2>::new(narrow(simd)));
                rest.max(self.workspace_len_for(Vectors::<F::Avx512>::new(simd)))
            }
        };
        len * size_of::<F>()
    }

    /// Streams that are best kept side by side.
    pub(crate) fn side_by_side(&self, isa: Isa) -> usize {
        fn width<V: Vector>(engine: &Engine<V::Scalar>, vectors: Vectors<V>) -> usize {
            if engine.lanes_fit(vectors) { V::W } else { 1 }
        }
        match isa {
            Isa::Portable(simd) => width(self, Vectors::<F::Portable>::new(simd)),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(simd) => width(self, Vectors::<F::Avx2>::new(simd)),
            #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
            Isa::Avx512(simd) => width(self, Vectors::<F::Avx512>::new(simd)),
        }
    }

    /// The same again. Entries may be missing in every tick of a stream.
    pub(crate) fn for_streams(&self, correlation: bool) -> Result<Engine<F>, Error> {
        fn copied<T: Clone>(from: &[T]) -> Result<Vec<T>, Error> {
            let mut all = Vec::new();
            all.try_reserve_exact(from.len())?;
            all.extend_from_slice(from);
            Ok(all)
        }
        Ok(Engine {
            n: self.n,
            k: self.k,
            bounds: self.bounds,
            directions: copied(&self.directions)?,
            layers: copied(&self.layers)?,
            mend: copied(&self.mend)?,
            follow: copied(&self.follow)?,
            correlation: self.correlation || correlation,
            careful: false,
            missing: true,
        })
    }

    /// A number that tells networks apart.
    pub(crate) fn fingerprint(&self) -> u64 {
        let layers = self.layers.iter().chain(&self.mend).chain(&self.follow);
        let numbers = layers.flat_map(|layer| {
            let Layer {
                curvature,
                alpha,
                beta,
                gamma,
                delta,
                sigma,
                eta,
                mu,
                nu,
            } = *layer;
            let own = if curvature == Curvature::Own {
                F::ONE
            } else {
                F::ZERO
            };
            [own, alpha, beta, gamma, delta, sigma, eta, mu, nu]
        });
        let correlation = [self.correlation as u8];
        let bytes = numbers.flat_map(|x| Into::<f64>::into(x).to_bits().to_le_bytes());
        checksum(bytes.chain(correlation))
    }

    pub(super) fn n(&self) -> usize {
        self.n
    }

    pub(super) fn k(&self) -> usize {
        self.k
    }

    pub(super) fn follows(&self) -> bool {
        !self.follow.is_empty()
    }

    /// Decomposes every matrix of the batch; `Err` names the worst that a matrix met. The team shares what is done to a
    /// matrix that has its lanes to itself.
    pub(crate) fn decompose(
        &self,
        isa: Isa,
        team: &Team<'_>,
        workspace: &mut Workspace,
        batch: Batch<'_, F>,
    ) -> Result<(), Status> {
        self.run(isa, team, workspace, batch, Shapes::Both)
    }

    fn run(
        &self,
        isa: Isa,
        team: &Team<'_>,
        workspace: &mut Workspace,
        batch: Batch<'_, F>,
        shapes: Shapes,
    ) -> Result<(), Status> {
        match isa {
            Isa::Portable(simd) => {
                let vectors = Vectors::<F::Portable>::new(simd);
                self.walk(vectors, team, workspace, batch, shapes)
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(simd) => {
                let vectors = Vectors::<F::Avx2>::new(simd);
                self.walk(vectors, team, workspace, batch, shapes)
            }
            #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
            Isa::Avx512(simd) => {
                let vectors = Vectors::<F::Avx512>::new(simd);
                let mut rest = batch;
                let full = rest.take(self.wide(vectors, rest.count, shapes));
                let full = self.walk(vectors, team, workspace, full, shapes);
                let vectors = Vectors::<F::Avx2>::new(narrow(simd));
                full.and(self.walk(vectors, team, workspace, rest, shapes))
            }
        }
    }

    /// Of so many matrices, those that are worth the widest vectors: all but the last few, if narrower ones take less
    /// time for these.
    #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
    fn wide<V: Vector<Scalar = F>>(
        &self,
        vectors: Vectors<V>,
        count: usize,
        shapes: Shapes,
    ) -> usize {
        if shapes != Shapes::Both || !self.lanes_fit(vectors) {
            return count;
        }
        let rest = count % V::W;
        if (V::W / 4..=V::W / 2).contains(&rest) {
            count - rest
        } else {
            count
        }
    }

    pub(super) fn lanes<V: Vector<Scalar = F>>(&self, vectors: Vectors<V>) -> Lanes<V> {
        Lanes { n: self.n, vectors }
    }

    pub(super) fn single<'a, V: Vector<Scalar = F>>(
        &self,
        vectors: Vectors<V>,
        team: &'a Team<'a>,
    ) -> Single<'a, V> {
        Single {
            n: self.n,
            vectors,
            team,
        }
    }

    pub(super) fn lanes_fit<V: Vector<Scalar = F>>(&self, vectors: Vectors<V>) -> bool {
        let memory = Buffers::len(self.lanes(vectors), self.k) * size_of::<F>();
        worthwhile::<V>() && memory <= lanes_memory::<V>()
    }

    fn workspace_len_for<V: Vector<Scalar = F>>(&self, vectors: Vectors<V>) -> usize {
        let mut len = self.buffers_len(self.single(vectors, &Team::alone()));
        if cfg!(test) || self.lanes_fit(vectors) {
            len = len.max(self.buffers_len(self.lanes(vectors)));
        }
        len
    }

    fn buffers_len<V: Vector<Scalar = F>>(&self, shape: impl Layout<V>) -> usize {
        let len = Buffers::len(shape, self.k);
        if self.missing {
            len + Buffers::len_for_missing(shape, self.k)
        } else {
            len
        }
    }

    #[inline(always)]
    fn walk<V: Vector<Scalar = F>>(
        &self,
        vectors: Vectors<V>,
        team: &Team<'_>,
        workspace: &mut Workspace,
        mut batch: Batch<'_, F>,
        shapes: Shapes,
    ) -> Result<(), Status> {
        let mut result = Ok(());
        let fit = self.lanes_fit(vectors);
        let far = 3 * size_of_val(batch.source()) > NEAR;
        while batch.count > 0 {
            let lanes = match shapes {
                Shapes::Both => fit && batch.count >= V::W / 2,
                #[cfg(test)]
                Shapes::Lanes => true,
                #[cfg(test)]
                Shapes::Single => false,
            };
            let group = batch.take(if lanes { V::W.min(batch.count) } else { 1 });
            let next = far.then(|| batch.first(V::W));
            let memory = workspace.vectors::<V>();
            let finite = if worthwhile::<V>() && lanes {
                vectors.vectorize(
                    #[inline(always)]
                    || self.group(self.lanes(vectors), memory, group, next),
                )
            } else {
                vectors.vectorize(
                    #[inline(always)]
                    || self.group(self.single(vectors, team), memory, group, None),
                )
            };
            if !finite {
                result = Err(Status::NotFinite);
            }
        }
        result
    }

    /// What a forward pass needs beside the matrices.
    pub(super) fn weights(&self) -> Weights<'_, F> {
        Weights {
            k: self.k,
            bounds: self.bounds,
            directions: &self.directions,
            layers: &self.layers,
            mend: &self.mend,
            follow: &self.follow,
            ahead: None,
        }
    }
}

/// Bytes of a call, M, L and S, up to which they are taken to be in a cache that is near.
const NEAR: usize = 256 << 10;

/// Whether the lanes shape is. Two lanes gain little over the single shape and cost as much code as eight. So do four
/// on SSE2, for machines older than AVX2. Tests try them all.
pub(super) const fn worthwhile<V: Vector>() -> bool {
    let sse2 = cfg!(target_arch = "x86_64") && size_of::<V>() <= 16;
    (V::W > 2 && !sse2) || cfg!(test)
}

/// What the kernels for an instruction set are called.
pub(crate) fn kernel(isa: Isa) -> &'static CStr {
    match isa {
        Isa::Portable(_) if cfg!(target_arch = "x86_64") => c"unrolled sse2",
        Isa::Portable(_) if cfg!(target_arch = "aarch64") => c"unrolled neon",
        Isa::Portable(_) => c"unrolled portable",
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2(_) => c"unrolled avx2",
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        Isa::Avx512(_) => c"unrolled avx512",
    }
}

#[cfg(test)]
mod tests;
