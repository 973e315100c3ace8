//! Rank correlation: whether one figure grows with another, whatever the form of the curve.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::statistics::{Data, OrderStatistics, RankTieBreaker, Statistics};

/// Spearman's rank correlation, with a two-sided test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spearman {
    /// From -1, one falls as the other grows, to 1, both grow together.
    pub(crate) rho: f64,
    /// The probability of a correlation as far from 0 among numbers without one, by Student's t.
    pub(crate) p: f64,
}

impl Spearman {
    /// Correlates pairs; `None` for fewer than three, or if one of the two is always the same.
    pub(crate) fn of(pairs: &[(f64, f64)]) -> Option<Self> {
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

/// A probability, as tables have it.
pub(crate) fn probability(p: f64) -> String {
    if p < 1e-300 {
        "< 1e-300".to_owned()
    } else if p < 1e-3 {
        format!("{p:.1e}")
    } else {
        format!("{p:.3}")
    }
}

/// Compares with known results before anything is measured: this target has no tests of its own.
///
/// The first are those of SciPy's `spearmanr` for its documentation's example.
pub(crate) fn prove() {
    let near = |got: f64, want: f64| assert!((got - want).abs() < 1e-9, "{got}, wanted {want}");
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
