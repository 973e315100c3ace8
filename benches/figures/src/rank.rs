//! Tests by ranks, which hold whatever the form of the distribution or of the curve.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::statistics::{Data, OrderStatistics, RankTieBreaker, Statistics};
use statrs::stats_tests::Alternative;
use statrs::stats_tests::mannwhitneyu::{MannWhitneyUMethod, mannwhitneyu};

/// A two-sided Mann–Whitney test: does one list tend to hold larger values than the other?
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MannWhitney {
    /// The number of pairs in which the first list has the larger value; ties count half.
    pub u: f64,
    /// Distance from the mean of U in standard deviations, corrected for ties.
    pub z: f64,
    /// From `z`, by the normal distribution.
    pub p: f64,
}

impl MannWhitney {
    /// `None` if a list is empty, a value is not a number, or all values are the same.
    pub fn of(first: &[f64], second: &[f64]) -> Option<Self> {
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

/// Spearman's rank correlation, with a two-sided test.
#[derive(Clone, Copy, Debug)]
pub struct Spearman {
    /// From -1, one falls as the other grows, to 1, both grow together.
    pub rho: f64,
    /// The probability of a correlation as far from 0 among numbers without one, by Student's t.
    pub p: f64,
}

impl Spearman {
    /// Correlates pairs; `None` for fewer than three, or if one of the two is always the same.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Self> {
        let (x, y): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        let freedom = pairs.len().checked_sub(2).filter(|&freedom| freedom > 0)? as f64;
        // The correlation of the ranks, which holds for ties as well.
        let [x, y] = [x, y].map(|values| Data::new(values).ranks(RankTieBreaker::Average));
        let spread = (&x).std_dev() * (&y).std_dev();
        if spread == 0.0 {
            return None;
        }
        let rho = ((&x).covariance(&y) / spread).clamp(-1.0, 1.0);
        let t = rho.abs() * (freedom / (1.0 - rho * rho)).sqrt();
        let p =
            if t.is_finite() { 2.0 * StudentsT::new(0.0, 1.0, freedom).ok()?.sf(t) } else { 0.0 };
        Some(Self { rho, p })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, wanted: f64) {
        assert!((got - wanted).abs() <= wanted.abs() * 1e-9 + 1e-300, "{got}, wanted {wanted}");
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

    /// The first pairs are the example of the documentation of SciPy's `spearmanr`.
    #[test]
    fn spearman_agrees_with_scipy() {
        let of = |x: &[f64], y: &[f64]| {
            let pairs: Vec<_> = x.iter().copied().zip(y.iter().copied()).collect();
            Spearman::of(&pairs)
        };
        let five = [1.0, 2.0, 3.0, 4.0, 5.0];
        let ties = of(&five, &[5.0, 6.0, 7.0, 8.0, 7.0]).expect("five pairs");
        near(ties.rho, 0.820_782_681_668_123_3);
        near(ties.p, 0.088_587_005_313_543_81);
        near(of(&five, &[1.0, 4.0, 9.0, 16.0, 1e9]).expect("five pairs").rho, 1.0);
        near(of(&five, &[5.0, 4.0, 3.0, 2.0, -1e9]).expect("five pairs").rho, -1.0);
        assert!(of(&five, &[2.0; 5]).is_none(), "a constant has no rank");
        assert!(of(&[1.0, 2.0], &[1.0, 2.0]).is_none(), "two points are always a line");
    }
}
