//! Relations by name: the effect is that of the calls with types, and refused calls have none.

use phalanx::error::EntityError;
use phalanx::logs::LogCursor;
use phalanx::prelude::*;
use phalanx::reflect::BytesError;
use phalanx::sparse::RelationError;
use proptest::prelude::*;

use crate::common::components::{Four, Text, sound};
use crate::common::effort::effort;
use crate::common::world;

#[relation(tree, name = "game.child_of")]
struct ChildOf;
#[relation(name = "game.aims_at", on_delete = despawn)]
struct AimsAt;
#[relation(ordered, name = "game.card_of")]
struct CardOf;
#[relation(many, name = "game.likes")]
#[derive(Debug, PartialEq)]
struct Likes {
    weight: u32,
}
#[relation(many, name = "game.member_of")]
struct MemberOf;
#[relation(many, name = "game.needs")]
#[derive(Debug, PartialEq)]
enum Needs {
    Somewhat,
    Badly,
}

/// A world that knows the relations, with some entities.
fn related() -> (World, [Entity; 4]) {
    let mut world = world();
    world.register::<(ChildOf, AimsAt, CardOf, Four, Text)>();
    world.register::<(Targets<Likes>, Targets<MemberOf>, Targets<Needs>)>();
    let all = [0, 1, 2, 3].map(|i| world.spawn(Four(i)));
    (world, all)
}

#[test]
fn a_relation_is_made_moved_and_removed() -> Result<(), BytesError> {
    let (mut world, [a, b, c, d]) = related();
    let mut named = world.reflect_mut();
    named.relate(a, "game.card_of", d)?;
    named.relate(b, "game.card_of", d)?;
    named.relate(c, "game.card_of", d)?;
    named.relate(a, "game.card_of", d)?;
    assert_eq!(world.reflect().sources(d, "game.card_of")?, [a, b, c], "it stays in its place");
    world.reflect_mut().relate(b, "game.card_of", a)?;
    assert_eq!(world.reflect().targets(b, "game.card_of")?, [a]);
    assert_eq!(world.relation::<CardOf>().sources(d), [a, c]);
    assert!(!world.reflect_mut().unrelate(b, "game.card_of", d)?, "it is not its target");
    assert!(world.reflect_mut().unrelate(b, "game.card_of", a)?);
    assert!(!world.reflect_mut().unrelate(b, "game.card_of", a)?);
    assert!(world.query::<Entity>().with::<CardOf>().rows().eq([a, c]));
    sound(&world);
    Ok(())
}

#[test]
fn a_pair_has_zeros_until_it_gets_a_value_and_keeps_it() -> Result<(), BytesError> {
    let (mut world, [a, b, c, _]) = related();
    let weight = |world: &World| world.relation::<Likes>().get(a, b).map(|likes| likes.weight);
    world.reflect_mut().relate(a, "game.likes", b)?;
    assert_eq!(weight(&world), Some(0));
    world.reflect_mut().relate_with(a, "game.likes", b, &7u32.to_ne_bytes())?;
    world.reflect_mut().relate(a, "game.likes", b)?;
    assert_eq!(weight(&world), Some(7));
    world.reflect_mut().relate_with(a, "game.likes", c, &9u32.to_ne_bytes())?;
    assert_eq!(world.reflect().targets(a, "game.likes")?, [b, c]);
    assert!(world.reflect_mut().unrelate(a, "game.likes", b)?);
    assert_eq!((weight(&world), world.has::<Likes>(a)), (None, true));
    assert!(world.reflect_mut().unrelate(a, "game.likes", c)?);
    assert!(!world.has::<Likes>(a));
    world.reflect_mut().relate_with(a, "game.needs", b, &[1])?;
    assert_eq!(world.relation::<Needs>().get(a, b), Some(&Needs::Badly));
    world.reflect_mut().relate_with(a, "game.member_of", b, &[])?;
    world.reflect_mut().relate_with(a, "game.child_of", b, &[])?;
    assert!(world.has::<MemberOf>(a) && world.has::<ChildOf>(a));
    sound(&world);
    Ok(())
}

