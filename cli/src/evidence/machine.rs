//! Where and when figures were measured.

use serde::Serialize;
use std::time::{SystemTime, UNIX_EPOCH};

/// What a figure is worth nothing without.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// What the processor calls itself.
    pub cpu: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Of the measurement, as 2026-01-31.
    pub date: String,
    /// Of the program.
    pub version: &'static str,
}

impl Machine {
    /// This one, now.
    pub fn here() -> Machine {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH);
        Machine {
            cpu: cpu(&info),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            date: date(seconds.map_or(0, |x| x.as_secs() / 86_400)),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// The name of the first processor; systems other than Linux do not tell it this way.
fn cpu(info: &str) -> String {
    let names = info.lines().filter(|line| line.starts_with("model name"));
    let name = names.filter_map(|line| line.split_once(':')).next();
    name.map_or(std::env::consts::ARCH, |(_, name)| name.trim())
        .to_owned()
}

/// From days since 1970. Years are counted from March, so that the day that some of them have more is their last.
fn date(days: u64) -> String {
    // 1970-01-01 is this many days after the first of March of the year 0; 400 years have 146,097 days.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = match month {
        0..10 => (era * 400 + year, month + 3),
        _ => (era * 400 + year + 1, month - 9),
    };
    format!("{year}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (days, text) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (10_956, "1999-12-31"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_454, "2026-01-01"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(date(days), text);
        }
    }

    #[test]
    fn the_processor_has_a_name() {
        let info = "processor\t: 0\nmodel name\t: Some CPU: 3\nmodel name\t: other\n";
        assert_eq!(cpu(info), "Some CPU: 3");
        assert!(!cpu("").is_empty());
    }
}
