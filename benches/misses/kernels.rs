//! The kernels that `misses` counts: a state, one pass over it, and the proof of the passes.

use std::hint::black_box;

use phalanx::prelude::*;

use super::common::archetypes::tagged_world;
use super::common::iterate::{double, sum_of_data};
use super::common::{
    DT, Data, Position, Rotation, Transform, Velocity, check_doubled, check_moved, moving_world,
    position, random, sum_of_world, velocity, world,
};

/// Something whose passes are counted.
pub(crate) trait Kernel: Sized {
    /// The state before the first pass.
    fn new() -> Self;
    /// What is counted.
    fn pass(&mut self);
    /// Panics when the state is not what this many passes leave.
    fn check(&self, passes: u64);
}

/// A boxed kernel, so that handing it to the counted function moves one pointer.
pub(crate) struct Ready<K> {
    pub(crate) kernel: Box<K>,
    passes: u64,
}

impl<K: Kernel> Ready<K> {
    /// A kernel that has not run.
    pub(crate) fn cold() -> Self {
        Self { kernel: Box::new(K::new()), passes: 0 }
    }

    /// A kernel that has run once: plans are cached, pages are there, caches hold what they can.
    pub(crate) fn warm() -> Self {
        let mut ready = Self::cold();
        ready.pass();
        ready
    }

    /// One more pass.
    #[inline(always)]
    pub(crate) fn pass(&mut self) {
        black_box(&mut *self.kernel).pass();
        self.passes += 1;
    }

    /// Panics when the passes so far did not do their work.
    pub(crate) fn check(self) {
        self.kernel.check(self.passes);
    }
}

kernel! {
    /// One Euler step.
    fn integrate(position: &mut [Position], velocity: &[Velocity], dt: f32) {
        for (p, v) in position.iter_mut().zip(velocity) {
            p.x += v.x * dt;
            p.y += v.y * dt;
            p.z += v.z * dt;
        }
    }
}

kernel! {
    /// The sum of all `x`, which are small whole numbers: exact in any order.
    fn sum_x(positions: &[Position]) -> f64 {
        positions.iter().map(|p| f64::from(p.x)).sum()
    }
}

/// `position += velocity * dt`, 10,000 rows of nothing else.
pub(crate) struct PosVel(World);

impl PosVel {
    pub(crate) const ROWS: usize = 10_000;
}

impl Kernel for PosVel {
    fn new() -> Self {
        Self(moving_world(ChunkSize::KIB_16, Self::ROWS).0)
    }

    fn pass(&mut self) {
        for (p, v) in self.0.query_mut::<(&mut Position, &Velocity)>() {
            integrate(p, v, DT);
        }
    }

    fn check(&self, passes: u64) {
        check_moved(sum_of_world(&self.0), Self::ROWS, passes, DT);
    }
}

/// `position += velocity`, in rows that also hold a matrix and a rotation.
pub(crate) struct SimpleIter(World);

impl SimpleIter {
    pub(crate) const ROWS: usize = 10_000;
}

impl Kernel for SimpleIter {
    fn new() -> Self {
        let mut world = world(ChunkSize::KIB_16);
        world.spawn_batch((0..Self::ROWS).map(inserted));
        Self(world)
    }

    fn pass(&mut self) {
        for (p, v) in self.0.query_mut::<(&mut Position, &Velocity)>() {
            integrate(p, v, 1.0);
        }
    }

    fn check(&self, passes: u64) {
        check_moved(sum_of_world(&self.0), Self::ROWS, passes, 1.0);
    }
}

/// One float doubled in each of 20 rows of 26 archetypes.
pub(crate) struct FragmentedIter(World);

impl FragmentedIter {
    pub(crate) const ARCHETYPES: usize = 26;
    const ROWS: usize = 20;
}

impl Kernel for FragmentedIter {
    fn new() -> Self {
        let mut world = world(ChunkSize::KIB_16);
        spawn_fragments(&mut world, Self::ROWS);
        let archetypes = world.archetypes().filter(|archetype| !archetype.is_empty()).count();
        assert_eq!(archetypes, Self::ARCHETYPES, "archetypes");
        Self(world)
    }

    fn pass(&mut self) {
        for data in self.0.query_mut::<&mut Data>() {
            double(data);
        }
    }

    fn check(&self, passes: u64) {
        check_doubled(sum_of_data(&self.0), Self::ARCHETYPES * Self::ROWS, passes);
    }
}

/// One float doubled in each of 20,000 rows of 4,096 archetypes.
pub(crate) struct ManyArchetypes(World);

impl ManyArchetypes {
    pub(crate) const ARCHETYPES: usize = 4_096;
}

impl Kernel for ManyArchetypes {
    fn new() -> Self {
        Self(tagged_world(ChunkSize::KIB_16, Self::ARCHETYPES))
    }

    fn pass(&mut self) {
        for data in self.0.query_mut::<&mut Data>() {
            double(data);
        }
    }

    fn check(&self, passes: u64) {
        check_doubled(sum_of_data(&self.0), self.0.len(), passes);
    }
}

/// 100,000 reads by entity in random order, over 100,000 entities.
pub(crate) struct RandomLookup {
    world: World,
    order: Vec<Entity>,
    sum: f64,
}

impl RandomLookup {
    pub(crate) const READS: usize = 100_000;
}

impl Kernel for RandomLookup {
    fn new() -> Self {
        let (world, entities) = moving_world(ChunkSize::KIB_16, Self::READS);
        let order = order(Self::READS).map(|i| entities[i]).collect();
        Self { world, order, sum: 0.0 }
    }

