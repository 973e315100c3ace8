//! Queries that choose rows by sparse components see the rows that a look-up of each entity finds.

use std::sync::Mutex;

use phalanx::prelude::*;
use phalanx::terms::{Not, Or};
use phalanx::{AnyOf, IgnoreEnabled};

use crate::common::components::small_world;
use crate::common::effort::effort;

#[component]
#[derive(Debug, PartialEq)]
struct Serial(u32);
#[component]
struct Mark;
#[component(enableable)]
struct Awake;
#[component(sparse)]
struct Burning(Box<f32>);
#[component(sparse)]
struct Name(String);
/// No entity ever has one.
#[component(sparse)]
struct Unseen(String);

fn burning() -> Burning {
    Burning(Box::new(1.0))
}

fn name() -> Name {
    Name("Ada".to_owned())
}

/// What a look-up of an entity finds.
#[derive(Clone, Copy)]
struct Found {
    mark: bool,
    burning: bool,
    name: bool,
    awake: bool,
}

fn found(world: &World, entity: Entity) -> Found {
    Found {
        mark: world.has::<Mark>(entity),
        burning: world.sparse::<Burning>().contains(entity),
        name: world.sparse::<Name>().contains(entity),
        awake: world.is_enabled::<Awake>(entity).is_ok_and(|awake| awake),
    }
}

/// The rows that comply, in the order of a query of all.
fn naive(world: &World, complies: impl Fn(Found) -> bool) -> Vec<u32> {
    let all = world.query::<(Entity, &Serial)>().rows();
    let chosen = all.filter(|&(entity, _)| complies(found(world, entity)));
    chosen.map(|(_, serial)| serial.0).collect()
}

/// Compares each form of a query with the rows that comply.
fn compare<F: Filter>(world: &mut World, what: &str, complies: fn(Found) -> bool) {
    let wanted = naive(world, complies);
    let query = world.query::<&Serial>().filter::<F>();
    let by_row: Vec<_> = query.rows().map(|serial| serial.0).collect();
    assert_eq!(by_row, wanted, "{what}: rows");
    let by_slice: Vec<_> = query.iter().flatten().map(|serial| serial.0).collect();
    assert_eq!(by_slice, wanted, "{what}: slices");
    assert!(query.iter().all(|slice| !slice.is_empty()), "{what}: an empty slice");
    assert_eq!(query.count_rows(), wanted.len(), "{what}: count");
    let mut masked = Vec::new();
    for (mask, serials) in query.masked() {
        masked.extend(mask.runs().flatten().map(|row| serials[row].0));
    }
    assert_eq!(masked, wanted, "{what}: masked");
    let all: Vec<_> = world.query::<(Entity, &Serial)>().rows().map(|(one, _)| one).collect();
    let by_entity = all.into_iter().filter_map(|entity| query.get(entity).ok());
    assert_eq!(by_entity.map(|serial| serial.0).collect::<Vec<_>>(), wanted, "{what}: get");

    let mut written = Vec::new();
    for serial in world.query_mut::<&mut Serial>().filter::<F>().rows_mut() {
        written.push(serial.0);
        serial.0 += 1_000_000;
    }
    assert_eq!(written, wanted, "{what}: rows, for writing");
    let rows = Mutex::new(Vec::new());
    world.query_mut::<&mut Serial>().filter::<F>().par().for_each_chunk(|serials| {
        serials.iter_mut().for_each(|serial| serial.0 -= 1_000_000);
        rows.lock().expect("no body panics").extend(serials.iter().map(|serial| serial.0));
    });
    let (mut rows, mut wanted) = (rows.into_inner().expect("no body panics"), wanted);
    rows.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(rows, wanted, "{what}: in parallel");
    let restored = world.query::<&Serial>().rows().all(|serial| serial.0 < 1_000_000);
    assert!(restored, "{what}: another row was written");
}

