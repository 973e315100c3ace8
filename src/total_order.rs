//! Floats as keys: integers in the order of `total_cmp`.

mod sealed {
    pub trait Sealed {}
}

/// A float: `f32` or `f64`.
pub trait TotalOrder: sealed::Sealed + Copy {
    /// An integer of the same size.
    type Key: Ord + Copy + Send + Sync + 'static;

    /// [`total_order`].
    #[doc(hidden)]
    fn key(self) -> Self::Key;
}

/// The place of a float in the order of [`f32::total_cmp`], as an integer: from `-NaN` and
/// negative infinity to infinity and `NaN`, and `-0.0` before `0.0`. A key for
/// [`sort_by_key`](crate::Matching::sort_by_key).
///
/// ```
/// use phalanx::rows::total_order;
///
/// let mut all = [f32::NAN, 2.0, -f32::INFINITY, 0.0, -1.5, -0.0];
/// all.sort_by_key(|&float| total_order(float));
/// assert_eq!(format!("{all:?}"), "[-inf, -1.5, -0.0, 0.0, 2.0, NaN]");
/// ```
#[inline]
#[must_use]
pub fn total_order<F: TotalOrder>(float: F) -> F::Key {
    float.key()
}

macro_rules! floats {
    ($($float:ty, $key:ty;)*) => {
        $(
            impl sealed::Sealed for $float {}

            impl TotalOrder for $float {
                type Key = $key;

                #[inline]
                fn key(self) -> $key {
                    let bits = self.to_bits().cast_signed();
                    // Negative floats ascend as their bits descend.
                    let flipped = (bits >> (<$key>::BITS - 1)).cast_unsigned() >> 1;
                    bits ^ flipped.cast_signed()
                }
            }
        )*
    };
}

floats! {
    f32, i32;
    f64, i64;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_compare_as_their_floats(a in any::<u32>(), b in any::<u32>(), c in any::<u64>(), d in any::<u64>()) {
            let (a, b) = (f32::from_bits(a), f32::from_bits(b));
            prop_assert_eq!(total_order(a).cmp(&total_order(b)), a.total_cmp(&b));
            let (c, d) = (f64::from_bits(c), f64::from_bits(d));
            prop_assert_eq!(total_order(c).cmp(&total_order(d)), c.total_cmp(&d));
        }
    }
}
