//! Passes over rows with few values of a sparse component: each yields the values that a look-up of
//! the entity finds, in whatever way the rows are taken.

use phalanx::prelude::*;

use crate::common::world;

#[component]
#[derive(Debug, PartialEq)]
struct Serial(u32);
#[component]
struct Mark;
/// Of which a chunk has sixteen rows.
#[component]
struct Wide([u64; 120]);
#[component(enableable)]
struct Awake;
#[component(sparse)]
#[derive(Debug, PartialEq)]
struct Burning(Box<u32>);
#[component(sparse)]
#[derive(Debug, PartialEq)]
struct Wet(u32);

struct Random(u64);

impl Random {
    fn one_of(&mut self, end: u64) -> bool {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11).is_multiple_of(end)
    }
}

type Found = Vec<(u32, u32)>;

/// The serials and values of the rows that have both components, in the order of a query of all.
fn naive(world: &World, is_wet: bool) -> Found {
    let (burning, wet) = (world.sparse::<Burning>(), world.sparse::<Wet>());
    let rows = world.query::<(Entity, &Serial)>().rows();
    let rows = rows.filter(|&(entity, _)| wet.contains(entity) || !is_wet);
    rows.filter_map(|(entity, serial)| Some((serial.0, *burning.get(entity)?.0))).collect()
}

/// Takes some rows one by one and the others by a fold.
fn taken<T>(mut rows: impl Iterator<Item = T>, one_by_one: usize) -> Vec<T> {
    let mut all = Vec::new();
    while all.len() < one_by_one
        && let Some(row) = rows.next()
    {
        all.push(row);
    }
    rows.fold(all, |mut all, row| {
        all.push(row);
        all
    })
}

/// The number of rows that a pass takes one by one.
const TAKEN: &[usize] =
    if cfg!(miri) { &[0, 2, usize::MAX] } else { &[0, 1, 2, 31, 32, 33, 40, usize::MAX] };

fn compare(world: &mut World) {
    let (wanted, wet) = (naive(world, false), naive(world, true));
    let pair = |(serial, fire): (&Serial, &Burning)| (serial.0, *fire.0);
    for &one_by_one in TAKEN {
        let query = world.query::<(&Serial, &Burning)>();
        assert_eq!(taken(query.rows().map(pair), one_by_one), wanted, "{one_by_one}");
        let values = world.query::<&Burning>().with::<Serial>();
        let values = taken(values.rows().map(|fire| *fire.0), one_by_one);
        assert!(values.into_iter().eq(wanted.iter().map(|one| one.1)), "{one_by_one}: values");
        let serials = world.query::<&Serial>().with::<Burning>();
        let serials = taken(serials.rows().map(|serial| serial.0), one_by_one);
        assert!(serials.into_iter().eq(wanted.iter().map(|one| one.0)), "{one_by_one}: rows");
        let both = world.query::<(&Burning, &Wet, &Serial, Option<&Awake>)>();
        let both = taken(both.rows().map(|(fire, _, serial, _)| pair((serial, fire))), one_by_one);
        assert_eq!(both, wet, "{one_by_one}: both");
        // The other passes over rows do not begin with a set.
        let dry = world.query::<(&Serial, &Burning)>().without::<Wet>();
        let slices = dry.iter().flat_map(|(serials, fires)| {
            fires.into_iter().map(|(row, fire)| pair((&serials[row], fire)))
        });
        assert_eq!(taken(dry.rows().map(pair), one_by_one), slices.collect::<Found>());
        let awake = world.query::<(&Serial, &Burning)>().with::<Awake>();
        let slices = awake.iter().flat_map(|(serials, fires)| {
            fires.into_iter().map(|(row, fire)| pair((&serials[row], fire)))
        });
        assert_eq!(taken(awake.rows().map(pair), one_by_one), slices.collect::<Found>());
        let not_wet = world.query::<(&Serial, &Burning)>().filter::<Not<With<Wet>>>();
        let dry = world.query::<(&Serial, &Burning)>().without::<Wet>();
        assert_eq!(
            taken(not_wet.rows().map(pair), one_by_one),
            dry.rows().map(pair).collect::<Found>()
        );
        let all = world.query::<(&Serial, &Burning)>().filter::<IncludeHidden>();
        let slices = all.iter().flat_map(|(serials, fires)| {
            fires.into_iter().map(|(row, fire)| pair((&serials[row], fire)))
        });
        assert_eq!(taken(all.rows().map(pair), one_by_one), slices.collect::<Found>());
        let some = world.query::<(&Serial, &Burning, Option<&Wet>)>().rows();
        let some = some.filter(|(_, _, wet)| wet.is_some());
        assert_eq!(taken(some.map(|(serial, fire, _)| pair((serial, fire))), one_by_one), wet);
        // All references live at once: no two are to one value.
        let mut writing = world.query_mut::<(&mut Serial, &mut Burning)>();
        let mut all = taken(writing.rows_mut(), one_by_one);
        all.iter_mut().for_each(|(serial, fire)| {
            *fire.0 ^= 1 << 30;
            serial.0 ^= 1 << 30;
        });
        let written: Vec<_> = all.into_iter().map(|(serial, fire)| (serial.0, *fire.0)).collect();
        let turned = wanted.iter().map(|&(serial, fire)| (serial ^ 1 << 30, fire ^ 1 << 30));
        assert!(written.into_iter().eq(turned), "{one_by_one}: written");
        let writing = world.query_mut::<(&mut Serial, &mut Burning)>();
        writing.rows().for_each(|(serial, fire)| {
            *fire.0 ^= 1 << 30;
            serial.0 ^= 1 << 30;
        });
    }
    assert_eq!(naive(world, false), wanted, "another row was written");
}

