//! Queries that are data.

use std::collections::BTreeSet;

use phalanx::lines::ChangedLines;
use phalanx::prelude::*;
use phalanx::reflect::{BytesError, ComponentKey, NamedQuery};
use proptest::prelude::*;

use crate::common::effort::effort;
use crate::common::world;

#[component(name = "named.a")]
#[derive(Debug, PartialEq)]
struct A(u32);
#[component(name = "named.on")]
#[derive(Debug, PartialEq)]
struct On(bool);
#[component(name = "named.mark")]
struct Mark;
#[component(name = "named.bits", enableable, lines)]
#[derive(Debug, PartialEq)]
struct Bits(u32);
#[component(name = "named.hidden", hidden)]
struct Hidden;
#[component(name = "named.place", split)]
#[derive(Debug, PartialEq)]
struct Place {
    x: f32,
    y: f32,
}
#[component(name = "named.sparse", sparse)]
struct Rare;

const NAMES: [&str; 5] = ["named.on", "named.mark", "named.bits", "named.hidden", "named.sparse"];

/// Gives an entity a component for each bit that is set, and disables one that has another bit.
fn dress(world: &mut World, entity: Entity, has: u8) {
    let gives = |bit: u8| has & (1 << bit) != 0;
    let result = [
        gives(0).then(|| world.insert(entity, On(has.is_multiple_of(2)))),
        gives(1).then(|| world.insert(entity, Mark)),
        gives(2).then(|| world.insert(entity, Bits(u32::from(has)))),
        gives(3).then(|| world.insert(entity, Hidden)),
        gives(4).then(|| world.insert(entity, Rare)),
    ];
    result.into_iter().flatten().for_each(|inserted| inserted.expect("alive"));
    if gives(2) && gives(5) {
        world.set_enabled::<Bits>(entity, false).expect("it has it");
    }
}

/// The names that an entity has, unless they are disabled.
fn names(has: u8) -> BTreeSet<&'static str> {
    let enabled = |&(bit, _): &(usize, &str)| bit != 2 || has & (1 << 5) == 0;
    let own = NAMES.into_iter().enumerate().filter(|&(bit, _)| has & (1 << bit) != 0);
    own.filter(enabled).map(|(_, name)| name).collect()
}

fn entities(world: &World, query: &NamedQuery) -> Vec<Entity> {
    let chunks = world.reflect().chunks(query).expect("the names are known");
    chunks.flat_map(|chunk| chunk.entities().to_vec()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { effort(40) },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn a_query_by_names_sees_the_rows_of_a_query_by_types(
        all in prop::collection::vec(any::<u8>(), 1..60),
        queries in prop::collection::vec(prop::collection::vec(0..3_u8, 5), 1..20),
    ) {
        let mut world = world();
        world.register::<(On, Mark, Bits, Hidden, Rare)>();
        let rows: Vec<_> = (0..).map(A).zip(all).map(|(a, has)| {
            let entity = world.spawn(a);
            dress(&mut world, entity, has);
            (entity, has)
        }).collect();
        prop_assert_eq!(world.check(), Ok(()));
        for named in queries {
            let mut query = NamedQuery::new().read("named.a");
            for (&name, rule) in NAMES.iter().zip(&named) {
                query = match rule {
                    0 => query,
                    1 => query.with(name),
                    _ => query.without(name),
                };
            }
            let matches = |has: u8| {
                let own = names(has);
                let rules = NAMES.iter().zip(&named);
                let meets = rules.clone().all(|(name, rule)| *rule == 0 || own.contains(name) == (*rule == 1));
                meets && (named[3] != 0 || !own.contains("named.hidden"))
            };
            let wanted: BTreeSet<_> =
                rows.iter().filter(|(_, has)| matches(*has)).map(|row| row.0).collect();
            let found = entities(&world, &query);
            prop_assert_eq!(found.len(), wanted.len(), "each once");
            prop_assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), wanted);
        }
    }
}

