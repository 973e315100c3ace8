//! A random world with a kind of attachment that exists in tests only, and with members of two
//! sparse components: counts of writes and members follow their rows through every change.

use bytemuck::{Pod, Zeroable};

use crate::archetype::ArchetypePatch;
use crate::component::{AnyComponent, InSet, SparseComponent};
use crate::entity::Entity;
use crate::impl_component;
use crate::storage::ChunkSize;

use super::world::World;

/// 64 bytes, so that a chunk has few rows.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Counted([u64; 8]);
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Other(u32);
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Mark;
impl_component!(Counted as "write counted", Other as "Other", Mark as "Mark");

const COUNTED: Counted = Counted([7; 8]);

fn world() -> World {
    World::builder().chunk_size(ChunkSize::KIB_4).build()
}

/// The number of times that the component of an entity was overwritten.
fn count(world: &World, entity: Entity) -> u64 {
    let place = world.store.entities().locate(entity).expect("it is alive");
    let archetype = world.archetype(place);
    let column = archetype.column(world.store.registry().id::<Counted>()).expect("it is counted");
    let attachments = archetype.attachments().expect("it has counts");
    let at = archetype.list().split(place.row());
    attachments.write_count(column, at).expect("it has counts")
}

/// Two sparse components.
#[derive(Clone, Debug, PartialEq)]
struct First(u64);
#[derive(Clone, Debug, PartialEq)]
struct Second(Box<str>);

impl SparseComponent for First {
    const NAME: &'static str = "First";
    type Logged = ();
    fn logged(&self) {}
}

impl SparseComponent for Second {
    const NAME: &'static str = "Second";
    type Logged = ();
    fn logged(&self) {}
}

impl AnyComponent for First {
    type Shape = InSet<Self>;
}

impl AnyComponent for Second {
    type Shape = InSet<Self>;
}

/// The expected attachments of an entity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Row {
    count: u64,
    is_member: [bool; 2],
}

/// A world, and the entities with their attachments.
struct Trial {
    world: World,
    rows: Vec<(Entity, Row)>,
    random: u64,
}

impl Trial {
    fn new(seed: u64) -> Self {
        Self { world: world(), rows: Vec::new(), random: seed }
    }

    fn below(&mut self, end: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let below = self.random % end as u64;
        usize::try_from(below).expect("it is below a `usize`")
    }

    fn any(&mut self) -> usize {
        self.below(self.rows.len())
    }

    fn add(&mut self, entities: &[Entity], count: u64) {
        let row = Row { count, ..Row::default() };
        self.rows.extend(entities.iter().map(|&entity| (entity, row)));
    }

    /// Gives the entities the sparse components that they should have: those that are not in bytes
    /// are lost, or are later ones.
    fn insert_sparse(&mut self) {
        let mut first = self.world.sparse_mut::<First>();
        for &(entity, row) in &self.rows {
            match row.is_member[0] {
                true => drop(first.insert(entity, First(1))),
                false => drop(first.remove(entity)),
            }
        }
        for &(entity, row) in &self.rows {
            match row.is_member[1] {
                true => self.world.insert(entity, Second("two".into())).expect("it is alive"),
                false => drop(self.world.remove::<Second>(entity)),
            }
        }
    }

