//! Three random worlds that get the same relations: one by type, one by name, and one by commands
//! that have names. They stay equal in states, versions, lists, values, changes, logs and errors.

use phalanx::command::{ApplyError, CommandErrorKind};
use phalanx::error::EntityError;
use phalanx::logs::LogCursor;
use phalanx::prelude::*;
use phalanx::reflect::{BytesError, NamedTarget};
use proptest::prelude::*;

use crate::common::components::{Text, sound};
use crate::common::effort::effort;
use crate::common::length;
use crate::common::world;

#[relation(tree, name = "game.child_of")]
struct ChildOf;
#[relation(name = "game.aims_at", on_delete = despawn)]
struct AimsAt;
#[relation(ordered, name = "game.card_of")]
struct CardOf;
#[relation(tree, ordered, name = "game.slot_of", on_delete = despawn)]
struct SlotOf;
#[relation(many, name = "game.likes")]
struct Likes {
    weight: u32,
}
#[relation(many, name = "game.member_of")]
struct MemberOf;
#[relation(many, name = "game.needs")]
enum Needs {
    Somewhat,
    Badly,
}

/// A world that knows the relations, with some entities.
fn related() -> (World, [Entity; 4]) {
    let mut world = world();
    world.register::<(ChildOf, AimsAt, CardOf, SlotOf, Text)>();
    world.register::<(Targets<Likes>, Targets<MemberOf>, Targets<Needs>)>();
    let all = [(); 4].map(|()| world.spawn(()));
    (world, all)
}

/// Makes a relation of a source to a target, at a place and with the value of a number.
type Relate =
    fn(&mut World, (Entity, Entity), Option<usize>, Option<u32>) -> Result<(), EntityError>;

/// The calls on one relation by its type.
struct Typed {
    name: &'static str,
    is_ordered: bool,
    relate: Relate,
    unrelate: fn(&mut World, (Entity, Entity)) -> Result<bool, EntityError>,
    /// The bytes of a value of a number.
    bytes: fn(u32) -> Vec<u8>,
    /// The targets and the sources of an entity.
    ends: fn(&World, Entity) -> [Vec<Entity>; 2],
    /// The bytes of the value of a pair.
    pair: fn(&World, (Entity, Entity)) -> Option<Vec<u8>>,
    /// The rows with the relation, and those whose relation counts as changed.
    rows: fn(&World, Version) -> [Vec<Entity>; 2],
}

/// Whether the source has the relation; a dead one is an error.
fn of_living(world: &World, source: Entity, has: bool) -> Result<bool, EntityError> {
    world.entity(source).map(|_| has).map_err(EntityError::from)
}

macro_rules! rows {
    ($relation:ty) => {
        |world, since| {
            let changed = world.query::<Entity>().filter_since::<Changed<$relation>>(since);
            [world.query::<Entity>().with::<$relation>().rows().collect(), changed.rows().collect()]
        }
    };
}

macro_rules! one {
    ($relation:ident, $name:literal $(, $at:ident)?) => {
        Typed {
            name: $name,
            is_ordered: !stringify!($($at)?).is_empty(),
            relate: |world, (source, target), place, _| {
                let relation = $relation::of(target);
                $(if let Some(place) = place {
                    return world.insert(source, relation.$at(place));
                })?
                let _ = place;
                world.insert(source, relation)
            },
            unrelate: |world, (source, target)| {
                let has = world.relation::<$relation>().target(source) == Some(target);
                if has {
                    world.remove::<$relation>(source)?;
                }
                of_living(world, source, has)
            },
            bytes: |_| Vec::new(),
            ends: |world, entity| {
                let relation = world.relation::<$relation>();
                [relation.target(entity).into_iter().collect(), relation.sources(entity).to_vec()]
            },
            pair: |world, (source, target)| {
                let relation = world.relation::<$relation>();
                relation.target(source).filter(|&of| of == target).map(|_| Vec::new())
            },
            rows: rows!($relation),
        }
    };
}

