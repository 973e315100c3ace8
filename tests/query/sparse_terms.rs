//! Terms of sparse components hand out the values that a look-up of each entity finds.

use phalanx::IgnoreEnabled;
use phalanx::prelude::*;

use crate::common::components::small_world;

#[component]
#[derive(Debug, PartialEq)]
struct Serial(u32);
#[component]
struct Mark;
#[component(enableable)]
struct Awake;
#[component(sparse)]
#[derive(Debug, PartialEq)]
struct Burning(Box<u32>);
#[component(sparse)]
#[derive(Debug, PartialEq)]
struct Name(String);
/// No entity ever has one.
#[component(sparse)]
#[derive(Debug, PartialEq)]
struct Unseen(String);

/// A state, and the number of calls.
struct Random(u64, u32);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.1 += 1;
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).expect("it is below a `usize`")
    }
}

/// A row as look-ups find it.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    entity: Entity,
    serial: u32,
    mark: bool,
    awake: bool,
    burning: Option<u32>,
    name: Option<String>,
}

/// All rows, in the order of a query of all.
fn all(world: &World) -> Vec<Row> {
    let (burning, names) = (world.sparse::<Burning>(), world.sparse::<Name>());
    let rows = world.query::<(Entity, &Serial)>().rows();
    let row = |(entity, serial): (Entity, &Serial)| Row {
        entity,
        serial: serial.0,
        mark: world.has::<Mark>(entity),
        awake: world.is_enabled::<Awake>(entity).is_ok_and(|awake| awake),
        burning: burning.get(entity).map(|fire| *fire.0),
        name: names.get(entity).map(|name| name.0.clone()),
    };
    rows.map(row).collect()
}

type Burnt = Vec<(u32, u32)>;

/// The rows with a fire that comply.
fn burnt(rows: &[Row], complies: impl Fn(&Row) -> bool) -> Burnt {
    let chosen = rows.iter().filter(|row| complies(row));
    chosen.filter_map(|row| Some((row.serial, row.burning?))).collect()
}