    /// One change of one entity.
    fn change_one(&mut self) {
        let (at, operation) = (self.any(), self.below(15));
        let Self { world, rows, .. } = self;
        let (entity, row) = &mut rows[at];
        match operation {
            0 => {
                world.insert(*entity, COUNTED).expect("it is alive");
                row.count += 1;
            }
            1 => world.insert(*entity, Other(1)).expect("it is alive"),
            2 => drop(world.remove::<Other>(*entity)),
            3 => world.insert(*entity, Mark).expect("it is alive"),
            4 => drop(world.remove::<Mark>(*entity)),
            5 => {
                world.despawn(*entity).expect("it is alive");
                rows.swap_remove(at);
            }
            6 => {
                match row.is_member[0] {
                    true => drop(world.remove::<First>(*entity).expect("it has one")),
                    false => world.insert(*entity, (First(2), Other(4))).expect("it is alive"),
                }
                row.is_member[0] = !row.is_member[0];
            }
            7 => {
                let mut values = world.sparse_mut::<Second>();
                let had = match row.is_member[1] {
                    true => values.remove(*entity),
                    false => values.insert(*entity, Second("one".into())).expect("it is alive"),
                };
                assert_eq!(had.is_some(), row.is_member[1]);
                row.is_member[1] = !row.is_member[1];
            }
            8 => {
                world.insert(*entity, (Second("new".into()), First(3))).expect("it is alive");
                row.is_member = [true; 2];
            }
            9 => {
                let former = world.exchange::<First, _>(*entity, (Second("for".into()), Mark));
                assert_eq!(former.is_ok(), row.is_member[0]);
                if row.is_member[0] {
                    row.is_member = [false, true];
                }
            }
            10 | 11 => {
                let mut buffer = world.command_buffer(0).expect("no ids");
                match operation {
                    10 => buffer.insert(*entity, (First(4), Other(5))),
                    _ => buffer.insert(*entity, First(5)),
                }
                match row.is_member[1] {
                    true => buffer.remove::<(Second, Mark)>(*entity),
                    false => buffer.insert(*entity, Second("by command".into())),
                }
                world.apply(&mut buffer).expect("it is alive");
                row.is_member = [true, !row.is_member[1]];
            }
            _ => {
                let (entity, count) = (*entity, row.count);
                let copies = world.instantiate(entity, 3).expect("it is alive").to_vec();
                self.add(&copies, count);
            }
        }
    }

    /// One change of many entities.
    fn change_many(&mut self) {
        let operation = self.below(10);
        let world = &mut self.world;
        match operation {
            0 => {
                let new = world.spawn_batch([(COUNTED, Other(2)); 70]).to_vec();
                self.add(&new, 0);
            }
            1 => drop(world.matching::<&Counted>().insert(Mark).expect("a row fits")),
            2 => drop(world.matching::<&Other>().remove::<Mark>()),
            3 => drop(world.matching::<&Mark>().insert(Other(3)).expect("a row fits")),
            4 => drop(world.matching::<&Mark>().remove::<Other>()),
            5 => {
                world.matching::<&Counted>().insert(COUNTED).expect("a row fits");
                self.rows.iter_mut().for_each(|(_, row)| row.count += 1);
            }
            6 => drop(world.memory_mut().compact(usize::MAX)),
            7 => drop(world.matching::<&Counted>().sort_by_key(|counted| counted.0[0])),
            8 => {
                world.matching::<Entity>().sort_by_key(|entity| entity.index() % 7);
            }
            _ => {
                let marked = world.query::<Entity>().with::<Mark>().with::<Other>();
                let marked: Vec<_> = marked.into_iter().flat_map(<[Entity]>::to_vec).collect();
                world.matching::<&Other>().with::<Mark>().despawn();
                self.rows.retain(|(entity, _)| !marked.contains(entity));
            }
        }
    }

    fn spawn(&mut self) {
        let new = self.world.spawn(COUNTED);
        self.add(&[new], 0);
    }

    fn change(&mut self) {
        match self.below(4) {
            0 => self.change_many(),
            _ if self.rows.is_empty() => self.spawn(),
            1 => self.spawn(),
            _ => self.change_one(),
        }
    }

    fn check(&self) {
        self.world.check().expect("the world is consistent");
        for &(entity, wanted) in &self.rows {
            let (first, second) = (self.world.sparse::<First>(), self.world.sparse::<Second>());
            let is_member = [first.contains(entity), second.contains(entity)];
            let row = Row { count: count(&self.world, entity), is_member };
            assert_eq!(row, wanted, "{entity:?}");
        }
    }
}

/// Fewer under Miri.
const STEPS: usize = if cfg!(miri) { 30 } else { 400 };

