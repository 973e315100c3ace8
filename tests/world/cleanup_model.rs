//! Random changes of entities with hidden and cleanup components, against a naive world. One of the
//! cleanup components is sparse.

use std::collections::BTreeMap;

use phalanx::prelude::*;
use proptest::prelude::*;

use crate::common::components::{Four, Tag, small_world, sound};
use crate::common::effort::effort;
use crate::common::length;

use super::cleanup::Sound;
use super::sparse_cleanup::Slot;

#[component(cleanup)]
struct Listed;

/// The parts of an entity: `Four`, `Tag`, `Disabled`, `Prototype`, `Sound`, `Listed`, `Slot`.
type Parts = [Option<u32>; 7];

/// This part and those after it are cleanup components.
const SOUND: usize = 4;
const LISTED: usize = 5;
const SLOT: usize = 6;

/// An entity of the naive world.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Naive {
    parts: Parts,
    gone: bool,
}

/// A despawn, or a part that is inserted with a value or removed.
type Command = Option<(usize, Option<u32>)>;

#[derive(Clone, Debug)]
enum Operation {
    Spawn(Parts),
    Despawn(Vec<usize>),
    DespawnMatching { part: usize, hidden: bool },
    RetainSounds,
    Insert(usize, Vec<(usize, u32)>),
    Remove(usize, usize),
    RemoveMatching(usize),
    Instantiate(usize, usize),
    Commands(Vec<(usize, Command)>),
    Slots { by_system: bool, changes: Vec<(usize, Option<u32>)> },
    Retire,
    Compact,
}

fn operation() -> impl Strategy<Value = Operation> {
    let part = || 0_usize..7;
    let parts = prop::array::uniform7(prop::option::of(0_u32..9));
    let entity = || 0_usize..40;
    let change = prop::option::weighted(0.7, (part(), prop::option::of(0_u32..9)));
    prop_oneof![
        6 => parts.prop_map(Operation::Spawn),
        3 => prop::collection::vec(entity(), 0..6).prop_map(Operation::Despawn),
        1 => (part(), any::<bool>())
            .prop_map(|(part, hidden)| Operation::DespawnMatching { part, hidden }),
        1 => Just(Operation::RetainSounds),
        4 => (entity(), prop::collection::vec((part(), 0_u32..9), 1..3))
            .prop_map(|(entity, parts)| Operation::Insert(entity, parts)),
        5 => (entity(), part()).prop_map(|(entity, part)| Operation::Remove(entity, part)),
        2 => part().prop_map(Operation::RemoveMatching),
        1 => (entity(), 0_usize..4).prop_map(|(entity, n)| Operation::Instantiate(entity, n)),
        4 => prop::collection::vec((entity(), change), 0..12).prop_map(Operation::Commands),
        3 => (any::<bool>(), prop::collection::vec((entity(), prop::option::of(0_u32..9)), 0..6))
            .prop_map(|(by_system, changes)| Operation::Slots { by_system, changes }),
        1 => Just(Operation::Retire),
        1 => Just(Operation::Compact),
    ]
}

/// Calls a macro for the component of a part, with an expression of its value.
macro_rules! with_part {
    ($part:expr, $value:expr, $call:ident) => {
        match $part {
            0 => $call!(Four, Four($value)),
            1 => $call!(Tag, Tag),
            2 => $call!(Disabled, Disabled),
            3 => $call!(Prototype, Prototype),
            SOUND => $call!(Sound, Sound { channel: $value }),
            LISTED => $call!(Listed, Listed),
            SLOT => $call!(Slot, Slot($value)),
            part => unreachable!("there is no part {part}"),
        }
    };
}

/// Both worlds, and all ids that were handed out.
struct Pair {
    world: World,
    naive: BTreeMap<Entity, Naive>,
    ids: Vec<Entity>,
}

impl Pair {
    fn id(&self, n: usize) -> Option<Entity> {
        let back = self.ids.len().checked_sub(1)?;
        Some(self.ids[back - n % self.ids.len()])
    }

