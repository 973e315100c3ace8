//! Relations by name: the effect is that of the calls with types, and refused calls have none.

use phalanx::error::EntityError;
use phalanx::prelude::*;
use phalanx::reflect::{BytesError, ComponentShape, NamedQuery, NamedTarget};
use phalanx::sparse::RelationError;

use crate::common::components::{Four, Text, sound};
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
#[relation(many, name = "game.knows")]
#[derive(Debug)]
struct Knows {
    since: u16,
    is_friend: bool,
    nickname: [bool; 3],
}
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
    world.register::<(Targets<Likes>, Targets<MemberOf>, Targets<Needs>, Targets<Knows>)>();
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
    world.reflect_mut().relate(a, "game.likes", NamedTarget::of(b).with(&7u32.to_ne_bytes()))?;
    world.reflect_mut().relate(a, "game.likes", b)?;
    assert_eq!(weight(&world), Some(7));
    world.reflect_mut().relate(a, "game.likes", NamedTarget::of(c).with(&9u32.to_ne_bytes()))?;
    assert_eq!(world.reflect().targets(a, "game.likes")?, [b, c]);
    assert!(world.reflect_mut().unrelate(a, "game.likes", b)?);
    assert_eq!((weight(&world), world.has::<Likes>(a)), (None, true));
    assert!(world.reflect_mut().unrelate(a, "game.likes", c)?);
    assert!(!world.has::<Likes>(a));
    world.reflect_mut().relate(a, "game.needs", NamedTarget::of(b).with(&[1]))?;
    assert_eq!(world.relation::<Needs>().get(a, b), Some(&Needs::Badly));
    world.reflect_mut().relate(a, "game.member_of", NamedTarget::of(b).with(&[]))?;
    world.reflect_mut().relate(a, "game.child_of", NamedTarget::of(b).with(&[]))?;
    assert!(world.has::<MemberOf>(a) && world.has::<ChildOf>(a));
    sound(&world);
    Ok(())
}

#[test]
fn names_are_listed_in_their_order() {
    let (world, _) = related();
    let names = ["aims_at", "card_of", "child_of", "knows", "likes", "member_of", "needs"];
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
            world.reflect().pair(a, name, b).map(drop),
            world.reflect_mut().relate(a, name, b),
            world.reflect_mut().relate(a, name, NamedTarget::of(b).with(&[1]).at(0)),
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
    assert!(error.to_string().ends_with("have the ends, and `Reflect::pair` the value"));
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
             `game.child_of`, or would be by the same call: move {c} out of the subtree, or \
             give one of them another target"
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
        let target = NamedTarget::of(b).with(bytes);
        world.reflect_mut().relate(a, name, target).expect_err("refused").to_string()
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
    let text = refused("game.knows", &[0, 0, 2, 0, 0, 0]);
    assert!(text.starts_with("the field `is_friend` of `game.knows` has bytes that are no `bool`"));
    let text = refused("game.knows", &[9, 9, 1, 0, 0, 9]);
    assert!(
        text.starts_with("the field `nickname` of `game.knows` has bytes that are no `[bool; 3]`")
    );
    assert_eq!(world.hash(), hash, "nothing has changed");
}

#[test]
fn a_pair_is_shown_as_a_component_is() -> Result<(), BytesError> {
    let (mut world, [a, b, c, _]) = related();
    let knows = Knows { since: 1999, is_friend: true, nickname: [false, true, false] };
    world.insert(a, knows.of(b))?;
    world.insert(a, Likes { weight: 3 }.of(b))?;
    world.insert(b, Needs::Badly.of(a))?;
    world.insert(b, MemberOf.of(c))?;
    world.insert(b, ChildOf::of(c))?;
    let reflect = world.reflect();
    let pair = |source, name, target| reflect.pair(source, name, target).map(Option::unwrap);
    let shown = pair(a, "game.knows", b)?;
    let text = "Knows { since: 1999, is_friend: true, nickname: [false, true, false] }";
    assert_eq!(format!("{shown:?}"), text);
    assert_eq!(shown.bytes(), [&1999_u16.to_ne_bytes()[..], &[1, 0, 1, 0]].concat());
    assert_eq!(
        (shown.info().name(), shown.info().size(), shown.info().align()),
        ("game.knows", 6, 2)
    );
    assert!(shown.is_enabled() && !shown.info().is_enableable());
    let ComponentShape::Struct(fields) = shown.info().shape() else { panic!("it is a struct") };
    let fields = fields.iter().map(|field| (field.name, field.type_name, field.offset, field.size));
    let expected =
        [("since", "u16", 0, 2), ("is_friend", "bool", 2, 1), ("nickname", "[bool; 3]", 3, 3)];
    assert!(fields.eq(expected));
    let needs = pair(b, "game.needs", a)?;
    let ComponentShape::Enum(variants) = needs.info().shape() else { panic!("it is an enum") };
    assert!(variants.iter().map(|one| (one.name, one.value)).eq([("Somewhat", 0), ("Badly", 1)]));
    assert_eq!((needs.bytes(), format!("{needs:?}").as_str()), (&[1][..], "Badly"));
    for name in ["game.member_of", "game.child_of"] {
        let pair = pair(b, name, c)?;
        assert_eq!((pair.info().name(), pair.bytes()), (name, &[][..]));
        assert_eq!((pair.info().size(), pair.info().shape()), (0, ComponentShape::Struct(&[])));
    }
    for (source, name, target) in [
        (b, "game.knows", a),
        (a, "game.knows", c),
        (b, "game.child_of", a),
        (Entity::NULL, "game.knows", b),
        (Entity::NULL, "game.child_of", Entity::NULL),
    ] {
        assert!(reflect.pair(source, name, target)?.is_none(), "{source} {name} {target}");
    }
    // It is lent with the world, beside other views of the relation.
    assert_eq!(world.relation::<Knows>().get(a, b).map(|knows| knows.since), Some(1999));
    assert_eq!(needs.bytes(), [1]);
    world.get_mut::<Knows>(a)?.get_mut(b).expect("it is a target").since = 7;
    let shown = world.reflect().pair(a, "game.knows", b)?.expect("it is a pair");
    assert_eq!(shown.bytes()[..2], 7_u16.to_ne_bytes());
    sound(&world);
    Ok(())
}

