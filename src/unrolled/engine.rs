//! Walks through a batch: chooses the shape of the kernel for each group of matrices, brings M to unit
//! scale, runs the network, and writes what was asked for.

use super::lanes::{self, Lanes};
use super::layers::Layer;
use super::network::{Buffers, Network, Shape};
use super::omega::omega;
use super::rank::by_rank_to;
use super::single::Single;
use crate::batch::{Batch, Report, SPARSITY_EPSILON};
use crate::simd::{Isa, Real, Vector, Vectors};
use crate::status::{Error, Status};
use fearless_simd::{Select, Simd, f32x4, f64x2};
#[cfg(target_arch = "x86_64")]
use fearless_simd::{f32x8, f64x4};

/// Above this the lanes shape no longer fits the second-level cache, and the single shape, which needs
/// less memory and wastes few lanes on large matrices, takes over.
const LANES_MEMORY: usize = 384 << 10;

/// A scale above which its reciprocal comes near the least normal number of f32.
const LARGE: f64 = (1_u128 << 120) as f64;
/// What brings such a scale back, without making anything subnormal that would not be so after division by it.
const SHIFT: f64 = 1.0 / (1_u64 << 32) as f64;

/// Lanes of the widest vectors that the kernels are tested with.
const WIDEST: usize = 16;

/// The network for one n and k in one precision.
pub(crate) struct Engine<F> {
    n: usize,
    k: usize,
    /// Ω column by column; rows up to a whole number of the widest vectors are zero.
    omega: Vec<F>,
    layers: Vec<Layer<F>>,
}

/// Working memory for one call at a time.
pub(crate) struct Scratch<F> {
    memory: Vec<F>,
    start: usize,
}

const ALIGNMENT: usize = 64;

impl<F: Real> Scratch<F> {
    fn new(len: usize) -> Result<Scratch<F>, Error> {
        let mut memory = Vec::new();
        let len = len + ALIGNMENT / size_of::<F>();
        memory.try_reserve_exact(len)?;
        memory.resize(len, F::ZERO);
        let start = memory.as_ptr().align_offset(ALIGNMENT).min(len);
        Ok(Scratch { memory, start })
    }

    fn vectors<const W: usize>(&mut self) -> &mut [[F; W]] {
        self.memory[self.start..].as_chunks_mut().0
    }
}

impl<F: Kernels> Engine<F> {
    pub(crate) fn new(n: usize, k: usize, layers: &[Layer]) -> Result<Engine<F>, Error> {
        let mut engine = Engine {
            n,
            k,
            omega: Vec::new(),
            layers: Vec::new(),
        };
        let rows = n.next_multiple_of(WIDEST);
        engine.omega.try_reserve_exact(rows * k)?;
        engine.omega.resize(rows * k, F::ZERO);
        for (at, x) in omega(n, k).enumerate() {
            engine.omega[at % k * rows + at / k] = F::from_f64(x);
        }
        engine.layers.try_reserve_exact(layers.len())?;
        engine.layers.extend(layers.iter().map(Layer::cast::<F>));
        Ok(engine)
    }

    pub(crate) fn scratch(&self, isa: Isa) -> Result<Scratch<F>, Error> {
        Scratch::new(F::scratch_len(isa, self.n, self.k))
    }

    /// Decomposes every matrix of the batch; `Err` names the worst that a matrix met.
    pub(crate) fn decompose(
        &self,
        isa: Isa,
        scratch: &mut Scratch<F>,
        batch: Batch<'_, F>,
    ) -> Result<(), Status> {
        F::run(isa, self, scratch, batch, Shapes::Both)
    }
}

/// Which kernel shapes may be used; tests compare them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shapes {
    Both,
    #[cfg(test)]
    Lanes,
    #[cfg(test)]
    Single,
}

/// The kernels of one precision, for every instruction set.
pub(crate) trait Kernels: Real {
    fn scratch_len(isa: Isa, n: usize, k: usize) -> usize;
    fn run(
        isa: Isa,
        engine: &Engine<Self>,
        scratch: &mut Scratch<Self>,
        batch: Batch<'_, Self>,
        shapes: Shapes,
    ) -> Result<(), Status>;
}

impl Kernels for f32 {
    fn scratch_len(isa: Isa, n: usize, k: usize) -> usize {
        match isa {
            Isa::Portable(_) => scratch_len::<f32, 4>(n, k),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(_) => scratch_len::<f32, 8>(n, k),
        }
    }

    fn run(
        isa: Isa,
        engine: &Engine<f32>,
        scratch: &mut Scratch<f32>,
        batch: Batch<'_, f32>,
        shapes: Shapes,
    ) -> Result<(), Status> {
        match isa {
            Isa::Portable(simd) => engine.walk::<_, f32x4<_>, 4>(simd, scratch, batch, shapes),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(simd) => engine.walk::<_, f32x8<_>, 8>(simd, scratch, batch, shapes),
        }
    }
}

