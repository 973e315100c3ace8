//! Entities of many kinds, each kind with code of its own: as objects behind pointers, and as
//! columns.
//!
//! A turn of a kind is some 1,600 bytes of code, so from 21 kinds on they do not fit together into
//! a first-level instruction cache of 32 KiB. A walk from object to object needs the code of all
//! kinds all the time, a walk from column to column one kind after the other.

use phalanx::prelude::*;

use super::Program;
use super::proof::same;
use super::random::random_index;

/// The largest number of kinds.
pub const KINDS_MAX: usize = 32;
/// Numbers of an entity.
const WORDS: usize = 8;
/// The number of times that a turn goes round the numbers.
const ROUNDS: usize = 16;
/// The number of initial states; entities of a kind begin with one of them.
const STARTS: usize = 4;

/// The state of an entity of a kind.
#[component]
pub struct Body<const KIND: usize>([u32; WORDS]);

/// Evaluates `$action!` with the numbers of all kinds.
macro_rules! for_kinds {
    ($action:ident) => {
        $action! {
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        }
    };
}

macro_rules! name {
    ($($kind:literal)*) => {
        impl_component!($(Body<$kind>),*);
    };
}
for_kinds!(name);

/// One turn: sums, rotations and constants that differ between kinds.
///
/// The rounds are written out. LLVM would unroll a loop for columns only: for an object it computes
/// the constants step by step, in a few hundred bytes for each kind, which all fit into the cache.
#[inline(always)]
fn turn(kind: usize, state: &mut [u32; WORDS]) {
    macro_rules! rounds {
        ($($round:literal)*) => {{
            const { assert!([$($round),*].len() == ROUNDS, "as many rounds as constants are for") };
            $(round(kind, $round, state);)*
        }};
    }
    rounds!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
}

#[inline(always)]
fn round(kind: usize, round: usize, state: &mut [u32; WORDS]) {
    for i in 0..WORDS {
        let sum = state[i].wrapping_add(state[(i + 3) % WORDS]);
        state[i] = sum.rotate_left(5) ^ key(kind, round * WORDS + i);
    }
}

/// A constant once the kind is one, and not a small one.
#[inline(always)]
const fn key(kind: usize, step: usize) -> u32 {
    let number = (kind * ROUNDS * WORDS + step) as u64 + 1;
    (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32 | 0x4000_0000
}

/// A turn of all entities of a kind.
#[kernel]
fn turn_all<const KIND: usize>(bodies: &mut [Body<KIND>]) {
    for body in bodies {
        turn(KIND, &mut body.0);
    }
}

/// The operations of every object.
pub trait Update {
    /// One turn.
    fn update(&mut self);
    /// The sum of its numbers.
    fn sum(&self) -> u64;
}

/// An object of a kind.
struct Object<const KIND: usize>([u32; WORDS]);

impl<const KIND: usize> Update for Object<KIND> {
    fn update(&mut self) {
        turn(KIND, &mut self.0);
    }

    fn sum(&self) -> u64 {
        sum(&self.0)
    }
}

/// The order in which objects are visited.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// Kinds and addresses are in no order.
    Shuffled,
    /// Kind by kind, each at rising addresses.
    ByKind,
}

/// Objects behind pointers.
pub struct Objects {
    /// One pointer for each.
    pub objects: Vec<Box<dyn Update>>,
    kinds: usize,
}

/// The same entities in columns, one for each kind.
pub struct Columns {
    /// An archetype for each kind.
    pub world: World,
    kinds: usize,
}

impl Objects {
    /// `len` objects of `kinds` kinds.
    pub fn new(len: usize, kinds: usize, order: Order) -> Self {
        let kind = |i| match order {
            Order::Shuffled => i % kinds,
            Order::ByKind => nth_by_kind(i, len, kinds).0,
        };
        let nth = |i| match order {
            Order::Shuffled => i / kinds,
            Order::ByKind => nth_by_kind(i, len, kinds).1,
        };
        let mut objects: Vec<_> = (0..len).map(|i| object(kind(i), start(nth(i)))).collect();
        if let Order::Shuffled = order {
            let mut index = random_index();
            (1..len).rev().for_each(|i| objects.swap(i, index(i + 1)));
        }
        Self { objects, kinds }
    }
}

impl Program for Objects {
    fn pass(&mut self) {
        for object in &mut self.objects {
            object.update();
        }
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        let sums = self.objects.iter().map(|object| object.sum());
        same(
            "the sum of all objects",
            sums.sum(),
            sum_after(self.objects.len(), self.kinds, passes),
        )
    }
}

impl Columns {
    /// `len` entities of `kinds` kinds.
    pub fn new(chunk: ChunkSize, len: usize, kinds: usize) -> Self {
        let mut world = super::components::world(chunk);
        macro_rules! spawn {
            ($($kind:literal)*) => {$(
                let count = (len + kinds).saturating_sub($kind + 1) / kinds;
                if $kind < kinds {
                    world.spawn_batch((0..count).map(|nth| Body::<$kind>(start(nth))));
                }
            )*};
        }
        for_kinds!(spawn);
        Self { world, kinds }
    }
}

impl Program for Columns {
    fn pass(&mut self) {
        macro_rules! pass {
            ($($kind:literal)*) => {$(
                if $kind < self.kinds {
                    for bodies in self.world.query_mut::<&mut Body<$kind>>() {
                        turn_all::<$kind>(bodies);
                    }
                }
            )*};
        }
        for_kinds!(pass);
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        let mut total = 0;
        macro_rules! add {
            ($($kind:literal)*) => {$(
                let query = self.world.query::<&Body<$kind>>();
                total += query.iter().flatten().map(|body| sum(&body.0)).sum::<u64>();
            )*};
        }
        for_kinds!(add);
        same("the sum of all rows", total, sum_after(self.world.len(), self.kinds, passes))
    }
}

/// Kind and number within its kind, of the `i`th of `len` entities that lie kind by kind.
fn nth_by_kind(i: usize, len: usize, kinds: usize) -> (usize, usize) {
    let (each, more) = (len / kinds, len % kinds);
    let in_larger = more * (each + 1);
    if i < in_larger {
        (i / (each + 1), i % (each + 1))
    } else {
        (more + (i - in_larger) / each, (i - in_larger) % each)
    }
}

fn object(kind: usize, state: [u32; WORDS]) -> Box<dyn Update> {
    macro_rules! object {
        ($($kind:literal)*) => {
            match kind {
                $($kind => Box::new(Object::<$kind>(state)),)*
                _ => unreachable!("there are {KINDS_MAX} kinds"),
            }
        };
    }
    for_kinds!(object)
}

/// The initial value of the `nth` entity of any kind.
fn start(nth: usize) -> [u32; WORDS] {
    std::array::from_fn(|i| u32::try_from(nth % STARTS * WORDS + i).expect("a small number"))
}

fn sum(state: &[u32; WORDS]) -> u64 {
    state.iter().copied().map(u64::from).sum()
}

/// The sum of `len` entities of several kinds after a number of turns: entities of one kind with
/// one initial state are all alike.
fn sum_after(len: usize, kinds: usize, turns: u64) -> u64 {
    let of_kind = |kind: usize| {
        let count = (len + kinds).saturating_sub(kind + 1) / kinds;
        let of_start = |first: usize| {
            let mut state = start(first);
            (0..turns).for_each(|_| turn(kind, &mut state));
            sum(&state) * ((count + STARTS).saturating_sub(first + 1) / STARTS) as u64
        };
        (0..STARTS).map(of_start).sum::<u64>()
    };
    (0..kinds).map(of_kind).sum()
}
