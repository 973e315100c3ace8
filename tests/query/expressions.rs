//! Alternatives and negations of filters: as types, against a predicate on every entity.

use std::collections::BTreeSet;

use phalanx::prelude::*;
use phalanx::rows::{Exclusion, RowError};

use crate::common::components::{Byte, Four, Nth, Tag};
use crate::common::world;

#[component(enableable)]
struct Awake;
#[component(enableable)]
struct Armed(u32);

/// The components of an entity: three bits of `Nth`, `Awake` and `Armed` as 0 for absent, 1 for
/// enabled and 2 for disabled, and the shared value.
#[derive(Clone, Copy)]
struct Row {
    nth: u8,
    awake: u8,
    armed: u8,
    shared: bool,
}

/// One entity for each state.
fn entities() -> (World, Vec<(Entity, Row)>) {
    let mut world = world();
    let mut rows = Vec::new();
    for number in 0..144u8 {
        let [nth, awake, armed] = [number % 8, number / 8 % 3, number / 24 % 3];
        let row = Row { nth, awake, armed, shared: number >= 72 };
        let entity = world.spawn(());
        macro_rules! insert {
            ($($n:literal)*) => {$(
                if nth >> $n & 1 == 1 {
                    world.insert(entity, Nth::<$n>(1)).expect("room");
                }
            )*};
        }
        insert!(0 1 2);
        if awake > 0 {
            world.insert(entity, Awake).expect("room");
            world.set_enabled::<Awake>(entity, awake == 1).expect("it has the component");
        }
        if armed > 0 {
            world.insert(entity, Armed(1)).expect("room");
            world.set_enabled::<Armed>(entity, armed == 1).expect("it has the component");
        }
        if row.shared {
            world.insert_shared(entity, number % 5).expect("room");
        }
        rows.push((entity, row));
    }
    (world, rows)
}

/// Compares a filter with a predicate on every entity.
#[track_caller]
fn assert_chooses<F: Filter>(predicate: impl Fn(Row) -> bool) {
    let (mut world, rows) = entities();
    let expected: BTreeSet<_> =
        rows.iter().filter(|(_, row)| predicate(*row)).map(|&(entity, _)| entity).collect();
    let query = world.query::<Entity>().filter::<F>();
    assert_eq!(query.rows().collect::<BTreeSet<_>>(), expected);
    assert_eq!(query.rows().count(), expected.len(), "each entity once");
    assert_eq!(query.count_rows(), expected.len());
    for &(entity, _) in &rows {
        assert_eq!(query.contains(entity), expected.contains(&entity));
    }
    assert_eq!(query.masked().map(|(mask, _)| mask.count()).sum::<usize>(), expected.len());
    assert_eq!(world.run(|query: Query<Entity, F>| query.count_rows()), expected.len());
    assert_eq!(world.matching::<Entity>().filter::<F>().insert(Byte(1)), Ok(expected.len()));
    assert!(world.query::<Entity>().with::<Byte>().rows().collect::<BTreeSet<_>>() == expected);
    world.check().expect("sound");
}

const fn has(row: Row, nth: u8) -> bool {
    row.nth >> nth & 1 == 1
}

#[test]
fn alternatives_of_components_that_are_always_enabled() {
    assert_chooses::<Or<(With<Nth<0>>, Without<Nth<1>>)>>(|row| has(row, 0) || !has(row, 1));
    assert_chooses::<Or<(Without<Nth<0>>, Without<Nth<1>>)>>(|row| row.nth & 3 != 3);
    assert_chooses::<Not<(With<Nth<0>>, With<Nth<1>>, Without<Nth<2>>)>>(|row| row.nth != 3);
    assert_chooses::<Or<((With<Nth<0>>, With<Nth<1>>), (With<Nth<2>>, Without<Nth<0>>))>>(|row| {
        has(row, 0) && has(row, 1) || has(row, 2) && !has(row, 0)
    });
    assert_chooses::<Not<Or<(With<Nth<0>>, Not<With<Nth<1>>>)>>>(|row| row.nth & 3 == 2);
    assert_chooses::<(Or<(With<Nth<0>>, With<Nth<1>>)>, Not<With<Nth<2>>>)>(|row| {
        row.nth & 3 != 0 && !has(row, 2)
    });
    assert_chooses::<Or<(With<Four>, With<Nth<1>>)>>(|row| has(row, 1));
    assert_chooses::<Not<Or<(With<Four>, Not<With<Tag>>)>>>(|_| false);
}

