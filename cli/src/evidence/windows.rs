//! Windows of a table of prices, in pairs: one, and the one that begins a day later.

use denise_data::files::prices::{self, Days, Input, Kind, Missing, Table, Windows};
use std::error::Error;
use std::path::Path;

/// Days in a window.
pub const WINDOW: usize = 100;
/// The share of the days on which choices may have been made; what is reported happened later.
const EARLIER: f64 = 0.6;

/// The later days of a table of prices.
pub struct Panel {
    /// What tables call it.
    pub name: String,
    table: Table,
}

/// Pairs of windows of some assets.
pub struct Pairs {
    /// Assets.
    pub n: usize,
    /// The day on which the first window of each pair begins.
    pub days: Vec<usize>,
    /// Correlations of the first windows.
    pub today: Vec<f64>,
    /// Correlations of the windows that begin a day later.
    pub tomorrow: Vec<f64>,
}

impl Panel {
    /// Reads a table, in which prices may be missing, and forgets its earlier days.
    pub fn read(path: &Path) -> Result<Panel, Box<dyn Error>> {
        let mut table = prices::read(path, Missing::Keep)?;
        let n = table.names.len();
        let days = table.values.len() / n.max(1);
        let earlier = (EARLIER * days as f64) as usize;
        table.values.drain(..earlier * n);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.split(['.', '_']).next().unwrap_or_default().to_owned();
        Ok(Panel { name, table })
    }

    /// How many assets it has.
    pub fn assets(&self) -> usize {
        self.table.names.len()
    }

    /// Its first n assets.
    fn first(&self, n: usize) -> Table {
        let mut table = self.table.clone();
        table.names.truncate(n);
        let rows = self.table.values.chunks_exact(self.assets());
        table.values = rows.flat_map(|row| &row[..n]).copied().collect();
        table
    }

    /// Daily returns of its first n assets; NaN is not known.
    pub fn returns(&self, n: usize) -> Result<Vec<f64>, Box<dyn Error>> {
        Ok(prices::returns(&self.first(n), Input::Prices)?)
    }

    /// At most `most` pairs of windows of its first n assets, spread evenly over the days.
    ///
    /// An entry is computed over the days that both assets have. Windows with an entry of too few days are left out:
    /// not every method takes them.
    pub fn pairs(&self, n: usize, most: usize) -> Result<Pairs, Box<dyn Error>> {
        let how = Windows {
            window: WINDOW,
            step: 1,
            kind: Kind::Correlation,
            input: Input::Prices,
            days: Days::common(WINDOW),
        };
        let all = prices::windows(&self.first(n), &how)?.values;
        let size = n * n;
        let complete: Vec<bool> = all
            .chunks_exact(size)
            .map(|m| m.iter().all(|x| x.is_finite()))
            .collect();
        let mut days: Vec<usize> = (1..complete.len())
            .filter(|&day| complete[day - 1] && complete[day])
            .map(|day| day - 1)
            .collect();
        let stride = days.len().div_ceil(most).max(1);
        days = days.into_iter().step_by(stride).collect();
        if days.is_empty() {
            return Err(format!("{}: no two complete windows in a row", self.name).into());
        }
        let of = |later: usize| -> Vec<f64> {
            let windows = days.iter().map(|day| (day + later) * size);
            windows
                .flat_map(|at| &all[at..at + size])
                .copied()
                .collect()
        };
        let (today, tomorrow) = (of(0), of(1));
        Ok(Pairs {
            n,
            days,
            today,
            tomorrow,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use denise_data::random::Random;

    /// Prices of `n` assets, one of which has none for some days in the middle of the later part.
    fn panel(n: usize, days: usize, gap: std::ops::Range<usize>) -> Panel {
        let mut random = Random::new(1);
        let mut text = (0..n)
            .map(|i| format!("a{i}"))
            .collect::<Vec<_>>()
            .join(",")
            + "\n";
        for day in 0..days {
            let cell = |i: usize| match i == 0 && gap.contains(&day) {
                true => String::new(),
                false => (1.0 + random.uniform()).to_string(),
            };
            text += &((0..n).map(cell).collect::<Vec<_>>().join(",") + "\n");
        }
        let path = std::env::temp_dir().join(format!("denise_{}_{days}.csv", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let panel = Panel::read(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        panel
    }

    #[test]
    fn pairs_are_a_day_apart_and_complete() {
        // The later days are 400 of 1,000, with 399 returns and 300 windows.
        let panel = panel(3, 1000, 700..850);
        assert_eq!((panel.name.as_str(), panel.assets()), ("denise", 3));
        let pairs = panel.pairs(3, usize::MAX).unwrap();
        assert!(pairs.days.len() > 50 && pairs.days.len() < 299);
        let both = pairs.today.iter().chain(&pairs.tomorrow);
        assert!(both.clone().all(|x| x.is_finite()));
        assert_eq!(both.count(), 2 * 9 * pairs.days.len());
        // Days that follow each other share a window.
        let next = (1..pairs.days.len()).find(|&at| pairs.days[at] == pairs.days[at - 1] + 1);
        let at = next.unwrap();
        assert_eq!(
            pairs.today[9 * at..9 * at + 9],
            pairs.tomorrow[9 * at - 9..9 * at]
        );
        // The others do not depend on the asset with the gap.
        let two = panel.pairs(2, 10).unwrap();
        assert!(two.days.len() <= 10 && two.n == 2);
        assert!(panel.pairs(3, 7).unwrap().days.len() <= 7);
    }

    #[test]
    fn without_two_windows_there_is_a_word() {
        assert!(panel(2, 200, 0..0).pairs(2, 5).is_err());
    }
}
