//! Where an axis has its marks, and what is written beside them.

/// A mark: its place in the units of the axis, and its label, perhaps with an exponent.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
    pub(super) exponent: String,
}

/// Round numbers from `low` to `high`, about `wanted` of them, and the power of ten that the labels
/// leave out.
pub(super) fn linear(low: f64, high: f64, wanted: f64) -> (Vec<Tick>, i32) {
    // Halves, since the span of two finite numbers need not be finite.
    let rough = (high / 2.0 - low / 2.0) / wanted * 2.0;
    if !(rough > f64::MIN_POSITIVE && rough < f64::MAX) {
        return (Vec::new(), 0);
    }
    let decade = rough.log10().floor() as i32;
    let (factor, decade) = match rough / ten_to(decade) {
        rest if rest < 1.5 => (1.0, decade),
        rest if rest < 3.5 => (2.0, decade),
        rest if rest < 7.5 => (5.0, decade),
        _ => (1.0, decade + 1),
    };
    let step = factor * ten_to(decade);
    let most = low.abs().max(high.abs()).log10().floor() as i32;
    let left_out = if (-3..6).contains(&most) { 0 } else { most };
    let decimals = usize::try_from(left_out - decade).unwrap_or(0);
    // A little wider, so that rounding does not lose the marks at the ends.
    let first = (low / step - 1e-9).ceil();
    let last = (high / step + 1e-9).floor();
    let count = (last - first).clamp(0.0, 100.0) as u32 + 1;
    let ticks = (0..count)
        .map(|at| first + f64::from(at))
        .filter(|&at| at <= last)
        .map(|at| Tick {
            value: at * step,
            label: signed(&format!(
                "{:.decimals$}",
                at * factor * ten_to(decade - left_out)
            )),
            exponent: String::new(),
        })
        .collect();
    (ticks, left_out)
}

/// Marks from 10^`low` to 10^`high`, with and without labels. Their places are exponents too.
pub(super) fn logarithmic(low: f64, high: f64) -> (Vec<Tick>, Vec<f64>) {
    let inside = |at: &f64| (low - 1e-9..=high + 1e-9).contains(at);
    let decades = || low.floor() as i32..=high.ceil() as i32;
    let mantissas = |list: &'static [u32]| {
        decades()
            .flat_map(move |decade| list.iter().map(move |&mantissa| (mantissa, decade)))
            .filter(|&(mantissa, decade)| inside(&place(mantissa, decade)))
    };
    let whole = mantissas(&[1]).count();
    let between = || {
        mantissas(&[2, 3, 4, 5, 6, 7, 8, 9])
            .map(|(mantissa, decade)| place(mantissa, decade))
            .collect()
    };
    if whole >= 3 {
        let stride = whole.div_ceil(8) as i32;
        let ticks = mantissas(&[1])
            .filter(|(_, decade)| decade.rem_euclid(stride) == 0)
            .map(|(_, decade)| Tick {
                value: f64::from(decade),
                label: "10".into(),
                exponent: signed(&decade.to_string()),
            });
        let minor = match stride {
            1 => between(),
            2..=4 => mantissas(&[1])
                .map(|(_, decade)| f64::from(decade))
                .collect(),
            _ => Vec::new(),
        };
        return (ticks.collect(), minor);
    }
    let some = mantissas(&[1, 2, 5]);
    let ticks: Vec<Tick> = some
        .map(|(mantissa, decade)| scientific(mantissa, decade))
        .collect();
    if ticks.len() >= 3 {
        return (ticks, between());
    }
    // Less than a factor of five: round numbers, which are not evenly spaced here.
    let (mut ticks, left_out) = linear(10_f64.powf(low), 10_f64.powf(high), 4.0);
    for tick in &mut ticks {
        tick.value = tick.value.log10();
        if left_out != 0 {
            tick.label.push_str("×10");
            tick.exponent = signed(&left_out.to_string());
        }
    }
    (ticks, Vec::new())
}

fn place(mantissa: u32, decade: i32) -> f64 {
    f64::from(mantissa).log10() + f64::from(decade)
}

fn scientific(mantissa: u32, decade: i32) -> Tick {
    let value = place(mantissa, decade);
    if (-3..5).contains(&decade) {
        let decimals = usize::try_from(-decade).unwrap_or(0);
        let number = f64::from(mantissa) * ten_to(decade);
        return Tick {
            value,
            label: format!("{number:.decimals$}"),
            exponent: String::new(),
        };
    }
    Tick {
        value,
        label: match mantissa {
            1 => "10".into(),
            _ => format!("{mantissa}×10"),
        },
        exponent: signed(&decade.to_string()),
    }
}

/// With a real minus sign, and none before zero.
pub(super) fn signed(number: &str) -> String {
    match number.strip_prefix('-') {
        Some(rest) if rest.chars().any(|c| ('1'..='9').contains(&c)) => format!("−{rest}"),
        Some(rest) => rest.into(),
        None => number.into(),
    }
}

fn ten_to(exponent: i32) -> f64 {
    10_f64.powi(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<String> {
        let label = |tick: &Tick| match &*tick.exponent {
            "" => tick.label.clone(),
            exponent => format!("{}^{exponent}", tick.label),
        };
        ticks.iter().map(label).collect()
    }

    #[test]
    fn linear_axes_have_round_numbers() {
        let (ticks, left_out) = linear(-1.0, 1.0, 4.0);
        assert_eq!(labels(&ticks), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(left_out, 0);
        let (ticks, left_out) = linear(0.0, 3.1e-4, 3.0);
        assert_eq!((labels(&ticks).join(" "), left_out), ("0 1 2 3".into(), -4));
        let (ticks, _) = linear(0.0, 10_000.0, 5.0);
        assert_eq!(labels(&ticks).last().unwrap(), "10000");
        for (low, high) in [
            (0.0, 0.0),
            (f64::MIN, f64::MAX),
            (0.0, 5e-324),
            (1.0, 1.0 + 1e-15),
        ] {
            assert!(linear(low, high, 5.0).0.len() < 110);
        }
    }

    #[test]
    fn logarithmic_axes_have_powers_if_they_can() {
        let (ticks, minor) = logarithmic(-3.2, 0.1);
        assert_eq!(labels(&ticks), ["10^−3", "10^−2", "10^−1", "10^0"]);
        assert!(minor.len() > 25);
        let (ticks, _) = logarithmic(-1.1, 0.2);
        assert_eq!(labels(&ticks), ["0.1", "0.2", "0.5", "1"]);
        let (ticks, _) = logarithmic(-6.1, -4.9);
        assert_eq!(labels(&ticks), ["10^−6", "2×10^−6", "5×10^−6", "10^−5"]);
        let (ticks, _) = logarithmic(0.0, 0.1);
        assert_eq!(
            labels(&ticks),
            ["1.00", "1.05", "1.10", "1.15", "1.20", "1.25"]
        );
        let (ticks, minor) = logarithmic(-320.0, 308.0);
        assert!((4..=9).contains(&ticks.len()) && minor.is_empty());
        let (ticks, minor) = logarithmic(-6.5, 2.5);
        assert_eq!(labels(&ticks).join(" "), "10^−6 10^−4 10^−2 10^0 10^2");
        assert_eq!(minor.len(), 9);
    }
}