    fn add(&mut self, entity: Entity, parts: Parts) {
        self.ids.push(entity);
        let old = self.naive.insert(entity, Naive { parts, gone: false });
        assert!(old.is_none(), "{entity} is handed out and was not free");
    }

    fn is_alive(&self, entity: Entity) -> bool {
        self.naive.get(&entity).is_some_and(|naive| !naive.gone)
    }

    fn despawn(&mut self, entity: Entity) -> bool {
        let Some(naive) = self.naive.get_mut(&entity).filter(|naive| !naive.gone) else {
            return false;
        };
        naive.gone = true;
        naive.parts[..SOUND].fill(None);
        self.end(entity);
        true
    }

    /// Frees an entity that is gone and has no cleanup component.
    fn end(&mut self, entity: Entity) {
        let Some(&Naive { parts, gone }) = self.naive.get(&entity) else { return };
        if gone && parts[SOUND..] == [None; 3] {
            self.naive.remove(&entity);
        }
    }

    fn remove(&mut self, entity: Entity, part: usize) -> bool {
        let Some(naive) = self.naive.get_mut(&entity) else { return false };
        let had = naive.parts[part].take().is_some();
        self.end(entity);
        had
    }

    /// Whether a query that names this part visits an entity.
    fn visits(naive: &Naive, part: usize, hidden: bool) -> bool {
        let is_seen = |tag: usize| naive.parts[tag].is_none() || tag == part;
        naive.parts[part].is_some() && (hidden || (is_seen(2) && is_seen(3) && !naive.gone))
    }

    fn visited(&self, part: usize, hidden: bool) -> Vec<Entity> {
        let all = self.naive.iter();
        all.filter(|(_, naive)| Self::visits(naive, part, hidden)).map(|(&id, _)| id).collect()
    }

    fn run(&mut self, operation: Operation) {
        match operation {
            Operation::Spawn(parts) => {
                let entity = self.world.spawn(());
                for (part, value) in parts.iter().enumerate() {
                    if let Some(value) = *value {
                        self.insert(entity, part, value);
                    }
                }
                self.add(entity, parts);
            }
            Operation::Despawn(entities) => {
                let entities: Vec<_> = entities.iter().filter_map(|&n| self.id(n)).collect();
                let despawned = match entities[..] {
                    [only] => usize::from(self.world.despawn(only).is_ok()),
                    _ => self.world.despawn_batch(&entities),
                };
                let expected = entities.iter().filter(|&&entity| self.despawn(entity)).count();
                assert_eq!(despawned, expected);
            }
            Operation::DespawnMatching { part, hidden } => self.despawn_matching(part, hidden),
            Operation::RetainSounds => self.retain_sounds(),
            Operation::Insert(n, parts) => {
                let Some(entity) = self.id(n) else { return };
                for (part, value) in parts {
                    assert_eq!(self.insert(entity, part, value), self.is_alive(entity));
                    if self.is_alive(entity) {
                        self.naive.get_mut(&entity).expect("alive").parts[part] = Some(value);
                    }
                }
            }
            Operation::Remove(n, part) => {
                let Some(entity) = self.id(n) else { return };
                macro_rules! call {
                    ($type:ty, $value:expr) => {{
                        _ = $value;
                        self.world.remove::<$type>(entity).is_ok()
                    }};
                }
                let removed = with_part!(part, 0, call);
                assert_eq!(removed, self.remove(entity, part));
            }
            Operation::RemoveMatching(part) => self.remove_matching(part),
            Operation::Instantiate(n, copies) => {
                let Some(entity) = self.id(n) else { return };
                let made = self.world.instantiate(entity, copies).map(<[Entity]>::to_vec);
                assert_eq!(made.is_ok(), self.is_alive(entity));
                for copy in made.unwrap_or_default() {
                    let [four, tag, disabled, ..] = self.naive[&entity].parts;
                    self.add(copy, [four, tag, disabled, None, None, None, None]);
                }
            }
            Operation::Commands(commands) => self.record(commands),
            Operation::Slots { by_system, changes } => self.change_slots(by_system, &changes),
            Operation::Retire => drop(self.world.memory_mut().retire_archetypes()),
            Operation::Compact => {
                assert!(self.world.memory_mut().compact(1_000).rows_moved < 1_000)
            }
        }
    }

