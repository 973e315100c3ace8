//! Names and numbers as text.

/// The name of the type without its path: the part after the last `::`.
pub(super) fn short(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// Short names separated by commas, or `none` if there are no names.
pub(super) fn list(names: &[&str], none: &str) -> String {
    match names {
        [] => none.to_owned(),
        names => names.iter().map(|name| short(name)).collect::<Vec<_>>().join(", "),
    }
}

/// A number with a comma between groups of three digits.
pub(super) fn grouped(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(String::from_utf8_lossy).collect::<Vec<_>>().join(",")
}

/// A number and its noun: `1 chunk`, `2 chunks`.
pub(super) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// A ratio from 0 to 1 in per cent.
pub(super) fn percent(ratio: f64) -> String {
    format!("{:.1} %", 100.0 * ratio)
}
