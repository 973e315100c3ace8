//! Random programs, played back from a buffer in one world and done one by one in another.
//!
//! Every entity has a serial number, by which the worlds are compared, since their ids differ.
//! Compared are the live entities, their components and values, the targets of their links, and the
//! commands on dead entities.

use std::collections::BTreeMap;

use phalanx::command::{ApplyError, CommandErrorKind};
use phalanx::prelude::*;
use phalanx::terms::Terms;
use proptest::prelude::*;

use crate::common::components::{Big, Byte, Four, Link, Serial, Tag, Twelve, sound, with_type};
use crate::common::effort::effort;
use crate::common::extent_chunks_max;

/// A bundle made from one number.
trait Shape: Bundle {
    fn make(n: u32) -> Self;
    /// Takes the present components, one by one.
    fn take(world: &mut World, entity: Entity);
}

macro_rules! shapes {
    ($($part:ident: $n:ident => $make:expr;)*) => {$(
        impl Shape for $part {
            fn make($n: u32) -> Self {
                $make
            }
            fn take(world: &mut World, entity: Entity) {
                let _ = world.remove::<Self>(entity);
            }
        }
    )*};
    ($(($($shape:ident),*))*) => {$(
        impl<$($shape: Shape),*> Shape for ($($shape,)*) {
            fn make(n: u32) -> Self {
                ($($shape::make(n),)*)
            }
            fn take(world: &mut World, entity: Entity) {
                $($shape::take(world, entity);)*
            }
        }
    )*};
}

shapes! {
    Tag: _n => Self;
    Byte: n => Self(n.to_le_bytes()[0]);
    Four: n => Self(n);
    Twelve: n => Self([n, !n, n ^ 7]);
    Big: n => Self([n; 250]);
}
impl Shape for () {
    fn make(_: u32) -> Self {}
    fn take(_: &mut World, _: Entity) {}
}
shapes! { (A, B) (A, B, C, D, E) }

/// Runs an expression with the `n`th shape as `$S`.
macro_rules! with_shape {
    ($n:expr, $S:ident => $run:expr) => {
        with_type!($n % 8, $S => $run;
            0 Tag, 1 Four, 2 (Byte, Four), 3 (Twelve, Tag), 4 Big, 5 ((), ()),
            6 (Tag, Byte, Four, Twelve, Big), 7 Byte)
    };
}

#[derive(Clone, Debug)]
enum Op {
    Spawn {
        shape: u8,
        n: u32,
    },
    Batch {
        shape: u8,
        rows: u32,
    },
    Insert {
        which: usize,
        shape: u8,
        n: u32,
    },
    Remove {
        which: usize,
        shape: u8,
    },
    Exchange {
        which: usize,
        removed: u8,
        added: u8,
        n: u32,
    },
    Link {
        which: usize,
        to: usize,
    },
    /// A change of `Byte` and `Four` by their names: a removal for some numbers.
    Named {
        which: usize,
        n: u32,
    },
    SpawnNamed {
        n: u32,
    },
    Despawn {
        which: usize,
    },
    InsertWhere {
        shape: u8,
        n: u32,
    },
    RemoveWhere {
        shape: u8,
    },
    DespawnWhere {
        kind: u8,
    },
    Run {
        kind: u8,
        n: u32,
    },
    /// The following commands are recorded by writers of this many chunks, with this many commands
    /// each.
    Parallel {
        chunks: usize,
        each: usize,
    },
}

fn op() -> impl Strategy<Value = Op> {
    let (which, shape, n) = (any::<usize>, || 0u8..8, any::<u32>);
    prop_oneof![
        6 => (shape(), n()).prop_map(|(shape, n)| Op::Spawn { shape, n }),
        1 => (shape(), 0u32..40).prop_map(|(shape, rows)| Op::Batch { shape, rows }),
        14 => (which(), shape(), n()).prop_map(|(which, shape, n)| Op::Insert { which, shape, n }),
        9 => (which(), shape()).prop_map(|(which, shape)| Op::Remove { which, shape }),
        5 => (which(), shape(), shape(), n())
            .prop_map(|(which, removed, added, n)| Op::Exchange { which, removed, added, n }),
        4 => (which(), which()).prop_map(|(which, to)| Op::Link { which, to }),
        4 => (which(), n()).prop_map(|(which, n)| Op::Named { which, n }),
        1 => n().prop_map(|n| Op::SpawnNamed { n }),
        5 => which().prop_map(|which| Op::Despawn { which }),
        1 => (shape(), n()).prop_map(|(shape, n)| Op::InsertWhere { shape, n }),
        1 => shape().prop_map(|shape| Op::RemoveWhere { shape }),
        1 => (0u8..2).prop_map(|kind| Op::DespawnWhere { kind }),
        2 => (0u8..3, n()).prop_map(|(kind, n)| Op::Run { kind, n }),
        1 => (1usize..5, 0usize..8).prop_map(|(chunks, each)| Op::Parallel { chunks, each }),
    ]
}