fn compare_all(world: &mut World) {
    compare::<With<Burning>>(world, "with", |row| row.burning);
    compare::<Without<Burning>>(world, "without", |row| !row.burning);
    compare::<(With<Burning>, Without<Name>)>(world, "one", |row| row.burning && !row.name);
    compare::<(With<Burning>, With<Name>)>(world, "both", |row| row.burning && row.name);
    compare::<(Without<Burning>, With<Burning>)>(world, "none", |_| false);
    compare::<AnyOf<(Burning, Name)>>(world, "either", |row| row.burning || row.name);
    compare::<AnyOf<(Mark, Name)>>(world, "mark or name", |row| row.mark || row.name);
    compare::<AnyOf<(Awake, Name)>>(world, "awake or name", |row| row.awake || row.name);
    compare::<(With<Awake>, With<Name>)>(world, "awake, name", |row| row.awake && row.name);
    compare::<(With<Name>, IgnoreEnabled)>(world, "not ignored", |row| row.name);
    compare::<(Without<Name>, IgnoreEnabled)>(world, "not ignored", |row| !row.name);
    compare::<(AnyOf<(Burning, Name)>, IgnoreEnabled)>(world, "not ignored either", |row| {
        row.burning || row.name
    });
    compare_expressions(world);
    compare::<With<Unseen>>(world, "unseen", |_| false);
    compare::<Without<Unseen>>(world, "without unseen", |_| true);
    compare::<AnyOf<(Unseen, Burning)>>(world, "unseen or burning", |row| row.burning);
}

/// Sparse components inside alternatives and negations.
fn compare_expressions(world: &mut World) {
    compare::<Or<(With<Burning>, Without<Name>)>>(world, "or", |row| row.burning || !row.name);
    compare::<Or<(With<Unseen>, With<Name>)>>(world, "or unseen", |row| row.name);
    compare::<Not<With<Burning>>>(world, "not", |row| !row.burning);
    compare::<Not<(With<Burning>, With<Mark>)>>(world, "not both", |row| {
        !(row.burning && row.mark)
    });
    compare::<Not<(With<Unseen>, With<Mark>)>>(world, "not unseen", |_| true);
    compare::<Not<Or<(With<Burning>, With<Name>)>>>(world, "neither", |row| {
        !row.burning && !row.name
    });
    type Nested = Or<((With<Burning>, Without<Awake>), Not<Or<(With<Name>, With<Mark>)>>)>;
    compare::<Nested>(world, "nested", |row| row.burning && !row.awake || !row.name && !row.mark);
    compare::<(Or<(With<Burning>, With<Mark>)>, Without<Name>)>(world, "and without", |row| {
        (row.burning || row.mark) && !row.name
    });
    type SameOrNone = Or<((With<Burning>, With<Name>), Not<Or<(With<Burning>, With<Name>)>>)>;
    compare::<(SameOrNone, IgnoreEnabled)>(world, "ignored", |row| row.burning == row.name);
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).expect("it is below a `usize`")
    }
}

fn change(world: &mut World, entities: &mut Vec<Entity>, random: &mut Random) {
    let at = random.below(entities.len());
    let entity = entities[at];
    match random.below(11) {
        0 => world.insert(entity, burning()).expect("it is alive"),
        1 => drop(world.remove::<Burning>(entity)),
        2 => world.insert(entity, (name(), Mark)).expect("it is alive"),
        3 => drop(world.sparse_mut::<Name>().remove(entity)),
        4 => drop(world.sparse_mut::<Name>().insert(entity, name()).expect("it is alive")),
        5 => drop(world.remove::<Mark>(entity)),
        6 => drop(world.exchange::<Burning, _>(entity, name())),
        7 => {
            let serial = Serial(u32::try_from(at).expect("a few rows") + 100_000);
            entities.push(world.spawn((serial, burning(), Awake)));
        }
        8 => {
            world.despawn(entity).expect("it is alive");
            entities.swap_remove(at);
        }
        9 => drop(world.set_enabled::<Awake>(entity, at.is_multiple_of(2))),
        _ => world.run(|mut names: SparseMut<Name>, rows: Query<(Entity, &Serial)>| {
            for (entity, serial) in rows.rows().filter(|(_, row)| row.0 as usize % 97 == at % 97) {
                match serial.0.is_multiple_of(2) {
                    true => drop(names.remove(entity)),
                    false => drop(names.insert(entity, name()).expect("it is alive")),
                }
            }
        }),
    }
}

