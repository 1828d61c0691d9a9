//! Covariances and correlations of a window with gaps: each pair of columns over the days that both have.
//!
//! Means and variances of a pair are of its own days too, as in pandas' `DataFrame.cov` and `DataFrame.corr`. A pair
//! without gaps gets the bits of a window without gaps, whatever the other columns are.

use super::correlation::{centre, columns, product, standardise, symmetric};
use super::windows::Kind;

/// The matrix of a window with gaps.
pub(super) struct Pairwise {
    /// NaN where an entry is not known.
    pub(super) matrix: Vec<f64>,
    /// Pairs with too few days in common.
    pub(super) short: usize,
    /// Pairs with days enough, of which a column does not vary on them.
    pub(super) still: usize,
    /// A column of an entry that is known but too large for a number.
    pub(super) overflow: Option<usize>,
}

/// What there is of a pair.
enum Entry {
    Known(f64),
    /// Too few days.
    Short,
    /// No variation, hence no correlation.
    Still,
}

/// The matrix of a window in which a return that is not known is NaN. Entries of fewer than `least` days are missing.
pub(super) fn pairwise(window: &[f64], n: usize, kind: Kind, least: usize) -> Pairwise {
    let columns: Vec<Column> = columns(window, n)
        .into_iter()
        .map(|values| Column::new(values, kind))
        .collect();
    let mut scratch = Scratch::default();
    let (mut short, mut still, mut overflow) = (0, 0, None);
    let matrix = symmetric(n, |i, j| {
        let entry = entry(&columns[i], &columns[j], i == j, kind, least, &mut scratch);
        match entry {
            Entry::Known(value) => {
                if !value.is_finite() {
                    overflow = overflow.or(Some(i));
                }
                return value;
            }
            Entry::Short => short += usize::from(i != j),
            Entry::Still => still += usize::from(i != j),
        }
        f64::NAN
    });
    Pairwise {
        matrix,
        short,
        still,
        overflow,
    }
}

/// A column, and what can be computed of it once for all its pairs with the same days.
struct Column {
    /// NaN on days that are not known.
    values: Vec<f64>,
    known: Vec<bool>,
    days: usize,
    /// The known values, prepared for products, if they vary.
    ready: Option<Vec<f64>>,
}

impl Column {
    fn new(values: Vec<f64>, kind: Kind) -> Column {
        let known: Vec<bool> = values.iter().map(|value| !value.is_nan()).collect();
        let mut own: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
        Column {
            days: own.len(),
            ready: prepare(&mut own, kind).then_some(own),
            values,
            known,
        }
    }
}

/// Makes a column ready for products; false if it must vary and does not.
fn prepare(column: &mut [f64], kind: Kind) -> bool {
    match kind {
        Kind::Covariance => {
            centre(column);
            true
        }
        Kind::Correlation => standardise(column),
    }
}

/// The values of two columns on the days that both have.
#[derive(Default)]
struct Scratch {
    a: Vec<f64>,
    b: Vec<f64>,
}

impl Scratch {
    fn fill(&mut self, a: &Column, b: &Column) {
        let days = a.values.len();
        self.a.resize(days, 0.0);
        self.b.resize(days, 0.0);
        let mut at = 0;
        // Written on every day, kept on common ones: no branch to guess wrong.
        for (&a, &b) in a.values.iter().zip(&b.values) {
            self.a[at] = a;
            self.b[at] = b;
            at += usize::from(!a.is_nan() && !b.is_nan());
        }
        self.a.truncate(at);
        self.b.truncate(at);
    }
}

