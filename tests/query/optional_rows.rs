//! Optional terms of components that are disabled in some rows: each form that yields single rows
//! has `None` there, and slices have all rows.

use phalanx::prelude::*;

use crate::common::components::{Four, Tag, sound};
use crate::common::world;

#[component(enableable)]
#[derive(Debug, PartialEq)]
struct Shield(u32);
#[component(enableable)]
#[derive(Debug, PartialEq)]
struct Awake;
#[component(enableable, lines)]
#[derive(Debug, PartialEq)]
struct Traced(u32);
#[component(split)]
#[derive(Debug, PartialEq)]
struct Place {
    x: f32,
    y: f32,
}

/// The number of entities of a kind: several chunks.
const COUNT: u32 = if cfg!(miri) { 130 } else { 9_000 };

/// Whether `Shield` is enabled in entity number `n`.
fn is_on(n: u32) -> bool {
    // Whole words and single bits, of both kinds.
    !(n.is_multiple_of(3) || (n / 64).is_multiple_of(4)) || n / 256 == 2
}

/// Numbered entities. Some have a `Shield`, which is disabled in some of them.
fn armed() -> (World, Vec<Entity>) {
    let mut world = world();
    let mut all = Vec::new();
    all.extend_from_slice(world.spawn_batch((0..COUNT).map(|n| (Four(n), Shield(n)))));
    all.extend_from_slice(world.spawn_batch((COUNT..COUNT + 70).map(|n| (Four(n), Tag))));
    let more = (COUNT + 70..COUNT + 200).map(|n| (Four(n), Shield(n), Awake, Tag));
    all.extend_from_slice(world.spawn_batch(more));
    let mut shields = world.lookup_mut::<Shield>();
    for (n, &entity) in (0..).zip(&all) {
        let _ = shields.set_enabled(entity, is_on(n));
    }
    (world, all)
}

/// The expected item of an optional term for entity number `n`.
fn expected(n: u32) -> Option<u32> {
    let has = !(COUNT..COUNT + 70).contains(&n);
    (has && is_on(n)).then_some(n)
}

#[test]
fn a_pass_over_rows_yields_none_where_the_component_is_off() {
    let (mut world, all) = armed();
    let mut seen = 0;
    for (entity, number, shield) in world.query::<(Entity, &Four, Option<&Shield>)>().rows() {
        assert_eq!(shield.map(|shield| shield.0), expected(number.0));
        assert_eq!(entity, all[number.0 as usize]);
        seen += 1;
    }
    assert_eq!(seen, all.len());
    let folded = world.query::<(&Four, Option<&Shield>)>().rows();
    folded.for_each(|(n, shield)| assert_eq!(shield.map(|shield| shield.0), expected(n.0)));
    let alone: Vec<_> = world.query::<Option<&Shield>>().rows().collect();
    assert_eq!(
        alone.iter().flatten().count(),
        (0..).zip(&all).filter_map(|(n, _)| expected(n)).count()
    );

    for (number, shield) in world.query_mut::<(&Four, Option<&mut Shield>)>().rows() {
        assert_eq!(shield.as_ref().map(|shield| shield.0), expected(number.0));
        if let Some(shield) = shield {
            shield.0 += 1_000_000;
        }
    }
    for (number, shield) in
        world.query::<(&Four, Option<&Shield>)>().filter::<IgnoreEnabled>().rows()
    {
        let written = expected(number.0).map(|n| n + 1_000_000);
        let has = !(COUNT..COUNT + 70).contains(&number.0);
        assert_eq!(shield.map(|shield| shield.0), written.or(has.then_some(number.0)));
    }
    sound(&world);
}

#[test]
fn a_query_that_chooses_rows_by_another_component_tells_optional_ones_apart() {
    let (mut world, all) = armed();
    for (n, &entity) in (0..).zip(&all) {
        if n % 5 == 0 && world.has::<Awake>(entity) {
            world.set_enabled::<Awake>(entity, false).unwrap();
        }
    }
    let awake = world.query::<(&Four, Option<&Shield>)>().with::<Awake>();
    let mut rows = 0;
    for (number, shield) in awake.rows() {
        assert_eq!(shield.map(|shield| shield.0), expected(number.0));
        assert_ne!(number.0 % 5, 0);
        rows += 1;
    }
    assert_eq!(rows, 130 - 26);
    // With `without`, `WithDisabled` and `with` of the component itself.
    let shields = world.query::<Option<&Shield>>();
    assert!(world.query::<Option<&Shield>>().without::<Shield>().rows().all(|one| one.is_none()));
    assert!(
        world
            .query::<Option<&Shield>>()
            .filter::<WithDisabled<Shield>>()
            .rows()
            .all(|one| one.is_none())
    );
    assert!(world.query::<Option<&Shield>>().with::<Shield>().rows().all(|one| one.is_some()));
    assert_eq!(shields.rows().count(), all.len());
}

