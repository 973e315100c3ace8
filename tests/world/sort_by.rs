//! Rows in the order of a key, with sorted chunks that the world remembers: the result equals that
//! of `sort_by_key`.

use std::cell::Cell;
use std::cmp::Reverse;
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::ChunkSize;
use phalanx::prelude::*;
use phalanx::rows::SortKey;
use phalanx::snapshot::Snapshot;
use proptest::prelude::*;

#[component]
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank(u32);
#[component]
#[derive(Debug, PartialEq)]
struct Body([u32; 25]);
#[component(enableable)]
struct Awake(u16);
#[component(lines)]
#[derive(Debug, PartialEq)]
struct Heat(u64);
#[component]
struct Mark;

thread_local! {
    /// Calls of `Counted::key`.
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Ascending ranks; counts the calls.
struct Counted;

impl SortKey for Counted {
    type Columns = Rank;
    type Key = u32;

    fn key(rank: &Rank) -> u32 {
        CALLS.set(CALLS.get() + 1);
        rank.0
    }
}

/// Descending ranks.
struct Falling;

impl SortKey for Falling {
    type Columns = Rank;
    type Key = Reverse<u32>;

    fn key(rank: &Rank) -> Reverse<u32> {
        Reverse(rank.0)
    }
}

/// Fails for one rank.
struct Refusing;

impl SortKey for Refusing {
    type Columns = Rank;
    type Key = u32;

    fn key(rank: &Rank) -> u32 {
        assert!(rank.0 != 7, "seven has no place");
        rank.0
    }
}

fn small() -> World {
    World::builder().chunk_size(ChunkSize::KIB_4).build()
}

/// Sorts by `Counted`, and returns the number of rows that moved and of keys that were read.
fn sort(world: &mut World) -> (usize, usize) {
    CALLS.set(0);
    let moved = world.matching::<&Rank>().sort_by::<Counted>();
    assert_eq!(world.check(), Ok(()));
    (moved, CALLS.get())
}

fn is_sorted(world: &World) -> bool {
    world.query::<&Rank>().rows().is_sorted()
}

#[test]
fn chunks_that_did_not_change_are_not_read() {
    let mut world = small();
    let all = world.spawn_batch((0..20_000).map(|i| (Rank(i), Mark))).to_vec();
    let chunks = world.query::<&Rank>().iter().count();
    let capacity = world.query::<&Rank>().iter().next().expect("there are rows").len();
    assert_eq!(sort(&mut world), (0, 20_000));
    let version = world.version();
    // The first and the last row of each chunk.
    let (moved, read) = sort(&mut world);
    assert!(moved == 0 && read <= 2 * chunks, "{read} keys of {chunks} chunks");
    assert_eq!(world.version(), version);
    // A written chunk is read, and it still ascends.
    world.get_mut::<Rank>(all[5 * capacity]).expect("it is alive").0 += 0;
    let (moved, read) = sort(&mut world);
    assert!(moved == 0 && read <= capacity + 2 * chunks, "{read} keys");
    // A row goes from one chunk to another far away: the chunks between them shift by a row.
    world.get_mut::<Rank>(all[5 * capacity]).expect("it is alive").0 = 15_000;
    let (moved, _) = sort(&mut world);
    assert!(is_sorted(&world) && moved == 15_000 - 5 * capacity);
    let (moved, read) = sort(&mut world);
    assert!(moved == 0 && read <= 2 * chunks, "{read} keys after the rows moved");
}

#[test]
fn only_rows_between_the_old_place_and_the_new_one_are_touched() {
    let mut world = small();
    // Under Miri a chunk between two others.
    let (rows, chunk) = if cfg!(miri) { (2_400, 1) } else { (20_000, 9) };
    let all = world.spawn_batch((0..rows).map(|i| (Rank(2 * i), Mark))).to_vec();
    sort(&mut world);
    let capacity = world.query::<&Rank>().iter().next().expect("there are rows").len();
    assert!((chunk + 1) * capacity < all.len(), "it is the last chunk");
    let before = world.version();
    world.get_mut::<Rank>(all[chunk * capacity + 3]).expect("it is alive").0 += 9;
    assert_eq!(sort(&mut world).0, 5);
    let reordered = world.query::<&Rank>().filter_since::<Reordered>(before);
    assert_eq!(reordered.chunks().map(|chunk| chunk.index()).collect::<Vec<_>>(), [chunk]);
    assert!(is_sorted(&world));
}

#[test]
fn equal_keys_keep_their_order() {
    let mut world = small();
    let equal: u32 = if cfg!(miri) { 10 } else { 100 };
    let all = world.spawn_batch((0..50 * equal).map(|i| Rank(i / equal))).to_vec();
    let moved = [20, 30, 40].map(|rank| rank * equal as usize);
    sort(&mut world);
    for i in moved.into_iter().rev() {
        world.get_mut::<Rank>(all[i]).expect("it is alive").0 = 3;
    }
    sort(&mut world);
    let threes = world.query::<(Entity, &Rank)>();
    let threes: Vec<_> = threes.rows().filter(|(_, rank)| rank.0 == 3).collect();
    let last: Vec<_> = threes[equal as usize..].iter().map(|(entity, _)| *entity).collect();
    assert_eq!(last, moved.map(|i| all[i]));
}

#[test]
fn a_sort_by_another_key_is_seen() {
    let mut world = small();
    world.spawn_batch((0..3000).map(|i| Rank(i * 77 % 1000)));
    sort(&mut world);
    assert!(world.matching::<&Rank>().sort_by::<Falling>() > 0);
    assert!(world.query::<&Rank>().rows().is_sorted_by(|a, b| a >= b));
    assert!(sort(&mut world).0 > 0 && is_sorted(&world));
    world.matching::<&Rank>().sort_by_key(|rank| rank.0 % 7);
    assert!(sort(&mut world).0 > 0 && is_sorted(&world));
    world.matching::<(&Rank, Entity)>().sort_by_key(|(_, entity)| entity);
    assert!(world.matching::<&Rank>().sort_by::<Rank>() > 0 && is_sorted(&world));
}

#[test]
fn a_restored_state_is_sorted_as_it_is() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = small();
    let all = world.spawn_batch((0..3000).map(|i| Rank(i * 77 % 3000))).to_vec();
    let shuffled = world.snapshot()?;
    sort(&mut world);
    let sorted = world.snapshot()?;
    world.restore(&shuffled)?;
    assert!(sort(&mut world).0 > 0 && is_sorted(&world));
    // Versions after a restore are not taken for versions of the time that it made void.
    world.restore(&sorted)?;
    world.get_mut::<Rank>(all[3])?.0 = 2999;
    sort(&mut world);
    world.restore(&sorted)?;
    world.get_mut::<Rank>(all[4])?.0 = 0;
    assert!(sort(&mut world).0 > 0 && is_sorted(&world));
    world.restore(&sorted)?;
    assert_eq!((sort(&mut world).0, is_sorted(&world)), (0, true));
    Ok(())
}

