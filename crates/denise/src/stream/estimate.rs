//! The covariance of returns, tick by tick, for streams that lie side by side.
//!
//! Every pair of assets has a weighted sum of products and a weight; its covariance is their quotient. A return that is
//! not known leaves the pairs that need it alone: with exponential weights they keep their value and their weight, and
//! in a moving window the tick counts for them as one that is not there.
//!
//! As long as no return of a group was unknown, all pairs of a stream have the same weight, and one is enough: that is
//! `even`. The arithmetic is the same in both cases, so that a stream has the same bits beside any others.
//!
//! With exponential weights errors of rounding fade as fast as returns do. In a moving window they would stay, so its
//! sums have two parts, and the second collects what rounding takes from the first (Knuth's exact addition).

use super::bytes::{Reader, Writer};
use crate::memory::filled;
use crate::simd::{Isa, Real, Vectors};
use crate::status::Error;

/// Returns of a larger size are not believed: their squares would overflow.
pub(super) const MOST: f64 = 1e100;

/// How ticks of the past count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Memory {
    /// Each counts `decay` times as much as the one after it.
    Decay(f64),
    /// The last so many count, and count the same.
    Window(usize),
}

/// What is to be estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) n: usize,
    pub(super) memory: Memory,
    /// Whether means are subtracted.
    pub(super) demean: bool,
    /// Ticks before a pair is known.
    pub(super) warm_up: u64,
}

/// The estimates of streams side by side: number e of stream l is at e·`width` + l in every table.
pub(super) struct Estimate {
    plan: Plan,
    width: usize,
    /// Whether all pairs of a stream have the same weight.
    pub(super) even: bool,
    /// Weight of a pair that has been seen as often as it must be.
    least: f64,
    /// Where the oldest tick is in `ring`, which is where the next one goes.
    oldest: usize,
    /// Ticks that each stream has seen.
    pub(super) ticks: Vec<u64>,
    /// The weight of every pair of a stream, if they are `even`.
    weight: Vec<f64>,
    /// Else that of each, n(n+1)/2 of them.
    weights: Vec<f64>,
    /// Σ r_i r_j, likewise, and what rounding took from it in a window.
    sum: Vec<f64>,
    sum_rest: Vec<f64>,
    /// Σ r_i if means are subtracted, and the weights are `even`: n of them.
    total: Vec<f64>,
    total_rest: Vec<f64>,
    /// Else Σ r_i over the ticks at which r_j is known too, at i·n + j.
    totals: Vec<f64>,
    totals_rest: Vec<f64>,
    /// The ticks of the window, n values each.
    ring: Vec<f64>,
    /// Returns of this tick, and of the one that leaves the window. Zero where they are not known.
    now: Vec<f64>,
    gone: Vec<f64>,
    /// 1 where they are known, else 0.
    now_known: Vec<f64>,
    gone_known: Vec<f64>,
}

/// s + x, and what rounding takes from it.
#[inline(always)]
fn two_sum(s: f64, x: f64) -> (f64, f64) {
    let sum = s + x;
    let most_of_x = sum - s;
    (sum, (s - (sum - most_of_x)) + (x - most_of_x))
}

/// Adds one and takes away another.
#[inline(always)]
fn exchange(sum: &mut f64, rest: &mut f64, new: f64, gone: f64) {
    let (with, lost) = two_sum(*sum, new);
    let (without, lost_too) = two_sum(with, -gone);
    *sum = without;
    *rest += lost + lost_too;
}