macro_rules! many {
    ($relation:ident, $name:literal, $value:expr, $bytes:expr) => {
        Typed {
            name: $name,
            is_ordered: false,
            relate: |world, (source, target), _, number| {
                let former = world.relation::<$relation>().get(source, target).copied();
                let of_number: fn(u32) -> $relation = $value;
                let value = number.map(of_number).or(former).unwrap_or(of_number(0));
                // The value of a pair that exists is written in one of two ways.
                if let (Some(_), Some(1..=u32::MAX)) = (former, number.map(|number| number % 2)) {
                    let mut targets = world.get_mut::<$relation>(source)?;
                    *targets.get_mut(target).expect("it is a target") = value;
                    return Ok(());
                }
                world.insert(source, value.of(target))
            },
            unrelate: |world, (source, target)| {
                let has = world.relation::<$relation>().contains(source, target);
                if has {
                    world.get_mut::<$relation>(source)?.remove(target);
                }
                of_living(world, source, has)
            },
            bytes: $bytes,
            ends: |world, entity| {
                let relation = world.relation::<$relation>();
                [relation.targets(entity).to_vec(), relation.sources(entity).to_vec()]
            },
            pair: |world, (source, target)| {
                let relation = world.relation::<$relation>();
                relation.get(source, target).map(|value| bytemuck::bytes_of(value).to_vec())
            },
            rows: rows!($relation),
        }
    };
}

const ALL: [Typed; 7] = [
    one!(ChildOf, "game.child_of"),
    one!(AimsAt, "game.aims_at"),
    one!(CardOf, "game.card_of", at),
    one!(SlotOf, "game.slot_of", at),
    many!(Likes, "game.likes", |weight| Likes { weight }, |n| n.to_ne_bytes().to_vec()),
    many!(MemberOf, "game.member_of", |_| MemberOf, |_| Vec::new()),
    many!(
        Needs,
        "game.needs",
        |n| if n % 2 == 0 { Needs::Somewhat } else { Needs::Badly },
        |n| vec![n.to_ne_bytes()[0] % 2]
    ),
];

/// The entities that gained and lost three relations.
struct Logs {
    children: (LogCursor<Insertions<ChildOf>>, LogCursor<Removals<ChildOf>>),
    cards: (LogCursor<Insertions<CardOf>>, LogCursor<Removals<CardOf>>),
    likes: (LogCursor<Insertions<Likes>>, LogCursor<Removals<Likes>>),
}

macro_rules! targets {
    ($entries:expr) => {{
        let (sources, values) = $entries;
        sources.iter().zip(values).map(|(&source, value)| (source, value.target())).collect()
    }};
}

impl Logs {
    fn new(world: &mut World) -> Self {
        Self {
            children: (world.cursor(), world.cursor()),
            cards: (world.cursor(), world.cursor()),
            likes: (world.cursor(), world.cursor()),
        }
    }

    fn read(&mut self, world: &World) -> [Vec<(Entity, Entity)>; 6] {
        let pairs = |(sources, _): (&[Entity], &[()])| {
            sources.iter().map(|&source| (source, Entity::NULL)).collect()
        };
        [
            targets!(self.children.0.read(world)),
            targets!(self.children.1.read(world)),
            targets!(self.cards.0.read(world)),
            targets!(self.cards.1.read(world)),
            pairs(self.likes.0.read(world)),
            pairs(self.likes.1.read(world)),
        ]
    }
}

/// A step of the worlds: its kind, the relation, two entities, the value of a pair, and a place.
type Step = (u8, u8, (u8, u8), Option<u32>, Option<u8>);

