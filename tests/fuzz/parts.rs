//! The components and bundles of the fuzz: sizes from 0 to 4,096 bytes, alignments from 1 to 64.
//!
//! The value of a component is made from one number, and the model keeps only this number.

use phalanx::Previous;
use phalanx::chunks::ColumnBundle;
use phalanx::prelude::*;

/// The number of component types with one column.
pub(crate) const PARTS: usize = 20;

/// The number of all component types with values: [`Spot`] has two columns.
pub(crate) const ALL: usize = PARTS + 1;

/// The component types of an entity, one bit each.
pub(crate) type Set = u32;

/// The bit of entities that are gone.
pub(crate) const GONE: Set = 1 << ALL;

/// The bit of entities with a shared value.
pub(crate) const SHARED: Set = GONE << 1;

/// The bit of entities that are gone and have a [`Grip`](crate::grips::Grip).
pub(crate) const KEPT: Set = SHARED << 1;

/// The bits of entities that queries skip.
pub(crate) const HIDDEN: Set = GONE | Asleep::SET;

/// The components in columns that an entity keeps after a despawn.
pub(crate) const CLEANUP: Set = Sound::SET;

/// The numbers from which an entity's components were made.
pub(crate) type Numbers = [u32; ALL];

/// A component that is made from a number.
pub(crate) trait Part: Component + PartialEq + std::fmt::Debug {
    const INDEX: usize;
    fn part(number: u32) -> Self;
}