impl Estimate {
    pub(super) fn new(plan: Plan, width: usize) -> Result<Estimate, Error> {
        let n = plan.n;
        let pairs = n * (n + 1) / 2;
        let ring = match plan.memory {
            Memory::Decay(_) => 0,
            Memory::Window(window) => window,
        };
        let (windowed, demeaned) = (usize::from(ring > 0), usize::from(plan.demean));
        let zeros = |len: usize| filled(len * width, 0.0);
        let mut least = 0.0;
        for _ in 0..plan.warm_up {
            least = match plan.memory {
                Memory::Decay(decay) => least * decay + 1.0,
                Memory::Window(_) => plan.warm_up as f64,
            };
            if least == plan.warm_up as f64 {
                break;
            }
        }
        Ok(Estimate {
            plan,
            width,
            even: true,
            least,
            oldest: 0,
            ticks: filled(width, 0)?,
            weight: zeros(1)?,
            weights: zeros(pairs)?,
            sum: zeros(pairs)?,
            sum_rest: zeros(windowed * pairs)?,
            total: zeros(demeaned * n)?,
            total_rest: zeros(windowed * demeaned * n)?,
            totals: zeros(demeaned * n * n)?,
            totals_rest: zeros(windowed * demeaned * n * n)?,
            ring: zeros(ring * n)?,
            now: zeros(n)?,
            gone: zeros(n)?,
            now_known: zeros(n)?,
            gone_known: zeros(n)?,
        })
    }
}

impl Estimate {
    /// Takes the returns of a tick in, n values for every stream, and writes what is estimated now to `m`: the lower
    /// triangle of n×n covariances, with NaN where they are not known. Tells of each stream whether all of its
    /// returns were finite or NaN; if one was not, none of that stream's counts.
    pub(super) fn push<F: Real>(
        &mut self,
        isa: Isa,
        returns: &[F],
        sound: &mut [bool],
        m: &mut [f64],
    ) {
        let complete = self.read(returns, sound);
        if !complete && self.even {
            self.spread();
        }
        // Only widths that the instruction set has: see `Engine::side_by_side`.
        match isa {
            Isa::Portable(simd) => Vectors::<<f64 as Real>::Portable>::new(simd).vectorize(
                #[inline(always)]
                || match self.width {
                    #[cfg(any(test, not(target_arch = "x86_64")))]
                    4 => self.advance::<4>(m),
                    1 => self.advance::<1>(m),
                    _ => self.advance_uneven(m),
                },
            ),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(simd) => Vectors::<<f64 as Real>::Avx2>::new(simd).vectorize(
                #[inline(always)]
                || match self.width {
                    8 => self.advance::<8>(m),
                    1 => self.advance::<1>(m),
                    #[cfg(test)]
                    4 => self.advance::<4>(m),
                    _ => self.advance_uneven(m),
                },
            ),
            #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
            Isa::Avx512(simd) => Vectors::<<f64 as Real>::Avx512>::new(simd).vectorize(
                #[inline(always)]
                || match self.width {
                    16 => self.advance::<16>(m),
                    8 => self.advance::<8>(m),
                    1 => self.advance::<1>(m),
                    #[cfg(test)]
                    4 => self.advance::<4>(m),
                    _ => self.advance_uneven(m),
                },
            ),
        }
        for ticks in &mut self.ticks {
            *ticks = ticks.saturating_add(1);
        }
    }

    /// Forgets everything about stream `l`.
    pub(super) fn reset(&mut self, l: usize) {
        let width = self.width;
        self.ticks[l] = 0;
        for table in [
            &mut self.weight,
            &mut self.weights,
            &mut self.sum,
            &mut self.sum_rest,
            &mut self.total,
            &mut self.total_rest,
            &mut self.totals,
            &mut self.totals_rest,
            &mut self.ring,
        ] {
            for x in table.iter_mut().skip(l).step_by(width) {
                *x = 0.0;
            }
        }
    }

    /// Whether stream `l` has seen enough.
    pub(super) fn ready(&self, l: usize) -> bool {
        self.ticks[l] >= self.plan.warm_up
    }

    /// Puts the returns side by side; whether all are known.
    fn read<F: Real>(&mut self, returns: &[F], sound: &mut [bool]) -> bool {
        let (n, width) = (self.plan.n, self.width);
        // NaN or infinite if a return is, or beyond what is believed.
        let (mut poison, mut most) = (0.0_f64, 0.0_f64);
        for (l, returns) in returns.chunks_exact(n).enumerate() {
            for (now, &x) in self.now[l..].iter_mut().step_by(width).zip(returns) {
                let x: f64 = x.into();
                poison += x * 0.0;
                most = most.max(x.abs());
                *now = x;
            }
        }
        sound.fill(true);
        if poison == 0.0 && most <= MOST {
            return true;
        }
        for (l, sound) in sound.iter_mut().enumerate() {
            let own = self.now[l..].iter_mut().step_by(width);
            *sound = own.into_iter().all(|x| x.is_nan() || x.abs() <= MOST);
            if !*sound {
                for x in self.now[l..].iter_mut().step_by(width) {
                    *x = f64::NAN;
                }
            }
        }
        false
    }

