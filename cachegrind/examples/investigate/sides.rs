//! The sides of the cases. Values are small whole numbers, so every sum is exact.

use std::hint::black_box;

use crate::random::{random_index, random_indices};
use phalanx::prelude::*;

/// Streams read in lock-step: more than any first-level cache has ways.
pub(crate) const STREAMS: usize = 24;
/// Words of a stream: one page.
pub(crate) const STREAM_WORDS: usize = 1024;

/// One way through a case.
pub(crate) trait Side {
    /// Processes all elements once.
    fn pass(&mut self);
    /// The result of the passes so far.
    fn result(&self) -> u64;
}

/// One float, read and written.
#[component]
#[derive(Debug)]
struct X(f32);
/// One float, read.
#[component]
#[derive(Debug)]
struct Speed(f32);
/// The rest of an entity of one cache line, which the kernel does not touch.
#[component]
#[derive(Debug)]
struct Rest([f32; 14]);
/// One word, read.
#[component]
#[derive(Debug)]
struct Health(u32);

/// A whole entity in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Thing {
    x: X,
    speed: Speed,
    rest: Rest,
}

/// The initial value of element `i`.
pub(crate) fn x(i: usize) -> u64 {
    (i % 64) as u64
}

/// The value that a pass adds to element `i`.
pub(crate) fn speed(i: usize) -> u64 {
    (i % 4) as u64
}

/// One step over structs.
#[kernel]
fn step_structs(things: &mut [Thing]) {
    for thing in things {
        thing.x.0 += thing.speed.0;
    }
}

/// One step over columns.
#[kernel]
fn step_columns(x: &mut [X], speed: &[Speed]) {
    for (x, speed) in x.iter_mut().zip(speed) {
        x.0 += speed.0;
    }
}

/// The sum of a column.
#[kernel]
fn sum(health: &[Health]) -> u32 {
    health.iter().map(|h| h.0).sum()
}

/// Slow: one cache line per entity, with eight bytes in use.
pub(crate) struct Structs(Vec<Thing>);

impl Structs {
    pub(crate) fn new(len: usize) -> Self {
        Self((0..len).map(row).map(|(x, speed, rest)| Thing { x, speed, rest }).collect())
    }
}

impl Side for Structs {
    fn pass(&mut self) {
        step_structs(&mut self.0);
    }

    fn result(&self) -> u64 {
        self.0.iter().inspect(|thing| check_rest(&thing.rest)).map(|thing| thing.x.0 as u64).sum()
    }
}

/// Fast: sixteen entities per cache line, in each of the two columns.
pub(crate) struct Columns(World);

impl Columns {
    pub(crate) fn new(len: usize) -> Self {
        let mut world = World::new();
        world.spawn_batch((0..len).map(row));
        Self(world)
    }
}

impl Side for Columns {
    fn pass(&mut self) {
        for (x, speed) in self.0.query_mut::<(&mut X, &Speed)>() {
            step_columns(x, speed);
        }
    }

    fn result(&self) -> u64 {
        self.0.query::<&Rest>().iter().flatten().for_each(check_rest);
        self.0.query::<&X>().iter().flatten().map(|x| x.0 as u64).sum()
    }
}

fn row(i: usize) -> (X, Speed, Rest) {
    (X(x(i) as f32), Speed(speed(i) as f32), Rest([1.0; 14]))
}

fn check_rest(rest: &Rest) {
    assert_eq!(rest.0, [1.0; 14], "no pass touches the rest");
}

/// Reads by entity: slow in random order, fast in the order of rows.
pub(crate) struct Lookups {
    world: World,
    wanted: Vec<Entity>,
    sum: f64,
}

impl Lookups {
    pub(crate) fn random(len: usize) -> Self {
        let mut world = World::new();
        let entities = world.spawn_batch((0..len).map(row)).to_vec();
        let wanted = random_indices(len, len).map(|i| entities[i]).collect();
        Self { world, wanted, sum: 0.0 }
    }

