//! Places of rows: a view finds the same components by place as by entity, and refuses every place
//! that was found before rows moved.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::Gone;
use phalanx::error::EntityError;
use phalanx::prelude::*;
use phalanx::rows::{Exclusion, PlaceError, RowError, RowPlace};
use proptest::prelude::*;

use crate::common::components::{Four, Hundred, Line, Other, Tag, Twelve, small_world, sound};
use crate::common::world;

#[component(enableable)]
#[derive(Debug, PartialEq)]
struct Awake(u32);
#[component]
struct Sum(u64);
#[component(hidden)]
struct Editor;
#[component(cleanup)]
#[derive(Debug, PartialEq)]
struct Socket(u32);

fn place<C: Component>(world: &World, entity: Entity) -> RowPlace {
    world.lookup::<C>().by_place().place(entity).expect("alive, with the component")
}

fn at<C: Component>(world: &World, place: RowPlace) -> Result<C, PlaceError> {
    world.lookup::<C>().by_place().at(place).copied()
}

/// Asserts that views refuse the place from now on, and that a new one is found if the entity has a
/// row.
#[track_caller]
fn assert_moved(world: &mut World, old: RowPlace, entity: Entity, value: Option<u32>) {
    assert_eq!(at::<Four>(world, old), Err(PlaceError::Moved));
    let mut fours = world.lookup_mut::<Four>().by_place();
    assert_eq!(fours.at(old), Err(PlaceError::Moved));
    assert_eq!(fours.at_mut(old), Err(PlaceError::Moved));
    let new = fours.place(entity).map(|place| (place, fours.at(place).expect("of this view").0));
    assert_eq!(new.as_ref().ok().map(|&(_, found)| found), value);
    assert_ne!(new.ok().map(|(place, _)| place), Some(old));
}

#[test]
fn each_structural_change_makes_places_void() {
    let mut world = small_world();
    let all = world.spawn_batch((0..3_000).map(|i| (Four(i), Twelve([i; 3])))).to_vec();
    let (entity, value) = (all[1_500], Some(1_500));
    let saved = world.snapshot().expect("no commands wait");
    type Change<'c> = (&'c str, &'c dyn Fn(&mut World));
    let changes: [Change<'_>; 14] = [
        ("spawn", &|world| {
            world.spawn(Four(7));
        }),
        ("spawn of a batch", &|world| {
            world.spawn_batch([Four(7); 5]);
        }),
        ("despawn", &|world| world.despawn(all[0]).expect("alive")),
        ("insert", &|world| world.insert(all[1], Tag).expect("alive")),
        ("remove", &|world| {
            world.remove::<Tag>(all[1]).expect("it has one");
        }),
        ("insert by query", &|world| {
            world.matching::<&Four>().insert(Other).expect("it fits");
        }),
        ("despawn by query", &|world| {
            world.matching::<&Four>().without::<Twelve>().despawn();
        }),
        ("sort", &|world| {
            let moved = world.matching::<&Four>().sort_by_key(|four| u32::MAX - four.0);
            assert!(moved > 1_000);
        }),
        ("merge", &|world| {
            let mut other = small_world();
            other.spawn(Four(9));
            world.merge(other).expect("they fit");
        }),
        ("compact", &|world| {
            world.memory_mut().compact(usize::MAX);
        }),
        ("reservation of memory", &|world| world.reserve::<Four>(1).expect("it fits")),
        ("retirement of archetypes", &|world| {
            world.memory_mut().retire_archetypes();
        }),
        ("restore", &|world| world.restore(&saved).expect("of this world")),
        ("despawn of a batch", &|world| {
            assert_eq!(world.despawn_batch(&all[..10]), 10);
        }),
    ];
    for (name, change) in changes {
        let (old, again) = (place::<Four>(&world, entity), place::<Twelve>(&world, entity));
        assert_eq!(old, again, "views of all components number alike");
        assert_eq!(at::<Four>(&world, old), Ok(Four(1_500)), "before {name}");
        change(&mut world);
        assert_eq!(at::<Four>(&world, old), Err(PlaceError::Moved), "after {name}");
        assert_moved(&mut world, old, entity, value);
        sound(&world);
    }
    let old = place::<Four>(&world, entity);
    world.clear();
    assert_moved(&mut world, old, entity, None);
}

