//! The components and bundles of the operations: each is made from one number, which is all that
//! the model keeps of it.

use phalanx::prelude::*;

use crate::common::components::{Big, Byte, Four, Line, Tag, Twelve};
use crate::world::Row;

pub(crate) const PARTS: usize = 6;

/// A component, and the number it was made from.
pub(crate) trait Part: Component + PartialEq + std::fmt::Debug {
    const INDEX: usize;
    fn part(number: u32) -> Self;
}

macro_rules! parts {
    ($($index:literal $name:ident $number:ident => $make:expr;)*) => {$(
        impl Part for $name {
            const INDEX: usize = $index;
            fn part($number: u32) -> Self {
                $make
            }
        }
    )*};
}

parts! {
    0 Tag _n => Self;
    1 Byte n => Self(n.to_le_bytes()[0]);
    2 Four n => Self(n);
    3 Twelve n => Self([n, !n, n ^ 7]);
    4 Line n => Self([n; 16]);
    5 Big n => Self(std::array::from_fn(|i| n ^ u32::from(i.to_le_bytes()[0])));
}

/// A bundle of parts, made from one number.
pub(crate) trait Shape: Bundle + PartialEq + std::fmt::Debug {
    const MASK: u8;
    fn make(number: u32) -> Self;
    /// What the model's row makes of it.
    fn of(row: &Row) -> Self;
}

macro_rules! shapes {
    ($($part:ident)*) => {$(
        impl Shape for $part {
            const MASK: u8 = 1 << $part::INDEX;
            fn make(number: u32) -> Self {
                Part::part(number)
            }
            fn of(row: &Row) -> Self {
                Part::part(row.values[$part::INDEX].expect("the row has it").number)
            }
        }
    )*};
    ($(($($shape:ident),*))*) => {$(
        #[expect(clippy::allow_attributes, reason = "the empty tuple uses nothing")]
        #[allow(unused_variables, clippy::unused_unit, reason = "the empty tuple has no parts")]
        impl<$($shape: Shape),*> Shape for ($($shape,)*) {
            const MASK: u8 = 0 $(| $shape::MASK)*;
            fn make(number: u32) -> Self {
                ($($shape::make(number),)*)
            }
            fn of(row: &Row) -> Self {
                ($($shape::of(row),)*)
            }
        }
    )*};
}

shapes! { Tag Byte Four Twelve Line Big }

shapes! { () (A) (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, F) }

/// Runs an expression with the `n`th shape as `$S`.
macro_rules! with_shape {
    ($n:expr, $S:ident => $run:expr) => {
        with_type!($n % 13, $S => $run;
            0 (), 1 Tag, 2 Byte, 3 Four, 4 (Twelve,), 5 (Four, Twelve), 6 (Tag, (Byte, Four)),
            7 Big, 8 (Line, Four), 9 (Big, (Tag,), Byte), 10 (Twelve, Tag), 11 (Twelve, Line, Byte),
            12 (Tag, Byte, Four, Twelve, Line, Big))
    };
}
pub(crate) use with_shape;

/// The same for exchanges, of which there are as many as pairs.
macro_rules! with_small_shape {
    ($n:expr, $S:ident => $run:expr) => {
        with_type!($n % 5, $S => $run; 0 (), 1 Tag, 2 (Four, Twelve), 3 Big, 4 (Twelve, Byte))
    };
}
pub(crate) use with_small_shape;