#[test]
fn writes_reach_the_rows_that_are_seen_and_stamp_what_is_written() {
    let mut world = World::new();
    let rows = (0..100).map(|at| (A(at), Bits(at), Place { x: 1.0, y: 2.0 }));
    let all = world.spawn_batch(rows).to_vec();
    world.set_enabled::<Bits>(all[40], false).expect("it has it");
    let before = world.version();
    let query = NamedQuery::new().write("named.bits").read("named.a").write("named.place.y");
    let mut runs = Vec::new();
    let visit = world.reflect_mut().for_each_chunk(&query, |chunk| {
        runs.push((chunk.rows(), chunk.len()));
        let [bits, a, y] = chunk.columns_mut() else { unreachable!("three terms") };
        let (bits, a) = (bits.values_mut::<Bits>().unwrap(), a.values::<A>().unwrap());
        bits.iter_mut().zip(a).for_each(|(bits, a)| bits.0 = a.0 + 1_000);
        y.set(0, &9.0_f32.to_ne_bytes()).unwrap();
    });
    assert_eq!(visit, Ok(()));
    assert_eq!(runs, [(0..40, 40), (41..100, 59)]);
    assert_eq!(world.get::<Bits>(all[40]), Ok(&Bits(40)));
    for (at, value) in [(0, 1_000), (39, 1_039), (41, 1_041), (99, 1_099)] {
        assert_eq!(world.get::<Bits>(all[at]), Ok(&Bits(value)));
    }
    let y = |at: usize| world.get::<Place>(all[at]).unwrap().y;
    assert_eq!([y(0), y(1), y(40), y(41)], [9.0, 2.0, 2.0, 9.0]);
    assert_eq!(world.query::<&A>().changed_since::<A>(before).count_rows(), 0);
    let lines = world.query::<&Bits>().filter_since::<ChangedLines<Bits>>(before);
    assert_eq!(lines.count_rows(), 99);
    assert_eq!(world.check(), Ok(()));
    let now = world.version();
    let reading = NamedQuery::new().read("named.bits");
    world.reflect_mut().for_each_chunk(&reading, |_| ()).expect("the name is known");
    assert_eq!(world.version(), now, "a query that only reads leaves the clock");
}

#[test]
fn what_cannot_be_done_is_an_error_that_says_what_to_do() {
    let mut world = world();
    world.spawn((A(1), On(true), Mark));
    world.spawn(Rare);
    let fault = |query: NamedQuery| world.reflect().chunks(&query).err().unwrap().to_string();
    let read = |name: &str| NamedQuery::new().read(name);
    assert!(fault(read("named.aa")).ends_with("did you mean `named.a`?"));
    assert!(fault(read("named.a").with("named.oh")).contains("`named.oh` is not registered"));
    assert_eq!(fault(read("named.a").read("named.a")), "`named.a` is named twice: name it once");
    let sparse = fault(read("named.sparse"));
    assert!(sparse.starts_with("`named.sparse` is sparse"));
    assert!(sparse.contains("`World::get`") && sparse.contains("`NamedQuery::with`"));
    for query in
        [NamedQuery::new().with("named.sparsee"), NamedQuery::new().without("named.sparsee")]
    {
        assert!(fault(query).ends_with("did you mean `named.sparse`?"));
    }
    assert!(!fault(read("named.sparsee")).contains("did you mean"), "it cannot be read");
    assert!(fault(NamedQuery::new().write("named.a")).contains("`ReflectMut::for_each_chunk`"));

    let query = NamedQuery::new().read("named.a").write("named.on").write("named.mark");
    let before = world.version();
    let visited = world.reflect_mut().for_each_chunk(&query, |chunk| {
        let [a, on, mark] = chunk.columns_mut() else { unreachable!("three terms") };
        let is_read_only = |error| matches!(error, BytesError::ReadOnly { .. });
        assert!(is_read_only(a.bytes_mut().unwrap_err()));
        assert!(is_read_only(a.values_mut::<A>().unwrap_err()));
        assert!(is_read_only(a.set(0, &[0; 4]).unwrap_err()));
        assert!(matches!(a.values::<On>(), Err(BytesError::OtherType { .. })));
        let error = on.bytes_mut().expect_err("not all bytes are a `bool`");
        assert!(error.to_string().starts_with("not all bytes are values of `named.on`"), "{error}");
        assert!(matches!(on.set(0, &[2]), Err(BytesError::Value { .. })));
        assert!(matches!(on.set(0, &[0, 0]), Err(BytesError::Size { size: 1, len: 2, .. })));
        assert!(matches!(mark.values::<Mark>(), Err(BytesError::Tag { .. })));
        assert_eq!(mark.set(0, &[]), Ok(()));
        assert_eq!(mark.bytes(), []);
        on.values_mut::<On>().unwrap()[0].0 = false;
        assert_eq!(format!("{on:?}"), "named.on [On(false)]");
    });
    assert_eq!(visited, Ok(()));
    assert!(world.version() > before);
    assert_eq!(world.query::<&On>().rows().next(), Some(&On(false)));
    let unknown = NamedQuery::new().write("named.a").read("nothing");
    let (now, mut calls) = (world.version(), 0);
    assert!(world.reflect_mut().for_each_chunk(&unknown, |_| calls += 1).is_err());
    assert_eq!((world.version(), calls), (now, 0));
}