#[test]
fn rows_are_those_that_a_look_up_finds() {
    let mut world = small_world();
    let rows = if cfg!(miri) { 70 } else { 2_500 };
    // The plans of queries that were asked before any entity had a sparse component.
    world.spawn(Serial(99_999));
    compare_all(&mut world);
    let mut entities = world.spawn_batch((0..rows).map(|i| (Serial(i), Awake))).to_vec();
    compare_all(&mut world);
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..if cfg!(miri) { 2 } else { effort(8) } {
        (0..40).for_each(|_| change(&mut world, &mut entities, &mut random));
        world.check().expect("the world is consistent");
        compare_all(&mut world);
    }
}

/// The numbers of rows below are for chunks of this size.
fn in_4_kib() -> World {
    World::builder().chunk_size(ChunkSize::KIB_4).build()
}

#[test]
fn chunks_of_which_all_rows_or_none_match_are_whole_slices() {
    let mut world = in_4_kib();
    let all = world.spawn_batch((0..20_000).map(Serial)).to_vec();
    let chunks: Vec<_> = world.query::<&Serial>().iter().map(<[_]>::len).collect();
    assert!(chunks.len() > 2, "some chunks");
    let lens = |world: &World| -> [Vec<usize>; 2] {
        let with = world.query::<&Serial>().with::<Burning>();
        let without = world.query::<&Serial>().without::<Burning>();
        [with.iter().map(<[_]>::len).collect(), without.iter().map(<[_]>::len).collect()]
    };
    assert_eq!(lens(&world), [vec![], chunks.clone()], "none");
    for &entity in &all {
        world.insert(entity, burning()).expect("it is alive");
    }
    assert_eq!(lens(&world), [chunks.clone(), vec![]], "all");
    let [first, last] = [all[10], all[19_999]];
    drop(world.remove::<Burning>(first).expect("it has one"));
    drop(world.remove::<Burning>(last).expect("it has one"));
    let mut with = chunks.clone();
    with.splice(0..1, [10, chunks[0] - 11]);
    *with.last_mut().expect("a chunk") -= 1;
    assert_eq!(lens(&world), [with, vec![1, 1]], "all but two");
}

#[test]
fn filters_of_changes_choose_chunks_among_the_rows() {
    let mut world = in_4_kib();
    let all = world.spawn_batch((0..6_000).map(Serial)).to_vec();
    for entity in [all[3], all[4], all[5_900]] {
        world.insert(entity, name()).expect("it is alive");
    }
    let before = world.version();
    let named = |world: &World| -> Vec<u32> {
        let rows = world.query::<&Serial>().changed_since(before).with::<Name>();
        rows.rows().map(|serial| serial.0).collect()
    };
    assert_eq!(named(&world), [0_u32; 0]);
    // Neither a sparse component nor its removal changes a chunk.
    world.insert(all[5], name()).expect("it is alive");
    assert_eq!(named(&world), [0_u32; 0]);
    world.get_mut::<Serial>(all[0]).expect("it is alive").0 = 0;
    assert_eq!(named(&world), [3, 4, 5]);
}

#[test]
fn errors_say_which_sparse_component_excludes_an_entity() {
    let mut world = World::new();
    let [with, without] = [0, 1].map(|i| world.spawn(Serial(i)));
    let text = |error: phalanx::rows::RowError| error.to_string();
    let lacks = world.query::<&Serial>().with::<Name>().get(without).map_err(text);
    assert!(lacks.expect_err("no entity has one").contains("it has no `"));
    world.insert(with, name()).expect("it is alive");
    let lacks = world.query::<&Serial>().with::<Name>().get(without).map_err(text);
    assert!(lacks.expect_err("it has none").contains("it has no `"));
    let has = world.query::<&Serial>().without::<Name>().get(with).map_err(text);
    assert!(has.expect_err("it has one").contains("which the query excludes"));
}