macro_rules! parts {
    (@define [] $name:ident $fields:tt) => {
        #[component]
        #[derive(Debug, PartialEq)] pub(crate) struct $name $fields;
    };
    (@define [$word:ident] $name:ident $fields:tt) => {
        #[component($word)]
        #[derive(Debug, PartialEq)]
        pub(crate) struct $name $fields;
    };
    (@define [$(#[$meta:meta])+] $name:ident $fields:tt) => {
        #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
        $(#[$meta])+
        pub(crate) struct $name $fields;
        impl_component!($name);
    };
    ($(
        $index:literal $([$word:ident])? $(#[$meta:meta])* $name:ident($($inner:ty)?) $n:ident
        => $make:expr;
    )* of others: $(
        $other:literal $type:ty, $number:ident => $value:expr;
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
        $(
            impl Part for $type {
                const INDEX: usize = $other;
                fn part($number: u32) -> Self {
                    $value
                }
            }
        )*
        /// Names, and the sizes of columns, by number.
        pub(crate) const KINDS: [(&str, &[usize]); ALL] = [
            $((<$name as Component>::NAME, &[size_of::<$name>()]),)*
            $((<$type as Component>::NAME, &[size_of::<$type>()]),)*
            ("Spot", &[4, 3]),
        ];
    };
}

/// Masks that make adjacent numbers of a component differ.
const KEYS: [u32; 4] = [0, 0x55, 0xaa00, 0xff_0000];

/// The value of a chunk.
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Bounds(pub(crate) u32);
/// A component with two columns.
#[component(split)]
#[derive(Debug, PartialEq)]
pub(crate) struct Spot {
    pub(crate) at: u32,
    pub(crate) hue: [u8; 3],
}
/// Two bytes; most of their bit patterns are not valid.
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Switch {
    is_on: bool,
    speed: Speed,
}
#[component]
#[derive(Debug, PartialEq)]
pub(crate) enum Speed {
    Off,
    Slow,
    Fast,
    Fastest = 255,
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
    6 [lines] Four(u32) n => Self(n);
    7 [enableable] Eight(u64) n => Self(u64::from(n) << 32 | u64::from(!n));
    8 [lines] Twelve([u32; 3]) n => Self([n, !n, n ^ 7]);
    9 #[repr(C, align(16))] Sixteen([u64; 2]) n => Self([n.into(), (!n).into()]);
    10 TwentyFour([u64; 3]) n => Self([n.into(), 1, (!n).into()]);
    11 #[repr(C, align(32))] Half([u32; 8]) n => Self([n; 8]);
    12 #[repr(C, align(64))] Line([u32; 16]) n => Self([!n; 16]);
    13 Big([u32; 50]) n => Self(std::array::from_fn(|i| n ^ KEYS[i % 4]));
    14 Link(Entity) n => Self(linked(n));
    15 Page([u32; 1024]) n => Self([n; 1024]);
    16 [cleanup] Sound(u32) n => Self(n);
    17 [hidden] Asleep() _n => Self();
    of others:
    18 Previous<Four>, n => Self(Four(n));
    19 PerChunk<Bounds>, _n => Self::TAG;
}

/// An entity that may be alive, or the null entity.
fn linked(number: u32) -> Entity {
    if number == u32::MAX {
        return Entity::NULL;
    }
    Entity::from_bits(u64::from(number % 4_096) << 32 | u64::from(1 + (number >> 12)))
}

/// The number of a link to an entity, if it has one.
pub(crate) fn link_to(entity: Entity) -> Option<u32> {
    let (index, generation) = (entity.index(), entity.generation());
    let number = index | generation.wrapping_sub(1) << 12;
    let number = if entity.is_null() { u32::MAX } else { number };
    (linked(number) == entity).then_some(number)
}

impl Shape for Spot {
    const SET: Set = 1 << PARTS;
    fn make(n: u32) -> Self {
        Self { at: n, hue: [n.to_le_bytes()[1], 9, !n.to_le_bytes()[0]] }
    }
    fn of(numbers: &Numbers) -> Self {
        Self::make(numbers[PARTS])
    }
}

/// The set of the component type with this name in the world.
pub(crate) fn set_named(name: &str) -> Set {
    match name {
        "phalanx::Gone" => GONE,
        "phalanx::KeptValues" => KEPT,
        name if name.ends_with("Spot.at") || name.ends_with("Spot.hue") => Spot::SET,
        name => {
            let known = KINDS.iter().position(|kind| kind.0 == name);
            1 << known.unwrap_or_else(|| panic!("{name} is no component of the fuzz"))
        }
    }
}

/// Runs an expression with the `n`th component type as `$P`.
#[macro_export]
macro_rules! with_part {
    ($n:expr, $P:ident => $run:expr) => {
        $crate::with_part!(@ $n, $P => $run;
            0 Tag, 1 Mark, 2 Aligned, 3 Byte, 4 Two, 5 Odd, 6 Four, 7 Eight, 8 Twelve, 9 Sixteen,
            10 TwentyFour, 11 Half, 12 Line, 13 Big, 14 Link, 15 Page, 16 Sound, 17 Asleep,
            18 Previous<Four>, 19 PerChunk<Bounds>)
    };
    (@ $n:expr, $P:ident => $run:expr; $($i:literal $part:ty),*) => {{
        #[expect(clippy::allow_attributes, reason = "which types are named differs")]
        #[allow(unused_imports, reason = "each use names some of them")]
        use {phalanx::{chunks::PerChunk, Previous}, $crate::parts::*};
        match $n { $($i => { type $P = $part; $run })* n => unreachable!("there is no {n}") }
    }};
}

/// The number of bundles of [`with_shape!`]. The first [`ALL`] are the components, the last has
/// pages.
pub(crate) const SHAPES: usize = 34;

/// The number of the empty bundle.
pub(crate) const EMPTY: usize = ALL;

/// Runs an expression with the `n`th bundle as `$S`.
#[macro_export]
macro_rules! with_shape {
    ($n:expr, $S:ident => $run:expr) => {
        $crate::with_part!(@ $n, $S => $run;
            0 Tag, 1 Mark, 2 Aligned, 3 Byte, 4 Two, 5 Odd, 6 Four, 7 Eight, 8 Twelve, 9 Sixteen,
            10 TwentyFour, 11 Half, 12 Line, 13 Big, 14 Link, 15 Page, 16 Sound, 17 Asleep,
            18 Previous<Four>, 19 PerChunk<Bounds>, 20 Spot, 21 (),
            22 (Four, Twelve), 23 (Tag, (Byte, Four)), 24 (Line, Half), 25 (Big, (Mark,), Odd),
            26 (Sixteen, Two, Aligned), 27 (Eight, TwentyFour), 28 (Mark, Tag),
            29 (Link, Four, Byte),
            30 (Tag, Byte, Two, (Odd, Four, Eight, Twelve), Sixteen, TwentyFour, Half, (Line, Big)),
            31 (Spot, PerChunk<Bounds>, Sound), 32 (Asleep, Sound, Eight), 33 ((Page, Tag), Four))
    };
}

/// The number of bundles of [`with_small_shape!`].
pub(crate) const SMALL_SHAPES: usize = 4;

/// [`with_shape!`] with fewer bundles, for exchanges, which are compiled for each pair.
#[macro_export]
macro_rules! with_small_shape {
    ($n:expr, $S:ident => $run:expr) => {
        $crate::with_part!(@ $n, $S => $run;
            0 (), 1 Mark, 2 (Four, Twelve), 3 (Big, (Tag, Four)))
    };
}

/// The number of bundles of [`with_bulk_shape!`].
pub(crate) const BULK_SHAPES: usize = 7;

/// [`with_shape!`] with fewer bundles, for changes of all rows that a query matches.
#[macro_export]
macro_rules! with_bulk_shape {
    ($n:expr, $S:ident => $run:expr) => {
        $crate::with_part!(@ $n, $S => $run;
            0 (), 1 Mark, 2 (Four, Twelve), 3 (Big, (Tag, Four)), 4 Sound, 5 Asleep,
            6 (Spot, PerChunk<Bounds>))
    };
}

/// A bundle of parts, made from one number or from one for each part.
pub(crate) trait Shape: Bundle + ColumnBundle + PartialEq + std::fmt::Debug {
    const SET: Set;
    fn make(number: u32) -> Self;
    /// The bundle made from the numbers of its parts.
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
    (0..ALL).filter(move |part| set >> part & 1 == 1)
}

/// Whether a row of these components fits a chunk, with each column rounded up to a cache line.
pub(crate) fn fits(set: Set, chunk_bytes: usize) -> bool {
    let columns = parts_of(set).flat_map(|part| KINDS[part].1);
    columns.map(|bytes| bytes.next_multiple_of(64)).sum::<usize>() <= chunk_bytes
}

/// The names of a set's components.
pub(crate) fn names(set: Set) -> Vec<&'static str> {
    let gone = (set & GONE != 0).then_some("Gone");
    let gone = gone.into_iter().chain((set & SHARED != 0).then_some("shared"));
    let gone = gone.chain((set & KEPT != 0).then_some("KeptValues"));
    parts_of(set).map(|part| KINDS[part].0).chain(gone).collect()
}
