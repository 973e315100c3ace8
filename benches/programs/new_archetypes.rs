//! Archetypes made in a world that has thousands of them, and a hundred cached queries.

use std::hint::black_box;

use phalanx::prelude::*;

use super::Program;
use super::archetypes::{ENTITIES, spawn_tagged, tag, tags_of};
use super::components::{Data, world};
use super::proof::{full_archetypes, same};

/// Archetypes that hold entities before the first pass.
pub const ARCHETYPES: usize = 10_000;

/// Cached queries: each of the tags `T0` to `T4`, with and without each of `T5` to `T14`.
pub const QUERIES: usize = 100;

/// Archetypes that a pass makes.
pub const MADE: usize = 100;

/// Passes that still find entities of their own.
pub const PASSES_MAX: u64 = (ARCHETYPES / MADE) as u64;

/// The tag that no entity has at the start.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct New;
impl_component!(New);

/// A hundred entities get a tag that moves each to an archetype of its own; afterwards every query
/// is asked for its first chunk, which brings it up to date.
pub struct NewArchetypes {
    world: World,
    entities: Vec<Entity>,
    made: usize,
}

impl NewArchetypes {
    /// Two entities in each archetype. All queries have been asked.
    pub fn new(chunk: ChunkSize) -> Self {
        let mut world = world(chunk);
        let entities = spawn_tagged(&mut world, ARCHETYPES);
        first_chunks(&world);
        Self { world, entities, made: 0 }
    }
}

impl Program for NewArchetypes {
    fn pass(&mut self) {
        for &entity in &self.entities[self.made..][..MADE] {
            self.world.insert(entity, New).expect("it lives, and a tag fits any row");
        }
        self.made += MADE;
        black_box(first_chunks(&self.world));
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        let made = usize::try_from(passes).expect("few passes") * MADE;
        full_archetypes(&self.world, ARCHETYPES + made)?;
        same("the number of queries that match", first_chunks(&self.world), QUERIES)?;
        same("the number of rows of all queries", rows(&self.world), rows_wanted())
    }
}

/// Evaluates `$action!` for each query, with two tags: a required one and an excluded one.
macro_rules! queries {
    ($action:ident) => { queries!($action: T0 T1 T2 T3 T4) };
    ($action:ident: $($first:ident)*) => {
        $(queries!($action $first: T5 T6 T7 T8 T9 T10 T11 T12 T13 T14);)*
    };
    ($action:ident $first:ident: $($second:ident)*) => {$(
        $action!(with::<tag::$first>, with::<tag::$second>);
        $action!(with::<tag::$first>, without::<tag::$second>);
    )*};
}

/// The number of queries with a match.
fn first_chunks(world: &World) -> usize {
    let mut found = 0;
    macro_rules! first {
        ($one:ident::<$a:ty>, $other:ident::<$b:ty>) => {
            found += usize::from(
                world.query::<&Data>().$one::<$a>().$other::<$b>().into_iter().next().is_some(),
            );
        };
    }
    queries!(first);
    found
}

/// Rows of all queries.
fn rows(world: &World) -> usize {
    let mut rows = 0;
    macro_rules! count {
        ($one:ident::<$a:ty>, $other:ident::<$b:ty>) => {
            rows += world
                .query::<&Data>()
                .$one::<$a>()
                .$other::<$b>()
                .into_iter()
                .map(<[_]>::len)
                .sum::<usize>();
        };
    }
    queries!(count);
    rows
}

/// The bits of the tags that each query requires, and of the tags that it excludes.
pub fn query_masks() -> impl Iterator<Item = (usize, usize)> {
    let pairs = (0..5).flat_map(|first| (5..15).map(move |second| (1 << first, 1 << second)));
    pairs.flat_map(|(first, second)| [(first | second, 0), (first, second)])
}

/// The rows of all queries, counted by the masks.
pub fn rows_wanted() -> usize {
    let matches = |tags: usize, (with, without)| tags & with == with && tags & without == 0;
    let queries_of = |tags| query_masks().filter(|&query| matches(tags, query)).count();
    (0..ENTITIES).map(|i| queries_of(tags_of(i, ARCHETYPES))).sum()
}
