//! Rows in the order of a key of several columns: the result equals that of a full sort, whichever
//! column was written.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use phalanx::ChunkSize;
use phalanx::Previous;
use phalanx::prelude::*;
use phalanx::rows::{ChunkBounds, SortKey};
use phalanx::snapshot::Snapshot;
use proptest::prelude::*;

use crate::common::components::{Hundred, Tag};
use crate::common::effort::effort;

#[component]
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Layer(u32);
#[component]
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Depth(u32);
#[component]
struct Serial(u32);

thread_local! {
    /// Calls of `NearFirst::key`.
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Ascending layers, and in each the greatest depth first; counts the calls.
struct NearFirst;

impl SortKey for NearFirst {
    type Columns = (Layer, Depth);
    type Key = (u32, Reverse<u32>);

    fn key((layer, depth): (&Layer, &Depth)) -> Self::Key {
        CALLS.set(CALLS.get() + 1);
        (layer.0, Reverse(depth.0))
    }
}

/// A key of the same columns in the other order.
struct ByDepth;

impl SortKey for ByDepth {
    type Columns = (Depth, Layer);
    type Key = u32;

    fn key((depth, layer): (&Depth, &Layer)) -> u32 {
        depth.0 / 4 + layer.0
    }
}

/// Sorts by `NearFirst`, and returns the number of rows that moved and of keys that were read.
fn sort(world: &mut World) -> (usize, usize) {
    CALLS.set(0);
    let moved = world.matching::<(&Layer, &Depth)>().sort_by::<NearFirst>();
    assert_eq!(world.check(), Ok(()));
    (moved, CALLS.get())
}

#[test]
fn a_chunk_is_read_again_if_any_column_of_the_key_was_written() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let rows = (0..9_000).map(|i| (Layer(i / 3_000), Depth(9_000 - i), Serial(i)));
    let all = world.spawn_batch(rows).to_vec();
    let chunks = world.query::<&Layer>().iter().count();
    let capacity = world.query::<&Layer>().iter().next().expect("there are rows").len();
    assert_eq!(sort(&mut world), (0, 9_000));
    let (moved, read) = sort(&mut world);
    assert!(moved == 0 && read <= 2 * chunks, "{read} keys of {chunks} chunks");
    let at = |chunk: usize| all[chunk * capacity + 1];
    world.get_mut::<Layer>(at(3)).expect("it is alive").0 += 0;
    let (moved, read) = sort(&mut world);
    assert!(moved == 0 && read > capacity && read <= capacity + 2 * chunks, "{read} keys");
    world.get_mut::<Depth>(at(4)).expect("it is alive").0 += 0;
    let (moved, read) = sort(&mut world);
    assert!(moved == 0 && read > capacity && read <= capacity + 2 * chunks, "{read} keys");
    world.get_mut::<Serial>(at(5)).expect("it is alive").0 += 0;
    let (moved, read) = sort(&mut world);
    assert!(moved == 0 && read <= 2 * chunks, "{read} keys after a write of another column");
    world.get_mut::<Layer>(at(3)).expect("it is alive").0 = 200;
    assert_eq!(sort(&mut world).0, 9_000 - 3 * capacity - 1, "it goes to the end");
    world.get_mut::<Depth>(at(3)).expect("it is alive").0 = u32::MAX;
    assert_eq!(sort(&mut world).0, 0, "it is alone in its layer");
}

#[test]
fn equal_keys_keep_their_order() {
    let mut world = crate::common::world();
    let rows = (0..2_000).map(|i| (Layer(i % 3), Depth(i % 2), Serial(i)));
    world.spawn_batch(rows);
    sort(&mut world);
    let rows = world.query::<(&Layer, &Depth, &Serial)>();
    let rows: Vec<_> = rows.rows().map(|(a, b, c)| (a.0, Reverse(b.0), c.0)).collect();
    assert!(rows.len() == 2_000 && rows.is_sorted());
}