#[test]
fn values_are_written_and_places_stay() {
    let mut world = small_world();
    let all = world.spawn_batch((0..3_000).map(|i| (Four(i), Awake(i)))).to_vec();
    let places: Vec<_> = all.iter().map(|&entity| place::<Four>(&world, entity)).collect();
    assert!(places.is_sorted() && places.windows(2).all(|pair| pair[0] != pair[1]));
    for fours in world.query_mut::<&mut Four>() {
        fours.iter_mut().for_each(|four| four.0 += 1);
    }
    world.get_mut::<Four>(all[5]).expect("alive").0 += 1;
    world.set_enabled::<Awake>(all[7], false).expect("alive");
    world.insert_resource(3_u32);
    let saved = world.snapshot().expect("no commands wait");
    drop(saved);
    let mut commands = world.command_buffer(4).expect("room");
    commands.spawn(Four(1));
    let mut fours = world.lookup_mut::<Four>().by_place();
    fours.at_mut(places[9]).expect("no row has moved").0 += 1;
    let expected = |i: u32| i + 1 + u32::from(i == 5 || i == 9);
    for (i, (&place, &entity)) in (0..).zip(places.iter().zip(&all)) {
        assert_eq!(fours.at(place), Ok(&Four(expected(i))));
        assert_eq!(fours.get(entity), Ok(&Four(expected(i))));
    }
    let awake = world.lookup::<Awake>().by_place();
    assert_eq!(awake.at(places[7]), Ok(&Awake(7)), "disabled: found as by `Lookup::get`");
    assert!(awake.place(all[7]).is_ok());
}

#[test]
fn places_of_other_worlds_are_refused() {
    let [mut one, mut other] = [world(), world()];
    let a = one.spawn_batch((0..100).map(Four)).to_vec();
    let b = other.spawn_batch((0..100).map(Four)).to_vec();
    let [a, b] = [place::<Four>(&one, a[50]), place::<Four>(&other, b[50])];
    assert_ne!(a, b);
    for _ in 0..2 {
        assert_eq!(at::<Four>(&one, a), Ok(Four(50)));
        assert_eq!(at::<Four>(&one, b), Err(PlaceError::Moved));
        assert_eq!(at::<Four>(&other, a), Err(PlaceError::Moved));
        assert_eq!(at::<Four>(&other, b), Ok(Four(50)));
    }
    std::mem::swap(&mut one, &mut other);
    assert_eq!(at::<Four>(&other, a), Ok(Four(50)), "it came along");
    assert_eq!(at::<Four>(&one, a), Err(PlaceError::Moved));
    let empty = World::new();
    assert_eq!(at::<Four>(&empty, a), Err(PlaceError::Moved));
}

