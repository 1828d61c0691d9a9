//! Who stands in a table: every method, and those that depend on λ with more than one.

use super::method::{Method, Splitter};
use denise::Model;

/// λ·√n of PCP and IALM: the paper's for synthetic matrices and for its stocks, and what the LRS library's `run_alg.m`
/// takes.
pub const PAPER: f64 = 0.56;
const PAPER_STOCKS: f64 = 0.64;
pub const LRS: f64 = 1.0;

/// λ of a classical method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lambda {
    /// The method's own, or none.
    Own,
    /// This number over √n.
    OverRoot(f64),
    /// This number.
    Given(f64),
    /// The best for each matrix, chosen knowing L₀: no method, but a bound for one.
    Best,
}

impl Lambda {
    /// For matrices of size n; 0 is the method's own.
    fn value(self, n: usize) -> f64 {
        match self {
            Lambda::Own | Lambda::Best => 0.0,
            Lambda::OverRoot(x) => x / (n as f64).sqrt(),
            Lambda::Given(x) => x,
        }
    }
}

/// What is known about the matrices of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Matrices {
    /// Synthetic: L₀ is known.
    Synthetic,
    /// Windows of prices: nothing is.
    Stocks,
}

/// A method under a name, with its λ and the network for it.
#[derive(Clone)]
pub struct Contender<'a> {
    /// What the table calls it.
    pub label: String,
    /// The method.
    pub method: Method,
    /// Its λ.
    pub lambda: Lambda,
    /// The network, which also says how large the matrices are.
    pub model: &'a Model,
}

impl<'a> Contender<'a> {
    /// Named after the method and its λ.
    pub fn new(method: Method, lambda: Lambda, model: &'a Model) -> Contender<'a> {
        let name = method.label();
        let label = match lambda {
            Lambda::Own => name.to_owned(),
            Lambda::OverRoot(x) => format!("{name}, λ = {}/√n", short(x)),
            Lambda::Given(x) => format!("{name}, λ = {}", short(x)),
            Lambda::Best if method == Method::RpcaGd => format!("{name}, best α"),
            Lambda::Best => format!("{name}, best λ"),
        };
        Contender {
            label,
            method,
            lambda,
            model,
        }
    }

    /// Ready to run.
    pub fn splitter(&self) -> Result<Splitter<'a>, denise::Error> {
        let lambda = self.lambda.value(self.model.n());
        Splitter::new(self.method, self.model, lambda)
    }

    /// Whether it could be used: on matrices whose split is not known, and to do something.
    pub fn works(&self) -> bool {
        self.method != Method::Identity && self.lambda != Lambda::Best
    }
}

/// ".56", "1".
fn short(x: f64) -> String {
    let text = x.to_string();
    text.strip_prefix('0')
        .filter(|x| x.starts_with('.'))
        .map_or(text.clone(), str::to_owned)
}

/// The methods in their order. PCP and IALM have the paper's λ and the LRS library's, and PCP also the best for each
/// matrix where L₀ is known; with `lambda`, every classical method has that one instead.
pub fn contenders<'a>(
    methods: &[Method],
    model: &'a Model,
    matrices: Matrices,
    lambda: Option<f64>,
) -> Vec<Contender<'a>> {
    let paper = match matrices {
        Matrices::Synthetic => PAPER,
        Matrices::Stocks => PAPER_STOCKS,
    };
    let pursuit = [Lambda::OverRoot(paper), Lambda::OverRoot(LRS)];
    let of = |&method: &Method| {
        let lambdas = match (method, lambda) {
            (Method::Denise | Method::Identity | Method::Eigen, _) => vec![Lambda::Own],
            (_, Some(lambda)) => vec![Lambda::Given(lambda)],
            (Method::Fpcp | Method::RpcaGd, None) => vec![Lambda::Own],
            (Method::Ialm | Method::MaskedPcp, None) => pursuit.to_vec(),
            (Method::Pcp, None) => {
                let best = (matrices == Matrices::Synthetic).then_some(Lambda::Best);
                pursuit.into_iter().chain(best).collect()
            }
        };
        lambdas
            .into_iter()
            .map(move |lambda| Contender::new(method, lambda, model))
    };
    methods.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use denise::Options;

    fn labels(matrices: Matrices, lambda: Option<f64>) -> Vec<String> {
        let model = Model::builtin(&Options::size(5, 1)).unwrap();
        let all = contenders(&Method::COMPARED, &model, matrices, lambda);
        all.into_iter().map(|x| x.label).collect()
    }

    #[test]
    fn tables_have_both_lambdas() {
        let synthetic = labels(Matrices::Synthetic, None);
        assert_eq!(
            synthetic.join("; "),
            "Denise; L = M; eigen-truncation; PCP, λ = .56/√n; PCP, λ = 1/√n; PCP, best λ; \
             IALM, λ = .56/√n; IALM, λ = 1/√n; FPCP; RPCA-GD"
        );
        let stocks = labels(Matrices::Stocks, None);
        assert_eq!(
            stocks.join("; "),
            "Denise; L = M; eigen-truncation; PCP, λ = .64/√n; PCP, λ = 1/√n; \
             IALM, λ = .64/√n; IALM, λ = 1/√n; FPCP; RPCA-GD"
        );
        let given = labels(Matrices::Synthetic, Some(0.25));
        assert_eq!(
            given.join("; "),
            "Denise; L = M; eigen-truncation; PCP, λ = .25; IALM, λ = .25; FPCP, λ = .25; RPCA-GD, λ = .25"
        );
    }

    #[test]
    fn lambda_is_in_units_of_the_root() {
        assert_eq!(Lambda::OverRoot(LRS).value(25), 0.2);
        assert_eq!(Lambda::Given(0.3).value(25), 0.3);
        assert_eq!(Lambda::Own.value(25), 0.0);
    }
}
