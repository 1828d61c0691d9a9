//! Which dense layers a network has.

/// A kind of network to train.
#[derive(Clone, Copy, Debug, Default, PartialEq, clap::ValueEnum)]
pub enum Topology {
    /// The unrolled network, which libdenise is built around.
    #[default]
    Unrolled,
    /// The paper's dense network: 20h, 4h, 4h and 4h hidden values for h = n(n+1)/2 inputs.
    Topo0,
    /// A small dense network: 2h, 2h and 2h.
    Mlp,
}

impl Topology {
    /// The number of values between layers, from h(M) to U. None for the unrolled network.
    pub fn widths(self, n: usize, k: usize) -> Option<Vec<usize>> {
        let h = n * (n + 1) / 2;
        let hidden: &[usize] = match self {
            Topology::Unrolled => return None,
            Topology::Topo0 => &[20, 4, 4, 4],
            Topology::Mlp => &[2, 2, 2],
        };
        let hidden = hidden.iter().map(|times| times * h);
        Some([h].into_iter().chain(hidden).chain([n * k]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topo0_has_the_papers_widths() {
        let widths = Topology::Topo0.widths(20, 3).unwrap();
        assert_eq!(widths, [210, 4200, 840, 840, 840, 60]);
    }
}