    /// Sorting is part of the set-up: it pays if a list is read more often than it changes.
    pub(crate) fn sorted(len: usize) -> Self {
        let mut lookups = Self::random(len);
        lookups.wanted.sort_unstable_by_key(|entity| entity.index());
        lookups
    }
}

impl Side for Lookups {
    fn pass(&mut self) {
        let x = self.world.lookup::<X>();
        let read = |&entity: &Entity| f64::from(x.get(entity).expect("alive").0);
        self.sum = self.wanted.iter().map(read).sum();
    }

    fn result(&self) -> u64 {
        self.sum as u64
    }
}

/// Streams that start a stride apart. A pass adds one word of each in turn.
pub(crate) struct Strides {
    words: Vec<u32>,
    /// The start of each stream in `words`.
    starts: Vec<usize>,
    sum: u64,
}

impl Strides {
    pub(crate) fn new(stride_bytes: usize) -> Self {
        let stride = stride_bytes / size_of::<u32>();
        let mut words = vec![0; STREAMS * stride];
        let starts: Vec<usize> = (0..STREAMS).map(|stream| stream * stride).collect();
        for (stream, &start) in starts.iter().enumerate() {
            for (i, word) in words[start..][..STREAM_WORDS].iter_mut().enumerate() {
                *word = u32::try_from(x(stream * STREAM_WORDS + i)).expect("below 64");
            }
        }
        Self { words, starts, sum: 0 }
    }
}

impl Side for Strides {
    fn pass(&mut self) {
        // The number of streams is opaque, so rows are read one by one, as in a system that
        // branches or calls.
        let streams: Vec<&[u32]> = black_box(&self.starts)
            .iter()
            .map(|&start| &self.words[start..][..STREAM_WORDS])
            .collect();
        self.sum = (0..STREAM_WORDS)
            .map(|row| streams.iter().map(|stream| u64::from(stream[row])).sum::<u64>())
            .sum();
    }

    fn result(&self) -> u64 {
        self.sum
    }
}

/// A node of a list: the next one is known only when this one has been read.
struct Node {
    health: u64,
    next: Option<Box<Node>>,
}

/// Slow: a list of boxes that are allocated in one order and linked in another.
pub(crate) struct Chase {
    first: Option<Box<Node>>,
    sum: u64,
}

impl Chase {
    pub(crate) fn new(len: usize) -> Self {
        let mut nodes: Vec<Box<Node>> =
            (0..len).map(|i| Box::new(Node { health: x(i), next: None })).collect();
        let mut random = random_index();
        for i in (1..len).rev() {
            nodes.swap(i, random(i + 1));
        }
        let link = |next, mut node: Box<Node>| {
            node.next = next;
            Some(node)
        };
        Self { first: nodes.into_iter().fold(None, link), sum: 0 }
    }
}

impl Side for Chase {
    fn pass(&mut self) {
        self.sum = 0;
        let mut next = &self.first;
        while let Some(node) = next {
            self.sum += node.health;
            next = &node.next;
        }
    }

    fn result(&self) -> u64 {
        self.sum
    }
}

impl Drop for Chase {
    /// Drops node by node: a million nested drops would overflow the stack.
    fn drop(&mut self) {
        let mut next = self.first.take();
        while let Some(mut node) = next {
            next = node.next.take();
        }
    }
}

/// Fast: the same values in a column.
pub(crate) struct Scan {
    world: World,
    sum: u64,
}

impl Scan {
    pub(crate) fn new(len: usize) -> Self {
        let mut world = World::new();
        world.spawn_batch((0..len).map(|i| Health(u32::try_from(x(i)).expect("below 64"))));
        Self { world, sum: 0 }
    }
}

impl Side for Scan {
    fn pass(&mut self) {
        self.sum = self.world.query::<&Health>().iter().map(|health| u64::from(sum(health))).sum();
    }

    fn result(&self) -> u64 {
        self.sum
    }
}