#[test]
fn every_call_that_hands_out_one_row_agrees_with_the_pass() {
    let (mut world, all) = armed();
    let query = world.query::<(&Four, Option<&Shield>)>();
    let lookup = query.lookup();
    let ignoring = world.query::<(&Four, Option<&Shield>)>().filter::<IgnoreEnabled>();
    for (n, &entity) in (0..).zip(&all) {
        let (number, shield) = query.get(entity).unwrap();
        assert_eq!((number.0, shield.map(|shield| shield.0)), (n, expected(n)));
        assert_eq!(lookup.get(entity), Ok((number, shield)));
        let has = world.has::<Shield>(entity);
        assert_eq!(ignoring.get(entity).unwrap().1, has.then_some(&Shield(n)));
    }
    let pairs = world.query::<(&Four, Option<&Shield>)>().with::<Awake>().rows().combinations();
    for [(a, one), (b, other)] in pairs {
        assert_eq!(one.map(|one| one.0), expected(a.0));
        assert_eq!(other.map(|other| other.0), expected(b.0));
    }
    let mut writing = world.query_mut::<(&Four, Option<&mut Shield>)>();
    for &entity in all.iter().step_by(7) {
        let (number, shield) = writing.get_mut(entity).unwrap();
        assert_eq!(shield.map(|shield| shield.0), expected(number.0));
        let mut lookup = writing.lookup_mut();
        let (number, shield) = lookup.get_mut(entity).unwrap();
        assert_eq!(shield.map(|shield| shield.0), expected(number.0));
    }
    let only = world.spawn((Four(1), Shield(2), Place { x: 1.0, y: 2.0 }));
    let single = world.query::<(Option<&Shield>, &Place)>().single();
    assert_eq!(single.unwrap(), (Some(&Shield(2)), Place { x: 1.0, y: 2.0 }));
    world.set_enabled::<Shield>(only, false).unwrap();
    let single =
        world.query_mut::<(Option<&mut Shield>, Option<&Place>)>().with::<Place>().single();
    assert_eq!(single.unwrap(), (None, Some(Place { x: 1.0, y: 2.0 })));
    let tag = world.query::<(&Place, Option<&Awake>)>().single().unwrap();
    assert_eq!(tag.1, None);
}

#[test]
fn systems_and_bits_that_are_switched_in_the_same_pass_agree() {
    fn check(query: Query<(&Four, Option<&mut Shield>)>) {
        for (number, shield) in query.rows() {
            assert_eq!(shield.map(|shield| shield.0), expected(number.0));
        }
    }
    fn switch(query: Query<(&Four, EnabledMut<Shield>, Option<&Shield>)>) {
        for (number, mut enabled, shield) in query.rows() {
            assert_eq!(shield.is_some(), enabled.get(), "{number:?}");
            enabled.set(!is_on(number.0));
        }
    }
    fn switched(query: Query<(&Four, Option<&Shield>, Enabled<Shield>)>) {
        for (number, shield, enabled) in query.rows() {
            assert_eq!((shield.is_some(), enabled), (!is_on(number.0), !is_on(number.0)));
        }
    }
    let (mut world, _) = armed();
    let mut schedule = Schedule::new();
    schedule.add((check, switch, switched));
    schedule.run(&mut world).unwrap();
}

#[test]
fn slices_have_all_rows() {
    let (world, all) = armed();
    let chunks = world.query::<(Entity, Option<&Shield>)>();
    let (mut rows, mut cells) = (0, 0);
    for (entities, shields) in &chunks {
        assert!(shields.is_none_or(|shields| shields.len() == entities.len()));
        rows += entities.len();
        cells += shields.map_or(0, <[Shield]>::len);
    }
    assert_eq!((rows, cells), (all.len(), all.len() - 70));
    for (mask, (entities, shields)) in chunks.masked() {
        assert!(mask.all() && shields.is_none_or(|shields| shields.len() == entities.len()));
    }
}

