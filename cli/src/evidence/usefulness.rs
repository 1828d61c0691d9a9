//! What `evidence/usefulness.py` has measured: portfolios and likelihoods with Σ = UUᵀ + diag(d) on returns that came
//! later. Its JSON is read here, and shown.

use super::text::two_figures;
use crate::evaluate::Table;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

/// The file, as far as it is shown.
#[derive(Clone, Debug, Deserialize)]
pub struct Usefulness {
    pub command: String,
    pub seed: u64,
    pub date: String,
    pub machine: Machine,
    /// Panels that could not be had, with the reason.
    pub left_out: Vec<String>,
    pub panels: Vec<Panel>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Machine {
    pub cpu: String,
    pub cores: usize,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Panel {
    pub name: String,
    pub windows: Vec<Window>,
}

/// A length of the window of estimation.
#[derive(Clone, Debug, Deserialize)]
pub struct Window {
    /// In rows of the panel: days, or months.
    pub window: usize,
    /// The mean number of assets.
    pub assets: f64,
    pub portfolios: Portfolios,
    pub log_likelihood: Likelihoods,
}

/// Of minimum variance.
#[derive(Clone, Debug, Deserialize)]
pub struct Portfolios {
    /// Weights of any sign.
    pub free: Portfolio,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Portfolio {
    pub methods: BTreeMap<String, Held>,
    /// Volatilities, by each other.
    pub ratios: Vec<Ratio>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Held {
    /// Of a year.
    pub volatility: f64,
    /// At a rebalancing.
    pub turnover: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Ratio {
    pub method: String,
    pub to: String,
    pub ratio: f64,
    /// 95 %.
    pub interval: [f64; 2],
}

/// Of the returns of a day.
#[derive(Clone, Debug, Deserialize)]
pub struct Likelihoods {
    pub differences: Vec<Difference>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Difference {
    pub method: String,
    pub to: String,
    pub difference: f64,
    /// 95 %.
    pub interval: [f64; 2],
}

/// What others are compared with.
pub const REFERENCE: &str = "Ledoit-Wolf";
/// The rank that the page shows of Denise beside others of the same rank.
pub const RANK: usize = 3;
/// Ranks beside the reference.
const RANKS: [usize; 3] = [1, 3, 5];

/// Other methods, as the page and as the file call them; # is the rank.
const RIVALS: [(&str, &str); 9] = [
    ("eigen-truncation, same k", "eigen #"),
    ("principal factors, same k", "principal #"),
    ("sample covariance", "sample"),
    ("Ledoit–Wolf", REFERENCE),
    ("Ledoit–Wolf of correlations", "Ledoit-Wolf, corr."),
    ("OAS", "OAS"),
    ("QIS", "QIS"),
    ("QIS of correlations", "QIS, corr."),
    ("equal weights", "equal weights"),
];

/// In how many cases an interval excludes chance, and which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    pub better: usize,
    pub worse: usize,
    pub cases: usize,
}

impl Usefulness {
    /// Reads the file.
    pub fn read(path: &Path) -> Result<Usefulness, Box<dyn Error>> {
        let name = path.display();
        let text = std::fs::read_to_string(path).map_err(|e| format!("{name}: {e}"))?;
        serde_json::from_str(&text).map_err(|e| format!("{name}: {e}").into())
    }

    fn windows(&self) -> impl Iterator<Item = (&Panel, &Window)> {
        let panels = self.panels.iter();
        panels.flat_map(|panel| panel.windows.iter().map(move |window| (panel, window)))
    }

    /// Volatilities of one method beside those of another.
    pub fn standing(&self, method: &str, to: &str) -> Standing {
        let mut standing = Standing::default();
        for (_, window) in self.windows() {
            if let Some(ratio) = window.portfolios.free.ratio(method, to) {
                let [low, high] = ratio.interval;
                standing.cases += 1;
                standing.better += usize::from(high < 1.0);
                standing.worse += usize::from(low > 1.0);
            }
        }
        standing
    }

    /// The method whose volatilities are the smallest, by the geometric mean of the ratios to the reference over the
    /// cases that all methods have; the reference itself may be it.
    pub fn best(&self) -> String {
        let mut sums: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
        for ratio in self.windows().flat_map(|(_, x)| &x.portfolios.free.ratios) {
            if ratio.to == REFERENCE {
                let (sum, count) = sums.entry(&ratio.method).or_default();
                *sum += ratio.ratio.ln();
                *count += 1;
            }
        }
        let cases = self.windows().count();
        let all = sums.into_iter().filter(|(_, (_, count))| *count == cases);
        let best = all.min_by(|(_, (a, _)), (_, (b, _))| a.total_cmp(b));
        match best {
            Some((method, (sum, _))) if sum < 0.0 => method.to_owned(),
            _ => REFERENCE.to_owned(),
        }
    }

    /// A row for each other method: the geometric mean over all cases of the volatility of Denise by its own, and how
    /// often Denise is better and worse beyond chance.
    pub fn overall(&self) -> Table {
        let mut table = Table::new(&["by", "Denise k = 1", "k = 3", "k = 5"]);
        for (label, to) in RIVALS {
            let mut cells = vec![label.to_owned()];
            for k in RANKS {
                let (method, to) = (format!("Denise {k}"), to.replace('#', &k.to_string()));
                let Standing {
                    better,
                    worse,
                    cases,
                } = self.standing(&method, &to);
                let logarithms = self
                    .windows()
                    .filter_map(|(_, x)| x.portfolios.free.ratio(&method, &to))
                    .map(|x| x.ratio.ln());
                let mean = (logarithms.sum::<f64>() / cases.max(1) as f64).exp();
                cells.push(match cases {
                    0 => "–".to_owned(),
                    _ => format!("{mean:.3}: {better} better, {worse} worse of {cases}"),
                });
            }
            table.push(cells);
        }
        table
    }

    /// A row for each panel and window.
    pub fn table(&self) -> Table {
        let mut table = Table::new(&[
            "panel, window",
            "assets",
            "Ledoit–Wolf",
            "Denise k = 1",
            "k = 3",
            "k = 5",
            "k = 3 by eigen",
            "by principal factors",
            "turnover (Ledoit–Wolf)",
            "log-likelihood",
        ]);
        for (panel, window) in self.windows() {
            let free = &window.portfolios.free;
            let own = format!("Denise {RANK}");
            let held = |name: &str| free.methods.get(name);
            let ratio = |method: &str, to: &str| match free.ratio(method, to) {
                Some(x) => marked(format!("{:.3}", x.ratio), x.interval, 1.0, true),
                None => "–".to_owned(),
            };
            let number = |x: Option<f64>| x.map_or("–".to_owned(), two_figures);
            let volatility = held(REFERENCE).map(|x| x.volatility);
            let turnover = |name: &str| number(held(name).map(|x| x.turnover));
            let mut cells = vec![
                format!("{}, {}", panel.name, window.window),
                format!("{:.0}", window.assets),
                volatility.map_or("–".to_owned(), |x| format!("{:.1} %", 100.0 * x)),
            ];
            cells.extend(RANKS.map(|k| ratio(&format!("Denise {k}"), REFERENCE)));
            cells.extend(["eigen", "principal"].map(|x| ratio(&own, &format!("{x} {RANK}"))));
            cells.push(format!("{} ({})", turnover(&own), turnover(REFERENCE)));
            let differences = window.log_likelihood.differences.iter();
            let found = differences
                .filter(|x| x.method == own && x.to == REFERENCE)
                .map(|x| marked(format!("{:+.2}", x.difference), x.interval, 0.0, false))
                .next();
            cells.push(found.unwrap_or("–".to_owned()));
            table.push(cells);
        }
        table
    }
}

impl Portfolio {
    fn ratio(&self, method: &str, to: &str) -> Option<&Ratio> {
        let wanted = |x: &&Ratio| x.method == method && x.to == to;
        self.ratios.iter().find(wanted)
    }
}

/// With the sign of who is better, if the interval excludes that nobody is.
fn marked(text: String, [low, high]: [f64; 2], nothing: f64, less_is_better: bool) -> String {
    match (high < nothing, low > nothing) {
        (false, false) => text,
        (less, _) if less == less_is_better => format!("● {text}"),
        _ => format!("**▲ {text}**"),
    }
}

#[cfg(test)]
pub mod testing {
    use super::*;

    /// A panel whose ratios of Denise 3 to the reference are these, with an interval of ± .01.
    pub fn with(ratios: &[f64]) -> Usefulness {
        let window = |ratio: &f64| {
            format!(
                r#"{{"window": 252, "assets": 20.0, "portfolios": {{
                     "free": {{"methods": {{"Ledoit-Wolf": {{"volatility": 0.12, "turnover": 0.5}},
                                            "Denise 3": {{"volatility": 0.1, "turnover": 0.25}}}},
                               "ratios": [{{"method": "Denise 3", "to": "Ledoit-Wolf", "ratio": {ratio},
                                            "interval": [{}, {}]}}]}},
                     "long": {{"methods": {{}}, "ratios": []}}}},
                   "log_likelihood": {{"methods": {{}}, "differences": [
                     {{"method": "Denise 3", "to": "Ledoit-Wolf", "difference": -1.5, "interval": [-2, -1]}}]}}}}"#,
                ratio - 0.01,
                ratio + 0.01
            )
        };
        let windows: Vec<String> = ratios.iter().map(window).collect();
        let text = format!(
            r#"{{"command": "python usefulness.py", "seed": 1, "date": "2026-01-31",
                 "machine": {{"cpu": "x", "cores": 2}}, "left_out": [], "versions": {{}},
                 "panels": [{{"name": "some", "rows": 5, "windows": [{}]}}]}}"#,
            windows.join(",")
        );
        serde_json::from_str(&text).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::with;
    use super::*;
    use crate::evaluate::Format;

