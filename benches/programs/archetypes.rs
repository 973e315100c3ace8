//! Many archetypes: entities spread over thousands of component sets.

use phalanx::prelude::*;

use super::Program;
use super::components::{Data, world};
use super::fragments::double_vectors;
use super::proof::{doubled, full_archetypes, sum_of_data};

/// Entities, spread over all archetypes.
pub const ENTITIES: usize = 20_000;

/// One float doubled in every row, a few of them in each archetype.
pub struct ManyArchetypes {
    pub world: World,
    pub archetypes: usize,
}

impl ManyArchetypes {
    /// A world in which entity `i` has the tags of the bits of its archetype's number.
    ///
    /// Sets are types, so the tags come in two halves of at most eight: 256 bundles for the low
    /// half, 256 for the high half. At most 255 sets that only the low half made remain, empty.
    pub fn new(chunk: ChunkSize, archetypes: usize) -> Self {
        let mut world = world(chunk);
        spawn_tagged(&mut world, archetypes);
        Self { world, archetypes }
    }
}

/// The tags of entity `i`, a bit each.
pub fn tags_of(i: usize, archetypes: usize) -> usize {
    // An odd factor permutes the 16-bit numbers: the tags are spread over all bits.
    ((i % archetypes) * 40_503) & 0xFFFF
}

/// Spawns all entities, and returns them in order.
pub(super) fn spawn_tagged(world: &mut World, archetypes: usize) -> Vec<Entity> {
    let spawn = |i| {
        let tags = tags_of(i, archetypes);
        let entity = spawn_low(world, tags);
        insert_high(world, entity, tags);
        entity
    };
    (0..ENTITIES).map(spawn).collect()
}

impl Program for ManyArchetypes {
    fn pass(&mut self) {
        for data in self.world.query_mut::<&mut Data>().padded() {
            double_vectors(data);
        }
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        full_archetypes(&self.world, self.archetypes)?;
        doubled(sum_of_data(&self.world), ENTITIES, passes)
    }
}

/// Evaluates `$action!` with the tags of the set bits, one expansion for each subset.
macro_rules! with_tags {
    ($action:ident, $bits:expr, ($($tag:ident)*)) => { $action!($($tag)*) };
    ($action:ident, $bits:expr, ($($tag:ident)*) $next:ident $bit:literal $($rest:tt)*) => {
        if ($bits >> $bit) & 1 == 1 {
            with_tags!($action, $bits, ($($tag)* $next) $($rest)*)
        } else {
            with_tags!($action, $bits, ($($tag)*) $($rest)*)
        }
    };
}

fn spawn_low(world: &mut World, tags: usize) -> Entity {
    macro_rules! spawn {
        ($($tag:ident)*) => { world.spawn((Data(1.0), ($(tag::$tag,)*))) };
    }
    with_tags!(spawn, tags, () T0 0 T1 1 T2 2 T3 3 T4 4 T5 5 T6 6 T7 7)
}

fn insert_high(world: &mut World, entity: Entity, tags: usize) {
    macro_rules! insert {
        ($($tag:ident)*) => { world.insert(entity, ($(tag::$tag,)*)) };
    }
    let inserted = with_tags!(insert, tags, () T8 8 T9 9 T10 10 T11 11 T12 12 T13 13 T14 14 T15 15);
    inserted.expect("just spawned");
}

/// The sixteen tags.
pub(super) mod tag {
    use phalanx::prelude::*;

    macro_rules! tags {
        ($($tag:ident)*) => {
            $(
                #[derive(Clone, Copy, Debug, Pod, Zeroable)]
                #[repr(C)]
                pub struct $tag;
            )*
            impl_component!($($tag),*);
        };
    }
    tags! { T0 T1 T2 T3 T4 T5 T6 T7 T8 T9 T10 T11 T12 T13 T14 T15 }
}
