//! What robustness is measured on, and how it is printed: for `denise eval` and `denise results`.

use super::finetune::Settings;
use super::input::{stock_windows, windows_every};
use super::model::Model;
use crate::evaluate::{Format, Pace};
use crate::robustness::{self, Open, Panel, Plan, Robustness, Stocks, order_of};
use denise_data::files::prices::{self, Kind, Missing, Table, Windows};
use denise_data::generator::Pairs;
use denise_data::random::Random;
use std::error::Error;
use std::path::{Path, PathBuf};

/// A table of many assets.
#[derive(clap::Args, Clone, Debug)]
pub struct Assets {
    /// A CSV table of prices of many assets: how L depends on their order is measured on random choices of them, too.
    #[arg(long, value_name = "FILE")]
    panel: Option<PathBuf>,
    /// How many assets of it to choose, and the rank of L.
    #[arg(long, value_name = "N:K", value_delimiter = ',', default_value = "50:5,100:10", value_parser = size)]
    panel_size: Vec<(usize, usize)>,
}

/// The most matrices of each kind: PCP takes milliseconds for each.
pub const MOST: usize = 2000;
/// Random choices of assets, of up to so many; of more there are fewer choices, for they fill the memory.
const CHOICES: usize = 10;
const SMALL: usize = 100;
/// Days in a window, and from one to the next.
const WINDOW: usize = 100;
const STEP: usize = 20;

fn size(text: &str) -> Result<(usize, usize), String> {
    let numbers = text
        .split_once(':')
        .and_then(|(n, k)| Some((n.parse().ok()?, k.parse().ok()?)));
    match numbers {
        Some((n, k)) if 0 < k && k < n => Ok((n, k)),
        _ => Err("must be two numbers as 50:5, the second less than the first".into()),
    }
}

/// Measures the network, with `count` matrices of each kind, and on windows of the prices.
pub fn measure(
    model: &Model,
    prices: Option<&Path>,
    assets: &Assets,
    pairs: Pairs,
    count: usize,
    seed: u64,
    pace: Pace,
) -> Result<Robustness, Box<dyn Error>> {
    let open: Open<'_> = &|options| model.open_for(options);
    let stacks = match prices {
        Some(path) => Some((stock_windows(path)?, windows_every(path, 1)?)),
        None => None,
    };
    let settings = Settings::default();
    let most = pace.of(usize::MAX, 40);
    let stocks = match &stacks {
        Some((some, daily)) => Some(Stocks {
            n: some.n,
            windows: last(settings.halves(some)?.1, some.n, most),
            daily: last(settings.halves(daily)?.1, daily.n, most),
        }),
        None => None,
    };
    robustness::measure(&Plan {
        open,
        pairs,
        count: count.min(MOST),
        seed,
        stocks,
        panels: &assets.panels(seed)?,
    })
}

/// The last `most` matrices of size n.
fn last(windows: &[f64], n: usize, most: usize) -> &[f64] {
    let before = (windows.len() / (n * n)).saturating_sub(most);
    &windows[before * n * n..]
}

impl Assets {
    /// Whether there is a table.
    pub fn given(&self) -> bool {
        self.panel.is_some()
    }

    /// The table.
    pub fn table(&self) -> Result<Option<Table>, Box<dyn Error>> {
        let Some(path) = &self.panel else {
            return Ok(None);
        };
        Ok(Some(prices::read(path, Missing::Refuse)?))
    }

    /// How many assets to take, and the rank of L.
    pub fn sizes(&self, table: &Table) -> Result<Vec<(usize, usize)>, Box<dyn Error>> {
        let all = table.names.len();
        for &(n, k) in &self.panel_size {
            if n > all {
                return Err(
                    format!("--panel-size {n}:{k}: the table has {all} assets only").into(),
                );
            }
        }
        Ok(self.panel_size.clone())
    }

    /// The last windows of random assets of the table.
    fn panels(&self, seed: u64) -> Result<Vec<Panel>, Box<dyn Error>> {
        let Some(table) = self.table()? else {
            return Ok(Vec::new());
        };
        let all = table.names.len();
        let mut panels = Vec::new();
        for (n, k) in self.sizes(&table)? {
            let mut random = Random::new(seed);
            let mut windows = Vec::new();
            let choices = CHOICES * SMALL * SMALL / (n * n).max(SMALL * SMALL);
            for _ in 0..choices.max(1) {
                let chosen = &order_of(all, &mut random)[..n];
                windows.extend(last_windows(&table, chosen)?);
            }
            panels.push(Panel { n, k, windows });
        }
        Ok(panels)
    }
}

/// Correlations of some columns: the last 23 % of the windows.
fn last_windows(table: &Table, columns: &[usize]) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut part = table.clone();
    part.names = columns
        .iter()
        .map(|&column| table.names[column].clone())
        .collect();
    let rows = table.values.chunks_exact(table.names.len());
    part.values = rows
        .flat_map(|row| columns.iter().map(|&column| row[column]))
        .collect();
    let how = Windows {
        window: WINDOW,
        step: STEP,
        kind: Kind::Correlation,
        input: prices::Input::Prices,
        days: prices::Days::All,
    };
    let all = prices::windows(&part, &how)?;
    Ok(Settings::default().halves(&all)?.1.to_vec())
}

/// All tables, in any format.
pub fn print(measured: &Robustness, format: Format) -> Result<String, Box<dyn Error>> {
    if format == Format::Json {
        let all = serde_json::json!({"robustness": measured});
        return Ok(serde_json::to_string_pretty(&all)? + "\n");
    }
    let part = |part: robustness::Part| {
        let head = match format {
            Format::Text => format!("{}\n{}\n\n", part.title, part.text),
            Format::Markdown => format!("## {}\n\n{}\n\n", part.title, part.text),
            _ => String::new(),
        };
        head + &part.table.write(format)
    };
    let parts: Vec<String> = measured.parts().into_iter().map(part).collect();
    Ok(parts.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_two_numbers() {
        assert_eq!(size("50:5"), Ok((50, 5)));
        for wrong in ["50", "5:5", "5:0", "a:b", "5:", ""] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    /// The windows of the chosen columns are those of a table that has no other.
    #[test]
    fn chosen_columns_keep_their_returns() {
        let mut random = Random::new(3);
        let rows: Vec<[f64; 3]> = (0..600)
            .map(|_| [(); 3].map(|()| 1.0 + random.uniform()))
            .collect();
        let text = |columns: &[usize]| {
            let line = |row: &[f64; 3]| {
                let cells: Vec<String> = columns.iter().map(|&at| row[at].to_string()).collect();
                cells.join(",") + "\n"
            };
            let names: Vec<&str> = columns.iter().map(|&at| ["a", "b", "c"][at]).collect();
            names.join(",") + "\n" + &rows.iter().map(line).collect::<String>()
        };
        let table = |columns: &[usize]| {
            let path = Path::new("prices.csv");
            prices::parse(path, text(columns).into_bytes(), Missing::Refuse).unwrap()
        };
        let chosen = last_windows(&table(&[0, 1, 2]), &[2, 0]).unwrap();
        assert_eq!(chosen, last_windows(&table(&[2, 0]), &[0, 1]).unwrap());
        // 599 returns are 25 windows, of which 19 are before these.
        assert_eq!(chosen.len() / 4, 6);
    }
}