#[test]
fn rows_of_few_members_have_their_values() {
    let densities: &[u64] = if cfg!(miri) { &[20] } else { &[300, 100, 40, 15, 6, 3, 1] };
    check_at(densities, false, false);
}

#[test]
fn rows_of_very_few_members_have_their_values() {
    // One member for each chunk or fewer: a pass begins with the set.
    let densities: &[u64] = if cfg!(miri) { &[20] } else { &[10_000, 1_000, 300, 40, 10, 5] };
    check_at(densities, true, false);
}

#[test]
fn members_of_which_some_are_out_of_order_have_their_values() {
    let mut world = world();
    let rows = if cfg!(miri) { 80 } else { 20_000 };
    let all = world.spawn_batch((0..rows).map(Serial)).to_vec();
    let members: Vec<_> = (0..).zip(&all).step_by(20).collect();
    for &(i, &entity) in &members {
        world.insert(entity, Burning(Box::new(i))).expect("alive");
    }
    // The last one takes its place.
    let places = [members.len() * 3 / 4, members.len() / 2, 0];
    for place in places.into_iter().take(if cfg!(miri) { 1 } else { 3 }) {
        world.remove::<Burning>(*members[place].1).expect("it has one");
        compare(&mut world);
    }
}

#[test]
fn rows_of_members_in_their_order_have_their_values() {
    let densities: &[u64] = if cfg!(miri) { &[10] } else { &[10_000, 300, 100, 40, 15, 8, 4, 2] };
    let widths: &[bool] = if cfg!(miri) { &[true] } else { &[false, true] };
    for &is_wide in widths {
        check_at(densities, is_wide, true);
    }
}