#[test]
fn a_row_without_the_component_is_another_error() {
    let mut world = small_world();
    let both = world.spawn_batch((0..2_000).map(|i| (Four(i), Twelve([i; 3])))).to_vec();
    let bare = world.spawn(Tag);
    let ends = world.spawn_batch((0..2_000).map(|i| (Four(i), Line([1; 16])))).to_vec();
    let reserved = world.reserve_entity().expect("room");
    let dead = world.spawn(Four(1));
    world.despawn(dead).expect("alive");
    let reserved_now = world.lookup::<Four>().by_place().place(reserved);
    assert!(reserved_now.is_err());
    let [inner, outer] = [both[1_999], ends[1_999]].map(|entity| place::<Four>(&world, entity));
    let tagged = place::<Tag>(&world, bare);
    assert_eq!(at::<Twelve>(&world, inner), Ok(Twelve([1_999; 3])));
    assert_eq!(at::<Twelve>(&world, outer), Err(PlaceError::Missing(Twelve::NAME)));
    assert_eq!(at::<Line>(&world, inner), Err(PlaceError::Missing(Line::NAME)));
    assert_eq!(at::<Line>(&world, outer), Ok(Line([1; 16])));
    assert_eq!(at::<Hundred>(&world, outer).unwrap_err(), PlaceError::Missing(Hundred::NAME));
    assert_eq!(at::<Four>(&world, tagged), Err(PlaceError::Missing(Four::NAME)));
    assert_eq!(at::<Tag>(&world, tagged), Ok(Tag));
    let before = world.version();
    let mut twelves = world.lookup_mut::<Twelve>().by_place();
    assert_eq!(twelves.at_mut(outer), Err(PlaceError::Missing(Twelve::NAME)));
    assert!(matches!(twelves.place(dead), Err(EntityError::NoSuchEntity(_))));
    assert!(matches!(twelves.place(bare), Err(EntityError::Missing { .. })));
    assert_eq!(world.query::<&Twelve>().changed_since(before).count_rows(), 0, "none was written");
    let text = PlaceError::Missing(Four::NAME).to_string();
    assert!(text.contains(Four::NAME), "{text}");
    assert!(format!("{:?}", PlaceError::Moved).contains("find the places again"));
}

#[test]
fn hidden_and_gone_rows_have_places_as_in_a_lookup() {
    let mut world = world();
    let hidden = world.spawn((Four(1), Editor));
    let gone = world.spawn((Four(2), Socket(3)));
    world.despawn(gone).expect("alive");
    let found = place::<Four>(&world, hidden);
    assert_eq!(at::<Four>(&world, found), Ok(Four(1)));
    let found = place::<Socket>(&world, gone);
    assert_eq!(at::<Socket>(&world, found), Ok(Socket(3)));
    assert_eq!(at::<Four>(&world, found), Err(PlaceError::Missing(Four::NAME)));
    let sockets = world.query::<&Socket>().with::<Gone>();
    let sockets = sockets.chunks().next().expect("it is in a chunk");
    let places = world.lookup::<Socket>().by_place().places_of(&sockets).map(Vec::from_iter);
    assert_eq!(places, Ok(vec![found]));
}

#[test]
fn writes_stamp_the_chunk_of_the_place_only() {
    let mut world = small_world();
    let all = world.spawn_batch((0..5_000).map(|i| (Four(i), Twelve([i; 3])))).to_vec();
    for step in [1_usize, 999] {
        let places: Vec<_> =
            all.iter().step_by(step).map(|&one| place::<Four>(&world, one)).take(3).collect();
        let before = world.version();
        let mut fours = world.lookup_mut::<Four>().by_place();
        for &place in &places {
            fours.at_mut(place).expect("no row has moved").0 += 1;
            fours.at_mut(place).expect("no row has moved").0 += 1;
        }
        let by_place = changed(&world, before);
        let before = world.version();
        let mut fours = world.lookup_mut::<Four>();
        for &one in all.iter().step_by(step).take(3) {
            fours.get_mut(one).expect("alive").0 -= 2;
        }
        assert_eq!(by_place, changed(&world, before));
        assert!(!by_place.is_empty());
        assert_eq!(world.query::<&Twelve>().changed_since(before).count_rows(), 0);
    }
    assert!(world.query::<&Four>().rows().map(|four| four.0).eq(0..5_000));
    sound(&world);
}

/// The numbers of the chunks in which `Four` has changed.
fn changed(world: &World, since: Version) -> Vec<usize> {
    let chunks = world.query::<&Four>().changed_since(since).chunks();
    chunks.map(|chunk| chunk.index()).collect()
}