#[test]
fn tags_have_no_values() {
    let mut world = world();
    world.spawn_batch((0..3).map(|_| Mark));
    let query = NamedQuery::new().read("named.mark");
    let chunk = world.reflect().chunks(&query).expect("the name is known").next();
    let column = chunk.as_ref().expect("there are rows").columns()[0];
    assert_eq!(column.bytes(), []);
    assert_eq!(column.row(2), []);
    let tag = BytesError::Tag { name: "named.mark".to_owned() };
    assert_eq!(column.values::<Mark>().map(<[_]>::len), Err(tag.clone()));
    let query = NamedQuery::new().write("named.mark");
    let visited = world.reflect_mut().for_each_chunk(&query, |chunk| {
        let [mark] = chunk.columns_mut() else { unreachable!("one term") };
        assert_eq!(mark.values::<Mark>().map(<[_]>::len), Err(tag.clone()));
        assert_eq!(mark.values_mut::<Mark>().map(|marks| marks.len()), Err(tag.clone()));
        assert_eq!(mark.set(1_000, &[]), Ok(()), "no row has bytes");
    });
    assert_eq!(visited, Ok(()));
}

#[test]
fn a_query_without_names_sees_all_entities_but_hidden_ones() {
    let mut world = world();
    let bare = world.spawn(());
    let one = world.spawn(A(1));
    let off = world.spawn(Bits(2));
    world.set_enabled::<Bits>(off, false).expect("it has it");
    world.spawn((A(3), Hidden));
    let found: BTreeSet<_> = entities(&world, &NamedQuery::new()).into_iter().collect();
    assert_eq!(found, BTreeSet::from([bare, one, off]));
    assert!(entities(&world, &NamedQuery::new().with("named.bits")).is_empty());
    let found = entities(&world, &NamedQuery::new().without("named.bits"));
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), BTreeSet::from([bare, one, off]));
}

#[test]
fn names_of_sparse_components_cut_chunks_into_runs() {
    let mut world = World::new();
    let all = world.spawn_batch((0..20).map(A)).to_vec();
    let other = world.spawn((A(20), Mark));
    for entity in [all[3], all[4], all[9], other] {
        world.insert(entity, Rare).expect("alive");
    }
    let runs = |query: &NamedQuery| -> Vec<_> {
        let chunks = world.reflect().chunks(query).expect("the names are known");
        chunks
            .map(|chunk| {
                let values = chunk.columns()[0].values::<A>().expect("its type");
                (chunk.rows(), values.first().expect("a run has rows").0)
            })
            .collect()
    };
    let query = NamedQuery::new().read("named.a");
    let of_mark = (0..1, 20);
    assert_eq!(runs(&query.clone().with("named.sparse")), [(3..5, 3), (9..10, 9), of_mark]);
    assert_eq!(runs(&query.without("named.sparse")), [(0..3, 0), (5..9, 5), (10..20, 10)]);
}

#[test]
fn an_unknown_name_leaves_reserved_ids_reserved() {
    let mut world = world();
    world.register::<A>();
    let reserved = world.reserve_entity().expect("there are ids");
    let all = NamedQuery::new();
    let before = entities(&world, &all);
    for query in [all.clone().read("nothing"), all.clone().with("nothing")] {
        assert!(world.reflect_mut().for_each_chunk(&query, |_| ()).is_err());
        assert_eq!(entities(&world, &all), before);
    }
    assert_eq!(world.reflect_mut().for_each_chunk(&all, |_| ()), Ok(()));
    assert_eq!((before, entities(&world, &all)), (vec![], vec![reserved]));
}

#[test]
fn a_row_of_bytes_out_of_range_panics_and_writes_nothing() {
    let mut world = world();
    let entity = world.spawn(A(1));
    let query = NamedQuery::new().write("named.a");
    let past = std::panic::AssertUnwindSafe(|| {
        world.reflect_mut().for_each_chunk(&query, |chunk| {
            chunk.columns_mut()[0].set(1, &[0; 4]).expect("not reached");
        })
    });
    std::panic::catch_unwind(past).expect_err("row 1 of one row");
    assert_eq!(world.get::<A>(entity), Ok(&A(1)));
    assert_eq!(world.check(), Ok(()));
}

/// A world in which two names of the components here belong to others.
fn other_world() -> World {
    #[component(name = "named.a")]
    struct Other(u64);
    #[component(name = "named.mark", sparse)]
    struct OtherMark;
    let mut other = world();
    other.register::<(Other, OtherMark)>();
    other
}