/// The change of a closure, in either world.
fn run(world: &mut World, kind: u8, n: u32) {
    match kind {
        0 => {
            for four in world.query_mut::<&mut Four>().rows() {
                four.0 = four.0.rotate_left(n % 32) ^ n;
            }
        }
        1 => {
            let rows = world.query::<(Entity, &Serial)>().rows();
            let some: Vec<_> = rows.filter(|(_, s)| s.0 % 7 == n % 7).map(|(e, _)| e).collect();
            some.into_iter().for_each(|entity| world.despawn(entity).expect("alive"));
        }
        _ => {
            let rows = world.query::<(Entity, &Serial)>().without::<Big>().rows();
            let some: Vec<_> = rows.filter(|(_, s)| s.0 % 5 == n % 5).map(|(e, _)| e).collect();
            for entity in some {
                world.insert(entity, (Byte::make(n), Twelve::make(n))).expect("it fits");
            }
        }
    }
}

/// A world, and the ids that serial numbers have in it.
struct Side {
    world: World,
    ids: BTreeMap<u32, Entity>,
}

/// All possible components of an entity.
type All = (
    &'static Serial,
    Option<&'static Tag>,
    Option<&'static Byte>,
    Option<&'static Four>,
    Option<&'static Twelve>,
    Option<&'static Big>,
    Option<&'static Link>,
);

/// All components of an entity, with links as serial numbers.
type Row = (bool, Option<Byte>, Option<Four>, Option<Twelve>, Option<u32>, Option<Option<u32>>);

impl Side {
    fn new(size: ChunkSize) -> Self {
        let builder = World::builder().chunk_size(size).extent_chunks_max(extent_chunks_max());
        let mut world = builder.build();
        world.register::<(Serial, Byte, Four)>();
        Self { world, ids: BTreeMap::new() }
    }

    /// Records the ids that playback has given.
    fn learn(&mut self) {
        for (entity, serial) in self.world.query::<(Entity, &Serial)>().rows() {
            self.ids.insert(serial.0, entity);
        }
    }

    fn rows(&self) -> BTreeMap<u32, Row> {
        let serials: BTreeMap<_, _> = self.ids.iter().map(|(&s, &e)| (e, s)).collect();
        let query = self.world.query::<All>();
        let row = |(serial, tag, byte, four, twelve, big, link): <All as Terms>::Row<'_>| {
            let big = big.map(|big| {
                assert!(big.0.iter().all(|&n| n == big.0[0]), "written whole");
                big.0[0]
            });
            let link = link.map(|link| serials.get(&link.0).copied());
            (serial.0, (tag.is_some(), byte.copied(), four.copied(), twelve.copied(), big, link))
        };
        query.rows().map(row).collect()
    }
}

/// The two worlds, and the history of their changes.
struct Pair {
    merged: Side,
    buffer: CommandBuffer,
    single: Side,
    /// Serial numbers that commands may name: all except the ones that wait for an id.
    named: Vec<u32>,
    next: u32,
    /// Serial numbers of changes that found their entity dead when made one by one.
    dead: Vec<u32>,
}

impl Pair {
    fn new(size: ChunkSize, ids: u32) -> Self {
        let (mut merged, single) = (Side::new(size), Side::new(size));
        let buffer = merged.world.command_buffer(ids).expect("a new world");
        Self { merged, buffer, single, named: Vec::new(), next: 0, dead: Vec::new() }
    }

