//! Wrong numbers: a request for more memory than a call may take is an error with the bytes.

use phalanx::error::{AllocAtError, ReserveError, SpawnError, TooMuchMemory};
use phalanx::prelude::*;

use crate::common::components::{Big, Four, Tag, sound};

const ALL: u32 = u32::MAX - 8;
const GIB: u64 = 1 << 30;

/// A world; refused calls must leave its state unchanged.
struct Untouched {
    world: World,
    hash: u64,
    bytes: usize,
}

impl Untouched {
    fn new(builder: phalanx::WorldBuilder) -> Self {
        let mut world = builder.build();
        world.spawn_batch((0..3).map(Four));
        world.spawn((Four(1), Big([1; 250])));
        world.spawn(Tag);
        let (hash, bytes) = (world.hash(), bytes(&world));
        Self { world, hash, bytes }
    }

    /// Whether the call was refused for its bytes and left the world unchanged.
    fn refuses(&mut self, call: impl FnOnce(&mut World) -> Option<TooMuchMemory>, least: u64) {
        let error = call(&mut self.world).expect("the call is refused for its memory");
        assert!(error.bytes >= least && error.bytes > error.bytes_max, "{error}");
        assert!(error.bytes <= least * 2, "{error}: more than twice {least}");
        assert!(error.to_string().contains(&error.bytes.to_string()), "{error}");
        assert_eq!(self.world.hash(), self.hash);
        assert!(bytes(&self.world) < self.bytes + (1 << 20), "{:?}", self.world.memory());
        sound(&self.world);
    }
}

/// The bytes held by a world.
fn bytes(world: &World) -> usize {
    let memory = world.memory();
    memory.slab_bytes + memory.bookkeeping_bytes
}

fn of_reserve<T>(result: Result<T, ReserveError>) -> Option<TooMuchMemory> {
    match result {
        Err(ReserveError::Memory(error)) => Some(error),
        _ => None,
    }
}

fn of_spawn<T>(result: Result<T, SpawnError>) -> Option<TooMuchMemory> {
    match result {
        Err(SpawnError::Memory(error)) => Some(error),
        _ => None,
    }
}

fn first(world: &World) -> Entity {
    world.query::<(Entity, &Big)>().copies().entities()[0]
}

#[test]
fn nearly_all_ids_at_once_are_refused_with_their_bytes() {
    let mut world = Untouched::new(World::builder());
    let all = u64::from(ALL);
    world.refuses(|world| of_reserve(world.reserve_entities(ALL).map(drop)), all * 20);
    world.refuses(|world| of_reserve(world.memory_mut().grow_indices(ALL)), (all - 5) * 16);
    world.refuses(|world| of_reserve(world.command_buffer(ALL).map(drop)), all * 20);
    world.refuses(|world| of_spawn(world.reserve::<Four>(ALL as usize)), (all - 4096) * 24);
    world.refuses(|world| of_spawn(world.reserve::<Tag>(ALL as usize)), all * 20);
    world.refuses(|world| of_spawn(world.reserve::<(Big, Four)>(1 << 25)), (1 << 25) * 1024);
    let copies = |world: &mut World| match world.instantiate(first(world), 1 << 25) {
        Err(SpawnError::Memory(error)) => Some(error),
        _ => None,
    };
    world.refuses(copies, (1 << 25) * 1024);
    // A static array of tags takes no memory, and no time to fill.
    static TAGS: [Tag; ALL as usize] = [Tag; ALL as usize];
    let columns = |world: &mut World| match world.spawn_columns((&TAGS[..],)).map(drop) {
        Err(SpawnError::Memory(error)) => Some(error),
        _ => None,
    };
    world.refuses(columns, all * 20);
}