#[test]
fn a_chunk_has_the_places_of_its_rows() {
    let mut world = small_world();
    world.spawn_batch((0..3_000).map(|i| (Four(i), Awake(i))));
    world.spawn_batch((3_000..4_000).map(|i| (Four(i), Awake(i), Tag)));
    world.spawn_batch((0..10).map(|_| Other));
    let switched: Vec<_> = world.query::<Entity>().with::<Awake>().rows().step_by(7).collect();
    for entity in switched {
        world.set_enabled::<Awake>(entity, false).expect("alive");
    }
    let fours = world.lookup::<Four>().by_place();
    let mut seen = 0;
    for chunk in world.query::<(Entity, &Four, &Awake)>().chunks() {
        let places = fours.places_of(&chunk).expect("they have it");
        assert_eq!(places.len(), chunk.len());
        let (entities, values, _) = chunk.slices();
        for (place, (&entity, value)) in places.zip(entities.iter().zip(values)) {
            assert_eq!(fours.place(entity), Ok(place));
            assert_eq!(fours.at(place), Ok(value));
            seen += 1;
        }
    }
    assert_eq!(seen, 4_000 - 4_000_usize.div_ceil(7));
    let without = world.query::<&Other>().chunks().next().expect("it has rows");
    assert!(fours.places_of(&without).is_err());
}

#[test]
fn a_chunk_of_another_world_has_no_places() {
    let [mut a, mut b] = [world(), world()];
    for world in [&mut a, &mut b] {
        world.spawn_batch((0..100).map(Four));
    }
    b.matching::<&Four>().sort_by_key(|four| 99 - four.0);
    let chunk = b.query::<&Four>().chunks().next().expect("it has rows");
    let fours = a.lookup::<Four>().by_place();
    let called = catch_unwind(AssertUnwindSafe(|| fours.places_of(&chunk).map(Vec::from_iter)));
    let panic = called.expect_err("its rows are in another order");
    let text = panic.downcast_ref::<&str>().expect("a text");
    assert!(text.contains("of another world"), "{text}");
}

#[test]
fn systems_read_and_write_by_place() {
    #[derive(Default)]
    struct Near(Vec<[Option<RowPlace>; 2]>);

    fn find(fours: Query<(Entity, &Four)>, values: Lookup<Four>, mut near: ResMut<Near>) {
        let values = values.by_place();
        let ids: Vec<Entity> = fours.rows().map(|(entity, _)| entity).collect();
        let of = |at: Option<usize>| values.place(*ids.get(at?)?).ok();
        near.0 = (0..ids.len()).map(|i| [of(i.checked_sub(1)), of(Some(i + 1))]).collect();
    }

    fn smooth(own: Query<&Four>, out: LookupMut<Sum>, values: Lookup<Four>, near: Res<Near>) {
        let (values, mut out) = (values.by_place(), out.by_place());
        for (own, pair) in own.rows().zip(&near.0) {
            for &place in pair.iter().flatten() {
                let far = values.at(place).expect("no row has moved").0;
                out.at_mut(place).expect("no row has moved").0 += u64::from(own.0.abs_diff(far));
            }
        }
    }

    let mut world = small_world();
    world.insert_resource(Near::default());
    world.spawn_batch((0..2_000).map(|i| (Four(i), Sum(0))));
    let mut schedule = Schedule::new();
    schedule.add(find);
    schedule.add(smooth);
    schedule.run(&mut world).expect("both run");
    let sum: u64 = world.query::<&Sum>().rows().map(|sum| sum.0).sum();
    assert_eq!(sum, 2 * 1_999, "one for each neighbour");
}