    #[test]
    fn what_chance_can_explain_is_not_marked() {
        let all = with(&[0.9, 0.995, 1.1]);
        let standing = all.standing("Denise 3", REFERENCE);
        assert_eq!((standing.better, standing.worse, standing.cases), (1, 1, 3));
        assert_eq!(all.standing("Denise 5", REFERENCE).cases, 0);
        let text = all.table().write(Format::Markdown);
        for cells in ["| – | ● 0.900 |", "| – | 0.995 |", "| – | **▲ 1.100** |"] {
            assert!(text.contains(cells), "{text}");
        }
        // A larger likelihood is better.
        assert!(text.contains("| 0.25 (0.50) | **▲ -1.50** |"), "{text}");
        let overall = all.overall().write(Format::Markdown);
        let mean = (0.9 * 0.995 * 1.1_f64).cbrt();
        let row = format!("| Ledoit–Wolf | – | {mean:.3}: 1 better, 1 worse of 3 | – |");
        assert!(overall.contains(&row), "{overall}");
        assert_eq!(with(&[0.9]).best(), "Denise 3");
        assert_eq!(with(&[1.1]).best(), REFERENCE);
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = Usefulness::read(Path::new("no such file.json")).unwrap_err();
        assert!(error.to_string().starts_with("no such file.json: "));
    }
}