#[test]
fn a_smaller_limit_refuses_smaller_requests() {
    let limit = || Untouched::new(World::builder().request_bytes_max(100_000));
    let mut world = limit();
    world.refuses(|world| of_reserve(world.reserve_entities(5_001).map(drop)), 5_001 * 20);
    world.refuses(|world| of_reserve(world.memory_mut().grow_indices(6_256)), 6_251 * 16);
    world.refuses(|world| of_reserve(world.command_buffer(5_001).map(drop)), 5_001 * 20);
    world.refuses(|world| of_spawn(world.reserve::<Four>(5_000)), 5_000 * 20);
    let batch = |world: &mut World| of_spawn(world.try_spawn_batch((0..).map(Four)).map(drop));
    world.refuses(batch, 100_000);
    let par = |world: &mut World| {
        let mut buffer = world.command_buffer(0).expect("no ids");
        let error = buffer.try_par_writers(10_000).err();
        assert_eq!(buffer.try_par_writers(3).map(|writers| writers.len()), Ok(3));
        error
    };
    world.refuses(par, 10_000 * size_of::<phalanx::command::CommandWriter>() as u64);
    // A request of exactly the limit succeeds.
    assert!(limit().world.reserve_entities(5_000).is_ok());
    assert!(limit().world.command_buffer(5_000).is_ok());
    assert!(limit().world.memory_mut().grow_indices(6_255).is_ok());
    // Reservations that wait for the same change of the world count together.
    let reserved = limit().world;
    assert!(reserved.reserve_entities(3_000).is_ok());
    let error = of_reserve(reserved.reserve_entities(2_001).map(drop)).expect("refused");
    assert_eq!((error.bytes, error.bytes_max), (100_020, 100_000));
    assert!(reserved.reserve_entities(2_000).is_ok(), "nothing was taken");
}

#[test]
fn a_batch_in_a_command_buffer_is_refused_when_it_is_applied() {
    let mut world = World::builder().request_bytes_max(100_000).build();
    let mut buffer = world.command_buffer(0).expect("no ids");
    buffer.spawn_batch((0..10_000).map(Four));
    buffer.spawn_batch((0..10).map(Four));
    let errors = world.apply(&mut buffer).expect_err("too many").to_string();
    assert!(errors.contains("of memory and one call may take 100000"), "{errors}");
    assert_eq!(world.len(), 10, "what can be applied is");
    sound(&world);
}

#[test]
fn writers_beyond_all_memory_are_refused() {
    let mut world = World::new();
    let mut buffer = world.command_buffer(0).expect("no ids");
    buffer.spawn_batch([Tag; 3]);
    for writers in [1 << 30, usize::MAX / 2, usize::MAX] {
        let error = buffer.try_par_writers(writers).expect_err("refused");
        assert!(error.bytes >= 100 * GIB, "{error}");
    }
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        drop(buffer.par_writers(1 << 30));
    }));
    let panic = panic.expect_err("refused");
    let text = panic.downcast_ref::<String>().expect("a message");
    assert!(text.contains("command writers: the call would take"), "{text}");
    assert!(world.apply(&mut buffer).is_ok());
    assert_eq!(world.len(), 3, "what was recorded is applied");
}

#[test]
fn what_an_iterator_says_of_its_length_asks_for_nothing() {
    struct Liar(u32);
    impl Iterator for Liar {
        type Item = Four;
        fn next(&mut self) -> Option<Four> {
            self.0 = self.0.checked_sub(1)?;
            Some(Four(self.0))
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            (usize::MAX, Some(3))
        }
    }
    let mut world = World::new();
    assert_eq!(world.spawn_batch(Liar(5)).len(), 5);
    let mut buffer = world.command_buffer(0).expect("no ids");
    buffer.spawn_batch(Liar(7));
    assert!(world.apply(&mut buffer).is_ok());
    assert_eq!(world.len(), 12);
    assert!(world.memory().slab_bytes < 1 << 20);
}

#[test]
fn far_ids_one_after_the_other_are_refused_before_they_cost_much() {
    if cfg!(miri) {
        return; // A million slots.
    }
    let mut world = World::new();
    let steps = (1..4096u64).map(|i| Entity::from_bits(i << 52 | 1));
    let refused = steps.map(|id| world.spawn_at(id, Tag)).position(|result| {
        matches!(result, Err(SpawnError::Id(AllocAtError::GapTooWide { bytes, .. }))
            if bytes == 16 << 20 || bytes == (16 << 20) - 16)
    });
    assert_eq!(refused, Some(1), "at the second step");
    assert_eq!(world.len(), 1);
    assert!(world.memory().bookkeeping_bytes < 40 << 20, "{:?}", world.memory());
    sound(&world);
}
