//! What the tables mean, for whoever reads only one paragraph. Who is ahead of whom is read off the tables.

use crate::evaluate::Row;

const NETWORK: &str = "Denise";
const NOTHING: &str = "L = M";
const EIGEN: &str = "eigen-truncation";
const PURSUIT: &str = "PCP, λ = 1/√n";
const BEST: &str = "PCP, best λ";
/// A method recovers L if this share of its matrices is exact, or more.
const MOST: f64 = 0.5;

/// Of tables, each with a name.
pub(super) fn of(tables: &[(&str, &Vec<Row>)]) -> String {
    let each = |say: &dyn Fn(&[Row]) -> Vec<f64>| {
        let place = |(name, rows): &(&str, &Vec<Row>)| format!("{} ({name})", list(&say(rows)));
        let places: Vec<String> = tables.iter().map(place).collect();
        places.join(" and at ")
    };
    let behind: Vec<&str> = methods(tables[0].1)
        .into_iter()
        .filter(|&method| ![NETWORK, NOTHING, EIGEN].contains(&method))
        .filter(|&method| {
            let ahead = |rows: &[Row], free| !ahead(rows, method, free).is_empty();
            !tables
                .iter()
                .any(|(_, rows)| ahead(rows, NOTHING) || ahead(rows, EIGEN))
        })
        .collect();
    let searched = tables[0].1.iter().find(|row| row.method == BEST);
    let searched = searched.map_or(0, |row| row.matrices);
    let pursuit = each(&|rows| ahead(rows, PURSUIT, EIGEN));
    let network = each(&|rows| ahead(rows, NETWORK, BEST));
    let exact = each(&|rows| recovered(rows, NETWORK));
    let others: Vec<String> = methods(tables[0].1)
        .into_iter()
        .filter(|&method| method != NETWORK)
        .filter(|method| {
            tables
                .iter()
                .any(|(_, rows)| !recovered(rows, method).is_empty())
        })
        .map(|method| format!("{method}, at {}", each(&|rows| recovered(rows, method))))
        .collect();
    let others = match others[..] {
        [] => "No other row of these tables does.".to_owned(),
        _ => format!("Of the other rows, these do: {}.", others.join("; ")),
    };
    format!(
        "\
A row means more beside those that cost nothing: L = M does nothing at all, and eigen-truncation does what every \
library of linear algebra can.\n\
PCP and IALM stand here twice: with the paper's λ (.56/√n, .64/√n for its stocks), chosen there so that L has rank \
3, and with 1/√n, which the LRS library's `run_alg.m` takes and with which L has a higher rank.\n\
*{BEST}* is no method but a bound for all ways to choose λ: for each of the first {searched} matrices the λ \
with the smallest error of L, found knowing L₀ (λ√n from .7 to 4 in steps of √2, further out where the end is best, \
then the step halved four times around the best).\n\n\
Larger errors of L than both L = M and eigen-truncation, at every s(S₀) of Tables 1 and 2: {}.\n\
*{PURSUIT}* has a smaller mean error of L than eigen-truncation at {pursuit}.\n\
Denise has a smaller one than *{BEST}* at {network}.\n\
Denise recovers L (*exact*: an error below 0.001) for most matrices at {exact}.\n\
{others}\n\
Where two entries in five are wrong (s(S₀) = .60), Denise does not recover L either, it is only nearer.\n",
        behind.join("; ")
    )
}

/// All methods, in the order of the table.
fn methods(rows: &[Row]) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for row in rows {
        if !all.contains(&row.method.as_str()) {
            all.push(&row.method);
        }
    }
    all
}

/// The sparsities at which the first method has a smaller mean error of L than the second.
fn ahead(rows: &[Row], first: &str, second: &str) -> Vec<f64> {
    let of = |method: &str| -> Vec<&Row> { rows.iter().filter(|x| x.method == method).collect() };
    let pairs = of(first).into_iter().zip(of(second));
    pairs
        .filter(|(a, b)| a.error_l.mean < b.error_l.mean)
        .map(|(a, _)| a.sparsity)
        .collect()
}

/// The sparsities at which a method recovers L.
fn recovered(rows: &[Row], method: &str) -> Vec<f64> {
    let exact = |row: &&Row| row.method == method && row.exact >= MOST;
    rows.iter().filter(exact).map(|row| row.sparsity).collect()
}

/// "s(S₀) = .80, .90, .95".
fn list(sparsities: &[f64]) -> String {
    let text = |x: &f64| format!("{x:.2}").trim_start_matches('0').to_owned();
    let all: Vec<String> = sparsities.iter().map(text).collect();
    match all[..] {
        [] => "no s(S₀)".into(),
        _ => format!("s(S₀) = {}", all.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Spread;

    fn row(method: &str, sparsity: f64, mean: f64, exact: f64) -> Row {
        let spread = Spread {
            mean,
            ..Spread::default()
        };
        Row {
            distribution: "normal".into(),
            sparsity,
            amplitude: "1".into(),
            method: method.into(),
            matrices: 1,
            rank: spread,
            sparsity_of_s: spread,
            error_l: spread,
            error_s: spread,
            exact,
            seconds: None,
            errors: Vec::new(),
        }
    }

    /// The sentences follow the rows, and change with them.
    #[test]
    fn what_is_said_is_what_was_measured() {
        let mut rows = vec![
            row(NETWORK, 0.6, 0.06, 0.0),
            row(NOTHING, 0.6, 0.2, 0.0),
            row(EIGEN, 0.6, 0.1, 0.0),
            row(PURSUIT, 0.6, 0.14, 0.0),
            row(BEST, 0.6, 0.05, 0.0),
            row("FPCP", 0.6, 0.4, 0.0),
            row(NETWORK, 0.9, 0.001, 0.9),
            row(NOTHING, 0.9, 0.1, 0.0),
            row(EIGEN, 0.9, 0.05, 0.0),
            row(PURSUIT, 0.9, 0.02, 0.1),
            row(BEST, 0.9, 0.01, 0.2),
            row("FPCP", 0.9, 0.4, 0.0),
        ];
        let text = of(&[("U normal", &rows)]);
        for part in [
            "of Tables 1 and 2: FPCP.",
            "than eigen-truncation at s(S₀) = .90 (U normal).",
            "than *PCP, best λ* at s(S₀) = .90 (U normal).",
            "for most matrices at s(S₀) = .90 (U normal).\nNo other row",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        rows[11] = row("FPCP", 0.9, 0.01, 0.6);
        let text = of(&[("U normal", &rows)]);
        assert!(text.contains("of Tables 1 and 2: ."), "{text}");
        assert!(
            text.contains("these do: FPCP, at s(S₀) = .90 (U normal)."),
            "{text}"
        );
    }
}