#[test]
fn values_that_take_the_place_of_a_column_are_sorted() {
    let mut world = small();
    world.spawn_batch((0..3000).map(Rank));
    world.flip::<Rank>().expect("a row fits");
    for (rank, i) in world.query_mut::<&mut Rank>().rows().zip(0..) {
        rank.0 = 3000 - i;
    }
    sort(&mut world);
    assert_eq!((sort(&mut world).0, is_sorted(&world)), (0, true));
    // The values before the flip have followed their rows, and descend.
    world.flip::<Rank>().expect("a row fits");
    assert!(sort(&mut world).0 > 0 && is_sorted(&world));
}

#[test]
fn what_a_sort_keeps_is_counted_and_given_back() {
    let [mut kept, mut other] = [(); 2].map(|()| {
        let mut world = small();
        world.spawn_batch((0..5000).rev().map(|i| (Rank(i), Body([i; 25]))));
        world.matching::<&Rank>().sort_by_key(|rank| rank.0);
        world
    });
    sort(&mut kept);
    let bytes = |world: &World| world.memory().bookkeeping_bytes;
    let more = bytes(&kept) - bytes(&other);
    assert!(more >= 5000 / 40 * 24, "{more} bytes for the chunks of 5,000 rows of 104 bytes");
    for world in [&mut kept, &mut other] {
        world.clear();
        world.memory_mut().compact(usize::MAX);
    }
    assert_eq!(bytes(&kept), bytes(&other));
}

