//! Logs of rows: every way to get or lose a component or an entity, against a comparison of the
//! world before and after.

use std::collections::BTreeMap;

use phalanx::logs::LogCursor;
use phalanx::prelude::*;
use proptest::prelude::*;

use crate::common::components::{Byte, Four, Tag, Twelve, sound};
use crate::common::effort::effort;

/// The readers of a world. One of each kind reads after every step, the other ones at the end.
struct Readers {
    despawned: [LogCursor<Despawns>; 2],
    four: [LogCursor<Removals<Four>>; 2],
    tag: LogCursor<Removals<Tag>>,
    new_four: LogCursor<Insertions<Four>>,
    new_tag: LogCursor<Insertions<Tag>>,
}

/// The losses and gains of a step, in the order in which they were read.
#[derive(Debug, Default, PartialEq)]
struct Log {
    despawned: Vec<Entity>,
    four: Vec<(Entity, u32)>,
    tag: Vec<Entity>,
    new_four: Vec<(Entity, u32)>,
    new_tag: Vec<Entity>,
}

impl Log {
    fn sorted(mut self) -> Self {
        self.despawned.sort_unstable();
        self.four.sort_unstable();
        self.tag.sort_unstable();
        self.new_four.sort_unstable();
        self.new_tag.sort_unstable();
        self
    }
}

/// The entities of a world: whether each has a tag, and the value of its `Four` if it has one.
type Picture = BTreeMap<Entity, (bool, Option<u32>)>;

fn picture(world: &World) -> Picture {
    let rows = world.query::<(Entity, Option<&Four>)>();
    let tagged = |entity| world.has::<Tag>(entity);
    rows.rows().map(|(e, four)| (e, (tagged(e), four.map(|four| four.0)))).collect()
}

/// The entries that are in one picture and not in the other. No two entities ever have the same id.
fn difference(before: &Picture, after: &Picture) -> Log {
    let mut log = Log::default();
    for (&entity, &(tagged, four)) in before {
        let (still_tagged, still_four) = after.get(&entity).copied().unwrap_or_default();
        if !after.contains_key(&entity) {
            log.despawned.push(entity);
        }
        if tagged && !still_tagged {
            log.tag.push(entity);
        }
        if let (Some(four), None) = (four, still_four) {
            log.four.push((entity, four));
        }
    }
    for (&entity, &(tagged, four)) in after {
        let (was_tagged, old_four) = before.get(&entity).copied().unwrap_or_default();
        if tagged && !was_tagged {
            log.new_tag.push(entity);
        }
        if let (Some(four), None) = (four, old_four) {
            log.new_four.push((entity, four));
        }
    }
    log.sorted()
}

pub(crate) fn pairs((entities, fours): (&[Entity], &[Four])) -> Vec<(Entity, u32)> {
    assert_eq!(entities.len(), fours.len());
    entities.iter().zip(fours).map(|(&entity, four)| (entity, four.0)).collect()
}

impl Readers {
    fn new(world: &mut World) -> Self {
        Self {
            despawned: [world.cursor::<Despawns>(), world.cursor::<Despawns>()],
            four: [world.cursor(), world.cursor()],
            tag: world.cursor(),
            new_four: world.cursor(),
            new_tag: world.cursor(),
        }
    }