#[test]
fn a_tuple_of_components_is_its_own_key() {
    let mut world = crate::common::world();
    world.spawn_batch((0..500).map(|i| (Layer(i * 7 % 5), Depth(i * 77 % 91))));
    world.matching::<(&Depth, &Layer)>().sort_by::<(Layer, Depth)>();
    assert!(world.query::<(&Layer, &Depth)>().rows().is_sorted());
    world.matching::<(&Depth, &Layer)>().sort_by::<(Depth, Layer)>();
    assert!(world.query::<(&Depth, &Layer)>().rows().is_sorted());
    assert_eq!(world.matching::<(&Depth, &Layer)>().sort_by::<(Depth,)>(), 0);
}

#[test]
fn a_range_of_keys_of_two_columns_is_found() {
    let mut world = crate::common::world();
    world.spawn_batch((0..3_000).map(|i| (Layer(i / 1_000), Depth(i % 1_000))));
    let bounds = ChunkBounds::<(Layer, Depth)>::new();
    let range = (Layer(1), Depth(990))..(Layer(2), Depth(10));
    let found = |world: &World| {
        let query = world.query::<(&Layer, &Depth)>();
        bounds.between(query, range.clone()).rows().map(|(a, b)| (*a, *b)).collect::<Vec<_>>()
    };
    let expected = |world: &World| {
        let rows = world.query::<(&Layer, &Depth)>();
        let rows = rows.rows().map(|(layer, depth)| (*layer, *depth));
        rows.filter(|key| range.contains(key)).collect::<Vec<_>>()
    };
    assert_eq!((found(&world).len(), found(&world)), (20, expected(&world)));
    for depth in world.query_mut::<&mut Depth>().rows().step_by(7) {
        depth.0 = 995;
    }
    assert_eq!(found(&world), expected(&world));
    for layer in world.query_mut::<&mut Layer>().rows().step_by(5) {
        layer.0 = 1;
    }
    assert_eq!(found(&world), expected(&world));
}

#[test]
fn a_system_records_a_sort_that_reads_what_changed() -> Result<(), ScheduleError> {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let rows = (0..3_000).map(|i| (Layer(0), Depth(3_000 - i), Serial(i)));
    let all = world.spawn_batch(rows).to_vec();
    let mut schedule = Schedule::new();
    schedule.add(|mut commands: Commands| {
        commands.run(|world| {
            world.matching::<(&Layer, &Depth)>().sort_by::<NearFirst>();
        });
    });
    schedule.run(&mut world)?;
    world.get_mut::<Layer>(all[0]).expect("it is alive").0 = 1;
    CALLS.set(0);
    schedule.run(&mut world)?;
    let last = world.query::<Entity>().with::<Serial>().rows().last();
    assert_eq!((last, world.check()), (Some(all[0]), Ok(())));
    let before = CALLS.replace(0);
    schedule.run(&mut world)?;
    let chunks = world.query::<&Layer>().iter().count();
    assert!(before > 0 && CALLS.get() <= 2 * chunks, "{before} and {} keys", CALLS.get());
    Ok(())
}

/// One step of two worlds: one sorts by `sort_by`, the other all rows by `sort_by_key`.
#[derive(Clone, Debug)]
enum Step {
    Spawn(u16),
    Despawn(u32),
    WriteLayer(u32, u8),
    WriteDepth(u32, u32),
    WriteAll(bool),
    Toggle(u32),
    Flip,
    Save,
    Restore,
    Sort,
    SortByDepth,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => any::<u16>().prop_map(Step::Spawn),
        2 => any::<u32>().prop_map(Step::Despawn),
        5 => any::<(u32, u8)>().prop_map(|(at, layer)| Step::WriteLayer(at, layer)),
        5 => any::<(u32, u32)>().prop_map(|(at, depth)| Step::WriteDepth(at, depth)),
        1 => any::<bool>().prop_map(Step::WriteAll),
        2 => any::<u32>().prop_map(Step::Toggle),
        1 => Just(Step::Flip),
        2 => Just(Step::Save),
        2 => Just(Step::Restore),
        9 => Just(Step::Sort),
        1 => Just(Step::SortByDepth),
    ];
    prop::collection::vec(step, 1..50)
}

/// An entity with its key.
type KeyedRow = ((u32, Reverse<u32>), Entity);

struct Side {
    world: World,
    saved: Option<Snapshot>,
    /// Whether it sorts by `sort_by`.
    remembers: bool,
}