impl Kernels for f64 {
    fn scratch_len(isa: Isa, n: usize, k: usize) -> usize {
        match isa {
            Isa::Portable(_) => scratch_len::<f64, 2>(n, k),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(_) => scratch_len::<f64, 4>(n, k),
        }
    }

    fn run(
        isa: Isa,
        engine: &Engine<f64>,
        scratch: &mut Scratch<f64>,
        batch: Batch<'_, f64>,
        shapes: Shapes,
    ) -> Result<(), Status> {
        match isa {
            Isa::Portable(simd) => engine.walk::<_, f64x2<_>, 2>(simd, scratch, batch, shapes),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(simd) => engine.walk::<_, f64x4<_>, 4>(simd, scratch, batch, shapes),
        }
    }
}

fn lanes_len<F: Real, const W: usize>(n: usize, k: usize) -> usize {
    Buffers::<F, W>::len(lanes::matrix_len(n), lanes::rows(n), k) * W
}

fn lanes_memory<F: Real, const W: usize>(n: usize, k: usize) -> usize {
    lanes_len::<F, W>(n, k) * size_of::<F>()
}

fn single_len<F: Real, const W: usize>(n: usize, k: usize) -> usize {
    let shape = Single { n };
    Buffers::<F, W>::len(shape.matrix_len::<W>(), shape.row_vectors::<W>(), k) * W
}

/// Two lanes gain little over the single shape and cost as much code as eight. So do four on SSE2, for machines
/// older than AVX2. Tests try them all.
const fn worthwhile<F, const W: usize>() -> bool {
    let sse2 = cfg!(target_arch = "x86_64") && size_of::<[F; W]>() <= 16;
    (W > 2 && !sse2) || cfg!(test)
}

fn lanes_fit<F: Real, const W: usize>(n: usize, k: usize) -> bool {
    worthwhile::<F, W>() && lanes_memory::<F, W>(n, k) <= LANES_MEMORY
}

/// Values of working memory that matrices of this size need.
fn scratch_len<F: Real, const W: usize>(n: usize, k: usize) -> usize {
    let single = single_len::<F, W>(n, k);
    if cfg!(test) || lanes_fit::<F, W>(n, k) {
        single.max(lanes_len::<F, W>(n, k))
    } else {
        single
    }
}

impl<F: Kernels> Engine<F> {
    #[inline(always)]
    fn walk<S: Simd, V: Vector<S, F, W>, const W: usize>(
        &self,
        simd: S,
        scratch: &mut Scratch<F>,
        mut batch: Batch<'_, F>,
        shapes: Shapes,
    ) -> Result<(), Status> {
        let mut result = Ok(());
        let fit = lanes_fit::<F, W>(self.n, self.k);
        while batch.count > 0 {
            let lanes = match shapes {
                Shapes::Both => fit && batch.count >= W / 2,
                #[cfg(test)]
                Shapes::Lanes => true,
                #[cfg(test)]
                Shapes::Single => false,
            };
            let group = batch.take(if lanes { W.min(batch.count) } else { 1 });
            let finite = if worthwhile::<F, W>() && lanes {
                self.group::<S, V, Lanes, W>(simd, Lanes { n: self.n }, scratch.vectors(), group)
            } else {
                self.group::<S, V, Single, W>(simd, Single { n: self.n }, scratch.vectors(), group)
            };
            if !finite {
                result = Err(Status::NotFinite);
            }
        }
        result
    }

    /// Decomposes the matrices that the shape takes at once; whether all were finite.
    #[inline(always)]
    fn group<S: Simd, V: Vector<S, F, W>, Sh: Shape<S, F, V, W>, const W: usize>(
        &self,
        simd: S,
        shape: Sh,
        memory: &mut [[F; W]],
        group: Batch<'_, F>,
    ) -> bool {
        simd.vectorize(
            #[inline(always)]
            || self.group_inner::<S, V, Sh, W>(simd, shape, memory, group),
        )
    }