#[test]
fn names_are_listed_in_their_order() {
    let (world, _) = related();
    let names = ["aims_at", "card_of", "child_of", "likes", "member_of", "needs"];
    assert!(world.reflect().relations().eq(names.map(|name| format!("game.{name}"))));
    assert_eq!(World::new().reflect().relations().len(), 0);
}

#[test]
fn a_name_that_is_none_of_a_relation_is_refused() {
    let (mut world, [a, b, ..]) = related();
    world.insert(a, Text::from("a")).expect("it is alive");
    let hash = world.hash();
    let calls = |world: &mut World, name: &str| {
        let errors = [
            world.reflect().targets(a, name).map(drop),
            world.reflect().sources(a, name).map(drop),
            world.reflect_mut().relate(a, name, b),
            world.reflect_mut().relate_with(a, name, b, &[]),
            world.reflect_mut().unrelate(a, name, b).map(drop),
        ];
        let [first, ..] = errors.each_ref().map(|error| error.clone().expect_err("it is refused"));
        assert!(errors.iter().all(|error| *error == Err(first.clone())), "{errors:?}");
        first
    };
    let misspelt = calls(&mut world, "game.chid_of");
    assert!(matches!(misspelt, BytesError::UnknownRelation { nearest: Some("game.child_of"), .. }));
    assert_eq!(
        misspelt.to_string(),
        "the relation `game.chid_of` is not registered; did you mean `game.child_of`?"
    );
    let unknown = calls(&mut world, "parent");
    assert!(matches!(unknown, BytesError::UnknownRelation { nearest: None, .. }));
    assert_eq!(
        unknown.to_string(),
        "the relation `parent` is not registered: call `World::register` first, with \
         `Targets<Likes>` for `#[relation(many)] struct Likes`; without \
         `#[relation(name = \"…\")]` its name is a path, `crate::module::Type`"
    );
    for name in [Four::NAME, <Text as phalanx::sparse::SparseComponent>::NAME] {
        let error = calls(&mut world, name);
        assert_eq!(error, BytesError::NotRelation { name: name.to_owned() });
        assert_eq!(
            error.to_string(),
            format!(
                "`{name}` is no relation: `ReflectMut::insert` and `remove` change a component \
                 with bytes, and `World::insert` and `remove` a sparse one by its type"
            )
        );
    }
    let error = world.reflect_mut().insert(a, [("game.child_of", &[][..])]).expect_err("no bytes");
    assert!(
        error.to_string().ends_with("`Reflect::targets` and `ReflectMut::relate` have the ends")
    );
    assert_eq!(world.hash(), hash, "nothing has changed");
}

#[test]
fn a_dead_end_and_a_cycle_are_refused_as_by_type() {
    let (mut world, [a, b, c, dead]) = related();
    world.despawn(dead).expect("it is alive");
    let (child_of, aims_at) = ("game.child_of", "game.aims_at");
    world.reflect_mut().relate(b, child_of, a).expect("it is no cycle");
    world.reflect_mut().relate(c, child_of, b).expect("it is no cycle");
    let (hash, version) = (world.hash(), world.version());
    let typed = |world: &mut World, source, target| {
        BytesError::from(world.insert(source, ChildOf::of(target)).expect_err("it is refused"))
    };
    for (source, target) in
        [(dead, a), (c, dead), (a, dead), (a, Entity::NULL), (a, a), (a, b), (a, c), (dead, dead)]
    {
        let error = world.reflect_mut().relate(source, child_of, target).expect_err("refused");
        assert_eq!(error, typed(&mut world, source, target), "{source} {target}");
    }
    let error = world.reflect_mut().relate(a, child_of, c).expect_err("it is a cycle");
    let cycle = RelationError::Cycle { relation: "game.child_of", source: a, target: c };
    assert_eq!(error, BytesError::Entity(EntityError::Relation(cycle)));
    assert_eq!(
        error.to_string(),
        format!(
            "{c} cannot be the target of {a}, because it is below it in the tree \
             `game.child_of`: move {c} out of the subtree first"
        )
    );
    for name in [child_of, "game.likes"] {
        let error = world.reflect_mut().unrelate(dead, name, a).expect_err("it is dead");
        assert!(matches!(error, BytesError::Entity(EntityError::NoSuchEntity(_))), "{error}");
        assert_eq!(world.reflect().targets(dead, name), Ok(Vec::new()));
        assert_eq!(world.reflect().sources(dead, name), Ok(Vec::new()));
    }
    assert_eq!((world.hash(), world.version()), (hash, version), "nothing has changed");
    world.reflect_mut().relate(a, aims_at, a).expect("no tree: it may be its own target");
    sound(&world);
}