    /// From one weight for all pairs of a stream to one for each.
    #[cold]
    fn spread(&mut self) {
        let (n, width) = (self.plan.n, self.width);
        for weights in self.weights.chunks_exact_mut(width) {
            weights.copy_from_slice(&self.weight);
        }
        for (all, each) in [
            (&self.total, &mut self.totals),
            (&self.total_rest, &mut self.totals_rest),
        ] {
            for (place, each) in each.chunks_exact_mut(width).enumerate() {
                let i = place / n;
                each.copy_from_slice(&all[i * width..(i + 1) * width]);
            }
        }
        self.even = false;
    }

    /// A tick. The width is a constant, so that loops over streams, or over pairs of one stream, are vectors.
    #[inline(always)]
    fn advance<const W: usize>(&mut self, m: &mut [f64]) {
        if let Memory::Window(window) = self.plan.memory {
            self.exchange_ticks::<W>(window);
        }
        match (self.even, self.plan.memory) {
            (true, Memory::Decay(decay)) => self.decay_even::<W>(decay, m),
            (true, Memory::Window(window)) => self.window_even::<W>(window, m),
            // In its own function, and not for every width: it is much code, and slow for other reasons.
            (false, _) => self.advance_uneven(m),
        }
    }

    /// What a sum is multiplied by for a mean, in streams that are even.
    #[inline(always)]
    fn shares<const W: usize>(&self) -> [f64; W] {
        let mut shares = [0.0; W];
        for (share, weight) in shares.iter_mut().zip(&self.weight) {
            *share = 1.0 / weight;
        }
        shares
    }

    /// Puts this tick where the oldest one was, which goes to `gone`.
    #[inline(always)]
    fn exchange_ticks<const W: usize>(&mut self, window: usize) {
        let size = self.plan.n * W;
        let place = &mut self.ring[self.oldest * size..][..size];
        self.gone.copy_from_slice(place);
        place.copy_from_slice(&self.now);
        self.oldest = (self.oldest + 1) % window;
    }

    #[inline(always)]
    fn decay_even<const W: usize>(&mut self, decay: f64, m: &mut [f64]) {
        for w in &mut self.weight {
            *w = *w * decay + 1.0;
        }
        let share = self.shares::<W>();
        let now = self.now.as_chunks::<W>().0;
        let m = m.as_chunks_mut::<W>().0;
        if self.plan.demean {
            for (total, now) in self.total.iter_mut().zip(&self.now) {
                *total = *total * decay + now;
            }
        }
        let mut rest = self.sum.as_chunks_mut::<W>().0;
        for (i, own) in now.iter().enumerate() {
            let (row, tail) = rest.split_at_mut(i + 1);
            rest = tail;
            let m = &mut m[i * now.len()..][..i + 1];
            if W == 1 {
                // Rows are short: four pairs at a time, and no longer loop that is never entered.
                let (sums, m) = (row.as_flattened_mut(), m.as_flattened_mut());
                let other = now.as_flattened();
                let whole = sums.len() / 4 * 4;
                let fours = sums.as_chunks_mut::<4>().0.iter_mut();
                let fours = fours.zip(m.as_chunks_mut::<4>().0);
                for ((sum, m), other) in fours.zip(other.as_chunks::<4>().0) {
                    for e in 0..4 {
                        sum[e] = sum[e] * decay + own[0] * other[e];
                        m[e] = sum[e] * share[0];
                    }
                }
                for e in whole..sums.len() {
                    sums[e] = sums[e] * decay + own[0] * other[e];
                    m[e] = sums[e] * share[0];
                }
                continue;
            }
            for ((sum, m), other) in row.iter_mut().zip(m).zip(now) {
                for l in 0..W {
                    sum[l] = sum[l] * decay + own[l] * other[l];
                    m[l] = sum[l] * share[l];
                }
            }
        }
        self.subtract_means::<W>(share, m);
    }