#[test]
fn the_info_of_a_pair_is_a_key_of_its_relation() -> Result<(), BytesError> {
    let (mut world, [a, b, ..]) = related();
    world.insert(a, Likes { weight: 3 }.of(b))?;
    let pair = world.reflect().pair(a, "game.likes", b)?;
    let likes = *pair.expect("it is a pair").info();
    assert!(world.entity(a).expect("alive").has_all([likes]));
    assert!(!world.entity(b).expect("alive").has_all([likes]));
    let query = NamedQuery::new().with(likes);
    assert_eq!(world.reflect().chunks(&query)?.map(|chunk| chunk.len()).sum::<usize>(), 1);
    let error = world.reflect().chunks(&NamedQuery::new().read(likes)).map(drop);
    assert!(matches!(error, Err(BytesError::Sparse { .. })), "{error:?}");
    // Another type of this name, in another world.
    #[relation(many, name = "game.likes")]
    struct OtherLikes;
    let mut other = World::new();
    let entity = other.spawn(());
    other.insert(entity, OtherLikes.of(entity))?;
    assert!(!other.entity(entity).expect("alive").has_all([likes]));
    let error = other.reflect().chunks(&query).map(drop);
    assert!(matches!(error, Err(BytesError::OtherComponent { .. })), "{error:?}");
    Ok(())
}

#[test]
fn a_source_comes_to_a_place() -> Result<(), BytesError> {
    let (mut world, [a, b, c, deck]) = related();
    let place = |world: &mut World, source, place| {
        let target = NamedTarget::of(deck).at(place);
        world.reflect_mut().relate(source, "game.card_of", target)
    };
    place(&mut world, a, 7)?;
    place(&mut world, b, 0)?;
    place(&mut world, c, 1)?;
    assert_eq!(world.reflect().sources(deck, "game.card_of")?, [b, c, a]);
    place(&mut world, b, usize::MAX)?;
    assert_eq!(world.reflect().sources(deck, "game.card_of")?, [c, a, b]);
    let target = NamedTarget::of(deck).at(1).with(&[]);
    world.reflect_mut().relate(c, "game.card_of", target)?;
    assert_eq!(world.reflect().sources(deck, "game.card_of")?, [a, c, b]);
    assert_eq!(world.relation::<CardOf>().place(c), Some(1));
    world.reflect_mut().relate(a, "game.card_of", NamedTarget::of(c).at(0))?;
    assert_eq!(world.relation::<CardOf>().sources(deck), [c, b]);
    sound(&world);
    let (hash, version) = (world.hash(), world.version());
    for name in ["game.child_of", "game.aims_at", "game.likes", "game.member_of"] {
        let error = world.reflect_mut().relate(a, name, NamedTarget::of(b).at(0));
        assert_eq!(error, Err(BytesError::NotOrdered { name: name.to_owned() }));
    }
    let error = world.reflect_mut().relate(a, "game.likes", NamedTarget::of(b).at(0));
    assert_eq!(
        error.expect_err("it is refused").to_string(),
        "`game.likes` keeps no order of its sources: write `#[relation(ordered)]`, or leave \
         `NamedTarget::at` out"
    );
    let dead = NamedTarget::of(Entity::NULL).at(0);
    let error = world.reflect_mut().relate(c, "game.card_of", dead).expect_err("it is dead");
    let typed = world.insert(c, CardOf::of(Entity::NULL).at(0)).expect_err("it is dead");
    assert_eq!(error, BytesError::from(typed));
    assert_eq!((world.hash(), world.version()), (hash, version), "nothing has changed");
    Ok(())
}
