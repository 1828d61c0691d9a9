//! Who stands beside Denise: every method with every λ that somebody might ask for.

use super::scenario::Theme;
use crate::evaluate::{Contender, LRS, Lambda, Method, PAPER};
use denise::Model;
use serde::Serialize;

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// What the table calls it.
    pub head: &'static str,
    /// The network in its careful form, rather than `method`.
    pub careful: bool,
    pub method: Method,
    pub lambda: Lambda,
}

/// Whether somebody who does not know the answer could use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The network itself, in another form.
    Own,
    /// A method as people use it.
    Challenger,
    /// With a parameter chosen knowing L₀: no method, but a bound for one.
    Bound,
}

const fn column(head: &'static str, method: Method, lambda: Lambda) -> Column {
    Column {
        head,
        careful: false,
        method,
        lambda,
    }
}

/// All, in the order of the table.
pub const ALL: [Column; 13] = [
    Column {
        head: "careful",
        careful: true,
        method: Method::Denise,
        lambda: Lambda::Own,
    },
    column("eigen", Method::Eigen, Lambda::Own),
    column("PCP .56", Method::Pcp, Lambda::OverRoot(PAPER)),
    column("PCP 1", Method::Pcp, Lambda::OverRoot(LRS)),
    column("PCP best", Method::Pcp, Lambda::Best),
    column("IALM .56", Method::Ialm, Lambda::OverRoot(PAPER)),
    column("IALM 1", Method::Ialm, Lambda::OverRoot(LRS)),
    column("IALM best", Method::Ialm, Lambda::Best),
    column("FPCP", Method::Fpcp, Lambda::Own),
    column("FPCP best", Method::Fpcp, Lambda::Best),
    column("RPCA-GD", Method::RpcaGd, Lambda::Own),
    column("RPCA-GD best", Method::RpcaGd, Lambda::Best),
    column("L = M", Method::Identity, Lambda::Own),
];

/// The network in both forms, for one size.
pub struct Networks {
    pub plain: Model,
    pub careful: Model,
}

impl Column {
    /// What it is for the reader, and for counting.
    pub fn role(&self) -> Role {
        match (self.careful, self.lambda) {
            (true, _) => Role::Own,
            (false, Lambda::Best) => Role::Bound,
            (false, _) => Role::Challenger,
        }
    }

    /// Ready for matrices of a theme; none if it cannot do them.
    pub fn contender<'a>(&self, theme: Theme, networks: &'a Networks) -> Option<Contender<'a>> {
        let method = match self.method {
            method if theme != Theme::Missing => method,
            Method::Denise => Method::Denise,
            Method::Pcp => Method::MaskedPcp,
            _ => return None,
        };
        if self.careful {
            let label = format!("{}, careful", Method::Denise.label());
            return Some(Contender {
                label,
                ..Contender::new(method, self.lambda, &networks.careful)
            });
        }
        Some(Contender::new(method, self.lambda, &networks.plain))
    }

    /// Whether it takes milliseconds rather than microseconds, and how many times over.
    pub fn speed(&self) -> Speed {
        match (self.lambda, self.method) {
            (Lambda::Best, _) => Speed::Searched,
            (_, Method::Pcp | Method::Ialm) => Speed::Slow,
            _ => Speed::Fast,
        }
    }
}

/// How many matrices a column can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speed {
    Fast,
    Slow,
    /// Slow, and a dozen times over.
    Searched,
}

#[cfg(test)]
mod tests {
    use super::*;
    use denise::Options;

    #[test]
    fn with_missing_entries_only_those_that_take_them_stand_there() {
        let open = |careful| {
            Model::builtin(&Options {
                careful,
                missing: true,
                ..Options::size(5, 1)
            })
            .unwrap()
        };
        let networks = Networks {
            plain: open(false),
            careful: open(true),
        };
        let labels = |theme| -> Vec<String> {
            let all = ALL.iter().filter_map(|x| x.contender(theme, &networks));
            all.map(|x| x.label).collect()
        };
        assert_eq!(
            labels(Theme::Missing).join("; "),
            "Denise, careful; masked PCP, λ = .56/√n; masked PCP, λ = 1/√n; masked PCP, best λ"
        );
        let paper = labels(Theme::Paper);
        assert_eq!(paper.len(), ALL.len());
        assert_eq!(paper[11], "RPCA-GD, best α");
    }

    #[test]
    fn who_knows_the_truth_is_a_bound() {
        let count = |role| ALL.iter().filter(|x| x.role() == role).count();
        let counts = [Role::Own, Role::Challenger, Role::Bound].map(count);
        assert_eq!(counts, [1, 8, 4]);
    }
}