    #[inline(always)]
    fn window_even<const W: usize>(&mut self, window: usize, m: &mut [f64]) {
        for (w, &ticks) in self.weight.iter_mut().zip(&self.ticks) {
            *w = (ticks.saturating_add(1)).min(window as u64) as f64;
        }
        if self.plan.demean {
            let totals = self.total.iter_mut().zip(&mut self.total_rest);
            for ((total, rest), (&now, &gone)) in totals.zip(self.now.iter().zip(&self.gone)) {
                exchange(total, rest, now, gone);
            }
        }
        let share = self.shares::<W>();
        let (now, gone) = (self.now.as_chunks::<W>().0, self.gone.as_chunks::<W>().0);
        let m = m.as_chunks_mut::<W>().0;
        let mut sums = self.sum.as_chunks_mut::<W>().0;
        let mut rests = self.sum_rest.as_chunks_mut::<W>().0;
        for (i, (own, own_gone)) in now.iter().zip(gone).enumerate() {
            let (row, tail) = sums.split_at_mut(i + 1);
            let (row_rest, tail_rest) = rests.split_at_mut(i + 1);
            (sums, rests) = (tail, tail_rest);
            let row = row.iter_mut().zip(row_rest).zip(&mut m[i * now.len()..]);
            for (((sum, rest), m), (other, other_gone)) in row.zip(now.iter().zip(gone)) {
                for l in 0..W {
                    let product = own[l] * other[l];
                    let product_gone = own_gone[l] * other_gone[l];
                    exchange(&mut sum[l], &mut rest[l], product, product_gone);
                    m[l] = (sum[l] + rest[l]) * share[l];
                }
            }
        }
        self.subtract_means::<W>(share, m);
    }

    /// The same where some pairs have been seen less often than others.
    #[inline(never)]
    fn advance_uneven(&mut self, m: &mut [f64]) {
        let (n, width) = (self.plan.n, self.width);
        let decay = match self.plan.memory {
            Memory::Decay(decay) => decay,
            Memory::Window(_) => 1.0,
        };
        let windowed = !self.sum_rest.is_empty();
        let known = |values: &mut [f64], known: &mut [f64]| {
            for (x, known) in values.iter_mut().zip(known) {
                *known = if x.is_nan() { 0.0 } else { 1.0 };
                *x = if x.is_nan() { 0.0 } else { *x };
            }
        };
        known(&mut self.now, &mut self.now_known);
        if let Memory::Window(window) = self.plan.memory {
            known(&mut self.gone, &mut self.gone_known);
            // What a stream has not seen yet has not gone.
            for gone in self.gone_known.chunks_exact_mut(width) {
                for (gone, &ticks) in gone.iter_mut().zip(&self.ticks) {
                    if ticks < window as u64 {
                        *gone = 0.0;
                    }
                }
            }
        }
        for i in 0..n {
            for j in 0..=i {
                let pair = (i * (i + 1) / 2 + j) * width;
                for l in 0..width {
                    let (a, b) = (i * width + l, j * width + l);
                    let seen = self.now_known[a] * self.now_known[b];
                    let product = self.now[a] * self.now[b];
                    let at = pair + l;
                    if windowed {
                        let gone = self.gone_known[a] * self.gone_known[b];
                        let product_gone = self.gone[a] * self.gone[b];
                        self.weights[at] = self.weights[at] + seen - gone;
                        exchange(
                            &mut self.sum[at],
                            &mut self.sum_rest[at],
                            product,
                            product_gone,
                        );
                    } else {
                        let decay = if seen > 0.0 { decay } else { 1.0 };
                        self.weights[at] = self.weights[at] * decay + seen;
                        self.sum[at] = self.sum[at] * decay + product;
                    }
                }
            }
        }
        if self.plan.demean {
            for place in 0..n * n {
                let (i, j) = (place / n, place % n);
                for l in 0..width {
                    let (a, b) = (i * width + l, j * width + l);
                    let at = place * width + l;
                    let new = self.now[a] * self.now_known[b];
                    if windowed {
                        let gone = self.gone[a] * self.gone_known[b];
                        exchange(&mut self.totals[at], &mut self.totals_rest[at], new, gone);
                    } else {
                        let seen = self.now_known[a] * self.now_known[b];
                        let decay = if seen > 0.0 { decay } else { 1.0 };
                        self.totals[at] = self.totals[at] * decay + new;
                    }
                }
            }
        }
        for i in 0..n {
            for j in 0..=i {
                for l in 0..width {
                    m[(i * n + j) * width + l] = self.pair(i, j, l);
                }
            }
        }
    }