#[test]
fn a_state_of_rows_that_do_not_fit_is_refused_before_words_are_allocated() {
    let mut world = world();
    let entity = world.spawn(COUNTED);
    let place = world.store.entities().locate(entity).expect("it is alive");
    let set = world.archetype(place).set();
    let (archetypes, registry) = (world.store.archetypes(), world.store.registry());
    // Words of as many chunks as there are rows here would exceed all memory.
    for rows in [usize::MAX / 2, usize::MAX] {
        for capacity in [0, 1, rows] {
            let sample = archetypes.sample(set, registry).expect("a row fits a chunk");
            assert!(ArchetypePatch::new(sample, rows, (capacity, false)).is_none());
        }
    }
}

#[test]
fn a_kind_in_one_file_follows_rows_through_every_change() {
    for seed in 1..=if cfg!(miri) { 1 } else { 4 } {
        let mut trial = Trial::new(0x9E37_79B9_7F4A_7C15 >> seed);
        for step in 0..STEPS {
            trial.change();
            // A look at all rows takes Miri longer than a change.
            if !cfg!(miri) || step % 5 == 4 {
                trial.check();
            }
        }
        let written = trial.rows.iter().filter(|(_, row)| row.count > 0).count();
        assert!(written > 0, "seed {seed} has written rows");
    }
}

#[test]
fn a_kind_in_one_file_follows_states_and_their_bytes() {
    let mut trial = Trial::new(0xD1B5_4A32_D192_ED03);
    trial.world.sparse_mut::<First>().keep_in_snapshots();
    trial.world.sparse_mut::<Second>().keep_in_snapshots();
    for _ in 0..STEPS / 20 {
        let (rows, hash) = (trial.rows.clone(), trial.world.hash());
        let saved = trial.world.snapshot().expect("it has no shared values");
        let bytes = saved.to_bytes().expect("it has no shared values");
        (0..10).for_each(|_| trial.change());
        if trial.below(2) == 0 {
            trial.world.restore(&saved).expect("the state is of this world");
            assert_eq!(trial.world.hash(), hash);
            trial.rows = rows;
        } else {
            let read = trial.world.read_snapshot(&bytes).expect("the bytes are a state");
            trial.world.restore(&read).expect("the state is of this world");
            trial.world.check().expect("members are those that have values");
            trial.rows = rows;
            trial.insert_sparse();
        }
        trial.check();
        (0..10).for_each(|_| trial.change());
    }
}

#[test]
fn a_kind_in_one_file_is_a_part_of_the_hash() {
    let mut worlds = [world(), world()];
    let [a, b] = worlds.each_mut().map(|world| world.spawn_batch([COUNTED; 2]).to_vec());
    worlds[0].insert(a[0], COUNTED).expect("it is alive");
    worlds[1].insert(b[1], COUNTED).expect("it is alive");
    let [first, second] = &worlds;
    assert_ne!(first.hash(), second.hash());
}

#[test]
fn a_kind_in_one_file_follows_entities_to_another_world() {
    for seed in if cfg!(miri) { &[3][..] } else { &[3, 5, 8] } {
        let mut trial = Trial::new(0x9E37_79B9_7F4A_7C15 >> seed);
        for _ in 0..4 {
            let mut other = Trial::new(trial.random);
            (0..STEPS / 10).for_each(|_| other.change());
            // Some go alone, and the rest with their world.
            let moved = other.world.matching::<&Mark>();
            let moved = trial.world.move_from(moved).expect("the worlds have one chunk size");
            other.rows.retain(|&(entity, row)| {
                let moved = moved.get(entity);
                trial.rows.extend(moved.map(|entity| (entity, row)));
                moved.is_none()
            });
            trial.check();
            other.check();
            let merged = trial.world.merge(other.world).expect("the worlds have one chunk size");
            for (entity, row) in other.rows {
                let entity = merged.get(entity).expect("it was alive");
                trial.rows.push((entity, row));
            }
            trial.check();
            (0..STEPS / 10).for_each(|_| trial.change());
            trial.check();
        }
    }
}
