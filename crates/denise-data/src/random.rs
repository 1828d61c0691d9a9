//! Numbers for tests.

/// A generator of numbers that depends on nothing but its seed, and gives the same ones on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator of this seed.
    pub fn new(seed: u64) -> Random {
        // Marsaglia's xorshift stays at zero if it begins there.
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// From 0 to less than 1, in steps of 2⁻²⁴: `f32` has these numbers, too.
    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 40) as f64 / f64::from(1 << 24)
    }

    /// From −1 to less than 1.
    pub fn signed(&mut self) -> f64 {
        2.0 * self.uniform() - 1.0
    }

    /// Nearly normal, of mean 0 and variance 1, without functions that round differently from machine to machine.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    /// A number less than `n`, which must not be zero.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_means_and_bounds() {
        for seed in [0, 1, u64::MAX] {
            let mut random = Random::new(seed);
            let count = 10_000;
            let mut mean = |mut draw: Box<dyn FnMut(&mut Random) -> f64>| {
                (0..count).map(|_| draw(&mut random)).sum::<f64>() / f64::from(count)
            };
            let uniform = mean(Box::new(|random| {
                let x = random.uniform();
                assert!((0.0..1.0).contains(&x) && f64::from(x as f32) == x);
                x
            }));
            assert!((uniform - 0.5).abs() < 0.02, "{uniform}");
            let square = mean(Box::new(|random| random.normal().powi(2)));
            assert!((square - 1.0).abs() < 0.06, "{square}");
            let below = mean(Box::new(|random| random.below(3) as f64));
            assert!((below - 1.0).abs() < 0.05, "{below}");
        }
    }

    #[test]
    fn seeds_give_other_numbers() {
        let first = |seed| Random::new(seed).uniform();
        assert_eq!(first(3), first(3));
        assert_ne!(first(3), first(4));
    }
}