/// Makes a relation, or removes one, by type, by name, and by a command.
fn relate(
    [by_type, by_name, by_command]: &mut [World; 3],
    buffer: &mut CommandBuffer,
    all: &[Entity],
    &(kind, relation, ends, number, place): &Step,
) {
    let typed = &ALL[relation as usize % ALL.len()];
    // A few targets, so that places differ.
    let targets = if typed.is_ordered { 3 } else { all.len() };
    let [source, target] = [(ends.0, all.len()), (ends.1, targets)].map(|(end, len)| {
        let end = usize::from(end);
        all[end % len]
    });
    // Small places are within the lists, and the others beyond them.
    let place = place.map(|place| if place < 250 { usize::from(place % 6) } else { usize::MAX });
    let place = place.filter(|_| typed.is_ordered || kind % 7 == 1);
    // A playback gives reserved ids their rows, also one of refused commands alone.
    by_type.despawn_batch(&[]);
    by_name.despawn_batch(&[]);
    let named = &mut by_name.reflect_mut();
    let (expected, found) = if kind % 3 == 0 {
        buffer.unrelate_named(source, typed.name, target);
        let expected = (typed.unrelate)(by_type, (source, target));
        (expected.map_err(BytesError::from), named.unrelate(source, typed.name, target))
    } else {
        let bytes = number.map(typed.bytes);
        let mut to = NamedTarget::of(target);
        if let Some(place) = place {
            to = to.at(place);
        }
        if let Some(bytes) = &bytes {
            to = to.with(bytes);
        }
        buffer.relate_named(source, typed.name, to);
        let expected = match place.is_some() && !typed.is_ordered {
            true => Err(BytesError::NotOrdered { name: typed.name.to_owned() }),
            false => {
                let related = (typed.relate)(by_type, (source, target), place, number);
                related.map(|()| true).map_err(BytesError::from)
            }
        };
        (expected, named.relate(source, typed.name, to).map(|()| true))
    };
    assert_eq!(found, expected);
    let applied = match by_command.apply(buffer) {
        Ok(_) => Ok(()),
        Err(ApplyError::Commands(errors)) => {
            let [error] = errors.as_slice() else { panic!("one command: {errors:?}") };
            assert_eq!((error.entity, &error.components[..]), (source, &[typed.name][..]));
            Err(error.fault.clone())
        }
        Err(other) => panic!("{other}"),
    };
    assert_eq!(applied, expected.map(drop).map_err(CommandErrorKind::from));
}

fn compare([by_type, others @ ..]: &[World; 3], all: &[Entity], since: Version) {
    for world in others {
        assert_eq!(world.hash(), by_type.hash());
        assert_eq!(world.version(), by_type.version());
        let reflect = world.reflect();
        for typed in &ALL {
            for &entity in all {
                let [targets, sources] = (typed.ends)(by_type, entity);
                for &target in targets.iter().chain(all.last()) {
                    let pair = reflect.pair(entity, typed.name, target).expect("it is known");
                    let bytes = pair.map(|pair| pair.bytes().to_vec());
                    assert_eq!(bytes, (typed.pair)(by_type, (entity, target)));
                }
                assert_eq!(reflect.targets(entity, typed.name), Ok(targets));
                assert_eq!(reflect.sources(entity, typed.name), Ok(sources));
            }
            assert_eq!((typed.rows)(world, since), (typed.rows)(by_type, since), "{}", typed.name);
        }
        sound(world);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { effort(16) },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn worlds_by_name_equal_a_world_by_type(
        steps in prop::collection::vec(any::<Step>(), 1..length(80)),
    ) {
        let [(by_type, first), (by_name, _), (by_command, _)] = [(); 3].map(|()| related());
        let (mut worlds, mut all) = ([by_type, by_name, by_command], first.to_vec());
        let mut buffer = worlds[2].command_buffer(0).expect("it needs no id");
        let mut logs = worlds.each_mut().map(Logs::new);
        for step in &steps {
            let since = worlds[0].version();
            match step.0 {
                0..16 => {
                    let spawned = worlds.each_mut().map(|world| world.spawn(Text::from("new")));
                    prop_assert_eq!(spawned, [spawned[0]; 3]);
                    all.push(spawned[0]);
                }
                16..28 => {
                    let reserved = worlds.each_ref().map(|world| {
                        world.reserve_entity().expect("ids are left")
                    });
                    prop_assert_eq!(reserved, [reserved[0]; 3]);
                    all.push(reserved[0]);
                }
                28..48 => {
                    let one = all[step.1 as usize % all.len()];
                    let outcomes = worlds.each_mut().map(|world| world.despawn(one).is_ok());
                    prop_assert_eq!(outcomes, [outcomes[0]; 3]);
                }
                _ => relate(&mut worlds, &mut buffer, &all, step),
            }
            compare(&worlds, &all, since);
            let [by_type, by_name, by_command] = &worlds;
            let [typed, named, recorded] = &mut logs;
            let expected = typed.read(by_type);
            prop_assert_eq!(&named.read(by_name), &expected);
            prop_assert_eq!(&recorded.read(by_command), &expected);
        }
    }
}
