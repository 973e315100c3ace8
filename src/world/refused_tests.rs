//! Calls that are refused leave the world unchanged.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytemuck::{Pod, Zeroable};

use super::world::World;
use crate::impl_component;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Known(u32);
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct New(u32);
impl_component!(Known as "Known", New as "New");

#[test]
#[cfg_attr(miri, ignore = "65,535 values")]
fn a_type_or_a_value_too_many_is_refused_and_leaves_version_and_hash() {
    // Each returns `true` if it succeeded.
    type Call = fn(&mut World) -> bool;
    let calls: [(&str, Call); 8] = [
        ("spawn", |world| world.try_spawn((Known(1), New(1))).is_ok()),
        ("spawn_batch", |world| world.try_spawn_batch([New(1)]).is_ok()),
        ("pass", |world| world.query_mut::<(&mut Known, &mut New)>().rows().count() > 0),
        ("filter", |world| world.query_mut::<&mut Known>().without::<New>().rows().count() > 0),
        ("change", |world| world.matching::<&Known>().insert(New(1)).is_ok()),
        ("flip", |world| world.flip::<Known>().is_ok()),
        ("shared", |world| world.matching::<&Known>().insert_shared(u64::MAX).is_ok()),
        ("type of shared", |world| world.matching::<&Known>().insert_shared("new").is_ok()),
    ];
    let mut world = World::new();
    world.spawn(Known(1));
    let registry = world.store.registry_mut();
    let share = |n: u64| catch_unwind(AssertUnwindSafe(|| registry.share(n))).ok();
    let owners: Vec<_> = (0..).map_while(share).collect();
    assert!(owners.len() > 65_000, "{} values", owners.len());
    let before = (world.version(), world.hash());
    for (name, call) in calls {
        let result = catch_unwind(AssertUnwindSafe(|| call(&mut world)));
        assert!(!result.unwrap_or(false), "{name} is not refused");
        assert_eq!((world.version(), world.hash()), before, "{name}");
    }
}