    fn pass(&mut self) {
        let positions = self.world.lookup::<Position>();
        let x = |&entity: &Entity| f64::from(positions.get(entity).expect("alive").x);
        self.sum = self.order.iter().map(x).sum();
    }

    fn check(&self, _: u64) {
        let want: f64 = order(Self::READS).map(|i| f64::from(position(i).x)).sum();
        assert_eq!(self.sum, want, "the sum of what was read");
    }
}

/// The rows of the chunks that changed: 1,000 neighbours of 100,000 rows were written.
pub(crate) struct Changed {
    world: World,
    since: Version,
    entities: Vec<Entity>,
    seen: usize,
    sum: f64,
}

impl Changed {
    pub(crate) const ROWS: usize = 100_000;
    const WRITTEN: std::ops::Range<usize> = 50_000..51_000;
}

impl Kernel for Changed {
    fn new() -> Self {
        let mut world = world(ChunkSize::KIB_16);
        let entities = world.spawn_batch((0..Self::ROWS).map(position)).to_vec();
        let since = world.version();
        for &entity in &entities[Self::WRITTEN] {
            world.get_mut::<Position>(entity).expect("alive").x = 1000.0;
        }
        Self { world, since, entities, seen: 0, sum: 0.0 }
    }

    fn pass(&mut self) {
        (self.seen, self.sum) = (0, 0.0);
        let changed = self.world.query::<&Position>().changed_since::<Position>(self.since);
        for positions in changed {
            self.seen += positions.len();
            self.sum += sum_x(positions);
        }
    }

    /// Nothing else has 1,000 as its `x`, so a sum this large has all the written rows in it.
    fn check(&self, _: u64) {
        let capacity = self.world.archetypes().map(|a| a.capacity()).max().expect("an archetype");
        let seen = Self::WRITTEN.len()..=Self::WRITTEN.len() + 2 * capacity;
        assert!(seen.contains(&self.seen), "{} rows seen, of {seen:?}", self.seen);
        let chunks = self.world.query::<(Entity, &Position)>();
        let changed = chunks.changed_since::<Position>(self.since).flat_map(|(e, _)| e);
        let rows: f64 =
            changed.map(|&e| f64::from(self.world.get::<Position>(e).expect("alive").x)).sum();
        let written = (Self::WRITTEN.len() * 1000) as f64;
        assert!(self.sum == rows && self.sum >= written, "{} of at least {written}", self.sum);
        assert!(self.entities.len() == self.world.len(), "no row came or went");
    }
}

/// A component added to each of 10,000 entities in turn, then taken from each in turn.
pub(crate) struct AddRemove {
    world: World,
    entities: Vec<Entity>,
}

impl AddRemove {
    pub(crate) const ROWS: usize = 10_000;
}

impl Kernel for AddRemove {
    fn new() -> Self {
        let (world, entities) = moving_world(ChunkSize::KIB_16, Self::ROWS);
        Self { world, entities }
    }

    fn pass(&mut self) {
        for &entity in &self.entities {
            self.world.insert(entity, Data(1.0)).expect("alive");
        }
        for &entity in &self.entities {
            black_box(self.world.remove::<Data>(entity).expect("was just added"));
        }
    }

    fn check(&self, _: u64) {
        assert_eq!(self.world.query::<&Data>().count(), 0, "all were removed");
        for (i, &entity) in self.entities.iter().enumerate() {
            assert_eq!(self.world.get(entity), Ok(&position(i)), "the others stay");
        }
    }
}

/// 10,000 rows of 100 bytes spawned as one batch into a new world.
pub(crate) struct SpawnBatch(World);

impl SpawnBatch {
    pub(crate) const ROWS: usize = 10_000;
}

impl Kernel for SpawnBatch {
    fn new() -> Self {
        Self(world(ChunkSize::KIB_16))
    }

    fn pass(&mut self) {
        self.0.spawn_batch((0..Self::ROWS).map(inserted));
    }

    fn check(&self, passes: u64) {
        assert_eq!(self.0.len() as u64, Self::ROWS as u64 * passes, "every row was spawned");
        check_moved(sum_of_world(&self.0) / passes as f64, Self::ROWS, 0, 1.0);
    }
}

/// The row of entity `i`. The matrix is opaque, so that no loop turns into a fill.
#[inline(always)]
fn inserted(i: usize) -> (Transform, Position, Rotation, Velocity) {
    (black_box(Transform([1.0; 16])), position(i), Rotation::default(), velocity(i))
}

/// Random indices below `len`, `len` of them, the same in every call.
fn order(len: usize) -> impl Iterator<Item = usize> {
    let mut random = random(0x1234_5678_9ABC_DEF1);
    (0..len).map(move |_| {
        usize::try_from((random() >> 33) % len as u64).expect("an index is below the length")
    })
}

/// Spawns rows with one datum and one of 26 tags, archetype by archetype.
macro_rules! fragments {
    ($($tag:ident)*) => {
        $(
            #[derive(Clone, Copy, Debug, Pod, Zeroable)]
            #[repr(transparent)]
            struct $tag(f32);
        )*
        component!($($tag),*);

        fn spawn_fragments(world: &mut World, rows: usize) {
            $( world.spawn_batch((0..rows).map(|_| ($tag(0.0), Data(1.0)))); )*
        }
    };
}
fragments! { A B C D E F G H I J K L M N O P Q R S T U V W X Y Z }
