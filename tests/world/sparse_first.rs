//! Archetypes of which a row gets a sparse component for the first time: older than others, in any
//! order, and beside queries that are known.

use phalanx::prelude::*;
use phalanx::terms::{Not, Or};

use crate::common::components::{Byte, Four, Number, Other, Tag, Text, Third, Twelve};

const KINDS: u32 = 64;

/// An entity of one of [`KINDS`] archetypes.
fn spawn(world: &mut World, kind: u32) -> Entity {
    let entity = world.spawn(Four(kind));
    let has = |bit: u32| kind >> bit & 1 == 1;
    let mut insert = |is_added: bool, insert: fn(&mut World, Entity)| {
        if is_added {
            insert(world, entity);
        }
    };
    insert(has(0), |world, one| world.insert(one, Tag).expect("alive"));
    insert(has(1), |world, one| world.insert(one, Other).expect("alive"));
    insert(has(2), |world, one| world.insert(one, Third).expect("alive"));
    insert(has(3), |world, one| world.insert(one, Byte(1)).expect("alive"));
    insert(has(4), |world, one| world.insert(one, Twelve([1; 3])).expect("alive"));
    insert(has(5), |world, one| world.insert(one, Disabled).expect("alive"));
    entity
}

/// The kinds of the entities that the known queries see, and must see.
fn assert_seen(world: &World, all: &[Entity]) {
    let kinds = |rows: Vec<&Four>| {
        let mut kinds: Vec<_> = rows.iter().map(|four| four.0).collect();
        kinds.sort_unstable();
        kinds
    };
    let expected = |sees: &dyn Fn(Entity) -> bool| {
        let kind = |(kind, &one): (u32, &Entity)| (kind & 32 == 0 && sees(one)).then_some(kind);
        (0..).zip(all).filter_map(kind).collect::<Vec<_>>()
    };
    let (number, text) = (|one| world.has::<Number>(one), |one| world.has::<Text>(one));
    let fours = || world.query::<&Four>();
    assert_eq!(kinds(fours().with::<Number>().rows().collect()), expected(&number));
    assert_eq!(kinds(fours().without::<Number>().rows().collect()), expected(&|one| !number(one)));
    assert_eq!(
        kinds(fours().filter::<Or<(With<Number>, With<Text>)>>().rows().collect()),
        expected(&|one| number(one) || text(one))
    );
    assert_eq!(
        kinds(fours().filter::<Not<With<Text>>>().with::<Tag>().rows().collect()),
        expected(&|one| !text(one) && world.has::<Tag>(one))
    );
    let both = world.query::<(&Four, &Number, &Text)>();
    assert_eq!(
        kinds(both.rows().map(|row| row.0).collect()),
        expected(&|one| number(one) && text(one))
    );
    let old =
        world.query::<&Four>().filter_since::<(Changed<Four>, With<Number>)>(Version::default());
    assert_eq!(kinds(old.rows().collect()), expected(&number));
    let optional = world.query::<(&Four, Option<&Number>)>().without::<Byte>();
    let has_value = |(four, number): (&Four, Option<&Number>)| number.map(|_| four.0);
    let mut with_value: Vec<_> = optional.rows().filter_map(has_value).collect();
    with_value.sort_unstable();
    assert_eq!(with_value, expected(&|one| number(one) && !world.has::<Byte>(one)));
}

#[test]
fn queries_see_rows_of_older_archetypes() {
    // Each order meets plans that list nothing before, after, or around the archetype.
    for step in [1, 27, 63] {
        let mut world = crate::common::world();
        let all: Vec<_> = (0..KINDS).map(|kind| spawn(&mut world, kind)).collect();
        assert_seen(&world, &all);
        for i in 0..KINDS {
            let one = all[(i * step % KINDS) as usize];
            match i % 3 {
                0 => world.insert(one, Number(i)).expect("alive"),
                1 => world.insert(one, Text::from("a")).expect("alive"),
                _ => world.insert(one, (Number(i), Text::from("b"))).expect("alive"),
            }
            if i % 5 == 0 {
                _ = world.remove::<Number>(all[(i / 2 * step % KINDS) as usize]);
            }
            assert_seen(&world, &all);
            if !cfg!(miri) || i % 16 == 0 {
                world.check().expect("sound");
            }
        }
    }
}
