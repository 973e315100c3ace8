//! Entities that come and go at random among many that stay.

use phalanx::prelude::*;

use super::Program;
use super::components::{Position, Velocity, position, velocity, world};
use super::proof::{full_archetypes, same};
use super::random::{random_index, random_indices};

/// Spawns the entity of a number.
type Spawn = fn(&mut World, usize) -> Entity;

/// Records the spawn of the entity of a number.
type RecordSpawn = fn(&mut CommandBuffer, usize) -> Entity;

/// Whether an entity has the marker of a kind.
type IsKind = fn(&World, Entity) -> bool;

/// An index below a length, drawn at random.
type Draw = Box<dyn FnMut(usize) -> usize>;

/// Declares the markers, functions that spawn entities with each, and questions for each.
macro_rules! kinds {
    ($($marker:ident)*) => {
        /// The markers.
        mod marker {
            use phalanx::prelude::*;
            $(
                #[component]
                pub(super) struct $marker;
            )*
        }

        const KINDS: &[Spawn] =
            &[$(|world, i| world.spawn((position(i), velocity(i), marker::$marker))),*];

        const RECORDED_KINDS: &[RecordSpawn] =
            &[$(|buffer, i| buffer.spawn((position(i), velocity(i), marker::$marker))),*];

        const IS_KIND: &[IsKind] = &[$(|world, e| world.has::<marker::$marker>(e)),*];
    };
}

kinds! { A B C D E F G H I J K L M N O P Q R S T U V W X Y Z }

/// Random entities despawned, and an equal number spawned in random archetypes.
pub struct Churn {
    world: World,
    entities: Vec<Entity>,
    /// The place of each entity of a pass.
    places: Vec<usize>,
    random: Draw,
    replaced: usize,
}

/// The places of a pass in random order, and the draws of kinds, which follow.
fn places_and_draws(len: usize, replaced: usize) -> (Vec<usize>, Draw) {
    let mut places: Vec<_> = random_indices(len, replaced).collect();
    places.sort_unstable();
    places.dedup();
    let mut random = random_index();
    for i in (1..places.len()).rev() {
        places.swap(i, random(i + 1));
    }
    (places, Box::new(random))
}

impl Churn {
    /// `len` entities, of which a pass replaces `replaced`, or fewer by those that it draws twice.
    pub fn new(chunk: ChunkSize, len: usize, replaced: usize) -> Self {
        let mut world = world(chunk);
        let entities = (0..len).map(|i| KINDS[i % KINDS.len()](&mut world, i)).collect();
        let (places, random) = places_and_draws(len, replaced);
        Self { world, entities, places, random, replaced }
    }

    /// The kind of the entity of each place after a number of passes.
    fn kinds(&self, passes: u64) -> Vec<usize> {
        let mut kinds: Vec<_> = (0..self.entities.len()).map(|i| i % KINDS.len()).collect();
        let (places, mut random) = places_and_draws(kinds.len(), self.replaced);
        for _ in 0..passes {
            places.iter().for_each(|&place| kinds[place] = random(KINDS.len()));
        }
        kinds
    }
}

impl Program for Churn {
    fn pass(&mut self) {
        let Self { world, entities, places, random, .. } = self;
        for &place in &*places {
            world.despawn(entities[place]).expect("alive");
        }
        for &place in &*places {
            entities[place] = KINDS[random(KINDS.len())](world, place);
        }
    }

    /// The kinds are the trace of a pass: it draws the kind of each entity that it spawns.
    fn check(&self, passes: u64) -> Result<(), String> {
        full_archetypes(&self.world, KINDS.len())?;
        same("the number of rows", self.world.len(), self.entities.len())?;
        let is_right = |&(i, (&e, kind)): &(usize, (&Entity, usize))| {
            self.world.get::<Position>(e) == Ok(&position(i))
                && self.world.get::<Velocity>(e) == Ok(&velocity(i))
                && IS_KIND[kind](&self.world, e)
        };
        let wanted = self.entities.iter().zip(self.kinds(passes));
        let right = wanted.enumerate().filter(is_right).count();
        same("the number of entities that are right", right, self.entities.len())
    }
}

/// [`Churn`] with one call for the despawns of a pass.
pub struct ChurnBatch(pub Churn);

impl Program for ChurnBatch {
    fn pass(&mut self) {
        let Churn { world, entities, places, random, .. } = &mut self.0;
        let gone: Vec<_> = places.iter().map(|&place| entities[place]).collect();
        world.despawn_batch(&gone);
        for &place in &*places {
            entities[place] = KINDS[random(KINDS.len())](world, place);
        }
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        self.0.check(passes)
    }
}

/// [`Churn`] with all changes of a pass recorded in a buffer.
pub struct ChurnCommands {
    churn: Churn,
    buffer: CommandBuffer,
}

impl ChurnCommands {
    /// [`Churn::new`], with ids for the spawns of a pass.
    ///
    /// # Panics
    ///
    /// If the world has no ids for them.
    pub fn new(mut churn: Churn) -> Self {
        let ids = u32::try_from(churn.places.len()).expect("a pass replaces few");
        let buffer = churn.world.command_buffer(ids).expect("the ids are free");
        Self { churn, buffer }
    }
}

impl Program for ChurnCommands {
    fn pass(&mut self) {
        let Self { churn: Churn { world, entities, places, random, .. }, buffer } = self;
        for &place in &*places {
            buffer.despawn(entities[place]);
        }
        for &place in &*places {
            entities[place] = RECORDED_KINDS[random(KINDS.len())](buffer, place);
        }
        world.apply(buffer).expect("all are alive");
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        self.churn.check(passes)
    }
}