#[test]
fn a_panic_of_the_key_moves_nothing() {
    let mut world = small();
    world.spawn_batch((0..100).map(|i| (Rank(200 - i), Mark)));
    let seven = world.spawn(Rank(7));
    let (state, version) = (world.hash(), world.version());
    let call = AssertUnwindSafe(|| world.matching::<&Rank>().sort_by::<Refusing>());
    assert!(catch_unwind(call).is_err());
    assert_eq!((world.hash(), world.version(), world.check()), (state, version, Ok(())));
    world.get_mut::<Rank>(seven).expect("it is alive").0 = 8;
    assert_eq!(world.matching::<&Rank>().sort_by::<Refusing>(), 100);
    assert!(world.query::<&Rank>().with::<Mark>().rows().is_sorted());
}

#[test]
fn rows_that_are_not_seen_keep_their_places_and_are_sorted_once_seen() {
    let mut world = small();
    let all = world.spawn_batch((0..3000).map(|i| (Rank(3000 - i), Awake(0)))).to_vec();
    for &entity in all.iter().step_by(3) {
        world.set_enabled::<Awake>(entity, false).expect("it has the component");
    }
    world.matching::<(&Rank, &Awake)>().sort_by::<Rank>();
    let rows: Vec<_> = world.query::<Entity>().filter::<IgnoreEnabled>().rows().collect();
    assert!((0..3000).step_by(3).all(|i| rows[i] == all[i]));
    assert!(world.query::<(&Rank, &Awake)>().rows().map(|(rank, _)| rank.0).is_sorted());
    for &entity in &all {
        world.set_enabled::<Awake>(entity, true).expect("it has the component");
    }
    assert!(world.matching::<(&Rank, &Awake)>().sort_by::<Rank>() > 0);
    assert_eq!((is_sorted(&world), world.check()), (true, Ok(())));
}

/// One step of two worlds: one sorts by `sort_by`, the other by `sort_by_key`.
#[derive(Clone, Debug)]
enum Step {
    Spawn(u32),
    SpawnMarked(u32),
    Despawn(u32),
    Write(u32, u32),
    WriteAll(u32),
    Toggle(u32),
    Insert(u32),
    Remove(u32),
    InsertAll,
    Merge(u32),
    MoveFrom(u32),
    Save,
    Restore,
    Compact,
    Sort,
    SortAwake,
    SortMarked,
    SortFalling,
    SortByEntity,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let number = || any::<u32>();
    let step = prop_oneof![
        3 => number().prop_map(Step::Spawn),
        1 => number().prop_map(Step::SpawnMarked),
        3 => number().prop_map(Step::Despawn),
        6 => (number(), number()).prop_map(|(at, key)| Step::Write(at, key)),
        1 => number().prop_map(Step::WriteAll),
        2 => number().prop_map(Step::Toggle),
        1 => number().prop_map(Step::Insert),
        1 => number().prop_map(Step::Remove),
        1 => Just(Step::InsertAll),
        1 => number().prop_map(Step::Merge),
        1 => number().prop_map(Step::MoveFrom),
        1 => Just(Step::Save),
        1 => Just(Step::Restore),
        1 => Just(Step::Compact),
        8 => Just(Step::Sort),
        1 => Just(Step::SortAwake),
        1 => Just(Step::SortMarked),
        2 => Just(Step::SortFalling),
        1 => Just(Step::SortByEntity),
    ];
    prop::collection::vec(step, 1..60)
}

/// A world, and a state of it.
struct Side {
    world: World,
    saved: Option<Snapshot>,
    /// Whether it sorts by `sort_by`.
    remembers: bool,
}

impl Side {
    fn new(remembers: bool) -> Self {
        Self { world: small(), saved: None, remembers }
    }

    fn any(&mut self, number: u32) -> Option<Entity> {
        let mut all: Vec<_> =
            self.world.query::<Entity>().filter::<IgnoreEnabled>().rows().collect();
        all.sort_unstable();
        all.get(number as usize % all.len().max(1)).copied()
    }

    fn rows(number: u32) -> impl ExactSizeIterator<Item = (Rank, Awake, Heat, Body)> {
        (0..number % 400).map(move |i| (Rank(i * 31 % 97), Awake(1), Heat(7), Body([i; 25])))
    }