    /// Takes products of means from mean products, in streams that are even.
    #[inline(always)]
    fn subtract_means<const W: usize>(&mut self, share: [f64; W], m: &mut [[f64; W]]) {
        let n = self.plan.n;
        if !self.plan.demean {
            return;
        }
        let windowed = !self.sum_rest.is_empty();
        // The means take the place of the returns, which are not needed any more.
        let means = self.now.as_chunks_mut::<W>().0;
        for (i, mean) in means.iter_mut().enumerate() {
            for l in 0..W {
                let mut total = self.total[i * W + l];
                if windowed {
                    total += self.total_rest[i * W + l];
                }
                mean[l] = total * share[l];
            }
        }
        for (i, row) in m.chunks_exact_mut(n).take(n).enumerate() {
            for (m, mean) in row[..i + 1].iter_mut().zip(means.iter()) {
                for l in 0..W {
                    m[l] -= means[i][l] * mean[l];
                }
            }
            for m in &mut row[i] {
                *m = m.max(0.0);
            }
        }
    }

    /// The covariance of one pair, j ≤ i, whether its stream is even or not; with the arithmetic of all others.
    #[inline(always)]
    fn pair(&self, i: usize, j: usize, l: usize) -> f64 {
        let (n, width) = (self.plan.n, self.width);
        let windowed = !self.sum_rest.is_empty();
        let at = (i * (i + 1) / 2 + j) * width + l;
        let weight = if self.even {
            self.weight[l]
        } else {
            self.weights[at]
        };
        let share = 1.0 / weight;
        let mut sum = self.sum[at];
        if windowed {
            sum += self.sum_rest[at];
        }
        let mut m = sum * share;
        if self.plan.demean {
            let (totals, rests, own, other) = if self.even {
                (&self.total, &self.total_rest, i, j)
            } else {
                (&self.totals, &self.totals_rest, i * n + j, j * n + i)
            };
            let mean = |place: usize| {
                let mut total = totals[place * width + l];
                if windowed {
                    total += rests[place * width + l];
                }
                total * share
            };
            m -= mean(own) * mean(other);
            if i == j {
                m = m.max(0.0);
            }
        }
        if weight >= self.least { m } else { f64::NAN }
    }

    /// One variance of stream `l`; NaN if it is not known.
    pub(super) fn variance(&self, l: usize, i: usize) -> f64 {
        self.pair(i, i, l)
    }

    /// The covariance of stream `l`, n×n; NaN where it is not known.
    pub(super) fn covariance(&self, l: usize, m: &mut [f64]) {
        let n = self.plan.n;
        for i in 0..n {
            for j in 0..=i {
                let x = self.pair(i, j, l);
                (m[i * n + j], m[j * n + i]) = (x, x);
            }
        }
    }
}

/// As part of a state.
impl Estimate {
    /// Numbers of one stream.
    pub(super) fn state_len(&self) -> usize {
        let tables = [
            &self.weights,
            &self.sum,
            &self.sum_rest,
            &self.totals,
            &self.totals_rest,
            &self.ring,
        ];
        1 + tables.iter().map(|x| x.len() / self.width).sum::<usize>()
    }