#[test]
fn bytes_that_are_no_value_of_a_pair_are_refused() {
    let (mut world, [a, b, ..]) = related();
    let hash = world.hash();
    let mut refused = |name: &str, bytes: &[u8]| {
        world.reflect_mut().relate_with(a, name, b, bytes).expect_err("refused").to_string()
    };
    assert_eq!(
        refused("game.likes", &[1; 3]),
        "a value of `game.likes` has 4 bytes, and 3 were given"
    );
    assert_eq!(
        refused("game.child_of", &[1]),
        "a value of `game.child_of` has 0 bytes, and 1 was given"
    );
    assert_eq!(
        refused("game.member_of", &[1]),
        "a value of `game.member_of` has 0 bytes, and 1 was given"
    );
    assert!(refused("game.needs", &[2]).starts_with("the bytes are no value of `game.needs`"));
    assert_eq!(world.hash(), hash, "nothing has changed");
}

/// Makes a relation of a source to a target, with the value of a number.
type Relate = fn(&mut World, (Entity, Entity), Option<u32>) -> Result<(), EntityError>;

/// The calls on one relation by its type.
struct Typed {
    name: &'static str,
    relate: Relate,
    unrelate: fn(&mut World, (Entity, Entity)) -> Result<bool, EntityError>,
    /// The bytes of a value of a number.
    bytes: fn(u32) -> Vec<u8>,
    /// The targets and the sources of an entity.
    ends: fn(&World, Entity) -> [Vec<Entity>; 2],
    /// The rows with the relation, and those whose relation counts as changed.
    rows: fn(&World, Version) -> [Vec<Entity>; 2],
}

/// Whether the source has the relation; a dead one is an error. Reserved ids get their rows, as by
/// each call that changes a world.
fn of_living(world: &mut World, source: Entity, has: bool) -> Result<bool, EntityError> {
    world.despawn_batch(&[]);
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
    ($relation:ident, $name:literal) => {
        Typed {
            name: $name,
            relate: |world, (source, target), _| world.insert(source, $relation::of(target)),
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
            rows: rows!($relation),
        }
    };
}