    fn serial(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn pick(&self, which: usize) -> Option<u32> {
        (!self.named.is_empty()).then(|| self.named[which % self.named.len()])
    }

    /// The ids of one serial number, in both worlds.
    fn ids(&self, serial: u32) -> (Entity, Entity) {
        (self.merged.ids[&serial], self.single.ids[&serial])
    }

    /// Does a change one by one, if the entity lives.
    fn change(&mut self, serial: u32, change: impl FnOnce(&mut World, Entity)) {
        let entity = self.single.ids[&serial];
        match self.single.world.contains(entity) {
            true => change(&mut self.single.world, entity),
            false => self.dead.push(serial),
        }
    }

    fn spawned_singly<S: Shape>(&mut self, n: u32) -> u32 {
        let serial = self.serial();
        let entity = self.single.world.spawn((S::make(n), Serial(serial)));
        self.single.ids.insert(serial, entity);
        serial
    }

    fn op(&mut self, op: &Op) {
        match *op {
            Op::Spawn { shape, n } => with_shape!(shape, S => {
                let serial = self.spawned_singly::<S>(n);
                // Sometimes without an id in advance.
                match self.buffer.try_spawn((S::make(n), Serial(serial))) {
                    Ok(entity) => {
                        self.merged.ids.insert(serial, entity);
                        self.named.push(serial);
                    }
                    Err(_) => self.buffer.spawn_batch([(Serial(serial), S::make(n))]),
                }
            }),
            Op::Batch { shape, rows } => with_shape!(shape, S => {
                let serials: Vec<_> = (0..rows).map(|n| self.spawned_singly::<S>(n)).collect();
                let row = |(n, serial)| (S::make(n), Serial(serial));
                self.buffer.spawn_batch((0..).zip(serials).map(row));
            }),
            Op::SpawnNamed { n } => self.spawn_named(n),
            Op::Insert { .. }
            | Op::Remove { .. }
            | Op::Exchange { .. }
            | Op::Link { .. }
            | Op::Named { .. }
            | Op::Despawn { .. } => {
                self.on_entity(op, None);
            }
            Op::InsertWhere { shape, n } => with_shape!(shape, S => {
                self.buffer.insert_where::<&Four, Without<Byte>, S>(S::make(n));
                let query = self.single.world.query::<(Entity, &Four)>().without::<Byte>();
                let matches: Vec<_> = query.rows().map(|(entity, _)| entity).collect();
                for entity in matches {
                    self.single.world.insert(entity, S::make(n)).expect("it fits");
                }
            }),
            Op::RemoveWhere { shape } => with_shape!(shape, S => {
                self.buffer.remove_where::<&Four, (), S>();
                let query = self.single.world.query::<(Entity, &Four)>();
                let matches: Vec<_> = query.rows().map(|(entity, _)| entity).collect();
                matches.into_iter().for_each(|entity| S::take(&mut self.single.world, entity));
            }),
            Op::DespawnWhere { kind } => {
                match kind {
                    0 => self.buffer.despawn_where::<(&Tag, &Big), ()>(),
                    _ => self.buffer.despawn_where::<Entity, AnyOf<(Big,)>>(),
                }
                let query = self.single.world.query::<(Entity, &Big, Option<&Tag>)>();
                let hit = |&(_, _, tag): &(_, _, Option<_>)| kind > 0 || tag.is_some();
                let matches: Vec<_> = query.rows().filter(hit).map(|(entity, ..)| entity).collect();
                for entity in matches {
                    self.single.world.despawn(entity).expect("alive");
                }
            }
            Op::Run { kind, n } => {
                self.buffer.run(move |world| run(world, kind, n));
                run(&mut self.single.world, kind, n);
            }
            Op::Parallel { .. } => {}
        }
    }

    fn spawn_named(&mut self, n: u32) {
        let serial = self.spawned_singly::<(Byte, Four)>(n);
        let (bytes, number) = (n.to_ne_bytes(), serial.to_ne_bytes());
        let byte = [Byte::make(n).0];
        let values = [(Four::NAME, &bytes[..]), (Byte::NAME, &byte), (Serial::NAME, &number)];
        match self.buffer.spawn_named(values) {
            Ok(entity) => {
                self.merged.ids.insert(serial, entity);
                self.named.push(serial);
            }
            Err(_) => {
                self.buffer.spawn_batch([(<(Byte, Four)>::make(n), Serial(serial))]);
            }
        }
    }

    /// A command on one entity, recorded in the buffer or by one of its writers.
    fn on_entity(&mut self, op: &Op, writer: Option<&mut phalanx::command::CommandWriter>) {
        macro_rules! record {
            ($method:ident $(::<$($T:ty),*>)? ($($argument:expr),*)) => {
                match writer {
                    Some(writer) => writer.$method$(::<$($T),*>)?($($argument),*),
                    None => self.buffer.$method$(::<$($T),*>)?($($argument),*),
                }
            };
        }
        let (Op::Insert { which, .. }
        | Op::Remove { which, .. }
        | Op::Exchange { which, .. }
        | Op::Link { which, .. }
        | Op::Named { which, .. }
        | Op::Despawn { which }) = *op
        else {
            return;
        };
        let Some(serial) = self.pick(which) else { return };
        let entity = self.merged.ids[&serial];
        match *op {
            Op::Insert { shape, n, .. } => with_shape!(shape, S => {
                record!(insert(entity, S::make(n)));
                self.change(serial, |w, e| w.insert(e, S::make(n)).expect("it fits"));
            }),
            Op::Remove { shape, .. } => with_shape!(shape, S => {
                record!(remove::<S>(entity));
                self.change(serial, S::take);
            }),
            Op::Exchange { removed, added, n, .. } => with_shape!(removed, R => {
                with_shape!(added, A => {
                    record!(exchange::<R, A>(entity, A::make(n)));
                    self.change(serial, |w, e| {
                        R::take(w, e);
                        w.insert(e, A::make(n)).expect("it fits");
                    });
                });
            }),
            Op::Link { to, .. } => {
                let (to, single) = self.ids(self.pick(to).expect("there is one"));
                record!(insert(entity, Link(to)));
                self.change(serial, |w, e| w.insert(e, Link(single)).expect("it fits"));
            }
            Op::Named { n, .. } if n % 3 == 0 => {
                record!(remove_named(entity, [Byte::NAME, Four::NAME]));
                self.change(serial, <(Byte, Four)>::take);
            }
            Op::Named { n, .. } => {
                let (bytes, byte) = (n.to_ne_bytes(), [Byte::make(n).0]);
                record!(insert_named(entity, [(Four::NAME, &bytes[..]), (Byte::NAME, &byte)]));
                self.change(serial, |w, e| w.insert(e, <(Byte, Four)>::make(n)).expect("it fits"));
            }
            _ => {
                record!(despawn(entity));
                let _ = self.single.world.despawn(self.single.ids[&serial]);
            }
        }
    }

    /// Commands that writers record, `each` of them for every chunk.
    fn parallel(&mut self, ops: &[Op], chunks: usize, each: usize) {
        // A writer borrows the buffer, and with it the pair: both are replaced meanwhile.
        let ids = self.merged.world.command_buffer(0).expect("none");
        let mut buffer = std::mem::replace(&mut self.buffer, ids);
        let mut writers = buffer.par_writers(chunks);
        for (writer, ops) in writers.iter_mut().zip(ops.chunks(each.max(1))) {
            for op in ops {
                match *op {
                    Op::Spawn { shape, n } => with_shape!(shape, S => {
                        let serial = self.spawned_singly::<S>(n);
                        writer.spawn((Serial(serial), S::make(n)));
                    }),
                    _ => self.on_entity(op, Some(&mut *writer)),
                }
            }
        }
        drop(writers);
        self.buffer = buffer;
    }

    /// Plays the buffer back and compares.
    fn play(&mut self) {
        let mut dead = Vec::new();
        match self.merged.world.apply(&mut self.buffer) {
            Ok(_) => {}
            Err(ApplyError::Commands(errors)) => {
                let serials: BTreeMap<_, _> =
                    self.merged.ids.iter().map(|(&s, &e)| (e, s)).collect();
                for error in errors {
                    assert!(matches!(error.fault, CommandErrorKind::NoSuchEntity(_)), "{error}");
                    dead.push(serials[&error.entity]);
                }
            }
            Err(error) => panic!("{error}"),
        }
        sound(&self.merged.world);
        self.merged.learn();
        assert_eq!(self.merged.rows(), self.single.rows());
        assert_eq!(dead, std::mem::take(&mut self.dead));
        self.named = self.merged.ids.keys().copied().collect();
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { effort(25) },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_buffer_does_what_its_commands_do_one_by_one(
        rounds in prop::collection::vec(
            prop::collection::vec(op(), 0..if cfg!(miri) { 20 } else { 120 }),
            1..5,
        ),
        ids in prop_oneof![Just(200u32), 0u32..20],
        large in any::<bool>(),
    ) {
        let size = if large { ChunkSize::KIB_256 } else { ChunkSize::KIB_4 };
        let mut pair = Pair::new(size, ids);
        for ops in rounds {
            let mut rest = &ops[..];
            while let Some((op, behind)) = rest.split_first() {
                rest = behind;
                if let Op::Parallel { chunks, each } = *op {
                    let (inner, behind) = rest.split_at(rest.len().min(chunks * each));
                    pair.parallel(inner, chunks, each);
                    rest = behind;
                } else {
                    pair.op(op);
                }
            }
            pair.play();
        }
    }
}
