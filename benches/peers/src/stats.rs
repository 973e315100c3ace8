//! Statistics of a list of samples.

use statrs::distribution::{ContinuousCDF, Normal};
use statrs::statistics::{Data, Distribution, Max, Min, OrderStatistics};
use statrs::stats_tests::Alternative;
use statrs::stats_tests::mannwhitneyu::{MannWhitneyUMethod, mannwhitneyu};

/// Median, spread and extremes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Summary {
    pub(crate) mean: f64,
    pub(crate) median: f64,
    pub(crate) standard_deviation: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// The first and the third.
    pub(crate) quartiles: [f64; 2],
    /// Third quartile minus first: the span of the middle half of the samples.
    pub(crate) interquartile: f64,
}

impl Summary {
    /// Summarises at least one sample; `None` without samples.
    pub(crate) fn of(samples: &[f64]) -> Option<Self> {
        if samples.is_empty() {
            return None;
        }
        let mut data = Data::new(samples.to_vec());
        let quartiles = [data.lower_quartile(), data.upper_quartile()];
        Some(Self {
            mean: data.mean()?,
            median: data.median(),
            // A single sample has no deviation.
            standard_deviation: data
                .std_dev()
                .filter(|deviation| deviation.is_finite())
                .unwrap_or(0.0),
            min: data.min(),
            max: data.max(),
            quartiles,
            interquartile: quartiles[1] - quartiles[0],
        })
    }
}

/// A two-sided Mann–Whitney test: does one list tend to hold larger values than the other?
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MannWhitney {
    /// The number of pairs in which the first list has the larger value; ties count half.
    pub(crate) u: f64,
    /// Distance from the mean of U in standard deviations, corrected for ties.
    pub(crate) z: f64,
    /// From `z`, by the normal distribution.
    pub(crate) p: f64,
}

impl MannWhitney {
    /// `None` if a list is empty, a value is not a number, or all values are the same.
    pub(crate) fn of(first: &[f64], second: &[f64]) -> Option<Self> {
        let method = MannWhitneyUMethod::AsymptoticExclContinuityCorrection;
        let (u, _) = mannwhitneyu(first, second, method, Alternative::TwoSided).ok()?;
        let (m, n) = (first.len() as f64, second.len() as f64);
        let all = m + n;
        let variance = m * n / 12.0 * ((all + 1.0) - tie_term(first, second) / (all * (all - 1.0)));
        if variance <= 0.0 {
            return None;
        }
        let z = (u - m * n / 2.0) / variance.sqrt();
        // The tail is computed directly, not as one minus the rest: small values stay exact.
        let p = 2.0 * Normal::standard().sf(z.abs());
        Some(Self { u, z, p })
    }
}

/// The sum of t³ − t over all groups of t equal values.
fn tie_term(first: &[f64], second: &[f64]) -> f64 {
    let mut all = [first, second].concat();
    all.sort_by(f64::total_cmp);
    all.chunk_by(|a, b| a == b).map(|tied| (tied.len() as f64).powi(3) - tied.len() as f64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, wanted: f64) {
        assert!((got - wanted).abs() <= wanted.abs() * 1e-9 + 1e-300, "{got}, wanted {wanted}");
    }

    #[test]
    fn a_summary_of_known_samples() {
        let summary = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).expect("samples");
        assert_eq!((summary.mean, summary.median), (5.0, 4.5));
        assert_eq!((summary.min, summary.max), (2.0, 9.0));
        near(summary.standard_deviation, (32f64 / 7.0).sqrt());
        assert_eq!(Summary::of(&[]), None);
        let one = Summary::of(&[3.0]).expect("a sample");
        assert_eq!((one.median, one.standard_deviation, one.interquartile), (3.0, 0.0, 0.0));
    }

    #[test]
    fn the_interquartile_range_ignores_an_outlier() {
        let mut samples: Vec<_> = (0..101).map(f64::from).collect();
        let calm = Summary::of(&samples).expect("samples").interquartile;
        samples[100] = 1e9;
        assert_eq!(Summary::of(&samples).expect("samples").interquartile, calm);
        assert!((49.0..=52.0).contains(&calm), "{calm}");
    }

    /// U, z and p of SciPy 1.x: `mannwhitneyu(first, second, use_continuity=False,
    /// method="asymptotic")`; the first pair is the example of its documentation.
    #[test]
    fn mann_whitney_agrees_with_scipy() {
        let cases: [(&[f64], &[f64], [f64; 3]); 3] = [
            (
                &[19.0, 22.0, 16.0, 29.0, 24.0],
                &[20.0, 11.0, 17.0, 12.0],
                [17.0, 1.7146428199482244, 0.0864107329737],
            ),
            (
                &[1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0],
                &[2.0, 3.0, 4.0, 4.0, 5.0, 5.0, 6.0, 7.0],
                [8.5, -2.295972122046034, 0.021677475411440248],
            ),
            (
                &[86.0, 69.0, 72.0, 65.0, 113.0, 65.0, 118.0, 45.0, 141.0, 104.0, 41.0, 50.0],
                &[55.0, 40.0, 22.0, 58.0, 16.0, 7.0, 9.0, 16.0, 26.0, 36.0, 20.0, 15.0],
                [138.0, 3.8121696021711866, 0.00013775229874502692],
            ),
        ];
        for (first, second, [u, z, p]) in cases {
            let test = MannWhitney::of(first, second).expect("comparable");
            assert_eq!(test.u, u);
            near(test.z, z);
            assert!((test.p - p).abs() < 1e-8 * p.max(1e-3), "{}, wanted {p}", test.p);
            let other = MannWhitney::of(second, first).expect("comparable");
            near(other.z, -z);
        }
    }

    #[test]
    fn lists_that_do_not_overlap_are_far_apart_and_bad_ones_are_refused() {
        let low: Vec<f64> = (0..2_000).map(|i| f64::from(i) / 7.0).collect();
        let high: Vec<f64> = (0..1_500).map(|i| 1_000.0 + f64::from(i) / 7.0).collect();
        let test = MannWhitney::of(&low, &high).expect("comparable");
        assert_eq!(test.u, 0.0);
        near(test.z, -50.70201265633938);
        assert!(test.p < 1e-300);
        assert_eq!(MannWhitney::of(&[], &[1.0]), None);
        assert_eq!(MannWhitney::of(&[1.0, f64::NAN], &[1.0]), None);
        assert_eq!(MannWhitney::of(&[1.0, 1.0], &[1.0]), None, "nothing to rank");
    }
}