    fn sort<S: SortKey<Columns = Rank>>(&mut self) -> usize {
        let matching = self.world.matching::<&Rank>().filter::<IgnoreEnabled>();
        match self.remembers {
            true => matching.sort_by::<S>(),
            false => matching.sort_by_key(|rank| S::key(rank)),
        }
    }

    fn sort_awake(&mut self) -> usize {
        let matching = self.world.matching::<(&Rank, &Awake)>();
        if self.remembers {
            matching.sort_by::<Rank>()
        } else {
            matching.sort_by_key(|(rank, _)| rank.0)
        }
    }

    fn sort_marked(&mut self) -> usize {
        let matching = self.world.matching::<&Rank>().with::<Mark>();
        if self.remembers {
            matching.sort_by::<Rank>()
        } else {
            matching.sort_by_key(|rank| rank.0)
        }
    }

    /// A world beside this one, sorted as well.
    fn other(&self, number: u32) -> Self {
        let mut other = Self::new(self.remembers);
        other.world.spawn_batch(Self::rows(number));
        other.sort::<Rank>();
        other
    }

    /// Returns the number of rows that a sort has moved.
    fn step(&mut self, step: &Step) -> usize {
        match *step {
            Step::Spawn(number) => {
                self.world.spawn_batch(Self::rows(number));
            }
            Step::SpawnMarked(number) => {
                self.world.spawn_batch((0..number % 90).map(|i| (Rank(i), Mark)));
            }
            Step::InsertAll => drop(self.world.matching::<&Heat>().insert(Mark)),
            Step::WriteAll(number) => {
                let add = number % 3;
                self.world.query_mut::<&mut Rank>().rows().for_each(|rank| rank.0 += add);
            }
            Step::Merge(number) => drop(self.world.merge(self.other(number).world)),
            Step::MoveFrom(number) => {
                let mut other = self.other(number);
                drop(self.world.move_from(other.world.matching::<&Rank>().with::<Awake>()));
            }
            Step::Save => self.saved = self.world.snapshot().ok(),
            Step::Restore => {
                if let Some(saved) = &self.saved {
                    self.world.restore(saved).expect("it is a state of this world");
                }
            }
            Step::Compact => drop(self.world.memory_mut().compact(usize::MAX)),
            Step::Sort => return self.sort::<Rank>(),
            Step::SortAwake => return self.sort_awake(),
            Step::SortMarked => return self.sort_marked(),
            Step::SortFalling => return self.sort::<Falling>(),
            Step::SortByEntity => return self.world.matching::<Entity>().sort_by_key(|id| id),
            Step::Despawn(number)
            | Step::Write(number, _)
            | Step::Toggle(number)
            | Step::Insert(number)
            | Step::Remove(number) => {
                let Some(entity) = self.any(number) else { return 0 };
                self.change(entity, step);
            }
        }
        0
    }

    fn change(&mut self, entity: Entity, step: &Step) {
        let world = &mut self.world;
        match *step {
            Step::Despawn(_) => world.despawn(entity).expect("it is alive"),
            Step::Write(_, key) => {
                world.get_mut::<Rank>(entity).expect("it has one").0 = key % 100;
                if let Ok(heat) = world.get_mut::<Heat>(entity) {
                    heat.0 += 1;
                }
            }
            Step::Toggle(_) => {
                if let Ok(before) = world.is_enabled::<Awake>(entity) {
                    world.set_enabled::<Awake>(entity, !before).expect("it has the component");
                }
            }
            Step::Insert(_) => world.insert(entity, (Mark, Body([7; 25]))).expect("it is alive"),
            _ => drop(world.remove::<Heat>(entity)),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::common::effort::effort(20)))]

    /// A world that remembers sorted chunks equals one that compares all keys.
    #[test]
    fn both_sorts_have_one_result(steps in steps()) {
        let mut sides = [Side::new(true), Side::new(false)];
        for step in &steps {
            let [moved, expected] = sides.each_mut().map(|side| side.step(step));
            prop_assert_eq!(moved, expected, "{:?}", step);
            let [one, other] = &sides;
            prop_assert_eq!(one.world.check(), Ok(()));
            prop_assert_eq!(one.world.hash(), other.world.hash(), "{:?}", step);
        }
    }
}
