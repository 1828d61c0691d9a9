//! Numbers and lists as people read them.

/// Two figures: "0.034", "1.0", "8.4", "610", "1200".
pub fn two_figures(x: f64) -> String {
    if !x.is_finite() {
        return "–".to_owned();
    }
    let rounded = format!("{x:.1e}");
    let exponent = rounded
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse::<i32>().ok())
        .unwrap_or(0);
    // Read back, so that 99.6 is 100 and not 99.6 without decimals.
    let value: f64 = rounded.parse().unwrap_or(x);
    format!("{value:.*}", usize::try_from(1 - exponent).unwrap_or(0))
}

/// Two figures, where they mean something: "> 1000", "< 0.001".
pub fn ratio(x: f64) -> String {
    match x {
        x if x >= 1000.0 => "> 1000".to_owned(),
        x if x < 0.001 => "< 0.001".to_owned(),
        x => two_figures(x),
    }
}

/// "a", "a and b", "a, b and c".
pub fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_figures_are_two() {
        let all = [0.0, 0.0344, 0.996, 1.04, 8.44, 99.6, 614.0, 1234.0, 2.8e-5];
        assert_eq!(
            all.map(two_figures).join(" "),
            "0.0 0.034 1.0 1.0 8.4 100 610 1200 0.000028"
        );
        assert_eq!(two_figures(f64::NAN), "–");
        let ratios = [999.0, 1001.0, 0.0009, f64::NAN].map(ratio);
        assert_eq!(ratios, ["1000", "> 1000", "< 0.001", "–"]);
    }

    #[test]
    fn lists_end_with_and() {
        let all = ["a", "b", "c"].map(str::to_owned);
        let texts: Vec<String> = (0..=3).map(|count| list(&all[..count])).collect();
        assert_eq!(texts, ["", "a", "a and b", "a, b and c"]);
    }
}
