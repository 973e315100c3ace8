//! The answer to a question: a few rows of a few values.

use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::{DataFusionError, Result};
use datafusion::scalar::ScalarValue;
use std::fmt;

/// A value of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    /// A count, or the bits of an id.
    Whole(u64),
    /// A mean, or a distance.
    Number(f64),
}

impl Value {
    /// The largest difference of two equal means, relative to their size: another order of
    /// additions rounds differently.
    const TOLERANCE: f64 = 1e-9;

    fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => {
                (one - other).abs() <= Self::TOLERANCE * one.abs().max(other.abs())
            }
            (one, other) => one == other,
        }
    }

    fn of(scalar: ScalarValue) -> Result<Self> {
        match scalar {
            ScalarValue::Dictionary(_, value) => Self::of(*value),
            ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)) => {
                Ok(Self::Text(text))
            }
            ScalarValue::Boolean(Some(value)) => Ok(Self::Text(value.to_string())),
            ScalarValue::UInt64(Some(value)) => Ok(Self::Whole(value)),
            ScalarValue::Int64(Some(value)) if value >= 0 => Ok(Self::Whole(value.cast_unsigned())),
            ScalarValue::Float64(Some(value)) => Ok(Self::Number(value)),
            other => Err(DataFusionError::Internal(format!("{other:?} is in an answer"))),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Whole(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value:.3}"),
        }
    }
}

/// The rows of an answer, in their order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer(pub(crate) Vec<Vec<Value>>);

impl Answer {
    pub(crate) fn of_batches(batches: &[RecordBatch]) -> Result<Self> {
        let mut rows = Vec::new();
        for batch in batches {
            for row in 0..batch.num_rows() {
                let values = batch
                    .columns()
                    .iter()
                    .map(|column| ScalarValue::try_from_array(column, row).and_then(Value::of));
                rows.push(values.collect::<Result<_>>()?);
            }
        }
        Ok(Self(rows))
    }

    /// Whether both have the same rows, except for the rounding of means.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        let rows = |(one, other): (&Vec<Value>, &Vec<Value>)| {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.agrees(other))
        };
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(rows)
    }
}

/// The rows, with `;` between them.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, row) in self.0.iter().enumerate() {
            let values: Vec<_> = row.iter().map(Value::to_string).collect();
            write!(f, "{}{}", if number == 0 { "" } else { "; " }, values.join(" "))?;
        }
        Ok(())
    }
}