#[test]
fn an_info_means_one_component_and_a_name_the_one_of_each_world() {
    let mut world = world();
    let all = [world.spawn((A(1), Mark)), world.spawn((A(2), On(true)))];
    let info = |name: &str| *world.reflect().component(name).expect("it is registered");
    let (a, on, mark) = (info("named.a"), info("named.on"), info("named.mark"));
    assert_eq!(entities(&world, &NamedQuery::new().read(a).with(on)), all[1..]);
    let (by_a, by_on) = (&a, &on);
    assert_eq!(entities(&world, &NamedQuery::new().read(by_a).without(by_on)), all[..1]);
    let either = NamedQuery::new().any_of([ComponentKey::from(mark), "named.on".into()]);
    assert_eq!(entities(&world, &either), all);
    let twice = NamedQuery::new().read("named.a").read(a);
    assert_eq!(fault(&world, &twice), "`named.a` is named twice: name it once");

    let other = other_world();
    let same = "is another component in this world: the one that was given is of another world; \
                give the name to mean the one of this world";
    let new = NamedQuery::new;
    for query in [new().read(a), new().with(a), new().without(a), new().any_of([a])] {
        assert_eq!(fault(&other, &query), format!("`named.a` {same}"), "{query:?}");
    }
    for query in [new().read_optional(mark), new().with(mark), new().any_of([mark])] {
        assert_eq!(fault(&other, &query), format!("`named.mark` {same}"), "one of them is sparse");
    }
    for query in [new().read(on), new().with(on), new().without(on), new().any_of([on])] {
        let text = fault(&other, &query);
        let start = "the component `named.on` is not registered: call `World::register` first";
        assert!(text.starts_with(start), "{text}");
    }
    assert!(entities(&other, &new().read("named.a").without("named.mark")).is_empty());
    let before = entities(&world, &new().read(a));
    assert_eq!(before, all, "a query of another world is no hindrance");
}

#[test]
fn one_query_goes_from_world_to_world() {
    let mut worlds = [world(), world(), world()];
    worlds[1].register::<(Mark, On, Bits)>();
    worlds[2].spawn_batch((0..3).map(|at| (A(at), Mark)));
    let query = NamedQuery::new().read("named.a").read_optional("named.bits");
    for round in 1..4 {
        for (at, world) in (1..).zip(&mut worlds) {
            world.register::<Bits>();
            world.spawn_batch((0..at).map(|at| (A(at), Bits(at))));
            let hidden = world.spawn((A(0), Hidden));
            let copy = query.clone();
            let found = entities(world, &query).len();
            let more = if at == 3 { 3 } else { 0 };
            assert_eq!(found, (round * at + more) as usize);
            assert_eq!(entities(world, &copy).len(), found);
            assert!(!entities(world, &copy).contains(&hidden));
            assert_eq!(world.check(), Ok(()));
        }
    }
}

