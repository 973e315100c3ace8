//! Logs of sparse components and relations: every way to get or lose one, against a comparison of
//! the world before and after.

use std::collections::BTreeMap;

use phalanx::logs::LogCursor;
use phalanx::prelude::*;
use proptest::prelude::*;

use crate::common::components::{Four, Text, sound};
use crate::common::effort::effort;

use super::relations::{ChildOf, PartOf};

#[component(sparse, plain)]
#[derive(Debug, PartialEq)]
struct Points(u32);

/// Readers of the gains and the losses of three components and one more relation.
struct Readers {
    points: (LogCursor<Insertions<Points>>, LogCursor<Removals<Points>>),
    texts: (LogCursor<Insertions<Text>>, LogCursor<Removals<Text>>),
    parents: (LogCursor<Insertions<ChildOf>>, LogCursor<Removals<ChildOf>>),
    wholes: (LogCursor<Insertions<PartOf>>, LogCursor<Removals<PartOf>>),
}

/// The sparse components of a world: a number for each value, and none for a text.
type Picture = [BTreeMap<Entity, u64>; 4];

/// What was gained of each component, and what was lost.
type Log = [[Vec<(Entity, u64)>; 2]; 4];

fn picture(world: &World) -> Picture {
    let targets = |iter: &mut dyn Iterator<Item = (Entity, Entity)>| {
        iter.map(|(source, target)| (source, target.to_bits())).collect()
    };
    [
        world.sparse::<Points>().iter().map(|(entity, value)| (entity, value.0.into())).collect(),
        world.sparse::<Text>().iter().map(|(entity, _)| (entity, 0)).collect(),
        targets(&mut world.relation::<ChildOf>().iter()),
        targets(&mut world.relation::<PartOf>().iter()),
    ]
}

fn pairs<V>(
    (entities, values): (&[Entity], &[V]),
    number: impl Fn(&V) -> u64,
) -> Vec<(Entity, u64)> {
    assert_eq!(entities.len(), values.len(), "a value for each entity");
    entities.iter().zip(values).map(|(&entity, value)| (entity, number(value))).collect()
}

fn difference(before: &Picture, after: &Picture) -> Log {
    let without = |these: &BTreeMap<Entity, u64>, those: &BTreeMap<Entity, u64>| {
        let left = these.iter().filter(|(entity, _)| !those.contains_key(entity));
        left.map(|(&entity, &value)| (entity, value)).collect::<Vec<_>>()
    };
    core::array::from_fn(|at| [without(&after[at], &before[at]), without(&before[at], &after[at])])
}

impl Readers {
    fn new(world: &mut World) -> Self {
        Self {
            points: (world.cursor(), world.cursor()),
            texts: (world.cursor(), world.cursor()),
            parents: (world.cursor(), world.cursor()),
            wholes: (world.cursor(), world.cursor()),
        }
    }

    fn read(&mut self, world: &World) -> Log {
        let (points, targets) =
            (|value: &Points| u64::from(value.0), |value: &ChildOf| value.target().to_bits());
        let wholes = |value: &PartOf| value.target().to_bits();
        [
            [pairs(self.points.0.read(world), points), pairs(self.points.1.read(world), points)],
            [pairs(self.texts.0.read(world), |()| 0), pairs(self.texts.1.read(world), |()| 0)],
            [
                pairs(self.parents.0.read(world), targets),
                pairs(self.parents.1.read(world), targets),
            ],
            [pairs(self.wholes.0.read(world), wholes), pairs(self.wholes.1.read(world), wholes)],
        ]
    }

    /// Reads all, in ascending order.
    fn sorted(&mut self, world: &World) -> Log {
        let mut log = self.read(world);
        log.iter_mut().flatten().for_each(|entries| entries.sort_unstable());
        log
    }
}

/// A restore drops all entries, and makes none.
const RESTORE: u8 = 21;

/// A call, with three numbers that choose entities.
type Numbers = (u8, u8, u8, u8);

fn change(world: &mut World, known: &mut Vec<Entity>, (call, a, b, c): Numbers) {
    if known.len() < 4 {
        known.extend_from_slice(world.spawn_batch([(); 4]));
    }
    let id = |at: u8| known[usize::from(at) % known.len()];
    let [one, other, third] = [id(a), id(b), id(c)];
    let value = u32::from(c);
    match call % 32 {
        0 => {
            let bundles = (0..u32::from(b % 40)).map(|i| (Four(i), Points(i), Text::from("new")));
            known.extend_from_slice(world.spawn_batch(bundles));
        }
        1 | 2 => known.extend(world.try_spawn((Four(1), Points(value), ChildOf::of(one)))),
        3 => known.extend(world.try_spawn((Points(value), PartOf::of(one)))),
        4 | 5 => _ = world.insert(one, Points(value)),
        6 => _ = world.insert(one, (Four(2), Text::from("text"), ChildOf::of(other))),
        7 => _ = world.insert(one, PartOf::of(other)),
        8 => _ = world.remove::<Points>(one),
        9 => _ = world.remove::<(Text, ChildOf)>(one),
        10 => _ = world.exchange::<Points, _>(one, Points(value)),
        11 => _ = world.exchange::<Points, _>(one, (Text::from("instead"), PartOf::of(other))),
        12 => _ = world.exchange::<ChildOf, _>(one, (ChildOf::of(other), Four(3))),
        13 => _ = world.sparse_mut::<Points>().insert(one, Points(value)),
        14 => _ = world.sparse_mut::<Text>().remove(one),
        15 => _ = world.despawn(one),
        16 => _ = world.despawn_batch(&[one, other, third, one]),
        17 => _ = world.matching::<&Four>().with::<Points>().without::<Text>().despawn(),
        18 => {
            world.matching::<Entity>().retain(|rows, keep| {
                rows.iter().zip(keep).for_each(|(row, keep)| *keep = ![one, other].contains(row));
            });
        }
        19 if a.is_multiple_of(4) => world.clear(),
        20 => {
            if let Ok(copies) = world.instantiate_tree::<ChildOf>(one, Some(other)) {
                known.extend(copies);
            }
        }
        RESTORE => {
            let state = world.snapshot().unwrap();
            world.despawn_batch(&[one, other]);
            world.restore(&state).unwrap();
        }
        22 => system(world, one, other, value),
        23 => world.memory_mut().age_logs(),
        24 => leave(world, one, other),
        25 => arrive(world, known),
        26 => copies(world, one),
        _ => command(world, known, [one, other, third], value),
    }
}