/// Compares passes over rows of which one of so many has a value. The values come in the order of
/// the rows, or not.
fn check_at(densities: &[u64], is_wide: bool, is_in_order: bool) {
    let rows = match (cfg!(miri), is_wide) {
        (true, true) => 60,
        (true, false) => 150,
        (false, _) => 3_000,
    };
    for &one_of in densities {
        let mut world = world();
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let plain = world.spawn_batch((0..rows).map(Serial)).to_vec();
        let awake = world.spawn_batch((rows..2 * rows).map(|i| (Serial(i), Awake))).to_vec();
        if is_wide {
            for (i, &entity) in plain.iter().chain(&awake).enumerate() {
                if i % 5 != 0 {
                    world.insert(entity, Wide([7; 120])).expect("it is alive");
                }
            }
            for &entity in awake.iter().step_by(3) {
                world.set_enabled::<Awake>(entity, false).expect("it is alive");
            }
        }
        let mut entities = [&plain[..], &awake].concat();
        if is_in_order {
            for &entity in plain.iter().step_by(10) {
                world.insert(entity, Disabled).expect("it is alive");
            }
            let all = world.query::<Entity>().filter::<IncludeHidden>();
            entities = all.rows().collect();
        } else {
            entities[..plain.len()].reverse();
        }
        for entity in entities {
            let value = entity.index();
            if random.one_of(one_of) {
                world.insert(entity, Burning(Box::new(value))).expect("it is alive");
            }
            if random.one_of(2) {
                world.insert(entity, Wet(value)).expect("it is alive");
            }
        }
        compare(&mut world);
        for &entity in plain.iter().chain(&awake) {
            // Values and rows move.
            if random.one_of(7) {
                drop(world.remove::<Burning>(entity));
            } else if random.one_of(7) {
                world.insert(entity, Mark).expect("it is alive");
            } else if random.one_of(9) {
                world.despawn(entity).expect("it is alive");
            }
        }
        compare(&mut world);
        world.check().expect("the world is consistent");
    }
}

#[test]
fn a_pass_that_ends_early_marks_the_values_that_it_took() {
    let mut world = world();
    let entities = world.spawn_batch((0..2_000).map(Serial)).to_vec();
    for &entity in entities.iter().step_by(100) {
        world.insert(entity, Burning(Box::new(0))).expect("it is alive");
    }
    for taken in [0, 1, 5] {
        let version = world.version();
        let mut query = world.query_mut::<(&Serial, &mut Burning)>();
        query.rows_mut().take(taken).for_each(|(serial, fire)| *fire.0 = serial.0);
        let changed = world.query::<&Burning>().changed_since::<Burning>(version).count_rows();
        assert_eq!(changed > 0, taken > 0, "{taken} values were taken");
    }
}

#[test]
fn a_system_begins_with_the_smallest_set() {
    let mut world = world();
    let rows = if cfg!(miri) { 100 } else { 3_000 };
    let all = world.spawn_batch((0..rows).map(|i| (Serial(i), Wide([0; 120])))).to_vec();
    for (i, &entity) in all.iter().enumerate().rev() {
        world.insert(entity, Wet(0)).expect("it is alive");
        if i % 60 == 7 {
            world.insert(entity, Burning(Box::new(0))).expect("it is alive");
        }
    }
    let mut schedule = Schedule::new();
    schedule.add(|query: Query<(&Serial, &mut Burning, &mut Wet)>| {
        for (serial, fire, wet) in query.rows() {
            (*fire.0, wet.0) = (serial.0, serial.0);
        }
    });
    let version = world.version();
    schedule.run(&mut world).expect("it runs");
    for (i, &entity) in (0..).zip(&all) {
        let written = if i % 60 == 7 { i } else { 0 };
        assert_eq!(world.get::<Wet>(entity).expect("it has one").0, written, "row {i}");
        let fire = world.get::<Burning>(entity).ok().map(|fire| *fire.0);
        assert_eq!(fire, (i % 60 == 7).then_some(i), "row {i}");
    }
    let chunks = world.query::<&Serial>().changed_since::<Serial>(version).count_rows();
    assert_eq!(chunks, 0, "a component that is read is stamped");
}

