//! The components of the tests, in the sizes and alignments that layouts and moves depend on, and
//! the checks and worlds that all programs share.

use phalanx::prelude::*;

use super::world;

macro_rules! components {
    ($($(#[$meta:meta])* $name:ident($inner:ty)),* $(,)?) => {$(
        #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
        #[repr(C)]
        $(#[$meta])*
        pub(crate) struct $name(pub(crate) $inner);
        component!($name);
    )*};
}

components! {
    Byte(u8),
    Odd([u8; 3]),
    Four(u32),
    Serial(u32),
    Link(Entity),
    Twelve([u32; 3]),
    Sixteen([u32; 4]),
    /// As large and as aligned as a cache line.
    #[repr(align(64))]
    Line([u32; 16]),
    Hundred([u32; 25]),
    Big([u32; 250]),
    Quarter([u8; 1024]),
    /// Three rows fill the smallest chunk.
    Mega([u8; 1300]),
    /// One row fills the smallest chunk.
    Page([u8; 4096]),
}

macro_rules! tags {
    ($($name:ident),* $(,)?) => {$(
        #[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
        #[repr(C)]
        pub(crate) struct $name;
        component!($name);
    )*};
}

tags!(Tag, Other, Third);

/// Twelve components, to fill the widest bundles and queries, and move through twenty archetypes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Nth<const N: usize>(pub(crate) u32);

macro_rules! nth {
    ($($n:literal)*) => { $(component!(Nth<$n>);)* };
}

nth!(0 1 2 3 4 5 6 7 8 9 10 11);

/// Runs an expression with the `n`th type of a list as `$S`: how random operations choose a
/// component or a bundle.
macro_rules! with_type {
    ($n:expr, $S:ident => $run:expr; $($i:literal $type:ty),* $(,)?) => {
        match $n {
            $($i => {
                type $S = $type;
                $run
            })*
            n => unreachable!("the list has no type {n}"),
        }
    };
}
pub(crate) use with_type;

/// Rows that a full chunk of the archetype with the most rows holds.
pub(crate) fn capacity(world: &World) -> usize {
    world.archetypes().max_by_key(|a| a.len()).expect("an archetype").capacity()
}

/// An empty world; under Miri with the smallest chunks, since each row costs it microseconds.
pub(crate) fn small_world() -> World {
    if cfg!(miri) { World::builder().chunk_size(ChunkSize::KIB_4).build() } else { world() }
}

/// Asserts that the world does not contradict itself.
#[track_caller]
pub(crate) fn sound(world: &World) {
    assert_eq!(world.check(), Ok(()), "the world contradicts itself");
}
