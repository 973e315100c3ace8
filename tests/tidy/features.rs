//! The CPU features that `#[kernel]` compiles for, and the features that a level asks the CPU for.

use crate::assert_none;

/// A shell of `#[kernel]`, and the functions that ask for its features.
const SHELLS: [(&str, &[&str]); 2] =
    [("avx2", &["has_avx2"]), ("avx512", &["has_avx2", "has_avx512"])];

/// Every function of `#[kernel]` with target features has exactly the features that the functions
/// of its level ask for: with one more, a CPU without it would run the function.
pub(crate) fn feature_violations(kernel: &str, level: &str) -> Vec<String> {
    let mut violations = Vec::new();
    let shells = shells(kernel);
    for (name, enabled) in &shells {
        let Some((_, detectors)) = SHELLS.iter().find(|(known, _)| known == name) else {
            violations.push(format!("#[kernel]: no level stands for the features of `{name}`"));
            continue;
        };
        let asked = sorted(detectors.iter().flat_map(|detector| asked(level, detector)));
        if *enabled != asked {
            violations
                .push(format!("#[kernel]: `{name}` has {enabled:?}, its level asks {asked:?}"));
        }
    }
    let missing = SHELLS.iter().filter(|(name, _)| shells.iter().all(|(known, _)| known != name));
    violations.extend(missing.map(|(name, _)| format!("#[kernel]: there is no shell `{name}`")));
    violations
}

/// The functions with `#[target_feature]` above them, and their features.
fn shells(kernel: &str) -> Vec<(&str, Vec<&str>)> {
    let (mut shells, mut features) = (Vec::new(), Vec::new());
    for line in kernel.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("#[target_feature(enable = \"") {
            features.extend(rest.split('"').next().unwrap_or_default().split(','));
        } else if let Some((_, rest)) = line.split_once("fn ").filter(|_| !features.is_empty()) {
            let name = rest.split(['<', '(']).next().unwrap_or_default();
            shells.push((name, sorted(features.drain(..))));
        }
    }
    shells
}

/// The features that the first function of this name asks the CPU for.
fn asked<'a>(level: &'a str, function: &str) -> Vec<&'a str> {
    let head = format!("fn {function}() -> bool {{");
    let body = level.split_once(&head).map_or("", |(_, rest)| rest);
    let body = body.split_once("\n}").map_or(body, |(body, _)| body);
    let calls = body.split("is_x86_feature_detected!(\"").skip(1);
    calls.filter_map(|call| call.split('"').next()).collect()
}

fn sorted<'a>(features: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut features: Vec<_> = features.map(str::trim).collect();
    features.sort_unstable();
    features
}

#[test]
fn features_that_differ_are_found() {
    const LEVEL: &str = "fn has_avx2() -> bool {\n    is_x86_feature_detected!(\"avx2\")\n        \
                         && is_x86_feature_detected!(\"fma\")\n}\nfn has_avx512() -> bool {\n    \
                         is_x86_feature_detected!(\"avx512f\")\n}\nfn has_avx2() -> bool {\n}";
    let shell = |name: &str, features: &str| {
        format!(
            "#[target_feature(enable = \"{features}\")]\n#[inline(never)]\nfn {name}<T>() {{}}\n"
        )
    };
    let (avx2, avx512) = (shell("avx2", "fma,avx2"), shell("avx512", "avx2,fma,avx512f"));
    let check = |kernel: &str| feature_violations(kernel, LEVEL).len();
    assert_none(&feature_violations(&format!("{avx2}fn plain() {{}}\n{avx512}"), LEVEL));
    assert_eq!(check(&format!("{avx2}{}", shell("avx512", "fma,avx512f"))), 1, "one less");
    assert_eq!(check(&format!("{avx512}{}", shell("avx2", "avx2,fma,bmi1"))), 1, "one more");
    assert_eq!(check(&avx2), 1, "a shell that is missing");
    assert_eq!(check(&format!("{avx2}{avx512}{}", shell("sse", "sse3"))), 1, "an unknown shell");
    assert_eq!(feature_violations(&format!("{avx2}{avx512}"), "").len(), 2, "nothing is asked");
}