/// Changes by a system, once each.
fn system(world: &mut World, one: Entity, other: Entity, value: u32) {
    let change = move |mut points: SparseMut<Points>, mut texts: SparseMut<Text>| {
        _ = points.insert(one, Points(value));
        _ = texts.remove(other);
    };
    world.run(change);
}

/// Some entities go to another world, which notes them as gains.
fn leave(world: &mut World, one: Entity, other: Entity) {
    let mut target = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let mut readers = Readers::new(&mut target);
    [one, other].iter().for_each(|&entity| _ = world.insert(entity, Leaving));
    target.move_from(world.matching::<Entity>().with::<Leaving>()).unwrap();
    assert_eq!(readers.sorted(&target), difference(&Picture::default(), &picture(&target)));
    sound(&target);
}

#[component]
struct Leaving;

/// The entities of a world with readers come.
fn arrive(world: &mut World, known: &mut Vec<Entity>) {
    let mut other = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let _readers = Readers::new(&mut other);
    let root = other.spawn((Points(9), Text::from("root")));
    let leaves = other.spawn_batch([(ChildOf::of(root), PartOf::of(root)); 3]).to_vec();
    let ids = world.merge(other).unwrap();
    known.extend(leaves.iter().chain([&root]).map(|&old| ids.get(old).unwrap()));
}

/// A copy has no sparse components.
fn copies(world: &mut World, one: Entity) {
    _ = world.instantiate(one, 2).map(|copies| copies.len());
}

/// Applies a buffer. Its commands count with their combined effect; the value of a loss is the last
/// one, so no command overwrites one that another takes.
fn command(world: &mut World, known: &mut Vec<Entity>, ids: [Entity; 3], value: u32) {
    let [one, other, third] = ids;
    let mut buffer = world.command_buffer(9).unwrap();
    buffer.on_dead_entity(DeadEntityPolicy::Ignore);
    match value % 5 {
        0 => {
            buffer.remove::<Points>(one);
            buffer.insert(one, Points(value));
            if !world.has::<Points>(other) {
                buffer.insert(other, Points(1));
            }
            buffer.remove::<(Points, Text)>(other);
            buffer.insert(third, (Text::from("by command"), Four(5)));
        }
        1 => {
            let brief = buffer.spawn((Points(4), Text::from("brief")));
            buffer.despawn(brief);
            if !world.has::<Points>(one) {
                buffer.insert(one, Points(3));
            }
            buffer.despawn(one);
            known.push(buffer.spawn((Points(5), Four(1))));
        }
        2 => {
            if !world.has::<ChildOf>(one) {
                buffer.insert(one, ChildOf::of(other));
            }
            buffer.despawn(third);
        }
        3 => {
            buffer.remove::<ChildOf>(one);
            known.push(buffer.spawn(PartOf::of(other)));
        }
        _ => buffer.spawn_batch((0..20).map(|i| (Points(i), Text::from("batch")))),
    }
    // A relation that is refused is left out.
    _ = world.apply(&mut buffer);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { effort(64) },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_has_come_and_gone_is_what_differs(
        steps in prop::collection::vec(any::<Numbers>(), 1..if cfg!(miri) { 12 } else { 120 }),
    ) {
        let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
        let (mut known, mut readers) = (vec![], Readers::new(&mut world));
        let (mut before, mut whole) = (picture(&world), Log::default());
        let mut late = Readers::new(&mut world);
        for &numbers in &steps {
            change(&mut world, &mut known, numbers);
            let after = picture(&world);
            let mut read = readers.read(&world);
            for (all, new) in whole.iter_mut().flatten().zip(read.iter().flatten()) {
                all.extend_from_slice(new);
            }
            read.iter_mut().flatten().for_each(|entries| entries.sort_unstable());
            if numbers.0 % 32 != RESTORE {
                prop_assert_eq!(read, difference(&before, &after), "after {:?}", numbers);
            }
            before = after;
        }
        sound(&world);
        if steps.iter().all(|numbers| numbers.0 % 32 != RESTORE) {
            prop_assert!(late.read(&world) == whole, "a late reader reads the same in one go");
        }
    }
}
