//! The components of these tests.

use phalanx::prelude::*;

use crate::common::world;

macro_rules! components {
    ($($(#[$meta:meta])* $name:ident($inner:ty)),* $(,)?) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
        #[repr(C)]
        pub(crate) struct $name(pub(crate) $inner);
        component!($name);
    )*};
}

components! {
    One(u8),
    Four(u32),
    Twelve([u32; 3]),
    #[repr(align(64))]
    Line([u32; 16]),
    Id(Entity),
    Hundred([u32; 25]),
    Big([u32; 250]),
    Page([u8; 4096]),
    Quarter([u8; 1024]),
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

/// Rows that a full chunk of the archetype with the most rows holds.
pub(crate) fn capacity(world: &World) -> usize {
    world.archetypes().max_by_key(|a| a.len()).expect("an archetype").capacity()
}

/// An empty world; under Miri with the smallest chunks, since each row costs it microseconds.
pub(crate) fn small_world() -> World {
    if cfg!(miri) { World::builder().chunk_size(ChunkSize::KIB_4).build() } else { world() }
}

/// What `check` says, as a test wants it.
#[track_caller]
pub(crate) fn sound(world: &World) {
    assert_eq!(world.check(), Ok(()), "the world contradicts itself");
}
