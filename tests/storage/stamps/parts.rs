//! The components of these tests, and sets of them.

use phalanx::prelude::*;

pub(crate) use crate::common::components::{Four, Line, Mega, Odd, Tag};

/// Components there are.
pub(crate) const PARTS: usize = 5;

/// Sets of components there are, and archetypes in each world.
pub(crate) const SETS: Set = 1 << PARTS;

/// A set of components, a bit each.
pub(crate) type Set = u8;

/// The numbers of the components of a set.
pub(crate) fn parts_of(set: Set) -> impl Iterator<Item = usize> {
    (0..PARTS).filter(move |part| set >> part & 1 == 1)
}

/// A component and its number.
pub(crate) trait Part: Component + Shape {
    const INDEX: usize;
}

/// A bundle of components.
pub(crate) trait Shape: Bundle + Zeroable {
    const SET: Set;
}

macro_rules! parts {
    ($($index:literal $name:ident)*) => {
        $(
            impl Part for $name {
                const INDEX: usize = $index;
            }

            impl Shape for $name {
                const SET: Set = 1 << $index;
            }
        )*

        /// The set of an archetype's components.
        pub(crate) fn set_of(archetype: phalanx::reflect::ArchetypeInfo<'_>) -> Set {
            let of_name = |name: &str| match name {
                $($name::NAME => $name::SET,)*
                name => panic!("{name} is none of these components"),
            };
            archetype.components().map(|component| of_name(component.name())).sum()
        }
    };
}

parts! { 0 Four 1 Odd 2 Line 3 Tag 4 Mega }

macro_rules! shapes {
    ($(($($shape:ident),*))*) => {$(
        impl<$($shape: Shape),*> Shape for ($($shape,)*) {
            const SET: Set = 0 $(| $shape::SET)*;
        }
    )*};
}

shapes! { () (A, B) (A, B, C) (A, B, C, D, E) }