fn entry(
    a: &Column,
    b: &Column,
    same: bool,
    kind: Kind,
    least: usize,
    scratch: &mut Scratch,
) -> Entry {
    let known = a.known.iter().zip(&b.known);
    let days = known.map(|(a, b)| usize::from(a & b)).sum::<usize>();
    if days < least {
        return Entry::Short;
    }
    // What does not vary on all of its days does not on some of them.
    let (Some(own_a), Some(own_b)) = (&a.ready, &b.ready) else {
        return Entry::Still;
    };
    let product = if days == a.days && days == b.days {
        product(own_a, own_b)
    } else {
        scratch.fill(a, b);
        let Scratch { a, b } = scratch;
        if !prepare(a, kind) || !prepare(b, kind) {
            return Entry::Still;
        }
        product(a, b)
    };
    Entry::Known(match kind {
        Kind::Covariance => product / (days - 1) as f64,
        Kind::Correlation if same && product.is_finite() => 1.0,
        // NaN, of numbers that are too large, stays NaN.
        Kind::Correlation => product.clamp(-1.0, 1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{
        Days, Gaps, Input, Missing, Table, Windows, parse, read, windows, windows_and_gaps,
    };
    use super::*;
    use std::path::Path;

    const KINDS: [Kind; 2] = [Kind::Correlation, Kind::Covariance];

    fn data(name: &str) -> Table {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data"));
        read(&folder.join(name), Missing::Keep).unwrap()
    }

    fn table(text: &str) -> Table {
        parse(Path::new("p.csv"), text.into(), Missing::Keep).unwrap()
    }

    fn how(window: usize, kind: Kind, input: Input, days: Days) -> Windows {
        Windows {
            window,
            step: 5,
            kind,
            input,
            days,
        }
    }

    fn of_returns(text: &str, window: usize, kind: Kind, least: usize) -> (Vec<f64>, Gaps) {
        let days = Days::Common { least };
        let how = how(window, kind, Input::Returns, days);
        let (stack, gaps) = windows_and_gaps(&table(text), &how).unwrap();
        (stack.values, gaps)
    }

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs()
    }

    /// pandas 3.1 of the same file: `prices.pct_change(fill_method=None).iloc[1:]`, and of each window
    /// `.corr(min_periods=33)` and `.cov(min_periods=33)`. Assets are listed late, and have holidays of their own.
    #[test]
    fn windows_with_gaps_are_those_of_pandas() {
        let table = data("panels/futures12.csv.gz");
        let n = table.names.len();
        let make = |kind, input| {
            let how = how(100, kind, input, Days::common(100));
            windows_and_gaps(&table, &how).unwrap()
        };
        let (correlations, gaps) = make(Kind::Correlation, Input::Prices);
        let (covariances, also) = make(Kind::Covariance, Input::Prices);
        assert_eq!(correlations.count(), 60);
        let expected = Gaps {
            short: 1550,
            still: 0,
            windows: 60,
        };
        assert_eq!((gaps, also), (expected, expected));
        // Window, row, column, correlation, covariance. The pairs have 69, 85, 70, 88, 74, 49, 37 and 49 days.
        for (window, i, j, r, v) in [
            (20, 0, 2, -0.09867637086557365, -5.621409200512006e-05),
            (20, 5, 6, 0.05359012907524297, 7.119703243970335e-06),
            (20, 3, 8, -0.20905780962643228, -0.00012102280298174304),
            (20, 7, 6, 0.30650881008481273, 6.016506787455987e-06),
            (20, 8, 8, 1.0, 0.0004789951541432507),
            (40, 9, 1, -0.029205331541768995, -1.320354620490297e-05),
            (40, 10, 4, 0.12112039623171877, 2.4091851757521722e-05),
            (40, 7, 9, 0.2371155920716329, 9.781516469001035e-06),
        ] {
            let at =
                |stack: &super::super::super::Stack, i, j| stack.values[window * n * n + i * n + j];
            assert!(near(at(&correlations, i, j), r), "{window} {i} {j}");
            assert!(near(at(&covariances, i, j), v), "{window} {i} {j}");
            assert!(near(at(&covariances, j, i), v), "{window} {i} {j}");
        }
        let missing = |stack: &super::super::super::Stack, window: usize| {
            let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
            let value = |(i, j)| stack.values[window * n * n + i * n + j];
            pairs.filter(|&pair| value(pair).is_nan()).count()
        };
        assert_eq!(
            (missing(&correlations, 20), missing(&correlations, 40)),
            (30, 13)
        );
        // Everything at once.
        let sum = |values: &[f64]| values.iter().filter(|x| !x.is_nan()).sum::<f64>();
        assert!(near(sum(&correlations.values), 1034.1908776803314));
        assert!(near(sum(&covariances.values), 0.3891248668359733));
        let (logarithmic, _) = make(Kind::Correlation, Input::LogPrices);
        assert!(near(
            logarithmic.values[20 * n * n + 5 * n + 6],
            0.05441307021651294
        ));
    }

    #[test]
    fn without_gaps_every_bit_is_that_of_whole_windows() {
        let mut table = data("sp500/sp500_dataset.csv.gz");
        let n = table.names.len();
        for kind in KINDS {
            let make =
                |table: &Table, days| windows(table, &how(100, kind, Input::Prices, days)).unwrap();
            let whole = make(&table, Days::All);
            let common = make(&table, Days::common(100));
            assert!(bits(&whole.values) == bits(&common.values), "{kind:?}");
            // Gaps of one asset change nothing between the others.
            let kept = table.values.clone();
            for price in table.values.iter_mut().skip(3).step_by(7 * n) {
                *price = f64::NAN;
            }
            let common = make(&table, Days::common(100));
            table.values = kept;
            let mut changed = 0;
            for (at, (a, b)) in whole.values.iter().zip(&common.values).enumerate() {
                let with_gaps = at / n % n == 3 || at % n == 3;
                assert!(with_gaps || a.to_bits() == b.to_bits(), "{kind:?} {at}");
                changed += usize::from(a.to_bits() != b.to_bits());
            }
            assert!(changed > whole.values.len() / (2 * n), "{kind:?} {changed}");
        }
    }

    #[test]
    fn a_missing_price_hides_the_returns_into_it_and_out_of_it() {
        // Returns of a: 1, 1, NaN, NaN, 0.5, 1; of b: 1, 0, 1, 0, 1, 0.
        let text = "a,b\n1,1\n2,2\n4,2\n,4\n4,4\n6,8\n12,8\n";
        let how = |kind| {
            let how = how(6, kind, Input::Prices, Days::Common { least: 4 });
            windows(&table(text), &how).unwrap().values
        };
        // a over days 0, 1, 4, 5: mean 0.875; b over the same: mean 0.5; b alone: mean 0.5.
        assert_eq!(
            how(Kind::Covariance),
            [0.1875 / 3.0, -0.25 / 3.0, -0.25 / 3.0, 1.5 / 5.0]
        );
        let r = -0.25 / 0.1875_f64.sqrt();
        let correlations = how(Kind::Correlation);
        assert!(near(correlations[1], r) && correlations[1] == correlations[2]);
        assert_eq!((correlations[0], correlations[3]), (1.0, 1.0));
    }

    #[test]
    fn entries_of_too_few_days_are_missing() {
        // a and b have two days in common, a three and b four.
        let text = "a,b\n1,\n2,4\n5,5\n,7\n,1\n";
        let missing = |least| -> (Vec<bool>, usize) {
            let (values, gaps) = of_returns(text, 5, Kind::Covariance, least);
            assert_eq!(gaps.windows, usize::from(gaps.short > 0));
            (values.iter().map(|x| x.is_nan()).collect(), gaps.short)
        };
        assert_eq!(missing(2), (vec![false; 4], 0));
        assert_eq!(missing(3), (vec![false, true, true, false], 1));
        assert_eq!(missing(4), (vec![true, true, true, false], 1));
        assert_eq!(missing(5), (vec![true; 4], 1));
    }

    #[test]
    fn what_does_not_vary_has_no_correlation_but_a_covariance() {
        // b does not vary at all; c varies, but not on the days of d.
        let text = "a,b,c,d\n1,3,1,1\n2,3,1,2\n4,3,1,4\n3,3,1,3\n5,3,2,\n";
        let (values, gaps) = of_returns(text, 5, Kind::Correlation, 3);
        let expected = Gaps {
            short: 0,
            still: 4,
            windows: 1,
        };
        assert_eq!(gaps, expected);
        for i in 0..4 {
            for j in 0..4 {
                let still = i == 1 || j == 1 || (i, j) == (2, 3) || (i, j) == (3, 2);
                assert_eq!(values[4 * i + j].is_nan(), still, "{i} {j}");
            }
        }
        let (values, gaps) = of_returns(text, 5, Kind::Covariance, 3);
        assert_eq!(gaps, Gaps::default());
        assert_eq!((values[5], values[1], values[4 * 2 + 3]), (0.0, 0.0, 0.0));
    }

    /// Squares of numbers as large as these have no room for what they differ by, nor has a mean over other days. The
    /// largest is a power of two, so that scaling by it rounds nothing.
    #[test]
    fn large_means_do_not_drown_the_covariance() {
        let most = 1_u64 << 30;
        let rows = [(2, 2), (1, 0), (0, 1)].map(|(a, b)| format!("{},{}\n", most - a, most - b));
        let text = format!("a,b\n{}5,\n,7\n", rows.concat());
        let (values, _) = of_returns(&text, 5, Kind::Covariance, 3);
        assert_eq!(values[1], 0.5);
        let (values, _) = of_returns(&text, 5, Kind::Correlation, 3);
        assert!(near(values[1], 0.5), "{}", values[1]);
    }

    #[test]
    fn errors_say_what_to_do() {
        let text = "d,a,b\nw,1,2\nx,,3\ny,3,4\nz,4,7\n";
        let error = |days, input, text: &str| {
            let how = how(3, Kind::Covariance, input, days);
            windows(&table(text), &how).unwrap_err().to_string()
        };
        let whole = error(Days::All, Input::Prices, text);
        assert!(
            whole.starts_with("p.csv:3:2: the number for \"a\" is missing"),
            "{whole}"
        );
        for least in [0, 1, 4] {
            let error = error(Days::Common { least }, Input::Prices, text);
            assert!(error.contains("common days in windows of 3"), "{error}");
        }
        let large = "a,b\n1e300,\n-1e300,2\n1e300,3\n";
        let error = error(Days::Common { least: 2 }, Input::Returns, large);
        assert!(
            error.contains("column \"a\", window 1 (lines 2 to 4): the numbers are too large"),
            "{error}"
        );
    }

    #[test]
    fn the_fewest_days_by_default() {
        let least = |window| match Days::common(window) {
            Days::Common { least } => least,
            Days::All => 0,
        };
        assert_eq!([2, 3, 8, 12, 100, 250].map(least), [2, 3, 3, 4, 33, 83]);
    }
}
