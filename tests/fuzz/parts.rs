//! The components and bundles of the fuzz: sizes from 0 to 4,096 bytes, alignments from 1 to 64.
//!
//! The value of a component is made from one number, which is all that the model keeps of it.

use phalanx::prelude::*;

/// Component types.
pub(crate) const PARTS: usize = 16;

/// The component types of an entity, a bit each.
pub(crate) type Set = u16;

/// The numbers that an entity's components were made from.
pub(crate) type Numbers = [u32; PARTS];

/// A component, and the number it was made from.
pub(crate) trait Part: Component + PartialEq + std::fmt::Debug {
    const INDEX: usize;
    fn part(number: u32) -> Self;
}

macro_rules! parts {
    (@define [] $name:ident $fields:tt) => {
        component! { #[derive(Debug, PartialEq)] pub(crate) struct $name $fields; }
    };
    (@define [enableable] $name:ident $fields:tt) => {
        component! {
            #[enableable]
            #[derive(Debug, PartialEq)]
            pub(crate) struct $name $fields;
        }
    };
    (@define [$(#[$meta:meta])+] $name:ident $fields:tt) => {
        #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
        $(#[$meta])+
        pub(crate) struct $name $fields;
        component!($name);
    };
    ($(
        $index:literal $([$word:ident])? $(#[$meta:meta])* $name:ident($($inner:ty)?) $n:ident
        => $make:expr;
    )*) => {
        $(
            parts!(@define [$($word)? $(#[$meta])*] $name ($(pub(crate) $inner)?));
            impl Part for $name {
                const INDEX: usize = $index;
                fn part($n: u32) -> Self {
                    $make
                }
            }
        )*
        /// Names and sizes, by number.
        pub(crate) const KINDS: [(&str, usize); PARTS] =
            [$((stringify!($name), size_of::<$name>())),*];

        /// The component type with this name.
        pub(crate) fn part_named(name: &str) -> Option<usize> {
            [$($name::NAME),*].iter().position(|&known| known == name)
        }
    };
}

/// What makes neighbours differ in a component of many numbers.
const KEYS: [u32; 4] = [0, 0x55, 0xaa00, 0xff_0000];

component! {
    /// Two bytes, of whose values most are not a switch.
    #[derive(Debug, PartialEq)]
    pub(crate) struct Switch { is_on: bool, speed: Speed }
    #[derive(Debug, PartialEq)]
    pub(crate) enum Speed { Off, Slow, Fast, Fastest = 255 }
}

impl Switch {
    fn of(number: u32) -> Self {
        let speed = match number % 4 {
            0 => Speed::Off,
            1 => Speed::Slow,
            2 => Speed::Fast,
            _ => Speed::Fastest,
        };
        Self { is_on: number.is_multiple_of(3), speed }
    }
}

parts! {
    0 Tag() _n => Self();
    1 Mark() _n => Self();
    2 #[repr(C, align(64))] Aligned() _n => Self();
    3 Byte(u8) n => Self(n.to_le_bytes()[0]);
    4 Two(Switch) n => Self(Switch::of(n));
    5 Odd([u8; 3]) n => Self([n.to_le_bytes()[0], n.to_le_bytes()[1], 7]);
    6 Four(u32) n => Self(n);
    7 [enableable] Eight(u64) n => Self(u64::from(n) << 32 | u64::from(!n));
    8 Twelve([u32; 3]) n => Self([n, !n, n ^ 7]);
    9 #[repr(C, align(16))] Sixteen([u64; 2]) n => Self([n.into(), (!n).into()]);
    10 TwentyFour([u64; 3]) n => Self([n.into(), 1, (!n).into()]);
    11 #[repr(C, align(32))] Half([u32; 8]) n => Self([n; 8]);
    12 #[repr(C, align(64))] Line([u32; 16]) n => Self([!n; 16]);
    13 Big([u32; 50]) n => Self(std::array::from_fn(|i| n ^ KEYS[i % 4]));
    14 Link(Entity) n => Self(Entity::from_bits(u64::from(n) << 32 | 1));
    15 Page([u32; 1024]) n => Self([n; 1024]);
}

/// Runs an expression with the `n`th component type as `$P`.
#[macro_export]
macro_rules! with_part {
    ($n:expr, $P:ident => $run:expr) => {
        $crate::with_part!(@ $n, $P => $run;
            0 Tag, 1 Mark, 2 Aligned, 3 Byte, 4 Two, 5 Odd, 6 Four, 7 Eight, 8 Twelve, 9 Sixteen,
            10 TwentyFour, 11 Half, 12 Line, 13 Big, 14 Link, 15 Page)
    };
    (@ $n:expr, $P:ident => $run:expr; $($i:literal $part:ty),*) => {{
        #[expect(clippy::allow_attributes, reason = "which types are named differs")]
        #[allow(unused_imports, reason = "each use names some of them")]
        use $crate::parts::*;
        match $n { $($i => { type $P = $part; $run })* n => unreachable!("there is no {n}") }
    }};
}

/// Bundles that [`with_shape!`] knows; the first [`PARTS`] are the components, the last has pages.
pub(crate) const SHAPES: usize = 27;

/// Runs an expression with the `n`th bundle as `$S`.
#[macro_export]
macro_rules! with_shape {
    ($n:expr, $S:ident => $run:expr) => {
        $crate::with_part!(@ $n, $S => $run;
            0 Tag, 1 Mark, 2 Aligned, 3 Byte, 4 Two, 5 Odd, 6 Four, 7 Eight, 8 Twelve, 9 Sixteen,
            10 TwentyFour, 11 Half, 12 Line, 13 Big, 14 Link, 15 Page,
            16 (), 17 (Four, Twelve), 18 (Tag, (Byte, Four)), 19 (Line, Half), 20 (Big, (Mark,), Odd),
            21 (Sixteen, Two, Aligned), 22 (Eight, TwentyFour), 23 (Mark, Tag), 24 (Link, Four, Byte),
            25 (Tag, Byte, Two, (Odd, Four, Eight, Twelve), Sixteen, TwentyFour, Half, (Line, Big)),
            26 ((Page, Tag), Four))
    };
}

/// Bundles of [`with_small_shape!`].
pub(crate) const SMALL_SHAPES: usize = 4;

/// The same for exchanges, of which there are as many as pairs.
#[macro_export]
macro_rules! with_small_shape {
    ($n:expr, $S:ident => $run:expr) => {
        $crate::with_part!(@ $n, $S => $run;
            0 (), 1 Mark, 2 (Four, Twelve), 3 (Big, (Tag, Four)))
    };
}

/// A bundle of parts, made from one number.
pub(crate) trait Shape: Bundle + PartialEq + std::fmt::Debug {
    const SET: Set;
    fn make(number: u32) -> Self;
    /// What these numbers make.
    fn of(numbers: &Numbers) -> Self;
}

impl<P: Part> Shape for P {
    const SET: Set = 1 << P::INDEX;
    fn make(number: u32) -> Self {
        P::part(number)
    }
    fn of(numbers: &Numbers) -> Self {
        P::part(numbers[P::INDEX])
    }
}

macro_rules! tuples {
    ($(($($shape:ident),*))*) => {$(
        #[expect(clippy::allow_attributes, reason = "the empty tuple uses nothing")]
        #[allow(unused_variables, clippy::unused_unit, reason = "the empty tuple has no parts")]
        impl<$($shape: Shape),*> Shape for ($($shape,)*) {
            const SET: Set = 0 $(| $shape::SET)*;
            fn make(number: u32) -> Self {
                ($($shape::make(number),)*)
            }
            fn of(numbers: &Numbers) -> Self {
                ($($shape::of(numbers),)*)
            }
        }
    )*};
}

tuples! { () (A) (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E, F, G, H) }

/// The components of a set, by number.
pub(crate) fn parts_of(set: Set) -> impl Iterator<Item = usize> {
    (0..PARTS).filter(move |part| set >> part & 1 == 1)
}

/// Whether a row of these components fits a chunk: each column is rounded up to a cache line.
pub(crate) fn fits(set: Set, chunk_bytes: usize) -> bool {
    parts_of(set).map(|part| KINDS[part].1.next_multiple_of(64)).sum::<usize>() <= chunk_bytes
}

/// The names of a set's components.
pub(crate) fn names(set: Set) -> Vec<&'static str> {
    parts_of(set).map(|part| KINDS[part].0).collect()
}