#[test]
fn only_chunks_of_members_are_stamped() {
    let mut world = world();
    let all = world.spawn_batch((0..160).map(|i| (Serial(i), Wide([0; 120])))).to_vec();
    for i in [150, 20, 21] {
        world.insert(all[i], Wet(0)).expect("it is alive");
    }
    let version = world.version();
    let members = [20, 21, 150];
    let rows = world.query_mut::<(&mut Serial, &Wet)>().rows();
    assert!(rows.map(|(serial, _)| serial.0).eq(members), "in the order of rows");
    let first = |serials: &[Serial]| serials[0].0;
    let chunks = world.query::<&Serial>().changed_since::<Serial>(version);
    let stamped: Vec<_> = chunks.iter().map(first).collect();
    // Two of several chunks, unless one is large enough for all rows.
    let all = world.query::<&Serial>();
    let with_members = all.iter().filter(|chunk| chunk.iter().any(|one| members.contains(&one.0)));
    assert_eq!(stamped, with_members.map(first).collect::<Vec<_>>());
    let mut none = world.query_mut::<(&mut Serial, &Wet)>().without::<Wide>();
    assert_eq!(none.rows_mut().count(), 0, "its archetype does not match");
}

#[test]
fn a_pass_over_all_rows_stamps_the_chunks_of_members_it_sees() {
    let mut world = world();
    let all = world.spawn_batch((0..160).map(|i| (Serial(i), Wide([0; 120]), Awake))).to_vec();
    for i in [20, 21, 90, 150] {
        world.insert(all[i], Wet(0)).expect("it is alive");
    }
    world.set_enabled::<Awake>(all[90], false).expect("it is alive");
    let version = world.version();
    let mut query = world.query_mut::<(&mut Serial, &Wet)>().with::<Awake>();
    let mut serials = Vec::new();
    query.rows_mut().for_each(|(serial, _)| serials.push(serial.0));
    assert_eq!(serials, [20, 21, 150]);
    let first = |chunk: &[Serial]| chunk[0].0;
    let changed = world.query::<&Serial>().changed_since::<Serial>(version);
    let stamped: Vec<_> = changed.iter().map(first).collect();
    let chunks = world.query::<&Serial>();
    let seen = chunks.iter().filter(|chunk| chunk.iter().any(|one| serials.contains(&one.0)));
    assert_eq!(stamped, seen.map(first).collect::<Vec<_>>());
}

#[test]
fn values_that_systems_insert_are_seen_by_bits_and_by_the_set_alike() {
    let mut world = world();
    let all = world.spawn_batch((0..320).map(|i| (Serial(i), Wide([0; 120])))).to_vec();
    for &entity in all.iter().step_by(10) {
        world.insert(entity, Wet(0)).expect("it is alive");
    }
    let mut schedule = Schedule::new();
    let late: Vec<_> = all.iter().copied().skip(5).step_by(40).collect();
    schedule.add(move |mut wet: SparseMut<Wet>| {
        late.iter().for_each(|&entity| _ = wet.insert(entity, Wet(1)).expect("it is alive"));
    });
    schedule.add(|query: Query<(&Serial, &Wet)>, mut seen: ResMut<Vec<u32>>| {
        query.rows().for_each(|(serial, _)| seen.push(serial.0));
        let slices = query.iter().flat_map(|(serials, wet)| {
            wet.into_iter().map(|(row, _)| serials[row].0).collect::<Vec<_>>()
        });
        assert!(slices.eq(seen.iter().copied()), "in another way, other rows are seen");
    });
    world.insert_resource(Vec::<u32>::new());
    schedule.run(&mut world).expect("it runs");
    assert!(world.resource::<Vec<u32>>().expect("it was inserted").len() >= 32);
    let seen = world.query::<(&Serial, &Wet)>().rows().fold(0, |rows, _| rows + 1);
    assert_eq!(seen, 40, "the values are marked after the systems");
}