#[test]
fn alternatives_of_components_that_are_enabled_and_disabled() {
    assert_chooses::<Or<(With<Awake>, With<Nth<0>>)>>(|row| row.awake == 1 || has(row, 0));
    assert_chooses::<Or<(With<Awake>, Without<Nth<0>>)>>(|row| row.awake == 1 || !has(row, 0));
    assert_chooses::<Not<With<Awake>>>(|row| row.awake != 1);
    assert_chooses::<Not<Without<Awake>>>(|row| row.awake == 1);
    assert_chooses::<Not<WithDisabled<Awake>>>(|row| row.awake != 2);
    assert_chooses::<Or<(Without<Awake>, Without<Armed>)>>(|row| row.awake != 1 || row.armed != 1);
    assert_chooses::<Or<((With<Awake>, With<Armed>), (WithDisabled<Awake>, Without<Nth<1>>))>>(
        |row| row.awake == 1 && row.armed == 1 || row.awake == 2 && !has(row, 1),
    );
    assert_chooses::<Not<Or<((With<Awake>, With<Nth<2>>), (With<Armed>, Without<Awake>))>>>(
        |row| !(row.awake == 1 && has(row, 2) || row.armed == 1 && row.awake != 1),
    );
    assert_chooses::<(Or<(With<Awake>, Without<Armed>)>, IgnoreEnabled)>(|row| {
        row.awake != 0 || row.armed == 0
    });
    assert_chooses::<(Not<(With<Awake>, With<Nth<0>>)>, IgnoreEnabled)>(|row| {
        row.awake == 0 || !has(row, 0)
    });
}

#[test]
fn alternatives_of_shared_values() {
    assert_chooses::<Or<(WithShared<u8>, With<Nth<0>>)>>(|row| row.shared || has(row, 0));
    assert_chooses::<Not<(WithShared<u8>, With<Armed>)>>(|row| !row.shared || row.armed != 1);
    assert_chooses::<Or<(WithoutShared<u8>, WithShared<u16>)>>(|row| !row.shared);
}

#[test]
fn hidden_components_are_named_by_an_expression() {
    let mut world = world();
    let [plain, off, tagged] =
        [world.spawn(()), world.spawn(Disabled), world.spawn((Disabled, Tag))];
    type VisibleOrTagged = Or<(Without<Disabled>, With<Tag>)>;
    assert!(world.query::<Entity>().filter::<VisibleOrTagged>().rows().eq([plain, tagged]));
    assert!(world.query::<Entity>().filter::<Not<With<Tag>>>().rows().eq([plain]));
    assert!(
        world
            .query::<Entity>()
            .filter::<Or<(With<Disabled>, With<Tag>)>>()
            .rows()
            .eq([off, tagged])
    );
    // An entity without components, not yet in a chunk.
    let reserved = world.reserve_entity().expect("an id is left");
    assert!(world.query::<Entity>().filter::<Not<With<Tag>>>().contains(reserved));
    assert!(!world.query::<Entity>().filter::<Or<(With<Tag>, With<Byte>)>>().contains(reserved));
}

#[test]
fn an_expression_that_says_the_same_as_a_filter_is_that_filter() {
    fn are_apart<F: Filter, G: Filter>() -> bool {
        let both = |_: Query<&mut Byte, F>, _: Query<&mut Byte, G>| ();
        Schedule::new().try_add(both).is_ok()
    }
    assert!(are_apart::<With<Tag>, Not<With<Tag>>>());
    assert!(are_apart::<With<Tag>, Not<Or<(With<Four>, With<Tag>)>>>());
    assert!(are_apart::<Or<(With<Tag>, With<Four>)>, (Without<Tag>, Without<Four>)>());
    assert!(!are_apart::<With<Tag>, Not<(With<Tag>, With<Four>)>>(), "a tag without a four");
    assert!(!are_apart::<With<Tag>, Or<(Without<Tag>, With<Four>)>>());
    assert!(!are_apart::<With<Awake>, Not<With<Awake>>>(), "a chunk may have rows of both");
}

#[test]
fn an_expression_reads_the_bits_that_decide() {
    fn are_apart<F: Filter>() -> bool {
        let both = |_: Query<&mut Armed>, _: Query<&Byte, F>| ();
        Schedule::new().try_add(both).is_ok()
    }
    assert!(!are_apart::<Or<(With<Armed>, Without<Tag>)>>());
    assert!(!are_apart::<Not<(With<Tag>, WithDisabled<Armed>)>>());
    assert!(are_apart::<(Or<(With<Armed>, Without<Tag>)>, IgnoreEnabled)>());
    assert!(are_apart::<Or<(With<Awake>, Without<Tag>)>>());
}

#[test]
fn errors_and_explanations_name_the_expression() {
    let mut world = world();
    let entity = world.spawn((Tag, Awake));
    let reason = |error: Result<Entity, RowError>| match error {
        Err(RowError::Excluded { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    type Neither = Not<Or<((With<Tag>, With<Awake>), With<Four>)>>;
    let neither = world.query::<Entity>().filter::<Neither>();
    assert_eq!(reason(neither.get(entity)), Exclusion::Unmet);
    let tagged = world.query::<Entity>().filter::<Not<(With<Tag>, Without<Four>)>>();
    assert_eq!(reason(tagged.get(entity)), Exclusion::Unmet);
    let text = tagged
        .explain()
        .skipped
        .iter()
        .find(|one| one.rows > 0)
        .map(|one| one.mismatches[0].to_string());
    let text = text.expect("it is skipped");
    assert_eq!(text, "fails no (Tag and no Four)");
    let without = world.query::<Entity>().filter::<Not<With<Tag>>>();
    assert!(matches!(reason(without.get(entity)), Exclusion::Has(_)));
    world.set_enabled::<Awake>(entity, false).expect("it has the component");
    assert_eq!(world.query::<Entity>().filter::<Neither>().get(entity), Ok(entity));
}