    fn read(&mut self, world: &World) -> Log {
        let (tagged, tags) = self.tag.read(world);
        assert_eq!(tagged.len(), tags.len());
        Log {
            despawned: self.despawned[0].read(world).to_vec(),
            four: pairs(self.four[0].read(world)),
            tag: tagged.to_vec(),
            new_four: pairs(self.new_four.read(world)),
            new_tag: self.new_tag.read(world).0.to_vec(),
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Spawn(usize),
    Despawn(usize),
    DespawnBatch(Vec<usize>),
    Insert(usize),
    Tag(usize),
    Remove(usize),
    RemoveBoth(usize),
    Exchange(usize),
    RemoveNamed(usize),
    InsertBytes(usize),
    MatchingDespawn(u8),
    MatchingRemove(u8),
    MatchingInsert,
    Retain(u32),
    Commands(Vec<(u8, usize)>),
    /// The same commands for many entities; their rows move together.
    Together(u8, usize),
    Instantiate(usize),
    Rest(u8),
    Clear,
}

fn steps() -> impl Strategy<Value = Step> {
    let at = || 0usize..400;
    prop_oneof![
        4 => (1usize..120).prop_map(Step::Spawn),
        2 => at().prop_map(Step::Despawn),
        2 => proptest::collection::vec(at(), 0..60).prop_map(Step::DespawnBatch),
        2 => at().prop_map(Step::Insert),
        2 => at().prop_map(Step::Tag),
        2 => at().prop_map(Step::Remove),
        2 => at().prop_map(Step::RemoveBoth),
        2 => at().prop_map(Step::Exchange),
        2 => at().prop_map(Step::RemoveNamed),
        1 => at().prop_map(Step::InsertBytes),
        1 => (0u8..3).prop_map(Step::MatchingDespawn),
        2 => (0u8..4).prop_map(Step::MatchingRemove),
        1 => Just(Step::MatchingInsert),
        1 => (1u32..9).prop_map(Step::Retain),
        4 => proptest::collection::vec((0u8..8, at()), 0..60).prop_map(Step::Commands),
        4 => (0u8..4, at()).prop_map(|(command, at)| Step::Together(command, at)),
        1 => at().prop_map(Step::Instantiate),
        2 => (0u8..4).prop_map(Step::Rest),
        1 => Just(Step::Clear),
    ]
}

/// Makes a step. `known` has all ids that ever existed.
fn step(world: &mut World, known: &mut Vec<Entity>, step: &Step) {
    let all = known.clone();
    let id = |at: &usize| all.get(at % all.len().max(1)).copied().unwrap_or(Entity::NULL);
    match step {
        Step::Spawn(len) => {
            let at = u32::try_from(known.len()).unwrap();
            known.extend(world.spawn_batch((at..).take(len / 2).map(|i| (Four(i), Tag))));
            known.extend(world.spawn_batch((at..).take(len / 3).map(|i| (Four(i), Byte(1)))));
            known.extend([world.spawn(Tag), world.spawn(())]);
            let fours: Vec<_> = (at..).take(len / 4).map(Four).collect();
            let columns = (&fours[..], &vec![Tag; fours.len()][..]);
            known.extend(world.spawn_columns(columns).unwrap());
            let far = Entity::from_bits((10_000 + u64::from(at)) << 32 | 1);
            if world.spawn_at(far, (Tag, Four(6))).is_ok() {
                known.push(far);
            }
        }
        Step::Despawn(at) => _ = world.despawn(id(at)),
        Step::DespawnBatch(ids) => {
            world.despawn_batch(&ids.iter().map(id).collect::<Vec<_>>());
        }
        Step::Insert(at) => _ = world.insert(id(at), Four(7)),
        Step::Tag(at) => _ = world.insert(id(at), (Tag, Twelve([1; 3]))),
        Step::Remove(at) => _ = world.remove::<Four>(id(at)),
        Step::RemoveBoth(at) => _ = world.remove::<(Tag, Four)>(id(at)),
        Step::Exchange(at) => {
            if world.exchange::<Four, _>(id(at), (Byte(3), Tag)).is_err() {
                _ = world.exchange::<Tag, _>(id(at), Four(9));
            }
        }
        Step::RemoveNamed(at) => _ = world.reflect_mut().remove(id(at), [Four::NAME]),
        Step::InsertBytes(at) => {
            _ = world.reflect_mut().insert(id(at), [(Four::NAME, &5u32.to_ne_bytes()[..])]);
        }
        Step::MatchingDespawn(0) => _ = world.matching::<&Four>().with::<Byte>().despawn(),
        Step::MatchingDespawn(1) => _ = world.matching::<&Tag>().without::<Four>().despawn(),
        Step::MatchingDespawn(_) => {
            let now = world.version();
            assert_eq!(world.matching::<&Four>().changed_since(now).despawn(), 0);
        }
        Step::MatchingRemove(0) => _ = world.matching::<&Four>().remove::<Tag>(),
        Step::MatchingRemove(1) => _ = world.matching::<&Tag>().remove::<Four>(),
        Step::MatchingRemove(2) => _ = world.matching::<&Byte>().remove::<(Four, Byte)>(),
        Step::MatchingRemove(_) => _ = world.matching::<()>().remove::<Twelve>(),
        Step::MatchingInsert => _ = world.matching::<&Four>().insert(Byte(9)).unwrap(),
        Step::Retain(n) => {
            world.matching::<&Four>().retain(|fours, keep| {
                fours.iter().zip(keep).for_each(|(four, keep)| *keep = four.0 % 9 != *n);
            });
        }
        Step::Commands(commands) => apply(world, known, commands, id),
        Step::Together(command, at) => together(world, known, *command, |i| id(&(at + i))),
        Step::Instantiate(at) => {
            if let Ok(copies) = world.instantiate(id(at), 3) {
                known.extend(copies);
            }
        }
        Step::Rest(0) => _ = world.memory_mut().compact(usize::MAX),
        Step::Rest(1) => _ = world.memory_mut().retire_archetypes(),
        Step::Rest(_) => world.memory_mut().age_logs(),
        Step::Clear => world.clear(),
    }
}

/// Applies a buffer. Its commands are merged.
fn apply(
    world: &mut World,
    known: &mut Vec<Entity>,
    commands: &[(u8, usize)],
    id: impl Fn(&usize) -> Entity,
) {
    let mut buffer = world.command_buffer(60).unwrap();
    buffer.on_dead_entity(DeadEntityPolicy::Ignore);
    for (command, at) in commands {
        let entity = id(at);
        match command {
            0 => known.push(buffer.spawn((Four(1), Tag))),
            1 => buffer.despawn(entity),
            2 => buffer.insert(entity, Four(2)),
            3 => buffer.insert(entity, (Tag, Byte(0))),
            4 | 5 => buffer.remove::<Four>(entity),
            6 => buffer.remove::<(Tag, Byte)>(entity),
            _ => {
                let brief = buffer.spawn((Four(3), Tag));
                buffer.despawn(brief);
            }
        }
    }
    world.apply(&mut buffer).unwrap();
}

/// Applies the same command to 40 entities.
fn together(world: &mut World, known: &mut Vec<Entity>, command: u8, id: impl Fn(usize) -> Entity) {
    let mut buffer = world.command_buffer(40).unwrap();
    buffer.on_dead_entity(DeadEntityPolicy::Ignore);
    for entity in (0..40).map(id) {
        match command {
            0 => known.push(buffer.spawn((Four(4), Tag))),
            1 => buffer.insert(entity, (Tag, Four(8))),
            2 => buffer.remove::<Four>(entity),
            _ => buffer.despawn(entity),
        }
    }
    world.apply(&mut buffer).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { effort(16) }))]

    #[test]
    fn what_has_come_and_gone_is_what_differs(
        all in proptest::collection::vec(steps(), 1..if cfg!(miri) { 12 } else { 80 }),
    ) {
        let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
        let (mut known, mut readers) = (vec![], Readers::new(&mut world));
        let (mut before, mut whole) = (picture(&world), Log::default());
        for one in &all {
            step(&mut world, &mut known, one);
            let after = picture(&world);
            let read = readers.read(&world);
            whole.despawned.extend_from_slice(&read.despawned);
            whole.four.extend_from_slice(&read.four);
            prop_assert_eq!(read.sorted(), difference(&before, &after), "after {:?}", one);
            before = after;
        }
        sound(&world);
        prop_assert!(readers.read(&world) == Log::default(), "all is read");
        if readers.four[1].missed(&world) == 0 {
            prop_assert_eq!(readers.despawned[1].read(&world), whole.despawned);
            prop_assert_eq!(pairs(readers.four[1].read(&world)), whole.four);
        }
    }
}