#[test]
fn what_is_not_handed_out_is_not_stamped() {
    let mut world = world();
    let some = world.spawn_batch((0..40).map(|n| (Four(n), Shield(n), Traced(n)))).to_vec();
    for &entity in &some {
        world.set_enabled::<Shield>(entity, false).unwrap();
        world.set_enabled::<Traced>(entity, entity == some[20]).unwrap();
    }
    let before = world.version();
    let mut query = world.query_mut::<(Option<&mut Shield>, Option<&mut Traced>)>();
    assert_eq!(query.get_mut(some[3]), Ok((None, None)));
    assert_eq!(query.get_mut(some[20]), Ok((None, Some(&mut Traced(20)))));
    query.rows().for_each(|(shield, _)| assert_eq!(shield, None));
    let changed = || world.query::<&Four>().filter::<IgnoreEnabled>();
    let shields = world.query::<(&Four, &Shield)>().filter::<IgnoreEnabled>();
    assert_eq!(shields.changed_since::<Shield>(before).iter().count(), 0);
    assert_eq!(changed().iter().count(), 1);
    let mut query = world.query_mut::<Option<&mut Shield>>().filter::<IgnoreEnabled>();
    assert_eq!(query.get_mut(some[3]), Ok(Some(&mut Shield(3))));
    let shields = world.query::<(&Four, &Shield)>().filter::<IgnoreEnabled>();
    assert_eq!(shields.changed_since::<Shield>(before).iter().count(), 1);
}

#[test]
fn a_lookup_stamps_no_line_of_a_row_that_is_off() {
    let mut world = world();
    let some = world.spawn_batch((0..40).map(|n| (Four(n), Traced(n)))).to_vec();
    world.set_enabled::<Traced>(some[3], false).unwrap();
    let before = world.version();
    let mut query = world.query_mut::<Option<&mut Traced>>();
    assert_eq!(query.get_mut(some[3]), Ok(None));
    assert_eq!(query.get_mut(some[20]), Ok(Some(&mut Traced(20))));
    let changed = world.query::<(&Four, &Traced)>().filter::<IgnoreEnabled>();
    let rows: Vec<_> =
        changed.filter_since::<ChangedLines<Traced>>(before).rows().map(|(n, _)| n.0).collect();
    assert_eq!(rows, [20]);
}

#[test]
fn rows_stamp_no_line_of_a_row_that_is_off() {
    let mut world = world();
    let all = world.spawn_batch((0..300).map(|n| (Four(n), Traced(n), Awake))).to_vec();
    for (n, &entity) in (0..300).zip(&all) {
        world.set_enabled::<Traced>(entity, n % 5 != 2).unwrap();
        world.set_enabled::<Awake>(entity, n % 3 != 0 || n / 64 == 2).unwrap();
    }
    let before = world.version();
    let mut rows = world.query_mut::<(&Four, Option<&mut Traced>)>().with::<Awake>().rows();
    let seen: Vec<_> = rows.by_ref().filter(|(_, traced)| traced.is_some()).collect();
    let seen: Vec<_> = seen.into_iter().map(|(n, _)| n.0).collect();
    assert!(seen.len() > 100);
    let changed = world.query::<(&Four, &Traced)>().filter::<IgnoreEnabled>();
    let changed = changed.filter_since::<ChangedLines<Traced>>(before).rows();
    assert_eq!(changed.map(|(n, _)| n.0).collect::<Vec<_>>(), seen);
    sound(&world);
}

#[component(lines)]
#[derive(Debug, PartialEq)]
struct Heard(u32);

#[test]
fn a_filter_by_lines_of_another_component_stamps_seen_rows_only() {
    let mut world = world();
    let all = world.spawn_batch((0..64).map(|n| (Four(n), Heard(n), Traced(n), Awake))).to_vec();
    world.set_enabled::<Traced>(all[5], false).unwrap();
    world.set_enabled::<Awake>(all[7], false).unwrap();
    let since = world.version();
    let mut heard = world.lookup_mut::<Heard>();
    all[5..8].iter().for_each(|&entity| heard.get_mut(entity).unwrap().0 += 1);
    let changed = |world: &World, before| -> Vec<_> {
        let query = world.query::<(&Four, &Traced)>().filter::<IgnoreEnabled>();
        query.filter_since::<ChangedLines<Traced>>(before).rows().map(|(n, _)| n.0).collect()
    };
    let before = world.version();
    let query = world.query_mut::<(&Heard, Option<&mut Traced>)>().with::<Awake>();
    let rows = query.filter_since::<ChangedLines<Heard>>(since).rows();
    assert!(rows.map(|(heard, traced)| (heard.0, traced.is_some())).eq([(6, false), (7, true)]));
    assert_eq!(changed(&world, before), [6]);
    let before = world.version();
    let query = world.query_mut::<(&Heard, &mut Traced)>().with::<Awake>();
    assert_eq!(query.filter_since::<ChangedLines<Heard>>(since).rows().count(), 1);
    assert_eq!(changed(&world, before), [6]);
    sound(&world);
}