#[test]
fn a_query_has_the_rows_at_places_that_pass_its_filters() {
    let mut world = small_world();
    let all = world.spawn_batch((0..3_000).map(|i| (Four(i), Awake(i)))).to_vec();
    let [gone, edited, asleep, lone] = [0, 1_000, 2_000, 2_500].map(|i| all[i]);
    world.insert(gone, Socket(1)).expect("alive");
    world.despawn(gone).expect("alive");
    world.insert(edited, Editor).expect("alive");
    world.remove::<Awake>(lone).expect("it has one");
    world.set_enabled::<Awake>(asleep, false).expect("alive");
    let (before, fours) = (world.version(), world.lookup::<Four>().by_place());
    let of = |entity| fours.place(entity).expect("alive");
    let [edited_at, asleep_at, lone_at, last_at] = [edited, asleep, lone, all[2_999]].map(of);
    let gone_at = world.lookup::<Socket>().by_place().place(gone).expect("it has a socket");

    let query = world.query::<(Entity, &Four, &Awake)>();
    let rows = query.lookup();
    let excluded = |entity, reason| Some(RowError::Excluded { entity, reason });
    assert_eq!(rows.at(last_at).expect("it matches"), (all[2_999], &Four(2_999), &Awake(2_999)));
    assert_eq!(rows.at(edited_at).err(), excluded(edited, Exclusion::Hidden(Editor::NAME)));
    assert_eq!(rows.at(asleep_at).err(), excluded(asleep, Exclusion::Disabled(Awake::NAME)));
    assert_eq!(rows.at(lone_at).err(), excluded(lone, Exclusion::Lacks(Awake::NAME)));
    let sockets = world.query::<&Socket>();
    assert_eq!(sockets.lookup().at(gone_at), sockets.get(gone));
    assert!(matches!(sockets.lookup().at(gone_at), Err(RowError::NoSuchEntity(_))));
    let of_gone = world.query::<&Socket>().with::<Gone>();
    assert_eq!(of_gone.lookup().at(gone_at), Ok(&Socket(1)));
    for (entity, place) in [(edited, edited_at), (lone, lone_at), (asleep, asleep_at)] {
        assert_eq!(rows.at(place).err(), rows.get(entity).err());
    }

    let mut fours = world.query_mut::<&mut Four>();
    fours.lookup_mut().at_mut(lone_at).expect("it has a four").0 += 1;
    let changed = world.query::<&Four>().changed_since::<Four>(before);
    assert_eq!(changed.lookup().at(lone_at), Ok(&Four(2_501)));
    let unchanged = changed.lookup().at(last_at).err();
    assert_eq!(unchanged, excluded(all[2_999], Exclusion::Unchanged));
    let before = world.version();
    let refused = world.query_mut::<&mut Four>().lookup_mut().at_mut(edited_at).err();
    assert_eq!(refused, excluded(edited, Exclusion::Hidden(Editor::NAME)));
    let stamps = world.query::<&Four>().changed_since::<Four>(before).rows().count();
    assert_eq!(stamps, 0, "a place that is refused was stamped");

    let other = small_world();
    assert_eq!(other.query::<&Four>().lookup().at(last_at), Err(RowError::Moved));
    world.spawn(Four(0));
    assert_eq!(world.query::<&Four>().lookup().at(last_at), Err(RowError::Moved));
}

#[test]
fn a_system_writes_rows_of_a_query_by_place() {
    let mut world = small_world();
    let all = world.spawn_batch((0..2_000).map(|i| (Four(i), Twelve([0; 3])))).to_vec();
    world.spawn(Twelve([9; 3]));
    let fours = world.lookup::<Four>().by_place();
    let places: Vec<_> = all.iter().map(|&one| fours.place(one).expect("alive")).collect();
    world.insert(all[0], Tag).expect("alive");
    let moved =
        world.run(move |mut rows: Query<&mut Twelve>| rows.lookup_mut().at_mut(places[9]).is_err());
    assert!(moved, "a row has moved");

    let fours = world.lookup::<Four>().by_place();
    let places: Vec<_> = all.iter().map(|&one| fours.place(one).expect("alive")).collect();
    world.run(
        move |fours: Query<&Four>, mut twelves: Query<(&mut Twelve, Entity), Without<Tag>>| {
            let (fours, mut twelves) = (fours.lookup(), twelves.lookup_mut());
            for &place in places.iter().rev() {
                let value = fours.at(place).expect("no row has moved").0;
                match twelves.at_mut(place) {
                    Ok((twelve, _)) => twelve.0 = [value; 3],
                    Err(error) => assert_eq!(value, 0, "{error}"),
                }
            }
        },
    );
    let is_copied = |(four, twelve): (&Four, &Twelve)| twelve.0 == [four.0; 3];
    assert!(world.query::<(&Four, &Twelve)>().rows().all(is_copied));
}