macro_rules! many {
    ($relation:ident, $name:literal, $value:expr, $bytes:expr) => {
        Typed {
            name: $name,
            relate: |world, (source, target), number| {
                let former = world.relation::<$relation>().get(source, target).copied();
                let value: fn(u32) -> $relation = $value;
                let value = number.map(value).or(former).unwrap_or(value(0));
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
            rows: rows!($relation),
        }
    };
}

const ALL: [Typed; 6] = [
    one!(ChildOf, "game.child_of"),
    one!(AimsAt, "game.aims_at"),
    one!(CardOf, "game.card_of"),
    many!(Likes, "game.likes", |weight| Likes { weight }, |n| n.to_ne_bytes().to_vec()),
    many!(MemberOf, "game.member_of", |_| MemberOf, |_| Vec::new()),
    many!(
        Needs,
        "game.needs",
        |n| if n % 2 == 0 { Needs::Somewhat } else { Needs::Badly },
        |n| vec![n.to_ne_bytes()[0] % 2]
    ),
];

/// The entities that gained and lost two relations.
struct Logs {
    children: (LogCursor<Insertions<ChildOf>>, LogCursor<Removals<ChildOf>>),
    likes: (LogCursor<Insertions<Likes>>, LogCursor<Removals<Likes>>),
}

impl Logs {
    fn new(world: &mut World) -> Self {
        Self { children: (world.cursor(), world.cursor()), likes: (world.cursor(), world.cursor()) }
    }

    fn read(&mut self, world: &World) -> [Vec<(Entity, Entity)>; 4] {
        let targets = |(sources, values): (&[Entity], &[ChildOf])| {
            sources.iter().zip(values).map(|(&source, value)| (source, value.target())).collect()
        };
        let pairs = |(sources, _): (&[Entity], &[()])| {
            sources.iter().map(|&source| (source, Entity::NULL)).collect()
        };
        [
            targets(self.children.0.read(world)),
            targets(self.children.1.read(world)),
            pairs(self.likes.0.read(world)),
            pairs(self.likes.1.read(world)),
        ]
    }
}

/// A step of two worlds: its kind, the relation, two entities, and the value of a pair.
type Step = (u8, u8, (u8, u8), Option<u32>);

/// Makes a relation, or removes one, by type in one world and by name in the other.
fn relate(worlds: &mut [World; 2], all: &[Entity], &(kind, relation, ends, value): &Step) {
    let typed = &ALL[relation as usize % ALL.len()];
    let [source, target] = [ends.0, ends.1].map(|end| all[end as usize % all.len()]);
    let [by_type, by_name] = worlds;
    let named = &mut by_name.reflect_mut();
    let (expected, found) = match (kind % 3, value) {
        (0, _) => {
            let found = named.unrelate(source, typed.name, target);
            ((typed.unrelate)(by_type, (source, target)), found)
        }
        (_, None) => {
            let found = named.relate(source, typed.name, target);
            ((typed.relate)(by_type, (source, target), None).map(|()| true), found.map(|()| true))
        }
        (_, Some(number)) => {
            let found = named.relate_with(source, typed.name, target, &(typed.bytes)(number));
            ((typed.relate)(by_type, (source, target), value).map(|()| true), found.map(|()| true))
        }
    };
    assert_eq!(found, expected.map_err(BytesError::from));
}

fn compare([by_type, by_name]: &[World; 2], all: &[Entity], since: Version) {
    assert_eq!(by_name.hash(), by_type.hash());
    assert_eq!(by_name.version(), by_type.version());
    for typed in &ALL {
        for &entity in all {
            let [targets, sources] = (typed.ends)(by_type, entity);
            assert_eq!(by_name.reflect().targets(entity, typed.name), Ok(targets));
            assert_eq!(by_name.reflect().sources(entity, typed.name), Ok(sources));
        }
        assert_eq!((typed.rows)(by_name, since), (typed.rows)(by_type, since), "{}", typed.name);
    }
    sound(by_name);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { effort(16) },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_world_by_name_equals_a_world_by_type(
        steps in prop::collection::vec(any::<Step>(), 1..80),
    ) {
        let ((by_type, first), (by_name, _)) = (related(), related());
        let (mut worlds, mut all) = ([by_type, by_name], first.to_vec());
        let mut logs = worlds.each_mut().map(Logs::new);
        for step in &steps {
            let since = worlds[0].version();
            match step.0 {
                0..16 => {
                    let spawned = worlds.each_mut().map(|world| world.spawn(Text::from("new")));
                    prop_assert_eq!(spawned[0], spawned[1]);
                    all.push(spawned[0]);
                }
                16..28 => {
                    let reserved = worlds.each_ref().map(World::reserve_entity);
                    let [Ok(one), Ok(other)] = reserved else { panic!("ids are left") };
                    prop_assert_eq!(one, other);
                    all.push(one);
                }
                28..48 => {
                    let one = all[step.1 as usize % all.len()];
                    let outcomes = worlds.each_mut().map(|world| world.despawn(one).is_ok());
                    prop_assert_eq!(outcomes[0], outcomes[1]);
                }
                _ => relate(&mut worlds, &all, step),
            }
            compare(&worlds, &all, since);
            let [by_type, by_name] = &worlds;
            let [typed, named] = &mut logs;
            prop_assert_eq!(named.read(by_name), typed.read(by_type));
        }
    }
}