    /// Ticks, then the tables. The ring begins with the oldest tick.
    pub(super) fn save(&self, l: usize, to: &mut Writer<'_>) {
        let (n, width) = (self.plan.n, self.width);
        to.word(self.ticks[l]);
        for weight in self.weights.iter().skip(l).step_by(width) {
            to.number(if self.even { self.weight[l] } else { *weight });
        }
        for table in [&self.sum, &self.sum_rest] {
            for x in table.iter().skip(l).step_by(width) {
                to.number(*x);
            }
        }
        for (each, all) in [
            (&self.totals, &self.total),
            (&self.totals_rest, &self.total_rest),
        ] {
            for (place, x) in each.iter().skip(l).step_by(width).enumerate() {
                let own = place / n * width + l;
                to.number(if self.even { all[own] } else { *x });
            }
        }
        let oldest = self.oldest * n * width;
        let (young, old) = self.ring.split_at(oldest);
        for x in old.iter().chain(young).skip(l).step_by(width) {
            to.number(*x);
        }
    }

    pub(super) fn restore(&mut self, l: usize, from: &mut Reader<'_>) {
        let (n, width) = (self.plan.n, self.width);
        self.ticks[l] = from.word();
        if self.even {
            // For now: what is the same for all pairs is found out below.
            self.spread();
        }
        for table in [
            &mut self.weights,
            &mut self.sum,
            &mut self.sum_rest,
            &mut self.totals,
            &mut self.totals_rest,
        ] {
            for x in table.iter_mut().skip(l).step_by(width) {
                *x = from.number();
            }
        }
        let oldest = self.oldest * n * width;
        let (young, old) = self.ring.split_at_mut(oldest);
        for x in old.iter_mut().chain(young).skip(l).step_by(width) {
            *x = from.number();
        }
        self.gather();
    }

    /// From a weight for each pair to one for all pairs of a stream, if they are the same in every stream.
    fn gather(&mut self) {
        let (n, width) = (self.plan.n, self.width);
        let same = |x: f64, y: f64| x.to_bits() == y.to_bits();
        if let Memory::Window(window) = self.plan.memory {
            // A tick at which nothing was known has the same weight for all pairs, which is none.
            let seen = |l: usize| self.ticks[l].min(window as u64) as f64;
            let whole = (0..width).all(|l| same(self.weights[l], seen(l)));
            if !whole || self.ring.iter().any(|x| x.is_nan()) {
                return;
            }
        }
        if let Memory::Decay(decay) = self.plan.memory {
            // A tick of the warm-up at which nothing was known: pairs are then known later than the stream is ready.
            for (l, &ticks) in self.ticks.iter().enumerate() {
                let early = self.weights[l] < self.least;
                let seen = (0..ticks.min(self.plan.warm_up)).fold(0.0, |w, _| w * decay + 1.0);
                if early && !same(self.weights[l], seen) {
                    return;
                }
            }
        }
        for (at, &weight) in self.weights.iter().enumerate() {
            if !same(weight, self.weights[at % width]) {
                return;
            }
        }
        for table in [&self.totals, &self.totals_rest] {
            for (at, &total) in table.iter().enumerate() {
                let (place, l) = (at / width, at % width);
                if !same(total, table[place / n * n * width + l]) {
                    return;
                }
            }
        }
        for (each, all) in [
            (&self.totals, &mut self.total),
            (&self.totals_rest, &mut self.total_rest),
        ] {
            for (at, total) in all.iter_mut().enumerate() {
                let (i, l) = (at / width, at % width);
                *total = each[i * n * width + l];
            }
        }
        self.weight.copy_from_slice(&self.weights[..width]);
        self.even = true;
    }

    /// Whether numbers are what an estimate can have.
    pub(super) fn sound(&self, from: &mut Reader<'_>) -> bool {
        from.word();
        let mut sound = true;
        for _ in 0..self.weights.len() / self.width {
            let weight = from.number();
            sound &= weight.is_finite() && weight >= 0.0;
        }
        for table in [&self.sum, &self.sum_rest, &self.totals, &self.totals_rest] {
            for _ in 0..table.len() / self.width {
                sound &= from.number().is_finite();
            }
        }
        for _ in 0..self.ring.len() / self.width {
            let x = from.number();
            sound &= x.is_nan() || x.abs() <= MOST;
        }
        sound
    }
}