    /// Inserts and removes sparse values by a view, of the world or of a system.
    fn change_slots(&mut self, by_system: bool, changes: &[(usize, Option<u32>)]) {
        let change = |&(n, value): &(usize, Option<u32>)| Some((self.id(n)?, value));
        let changes: Vec<_> = changes.iter().filter_map(change).collect();
        let change = |slots: &mut SparseMut<'_, Slot>| {
            let each = changes.iter().map(|&(entity, value)| match value {
                Some(value) => slots.insert(entity, Slot(value)).is_ok(),
                None => slots.remove(entity).is_some(),
            });
            each.collect::<Vec<_>>()
        };
        let changed = match by_system {
            true => self.world.run(|mut slots: SparseMut<'_, Slot>| change(&mut slots)),
            false => change(&mut self.world.sparse_mut()),
        };
        // The values that a view has removed end their entities at the next change.
        assert_eq!(self.world.sparse_mut::<Slot>().len(), self.world.sparse::<Slot>().len());
        for (&(entity, value), is_changed) in changes.iter().zip(changed) {
            let naive = self.naive.get_mut(&entity);
            let expected = naive.is_some_and(|naive| match value {
                Some(value) => {
                    naive.parts[SLOT] = if naive.gone { naive.parts[SLOT] } else { Some(value) };
                    !naive.gone
                }
                None => naive.parts[SLOT].take().is_some(),
            });
            assert_eq!(is_changed, expected, "{entity}: {value:?}");
        }
        changes.iter().for_each(|&(entity, _)| self.end(entity));
    }

    fn despawn_matching(&mut self, part: usize, hidden: bool) {
        macro_rules! call {
            ($type:ty, $value:expr) => {{
                _ = $value;
                let matching = self.world.matching::<Entity>().with::<$type>();
                if hidden {
                    matching.filter::<IncludeHidden>().despawn()
                } else {
                    matching.despawn()
                }
            }};
        }
        let despawned = with_part!(part, 0, call);
        let visited = self.visited(part, hidden);
        let expected = visited.into_iter().filter(|&entity| self.despawn(entity)).count();
        assert_eq!(despawned, expected);
    }

    fn retain_sounds(&mut self) {
        let despawned = self.world.matching::<&Sound>().retain(|sounds, keep| {
            let all = sounds.iter().zip(keep);
            all.for_each(|(sound, keep)| *keep = sound.channel < 5);
        });
        let visited = self.visited(SOUND, false);
        let loud = |&entity: &Entity| self.naive[&entity].parts[SOUND] >= Some(5);
        let visited: Vec<_> = visited.into_iter().filter(loud).collect();
        assert_eq!(despawned, visited.len());
        assert!(visited.into_iter().all(|entity| self.despawn(entity)));
    }

    fn remove_matching(&mut self, part: usize) {
        macro_rules! call {
            ($type:ty, $value:expr) => {{
                _ = $value;
                let all = self.world.matching::<Entity>().filter::<IncludeHidden>();
                all.remove::<$type>()
            }};
        }
        let removed = with_part!(part, 0, call);
        let visited = self.visited(part, true);
        assert_eq!(removed, visited.len());
        assert!(visited.into_iter().all(|entity| self.remove(entity, part)));
    }

    fn insert(&mut self, entity: Entity, part: usize, value: u32) -> bool {
        macro_rules! call {
            ($type:ty, $value:expr) => {
                self.world.insert(entity, $value).is_ok()
            };
        }
        with_part!(part, value, call)
    }

