//! The summary of a list of samples.

use statrs::statistics::{Data, Max, Min, OrderStatistics};

/// Quartiles and extremes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The second quartile.
    pub median: f64,
    /// The least sample.
    pub min: f64,
    /// The greatest sample.
    pub max: f64,
    /// The first and the third.
    pub quartiles: [f64; 2],
}

impl Summary {
    /// Summarises at least one sample; `None` without samples.
    pub fn of(samples: &[f64]) -> Option<Self> {
        if samples.is_empty() {
            return None;
        }
        let mut data = Data::new(samples.to_vec());
        let quartiles = [data.lower_quartile(), data.upper_quartile()];
        Some(Self { median: data.median(), min: data.min(), max: data.max(), quartiles })
    }

    /// Third quartile minus first: the span of the middle half of the samples.
    pub fn interquartile(&self) -> f64 {
        self.quartiles[1] - self.quartiles[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_of_known_samples() {
        let summary = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).expect("samples");
        assert_eq!((summary.min, summary.median, summary.max), (2.0, 4.5, 9.0));
        assert_eq!(Summary::of(&[]), None);
        let one = Summary::of(&[3.0]).expect("a sample");
        assert_eq!((one.median, one.quartiles, one.interquartile()), (3.0, [3.0; 2], 0.0));
    }

    #[test]
    fn the_interquartile_range_ignores_an_outlier() {
        let mut samples: Vec<_> = (0..101).map(f64::from).collect();
        let calm = Summary::of(&samples).expect("samples").interquartile();
        samples[100] = 1e9;
        assert_eq!(Summary::of(&samples).expect("samples").interquartile(), calm);
        assert!((49.0..=52.0).contains(&calm), "{calm}");
    }
}