/// Compares each form of a query that reads with the rows that comply.
fn compare<F: Filter>(world: &World, what: &str, complies: fn(&Row) -> bool) {
    let rows = all(world);
    let wanted = burnt(&rows, complies);
    let query = world.query::<(&Serial, &Burning)>().filter::<F>();
    let by_row: Burnt = query.rows().map(|(serial, fire)| (serial.0, *fire.0)).collect();
    assert_eq!(by_row, wanted, "{what}: rows");
    let mut folded = Burnt::new();
    query.rows().for_each(|(serial, fire)| folded.push((serial.0, *fire.0)));
    assert_eq!(folded, wanted, "{what}: folded");
    let mut by_slice = Burnt::new();
    for (serials, fires) in query {
        assert_eq!((serials.len(), fires.into_iter().count()), (fires.len(), fires.len()));
        by_slice.extend(fires.into_iter().map(|(row, fire)| (serials[row].0, *fire.0)));
    }
    assert_eq!(by_slice, wanted, "{what}: slices");
    let mut masked = Burnt::new();
    for (mask, (serials, fires)) in query.masked() {
        let seen: Vec<_> = mask.runs().flatten().collect();
        let burns = fires.into_iter().filter(|(row, _)| seen.contains(row));
        masked.extend(burns.map(|(row, fire)| (serials[row].0, *fire.0)));
    }
    assert_eq!(masked, wanted, "{what}: masked");
    assert_eq!(query.count_rows(), wanted.len(), "{what}: count");
    assert_eq!(query.single().is_ok(), wanted.len() == 1, "{what}: single");
    let lookup = query.lookup();
    for row in &rows {
        let known = wanted.iter().find(|one| one.0 == row.serial).map(|one| one.1);
        let found = query.get(row.entity).ok().map(|(_, fire)| *fire.0);
        let again = lookup.get(row.entity).ok().map(|(_, fire)| *fire.0);
        let has = query.contains(row.entity);
        assert_eq!((found, again, has), (known, known, known.is_some()), "{what}: get");
    }
    if cfg!(miri) {
        return; // the threads of rayon cast numbers to pointers
    }
    let sum = std::sync::atomic::AtomicU32::new(0);
    query.par().for_each_chunk(|(_, fires)| {
        let part: u32 = fires.into_iter().map(|(_, fire)| *fire.0).sum();
        sum.fetch_add(part, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(sum.into_inner(), wanted.iter().map(|one| one.1).sum::<u32>(), "{what}: parallel");
}

/// Compares the queries that name sparse components only, or optionally.
fn compare_others(world: &World) {
    let rows = all(world);
    let wanted: Vec<u32> = burnt(&rows, |_| true).into_iter().map(|one| one.1).collect();
    let alone = world.query::<&Burning>();
    assert!(alone.rows().map(|fire| *fire.0).eq(wanted.iter().copied()), "alone");
    assert_eq!(alone.count_rows(), wanted.len());
    let with_id = world.query::<(Entity, &Burning)>().rows();
    let ids = rows.iter().filter(|row| row.burning.is_some()).map(|row| row.entity);
    assert!(with_id.map(|(entity, _)| entity).eq(ids), "with ids");
    let both = world.query::<(&Name, &Serial, &Burning, &Name)>();
    let named = rows.iter().filter_map(|row| Some((row.name.clone()?, row.serial, row.burning?)));
    let found = both.rows().map(|(name, serial, fire, again)| {
        assert!(std::ptr::eq(name, again));
        (name.0.clone(), serial.0, *fire.0)
    });
    assert!(found.eq(named), "both");
    type Maybe<'w> = (&'w Serial, Option<&'w Burning>, Option<&'w Unseen>);
    let maybe = world.query::<Maybe<'_>>();
    let found: Vec<_> = maybe.rows().map(|(one, fire, _)| (one.0, fire.map(|f| *f.0))).collect();
    let known: Vec<_> = rows.iter().map(|row| (row.serial, row.burning)).collect();
    assert_eq!(found, known, "optional");
    assert!(maybe.rows().all(|(.., unseen)| unseen.is_none()));
    let mut by_chunk = Vec::new();
    for (serials, fires, unseen) in maybe {
        assert!(unseen.is_none());
        let mut own = vec![None; serials.len()];
        for (row, fire) in fires.into_iter().flatten() {
            own[row] = Some(*fire.0);
        }
        by_chunk.extend(serials.iter().zip(own).map(|(serial, fire)| (serial.0, fire)));
    }
    assert_eq!(by_chunk, known, "optional, by chunk");
    for row in &rows {
        let found = maybe.get(row.entity).expect("it has a serial").1.map(|fire| *fire.0);
        assert_eq!(found, row.burning);
    }
    assert_eq!(world.query::<(&Serial, &Unseen)>().rows().count(), 0);
}

/// Writes values by terms and finds them written, and no others.
fn write(world: &mut World) {
    let before = all(world);
    for (serial, fire) in world.query_mut::<(&mut Serial, &mut Burning)>().rows_mut() {
        *fire.0 += 1_000;
        serial.0 += 1_000_000;
    }
    let fires: Vec<_> = world.query_mut::<(Entity, &mut Burning)>().rows().collect();
    for (_, fire) in fires {
        *fire.0 += 10_000;
    }
    for (names, fires) in world.query_mut::<(Option<&mut Name>, &Burning)>() {
        for (_, name) in names.into_iter().flatten() {
            name.0.push('!');
        }
        assert!(fires.into_iter().all(|(_, fire)| *fire.0 >= 11_000));
    }
    for (serial, name) in world.query_mut::<(&Serial, Option<&mut Name>)>().with::<Mark>().rows() {
        if let Some(name) = name {
            name.0.push_str(&serial.0.to_string());
        }
    }
    let mut query = world.query_mut::<(&mut Burning, Option<&Name>)>();
    let mut lookup = query.lookup_mut();
    for row in &before {
        let found = lookup.get_mut(row.entity);
        assert_eq!(found.is_ok(), row.burning.is_some());
        if let Ok((fire, name)) = found {
            assert_eq!(name.is_some(), row.name.is_some());
            *fire.0 += 100_000;
        }
    }
    for row in before.iter().filter(|row| row.burning.is_some()) {
        *query.get_mut(row.entity).expect("it burns").0.0 -= 1;
    }
    let written = before.into_iter().map(|row| {
        let serial = row.serial + if row.burning.is_some() { 1_000_000 } else { 0 };
        let mut name = row.name.clone();
        if let Some(name) = &mut name {
            if row.burning.is_some() {
                name.push('!');
            }
            if row.mark {
                name.push_str(&serial.to_string());
            }
        }
        Row { serial, burning: row.burning.map(|fire| fire + 110_999), name, ..row }
    });
    assert_eq!(all(world), written.collect::<Vec<_>>());
    for (serial, fire) in world.query_mut::<(&mut Serial, &mut Burning)>().rows() {
        (serial.0, *fire.0) = (serial.0 - 1_000_000, *fire.0 - 110_999);
    }
    world.sparse_mut::<Name>().iter_mut().for_each(|(_, name)| name.0.truncate(3));
}

fn compare_all(world: &mut World) {
    compare::<()>(world, "all", |_| true);
    compare::<With<Mark>>(world, "with a tag", |row| row.mark);
    compare::<Without<Name>>(world, "without another", |row| row.name.is_none());
    compare::<With<Awake>>(world, "enabled", |row| row.awake);
    compare::<(With<Name>, IgnoreEnabled)>(world, "bits are ignored", |row| row.name.is_some());
    compare_others(world);
    write(world);
}

fn change(world: &mut World, entities: &mut Vec<Entity>, random: &mut Random) {
    let at = random.below(entities.len());
    let (entity, value) = (entities[at], u32::try_from(at).expect("a few rows"));
    let (fire, name) = (|| Burning(Box::new(value)), || Name("Ada".to_owned()));
    match random.below(11) {
        0 => world.insert(entity, fire()).expect("it is alive"),
        1 => drop(world.remove::<Burning>(entity)),
        2 => world.insert(entity, (name(), Mark)).expect("it is alive"),
        3 => drop(world.sparse_mut::<Name>().remove(entity)),
        4 => drop(world.sparse_mut::<Name>().insert(entity, name()).expect("it is alive")),
        5 => drop(world.remove::<Mark>(entity)),
        6 => drop(world.exchange::<Burning, _>(entity, name())),
        7 => {
            let serial = Serial(100_000 + random.1);
            entities.push(world.spawn((serial, fire(), Awake)));
        }
        8 => {
            world.despawn(entity).expect("it is alive");
            entities.swap_remove(at);
        }
        9 => drop(world.set_enabled::<Awake>(entity, at.is_multiple_of(2))),
        _ => _ = world.matching::<&Serial>().sort_by_key(|serial: &Serial| serial.0 % 17),
    }
}

#[test]
fn rows_and_values_are_those_that_a_look_up_finds() {
    let mut world = small_world();
    world.spawn(Serial(99_999));
    compare_all(&mut world);
    let rows = if cfg!(miri) { 40 } else { 700 };
    let mut entities = world.spawn_batch((0..rows).map(|i| (Serial(i), Awake))).to_vec();
    compare_all(&mut world);
    let mut random = Random(0x9E37_79B9_7F4A_7C15, 0);
    for _ in 0..if cfg!(miri) { 2 } else { 12 } {
        (0..60).for_each(|_| change(&mut world, &mut entities, &mut random));
        compare_all(&mut world);
        world.check().expect("the world is consistent");
    }
}

#[test]
fn systems_hold_the_sets_of_their_queries() {
    let mut world = small_world();
    let entities = world.spawn_batch((0..200).map(Serial)).to_vec();
    for &entity in entities.iter().step_by(7) {
        world.insert(entity, Burning(Box::new(5))).expect("it is alive");
    }
    fn heat(mut fires: Query<(&Serial, &mut Burning)>, unseen: Query<&mut Unseen>) {
        assert!(unseen.is_empty());
        fires.rows_mut().for_each(|(serial, fire)| *fire.0 += serial.0);
        let hot = fires.rows_mut().filter(|(_, fire)| *fire.0 > 100).count();
        assert!(hot > 0 && fires.single_mut().is_err());
    }
    fn watch(
        fires: Query<(Entity, &Burning)>,
        values: Sparse<Burning>,
        rest: Query<&Serial, Without<Burning>>,
    ) {
        assert!(fires.rows().all(|(entity, fire)| values.get(entity) == Some(fire)));
        assert_eq!(fires.count_rows() + rest.count_rows(), 200);
    }
    let mut schedule = Schedule::new();
    schedule.add((heat, watch, heat, watch));
    if cfg!(miri) {
        schedule.threads(1);
    }
    for seed in 0..4 {
        schedule.shuffle(seed);
        schedule.run(&mut world).expect("no system fails");
    }
    let (serials, fires) = (world.query::<(&Serial, &Burning)>(), world.sparse::<Burning>());
    assert!(serials.rows().all(|(serial, fire)| *fire.0 == 5 + 8 * serial.0));
    // The set stays readable, and is written again after it was lent.
    assert_eq!(fires.len(), 29);
    drop(fires);
    schedule.run(&mut world).expect("no lock is left");
    assert!(world.remove::<Burning>(entities[0]).is_ok());
}

#[test]
fn systems_that_write_a_set_exclude_others_of_it() {
    fn subject<M: 'static>(system: impl phalanx::schedule::System<M>) -> Option<String> {
        let error = Schedule::new().try_add(system).err()?;
        Some(error.subject.to_string())
    }
    for refused in [
        subject(|_: Query<&Burning>, _: Query<&mut Burning>| ()),
        subject(|_: Query<&mut Burning, With<Mark>>, _: Query<&Burning, Without<Mark>>| ()),
        subject(|_: Query<&mut Burning>, _: Sparse<Burning>| ()),
        subject(|_: SparseMut<Burning>, _: Query<Option<&Burning>>| ()),
        subject(|_: Query<&Serial, With<Burning>>, _: SparseMut<Burning>| ()),
    ] {
        let refused = refused.expect("it is refused");
        assert!(refused.contains("sparse component") && refused.contains("Burning"), "{refused}");
    }
    // A term that writes values changes no membership.
    let allowed = |_: Query<&mut Burning>, _: Query<&mut Serial, Without<Burning>>| ();
    assert_eq!(subject(allowed), None);
    assert_eq!(subject(|_: Query<&Burning>, _: Query<&Burning>, _: Sparse<Burning>| ()), None);
}

#[test]
fn hidden_rows_are_hidden() {
    let mut world = small_world();
    let fire = || Burning(Box::new(1));
    world.spawn((Serial(1), fire()));
    let hidden = world.spawn((Serial(2), fire(), Disabled));
    assert_eq!(world.query::<&Burning>().count_rows(), 1);
    assert!(!world.query::<&Burning>().contains(hidden));
    assert_eq!(world.query::<&Burning>().with::<Disabled>().count_rows(), 1);
}

#[test]
fn pairs_of_values_are_combined() {
    let mut world = small_world();
    for value in 0..4 {
        world.spawn((Serial(value), Burning(Box::new(value))));
    }
    let pairs = world.query::<&Burning>().rows().combinations::<2>();
    let sums: Vec<_> = pairs.map(|[a, b]| *a.0 + *b.0).collect();
    assert_eq!(sums, [1, 2, 3, 3, 4, 5]);
}

#[test]
fn a_scatter_counts_the_columns_and_not_the_terms() {
    #[component]
    struct Other(u32);

    let mut world = small_world();
    let both = world.spawn((Serial(1), Other(2), Burning(Box::new(3))));
    let bare = world.spawn((Serial(4), Other(5)));
    let mut some = world.query_mut::<(&Burning, &mut Serial, &mut Other)>();
    some.scatter(&[Serial(9)]).expect("one a row");
    let before = world.version();
    let mut all = world.query_mut::<(Option<&mut Burning>, &mut Other)>();
    all.scatter(&[Other(7), Other(8)]).expect("one a row");
    assert_eq!(world.query::<&Other>().changed_since(before).count_rows(), 2);
    assert_eq!(world.query::<&Serial>().changed_since(before).count_rows(), 0);
    let numbers = [both, bare].map(|entity| {
        let (serial, other) = (world.get::<Serial>(entity), world.get::<Other>(entity));
        (serial.expect("it has one").0, other.expect("it has one").0)
    });
    assert_eq!(numbers, [(9, 7), (4, 8)]);
    world.query_mut::<(&Burning, &mut Serial, &Other)>().scatter(&[Serial(6)]).expect("one a row");
    assert_eq!(world.get::<Serial>(both).expect("it has one").0, 6);
    world.check().expect("the world is sound");
}

/// Twelve components, and another one.
macro_rules! sets {
    ($($set:ident)*) => { $(
        #[component(sparse)]
        struct $set(u32);
    )* };
}

sets!(S0 S1 S2 S3 S4 S5 S6 S7 S8 S9 S10 S11 Last);

#[test]
fn a_filter_by_change_has_a_set_beside_those_of_twelve_terms() {
    let mut world = small_world();
    let first = (S0(0), S1(1), S2(2), S3(3), S4(4), S5(5));
    let all = world.spawn((first, S6(6), S7(7), S8(8), S9(9), S10(10), S11(11), Last(12)));
    let since = world.version();
    for written in [false, true] {
        if written {
            world.get_mut::<Last>(all).expect("it has one").0 += 1;
        }
        let query = world.query_mut::<(
            &mut S0,
            &S1,
            &S2,
            &S3,
            &S4,
            &mut S5,
            &S6,
            &S7,
            &S8,
            &S9,
            &mut S10,
            &S11,
        )>();
        let rows = query.changed_since::<Last>(since).rows().count();
        assert_eq!(rows, usize::from(written));
    }
}