#[derive(Clone, Debug)]
enum Step {
    Spawn(u8),
    Despawn(prop::sample::Index),
    Insert(prop::sample::Index),
    Remove(prop::sample::Index),
    Write(prop::sample::Index),
    Sort,
    Find(prop::sample::Index),
}

fn step() -> impl Strategy<Value = Step> {
    use prop::sample::Index;
    prop_oneof![
        2 => (1..40_u8).prop_map(Step::Spawn),
        1 => any::<Index>().prop_map(Step::Despawn),
        1 => any::<Index>().prop_map(Step::Insert),
        1 => any::<Index>().prop_map(Step::Remove),
        3 => any::<Index>().prop_map(Step::Write),
        1 => Just(Step::Sort),
        6 => any::<Index>().prop_map(Step::Find),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 100 }))]

    /// A place is refused, or finds the same component as its entity.
    #[test]
    fn places_find_what_entities_find(steps in prop::collection::vec(step(), 1..60)) {
        let mut world = small_world();
        let (mut alive, mut found) = (Vec::new(), Vec::<(Entity, RowPlace, bool)>::new());
        let mut next = 0;
        for step in steps {
            let pick = |index: prop::sample::Index| {
                (!alive.is_empty()).then(|| *index.get::<Entity>(&alive))
            };
            // Whether rows may have moved.
            let moved = match step {
                Step::Spawn(len) => {
                    let values = (next..next + u32::from(len)).map(Four);
                    alive.extend_from_slice(world.spawn_batch(values));
                    next += u32::from(len);
                    true
                }
                Step::Despawn(index) => {
                    let picked = pick(index);
                    alive.retain(|&one| Some(one) != picked);
                    picked.is_some_and(|entity| world.despawn(entity).is_ok())
                }
                Step::Insert(index) => pick(index).is_some_and(|entity| {
                    let is_new = !world.has::<Twelve>(entity);
                    world.insert(entity, Twelve([1; 3])).expect("alive");
                    is_new
                }),
                Step::Remove(index) => {
                    pick(index).is_some_and(|entity| world.remove::<Twelve>(entity).is_ok())
                }
                Step::Write(index) => {
                    if let Some(entity) = pick(index) {
                        world.get_mut::<Four>(entity).expect("alive").0 ^= 1;
                    }
                    false
                }
                Step::Sort => {
                    world.matching::<&Four>().sort_by_key(|four| four.0.reverse_bits()) > 0
                }
                Step::Find(index) => {
                    if let Some(entity) = pick(index) {
                        found.push((entity, place::<Four>(&world, entity), true));
                    }
                    false
                }
            };
            if moved {
                found.iter_mut().for_each(|(_, _, is_valid)| *is_valid = false);
            }
            let (fours, by_entity) = (world.lookup::<Four>().by_place(), world.lookup::<Four>());
            let twelves = world.lookup::<Twelve>().by_place();
            let query = world.query::<&Four>().without::<Twelve>();
            let rows = query.lookup();
            for &(entity, place, is_valid) in &found {
                if !is_valid {
                    prop_assert_eq!(fours.at(place), Err(PlaceError::Moved));
                    prop_assert_eq!(rows.at(place), Err(RowError::Moved));
                    continue;
                }
                // A call that changed no row may have counted as one that did.
                match (fours.at(place), rows.at(place)) {
                    (Ok(four), Ok(row)) => prop_assert!(std::ptr::eq(four, row)),
                    (Ok(_), row) => prop_assert_eq!(row, rows.get(entity)),
                    (Err(_), row) => prop_assert_eq!(row, Err(RowError::Moved)),
                }
                match fours.at(place) {
                    Ok(four) => prop_assert!(std::ptr::eq(four, by_entity.get(entity).unwrap())),
                    Err(error) => prop_assert_eq!(error, PlaceError::Moved),
                }
                if let Ok(twelve) = twelves.at(place) {
                    prop_assert!(std::ptr::eq(twelve, twelves.get(entity).unwrap()));
                }
            }
        }
        prop_assert_eq!(world.check(), Ok(()));
    }
}