    /// Commands have the same effect as changes in their order.
    fn record(&mut self, commands: Vec<(usize, Command)>) {
        let mut buffer = self.world.command_buffer(0).expect("room");
        buffer.on_dead_entity(DeadEntityPolicy::Ignore);
        for (n, change) in commands {
            let Some(entity) = self.id(n) else { continue };
            match change {
                None => {
                    buffer.despawn(entity);
                    self.despawn(entity);
                }
                Some((part, Some(value))) => {
                    macro_rules! call {
                        ($type:ty, $value:expr) => {
                            buffer.insert(entity, $value)
                        };
                    }
                    with_part!(part, value, call);
                    if self.is_alive(entity) {
                        self.naive.get_mut(&entity).expect("alive").parts[part] = Some(value);
                    }
                }
                Some((part, None)) => {
                    macro_rules! call {
                        ($type:ty, $value:expr) => {{
                            _ = $value;
                            buffer.remove::<$type>(entity);
                        }};
                    }
                    with_part!(part, 0, call);
                    self.remove(entity, part);
                }
            }
        }
        self.world.apply(&mut buffer).expect("stale commands are ignored");
    }

    fn compare(&self) {
        sound(&self.world);
        let world = &self.world;
        assert_eq!(world.len(), self.naive.len());
        for &entity in &self.ids {
            let Some(naive) = self.naive.get(&entity) else {
                assert!(!world.contains(entity) && world.entity(entity).is_err());
                continue;
            };
            assert_eq!(world.contains(entity), !naive.gone, "{entity}");
            assert_eq!(world.has::<Gone>(entity), naive.gone);
            let four = world.get::<Four>(entity).ok().map(|four| four.0);
            let sound = world.get::<Sound>(entity).ok().map(|sound| sound.channel);
            let slot = world.get::<Slot>(entity).ok().map(|slot| slot.0);
            assert_eq!([four, sound, slot], [0, SOUND, SLOT].map(|part| naive.parts[part]));
            let has = [
                world.has::<Tag>(entity),
                world.has::<Disabled>(entity),
                world.has::<Prototype>(entity),
                world.has::<Listed>(entity),
            ];
            assert_eq!(has, [1, 2, 3, LISTED].map(|part| naive.parts[part].is_some()), "{entity}");
        }
        let counts = [
            world.query::<&Four>().count_rows(),
            world.query::<&Four>().with::<Disabled>().count_rows(),
            world.query::<&Sound>().with::<Gone>().count_rows(),
            world.query::<&Sound>().filter::<IncludeHidden>().count_rows(),
            world.query::<&Slot>().count_rows(),
            world.query::<&Slot>().with::<Gone>().count_rows(),
            world.query::<Entity>().with::<Gone>().without::<Slot>().count_rows(),
            world.sparse::<Slot>().len(),
        ];
        let count = |keep: &dyn Fn(&Naive) -> bool| self.naive.values().filter(|n| keep(n)).count();
        let expected = [
            count(&|n| Self::visits(n, 0, false)),
            count(&|n| n.parts[0].is_some() && n.parts[2].is_some() && n.parts[3].is_none()),
            count(&|n| n.parts[SOUND].is_some() && n.gone),
            count(&|n| n.parts[SOUND].is_some()),
            count(&|n| Self::visits(n, SLOT, false)),
            count(&|n| n.parts[SLOT].is_some() && n.gone),
            count(&|n| n.parts[SLOT].is_none() && n.gone),
            count(&|n| n.parts[SLOT].is_some()),
        ];
        assert_eq!(counts, expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { effort(16) },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_changes_agree_with_a_naive_world(
        operations in prop::collection::vec(operation(), 0..length(60)),
    ) {
        let (naive, ids) = (BTreeMap::new(), Vec::new());
        let mut pair = Pair { world: small_world(), naive, ids };
        for operation in operations {
            pair.run(operation);
            pair.compare();
        }
    }
}