impl Side {
    fn any(&self, number: u32) -> Option<Entity> {
        let mut all: Vec<_> = self.world.query::<Entity>().rows().collect();
        all.sort_unstable();
        all.get(number as usize % all.len().max(1)).copied()
    }

    fn sort(&mut self) -> usize {
        let matching = self.world.matching::<(&Layer, &Depth)>();
        match self.remembers {
            true => matching.sort_by::<NearFirst>(),
            false => matching.sort_by_key(NearFirst::key),
        }
    }

    fn sort_by_depth(&mut self) -> usize {
        let matching = self.world.matching::<(&Depth, &Layer)>();
        match self.remembers {
            true => matching.sort_by::<ByDepth>(),
            false => matching.sort_by_key(ByDepth::key),
        }
    }

    /// Returns the number of rows that a sort has moved.
    fn step(&mut self, step: &Step) -> usize {
        match *step {
            Step::Spawn(number) => {
                let rows = (0..u32::from(number) % 300)
                    .map(|i| (Layer(i % 5), Depth(i * 31 % 97), Serial(i), Hundred([i; 25])));
                self.world.spawn_batch(rows);
            }
            Step::WriteAll(layers) if layers => {
                self.world.query_mut::<&mut Layer>().rows().for_each(|layer| layer.0 ^= 1);
            }
            Step::WriteAll(_) => {
                self.world.query_mut::<&mut Depth>().rows().for_each(|depth| depth.0 ^= 1);
            }
            Step::Flip => drop(self.world.flip::<Depth>()),
            Step::Save => self.saved = self.world.snapshot().ok(),
            Step::Restore => {
                if let Some(saved) = &self.saved {
                    self.world.restore(saved).expect("it is a state of this world");
                }
            }
            Step::Sort => return self.sort(),
            Step::SortByDepth => return self.sort_by_depth(),
            Step::Despawn(number)
            | Step::Toggle(number)
            | Step::WriteLayer(number, _)
            | Step::WriteDepth(number, _) => {
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
            Step::WriteLayer(_, layer) => {
                world.get_mut::<Layer>(entity).expect("it has one").0 = u32::from(layer % 7);
            }
            Step::WriteDepth(_, depth) => {
                world.get_mut::<Depth>(entity).expect("it has one").0 = depth % 100;
            }
            _ if world.has::<Tag>(entity) => drop(world.remove::<Tag>(entity)),
            _ => world.insert(entity, Tag).expect("it is alive"),
        }
    }

    /// The rows of each archetype, which differ in two components.
    fn rows(&self) -> BTreeMap<[bool; 2], Vec<KeyedRow>> {
        let mut all = BTreeMap::<_, Vec<_>>::new();
        for (layer, depth, one) in self.world.query::<(&Layer, &Depth, Entity)>().rows() {
            let others = [self.world.has::<Tag>(one), self.world.has::<Previous<Depth>>(one)];
            all.entry(others).or_default().push(((layer.0, Reverse(depth.0)), one));
        }
        all
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { effort(32) }))]

    /// A world that remembers sorted chunks equals one that compares all keys, and both have the
    /// order of a stable sort.
    #[test]
    fn a_sort_of_what_changed_equals_a_full_sort(
        steps in steps(),
        chunk_size in prop::sample::select(vec![ChunkSize::KIB_4, ChunkSize::KIB_16]),
    ) {
        let mut sides = [true, false].map(|remembers| {
            let world = World::builder().chunk_size(chunk_size).build();
            Side { world, saved: None, remembers }
        });
        for step in &steps {
            let mut expected = sides[0].rows();
            let [moved, other] = sides.each_mut().map(|side| side.step(step));
            prop_assert_eq!(moved, other, "{:?}", step);
            prop_assert_eq!(sides[0].world.hash(), sides[1].world.hash(), "{:?}", step);
            prop_assert_eq!(sides[0].world.check(), Ok(()));
            if let Step::Sort = step {
                expected.values_mut().for_each(|rows| rows.sort_by_key(|&(key, _)| key));
                prop_assert_eq!(sides[0].rows(), expected);
            }
        }
    }
}