    #[inline(always)]
    fn group_inner<S: Simd, V: Vector<S, F, W>, Sh: Shape<S, F, V, W>, const W: usize>(
        &self,
        simd: S,
        shape: Sh,
        memory: &mut [[F; W]],
        mut group: Batch<'_, F>,
    ) -> bool {
        let k = self.k;
        let mut buffers = Buffers::carve(memory, shape.matrix(), shape.rows(), k);
        shape.pack(simd, group.source(), buffers.raw);
        let scale = Scale::<V>::of(simd, shape, buffers.raw, buffers.sums);
        for (m, raw) in buffers.m.iter_mut().zip(buffers.raw.iter()) {
            let raw = V::load_array_ref(simd, raw) * scale.shift;
            (raw * scale.inverse).store_array(m);
        }
        let network = Network {
            k,
            omega: &self.omega,
            layers: &self.layers,
        };
        network.forward::<S, V, W, Sh>(simd, shape, &mut buffers);
        if let Some(u) = &mut group.out.u {
            let root = scale.s.sqrt();
            for (v, u) in buffers.v.iter_mut().zip(buffers.u.iter()) {
                (V::load_array_ref(simd, u) * root).store_array(v);
            }
            shape.unpack_rows(k, buffers.v, u);
        }
        if group.out.l.is_some() || group.out.s.is_some() {
            let Buffers { raw, w, c, u, .. } = &mut buffers;
            by_rank_to::<S, F, 3>(
                simd,
                k,
                #[inline(always)]
                |k| shape.split(simd, k, scale.s, raw, u, w, c),
            );
            if let Some(l) = &mut group.out.l {
                shape.unpack(simd, w, l);
            }
            if let Some(s) = &mut group.out.s {
                shape.unpack(simd, c, s);
            }
        }
        if let Some(reports) = &mut group.out.reports {
            report(simd, shape, k, scale.s, &mut buffers, reports);
        }
        let poison = scale.poison.to_array();
        let mut all_finite = true;
        for (i, _) in (0..group.count).zip(poison).filter(|(_, p)| !p.finite()) {
            all_finite = false;
            group.mark_not_finite(i);
        }
        all_finite
    }
}

/// What a matrix is divided by before the network sees it.
struct Scale<V> {
    /// s = max(tr(M), max |M_ij|) / n. For a positive semidefinite M this is tr(M)/n; the second term
    /// keeps s positive, and continuous in M, when M is not.
    s: V,
    /// M̂ = M · `shift` · `inverse`: multiplications, because a division for every entry is slow, and two of
    /// them, because 1/s is no normal number if s is large. `shift` is a power of two.
    shift: V,
    inverse: V,
    /// Zero if M is finite, else NaN.
    poison: V,
}

impl<V> Scale<V> {
    #[inline(always)]
    fn of<S, F, Sh, const W: usize>(
        simd: S,
        shape: Sh,
        raw: &[[F; W]],
        numbers: &mut [[F; W]],
    ) -> Scale<V>
    where
        S: Simd,
        F: Real,
        V: Vector<S, F, W>,
        Sh: Shape<S, F, V, W>,
    {
        let share = V::splat(simd, F::from_f64(1.0 / shape.n() as f64));
        let (largest, poison) = shape.extremes(simd, raw);
        // Divided before it is summed: the trace of a finite matrix may overflow.
        for (row, number) in numbers.iter_mut().enumerate() {
            (shape.diagonal(simd, raw, row) * share).store_array(number);
        }
        let trace = shape.sum(simd, numbers);
        let s = trace.max(largest * share).min(V::splat(simd, F::MAX));
        let one = V::splat(simd, F::ONE);
        let large = s.simd_gt(V::splat(simd, F::from_f64(LARGE)));
        let shift: V = large.select(V::splat(simd, F::from_f64(SHIFT)), one);
        Scale {
            s,
            shift,
            inverse: one / (s * shift).max(V::splat(simd, F::TINY)),
            poison,
        }
    }
}

#[inline(always)]
fn report<S, F, V, Sh, const W: usize>(
    simd: S,
    shape: Sh,
    k: usize,
    scale: V,
    buffers: &mut Buffers<'_, F, W>,
    reports: &mut [Report],
) where
    S: Simd,
    F: Real,
    V: Vector<S, F, W>,
    Sh: Shape<S, F, V, W>,
{
    let Buffers {
        m, w, c, u, sums, ..
    } = buffers;
    // In units of s, where squares do not overflow: S is R there.
    let one = V::splat(simd, F::ONE);
    shape.split(simd, k, one, m, u, w, c);
    let r = &*c;
    let vectors = Vectors::<S, F, V, W>::new(simd);
    let zero = V::splat(simd, F::ZERO);
    let epsilon = V::splat(simd, F::from_f64(SPARSITY_EPSILON));
    let l1 = shape.sum_entries(simd, sums, |at| vectors.load(&r[at]).abs());
    let square = |x: V| x * x;
    let r_square = shape.sum_entries(simd, sums, |at| square(vectors.load(&r[at])));
    let m_square = shape.sum_entries(simd, sums, |at| square(vectors.load(&m[at])));
    let dense: V = shape.sum_entries(simd, sums, |at| {
        vectors
            .load(&r[at])
            .abs()
            .simd_gt(epsilon)
            .select(one, zero)
    });
    let entries = F::from_f64((shape.n() * shape.n()) as f64);
    let l1 = (l1 * scale).to_array();
    let residual = (r_square / m_square.max(V::splat(simd, F::TINY)))
        .sqrt()
        .to_array();
    let sparsity = (one - dense / entries).to_array();
    for (lane, report) in reports.iter_mut().enumerate() {
        *report = Report {
            l1: l1[lane].to_f32(),
            residual: residual[lane].to_f32(),
            sparsity: sparsity[lane].to_f32(),
            status: Status::Ok as i32,
        };
    }
}

#[cfg(test)]
mod tests;
