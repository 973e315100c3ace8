//! Calls that are refused leave the world unchanged.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytemuck::{Pod, Zeroable};

use super::world::World;
use crate::component::{AnyComponent, InSet, SparseComponent};
use crate::entity::Entity;
use crate::impl_component;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Known(u32);
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct New(u32);
impl_component!(Known as "Known", New as "New");

/// A sparse cleanup component: its first value needs two numbers.
#[derive(Clone)]
struct Trace;

impl SparseComponent for Trace {
    const NAME: &'static str = "Trace";
    const CLEANUP: bool = true;
    type Logged = ();
    fn logged(&self) {}
}

impl AnyComponent for Trace {
    type Shape = InSet<Self>;
}

/// A call, which returns `true` if it succeeds.
type Call = fn(&mut World) -> bool;

/// A world with `left` numbers of components, and the owners of the others.
fn full_world(left: usize) -> (World, Vec<impl Sized>) {
    let mut world = World::new();
    world.spawn(Known(1));
    let registry = world.store.registry_mut();
    registry.register_shared::<u64>();
    let shared = registry.len() as u64..65_535 - left as u64;
    let owners = shared.map(|n| registry.share(n)).collect();
    assert_eq!(registry.len(), 65_535 - left, "each value has a number");
    (world, owners)
}

fn assert_each_is_refused(world: &mut World, calls: &[(&str, Call)]) {
    let state = |world: &World| {
        (world.version(), world.hash(), world.len(), world.store.archetypes().len())
    };
    let before = state(world);
    for (name, call) in calls {
        let result = catch_unwind(AssertUnwindSafe(|| call(world)));
        assert!(!result.unwrap_or(false), "{name} is not refused");
        assert_eq!(state(world), before, "{name}");
        assert_eq!(world.check(), Ok(()), "{name}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "65,535 values")]
fn a_type_or_a_value_too_many_is_refused_and_leaves_version_and_hash() {
    let calls: &[(&str, Call)] = &[
        ("spawn", |world| world.try_spawn((Known(1), New(1))).is_ok()),
        ("spawn_batch", |world| world.try_spawn_batch([New(1)]).is_ok()),
        ("pass", |world| world.query_mut::<(&mut Known, &mut New)>().rows().count() > 0),
        ("filter", |world| world.query_mut::<&mut Known>().without::<New>().rows().count() > 0),
        ("change", |world| world.matching::<&Known>().insert(New(1)).is_ok()),
        ("flip", |world| world.flip::<Known>().is_ok()),
        ("shared", |world| world.matching::<&Known>().insert_shared(u64::MAX).is_ok()),
        ("type of shared", |world| world.matching::<&Known>().insert_shared("new").is_ok()),
    ];
    assert_each_is_refused(&mut full_world(0).0, calls);
}

#[test]
#[cfg_attr(miri, ignore = "65,535 values")]
fn a_sparse_value_without_numbers_for_its_tags_is_refused_before_the_first_change() {
    let calls: &[(&str, Call)] = &[
        ("spawn", |world| world.try_spawn((New(1), Trace)).is_ok()),
        ("spawn_batch", |world| world.try_spawn_batch([(New(1), Trace)]).is_ok()),
        ("spawn_at", |world| world.spawn_at(free_id(world), (New(1), Trace)).is_ok()),
        ("change", |world| world.matching::<&Known>().insert((New(1), Trace)).is_ok()),
        ("insert", |world| world.insert(only(world), (New(1), Trace)).is_ok()),
        ("exchange", |world| {
            world.exchange::<Known, (New, Trace)>(only(world), (New(1), Trace)).is_ok()
        }),
    ];
    // With two left, the tags are registered, and `New` has no number.
    (0..3).for_each(|left| assert_each_is_refused(&mut full_world(left).0, calls));
    let calls: &[(&str, Call)] = &[
        ("spawn", |world| world.try_spawn(Trace).is_ok()),
        ("spawn with a column", |world| world.try_spawn((Known(1), Trace)).is_ok()),
        ("spawn_batch", |world| world.try_spawn_batch([(Known(1), Trace)]).is_ok()),
        ("spawn_at", |world| world.spawn_at(free_id(world), (Known(1), Trace)).is_ok()),
        ("change", |world| world.matching::<&Known>().insert(Trace).is_ok()),
        ("insert", |world| world.insert(only(world), Trace).is_ok()),
        ("insert with a column", |world| world.insert(only(world), (Known(2), Trace)).is_ok()),
        ("exchange", |world| world.exchange::<Known, Trace>(only(world), Trace).is_ok()),
    ];
    (0..2).for_each(|left| assert_each_is_refused(&mut full_world(left).0, calls));
    let (mut world, _owners) = full_world(0);
    assert_eq!(world.matching::<&Known>().remove::<Trace>(), 0, "a removal needs no number");
    let (mut world, _owners) = full_world(2);
    let entity = world.spawn((Known(1), Trace));
    assert!(world.has::<Trace>(entity));
}

fn only(world: &World) -> Entity {
    world.query::<Entity>().rows().next().expect("an entity has `Known`")
}

fn free_id(world: &World) -> Entity {
    Entity::from_bits(u64::from(only(world).index() + 1) << 32 | 1)
}
