//! The list of tuples that traits are implemented for.
//!
//! `for_tuples!(name, 0..=12)` calls the macro `name` with all tuples of 0 to 12 elements. Each
//! tuple is in parentheses, and each element is a type parameter, a variable and an index:
//!
//! ```text
//! name! { () (A a 0) (A a 0, B b 1) … (A a 0, B b 1, …, L l 11) }
//! ```

/// Calls a macro with the tuples of a range of lengths: `0..=12`, `1..=12` or `1..=8`.
macro_rules! for_tuples {
    ($name:ident, 0..=12) => {
        for_tuples! { @grow $name [()] []
            A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7, I i 8, J j 9, K k 10, L l 11
        }
    };
    ($name:ident, 1..=12) => {
        for_tuples! { @grow $name [] []
            A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7, I i 8, J j 9, K k 10, L l 11
        }
    };
    ($name:ident, 1..=8) => {
        for_tuples! { @grow $name [] []
            A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7
        }
    };
    // Adds the last tuple with one more element to the list.
    (
        @grow $name:ident [$($tuple:tt)*] [$($element:tt)*]
        $T:ident $t:ident $i:tt $(, $($rest:tt)*)?
    ) => {
        for_tuples! {
            @grow $name [$($tuple)* ($($element)* $T $t $i)] [$($element)* $T $t $i,] $($($rest)*)?
        }
    };
    (@grow $name:ident [$($tuple:tt)*] [$($element:tt)*]) => {
        $name! { $($tuple)* }
    };
}

pub(crate) use for_tuples;

#[cfg(test)]
mod tests {
    macro_rules! indices {
        ($(($($T:ident $t:ident $i:tt),*))*) => {
            vec![$(vec![$($i),*]),*]
        };
    }

    #[test]
    fn tuples_have_all_lengths_of_the_range() {
        let tuples = |lens: std::ops::RangeInclusive<usize>| -> Vec<Vec<usize>> {
            lens.map(|len| (0..len).collect()).collect()
        };
        assert_eq!(for_tuples!(indices, 0..=12), tuples(0..=12));
        assert_eq!(for_tuples!(indices, 1..=12), tuples(1..=12));
        assert_eq!(for_tuples!(indices, 1..=8), tuples(1..=8));
    }
}