#[test]
fn an_optional_column_is_absent_where_entities_lack_it() {
    let mut world = world();
    let bare = world.spawn(A(1));
    let dressed = world.spawn((A(2), Bits(20), Mark));
    world.set_enabled::<Bits>(dressed, false).expect("it has it");
    let reads = NamedQuery::new().read("named.a").read_optional("named.bits");
    let reads = reads.read_optional("named.mark");
    let mut seen = 0;
    for chunk in world.reflect().chunks(&reads).expect("the names are known") {
        let [_, bits, mark] = chunk.columns() else { unreachable!("three terms") };
        let is_bare = chunk.entities() == [bare];
        assert_eq!((bits.is_present(), mark.is_present()), (!is_bare, !is_bare));
        assert_eq!(bits.info().name(), "named.bits", "the info is there anyway");
        match is_bare {
            true => {
                let absent = BytesError::Absent { name: "named.bits".to_owned() };
                assert_eq!(bits.values::<Bits>(), Err(absent.clone()));
                assert_eq!(
                    absent.to_string(),
                    "the entities of this chunk lack `named.bits`: test `is_present` before its \
                     values, or name it by `NamedQuery::read` or `write` to visit the others only"
                );
                assert!(matches!(bits.values::<A>(), Err(BytesError::OtherType { .. })));
                assert!(matches!(mark.values::<Mark>(), Err(BytesError::Absent { .. })));
                assert_eq!((bits.bytes(), bits.version()), (&[][..], Version::NEVER));
                assert_eq!(format!("{bits:?}"), "named.bits absent");
            }
            false => {
                assert_eq!(bits.values::<Bits>(), Ok(&[Bits(20)][..]), "also if it is disabled");
                assert!(bits.version() > Version::NEVER);
                assert!(matches!(mark.values::<Mark>(), Err(BytesError::Tag { .. })));
            }
        }
        seen += 1;
    }
    assert_eq!(seen, 2);

    let writes = NamedQuery::new().read_optional("named.a").write_optional("named.bits");
    let before = world.version();
    let visited = world.reflect_mut().for_each_chunk(&writes, |chunk| {
        let [a, bits] = chunk.columns_mut() else { unreachable!("two terms") };
        assert!(matches!(a.bytes_mut(), Err(BytesError::ReadOnly { .. })));
        if bits.is_present() {
            return bits.values_mut::<Bits>().expect("its type")[0].0 += 1;
        }
        let is_absent = |error| matches!(error, BytesError::Absent { .. });
        assert!(is_absent(bits.bytes_mut().unwrap_err()));
        assert!(is_absent(bits.values_mut::<Bits>().unwrap_err()));
        assert!(is_absent(bits.values::<Bits>().unwrap_err()));
        assert!(is_absent(bits.set(0, &[0; 4]).unwrap_err()));
        assert!(matches!(bits.values::<A>(), Err(BytesError::OtherType { .. })));
        assert_eq!(format!("{bits:?} {:?}", bits.bytes()), "named.bits absent []");
    });
    assert_eq!(visited, Ok(()));
    assert_eq!(world.get::<Bits>(dressed), Ok(&Bits(21)));
    let changed = world.query::<&Bits>().filter::<IgnoreEnabled>().changed_since::<Bits>(before);
    assert_eq!(changed.count_rows(), 1);
    world.despawn(dressed).expect("alive");
    let now = world.version();
    assert_eq!(world.reflect_mut().for_each_chunk(&writes, |_| ()), Ok(()));
    assert_eq!(world.version(), now, "no column was written");
}

fn fault(world: &World, query: &NamedQuery) -> String {
    world.reflect().chunks(query).err().expect("the query is wrong").to_string()
}

#[test]
fn faults_of_optional_columns_and_of_alternatives_say_what_to_do() {
    let mut world = world();
    world.spawn((A(1), On(true), Mark));
    world.spawn(Rare);
    let new = NamedQuery::new;
    for query in [
        new().read("named.a").read_optional("named.a"),
        new().read_optional("named.a").read_optional("named.a"),
    ] {
        assert_eq!(fault(&world, &query), "`named.a` is named twice: name it once");
    }
    assert!(fault(&world, &new().read_optional("named.aa")).ends_with("did you mean `named.a`?"));
    assert!(fault(&world, &new().read_optional("named.sparse")).contains("is sparse"));
    let text = fault(&world, &new().write_optional("named.a"));
    assert!(text.starts_with("`named.a` is only read here"), "{text}");
    for query in [new().any_of(["named.a", "named.sparsee"]), new().any_of(["named.sparsee"])] {
        assert!(fault(&world, &query).ends_with("did you mean `named.sparse`?"));
    }
    let visit = |world: &mut World, query| {
        let result = world.reflect_mut().for_each_chunk(&query, |_| panic!("it is not visited"));
        result.expect_err("the query is wrong")
    };
    assert_eq!(visit(&mut world, new().write_optional(Gone::NAME)), BytesError::Gone);
    assert!(entities(&world, &new().any_of([""; 0])).is_empty(), "none of no components");
    assert_eq!(entities(&world, &new().any_of(["named.a", "named.sparse"])).len(), 2);
}

#[test]
fn an_entity_has_all_of_names_and_infos() {
    let mut world = world();
    let entity = world.spawn((A(1), Mark, Rare));
    world.register::<On>();
    let info = |name: &str| *world.reflect().component(name).expect("it is registered");
    let (a, on, mark) = (info("named.a"), info("named.on"), info("named.mark"));
    let view = world.entity(entity).expect("alive");
    assert!(view.has_all([a, mark]) && view.has_all([&a]) && view.has_all([""; 0]));
    assert!(view.has_all([ComponentKey::from(a), "named.sparse".into()]));
    assert!(view.has_all(&["named.a", "named.sparse"]));
    assert!(view.has_all(vec![String::from("named.mark")]));
    assert!(!view.has_all([a, on]) && !view.has_all(["named.a", "nothing"]));
    let mut other = other_world();
    let stranger = other.spawn(());
    other.reflect_mut().insert(stranger, [("named.a", &[0; 8][..])]).expect("alive");
    let view = other.entity(stranger).expect("alive");
    assert!(view.has_all(["named.a"]) && !view.has_all([a]), "another component of the name");
}
