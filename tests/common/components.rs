//! Components of the tests, in the sizes and alignments that matter to layouts and moves; checks
//! and worlds that all test programs share.

use std::sync::Arc;

use phalanx::prelude::*;

use super::world;

#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Byte(pub(crate) u8);
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Odd(pub(crate) [u8; 3]);
#[component(lines)]
#[derive(Debug, PartialEq)]
pub(crate) struct Four(pub(crate) u32);
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Serial(pub(crate) u32);
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Link(pub(crate) Entity);
#[component(lines)]
#[derive(Debug, PartialEq)]
pub(crate) struct Twelve(pub(crate) [u32; 3]);
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Sixteen(pub(crate) [u32; 4]);
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Hundred(pub(crate) [u32; 25]);
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Big(pub(crate) [u32; 250]);
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Quarter(pub(crate) [u8; 1024]);
/// A sparse component with memory of its own.
#[component(sparse)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text(pub(crate) String);

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// A sparse component of plain data.
#[component(sparse)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number(pub(crate) u32);
/// A sparse component that counts its owners.
#[component(sparse)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owned(pub(crate) Arc<u32>);
/// Three rows fill the smallest chunk.
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Mega(pub(crate) [u8; 1300]);
/// One row fills the smallest chunk.
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Page(pub(crate) [u8; 4096]);

#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Tag;
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Other;
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Third;

/// Twelve components, to fill the widest bundles and queries, and move through twenty
/// archetypes.
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Nth<const N: usize>(pub(crate) u32);

/// As large and as aligned as a cache line.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Line(pub(crate) [u32; 16]);
impl_component!(Line);

macro_rules! nth {
    ($($n:literal)*) => { $(impl_component!(Nth<$n>);)* };
}

nth!(0 1 2 3 4 5 6 7 8 9 10 11);

/// Runs an expression with the `n`th type of a list as `$S`. Random operations choose a component
/// or a bundle with it.
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

/// The rows of a full chunk, in the archetype with the most rows.
pub(crate) fn capacity(world: &World) -> usize {
    world.reflect().archetypes().max_by_key(|a| a.len()).expect("an archetype").capacity()
}

/// An empty world; under Miri with the smallest chunks, because each row costs Miri microseconds.
pub(crate) fn small_world() -> World {
    if cfg!(miri) { World::builder().chunk_size(ChunkSize::KIB_4).build() } else { world() }
}

/// Asserts that the world does not contradict itself.
#[track_caller]
pub(crate) fn sound(world: &World) {
    assert_eq!(world.check(), Ok(()), "the world contradicts itself");
}
