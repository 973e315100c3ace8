//! Numbers as text.

/// Three significant digits.
pub fn significant(value: f64) -> String {
    let digits = match value {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}

/// `1000000` as `1,000,000`.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// A probability, as tables have it.
pub fn probability(p: f64) -> String {
    if p < 1e-300 {
        "< 1e-300".to_owned()
    } else if p < 1e-3 {
        format!("{p:.1e}")
    } else {
        format!("{p:.3}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        let numbers = [0.1234, 1.234, 12.34, 123.4, 12340.0].map(significant);
        assert_eq!(numbers, ["0.123", "1.23", "12.3", "123", "12340"]);
        assert_eq!([7, 1_000, 8_000_000].map(thousands), ["7", "1,000", "8,000,000"]);
    }
}
