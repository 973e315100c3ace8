//! One number of one entity is counted up: the workload that `benches/README.md` shows how to add.

use phalanx::prelude::*;

use super::sides::{Workload, steady};
use super::world;

#[component]
struct Count(u32);

pub(crate) fn workloads() -> Vec<Workload> {
    let one_row = |chunk| {
        let mut world = world(chunk);
        let entity = world.spawn(Count(0));
        let pass = move |world: &mut World| world.get_mut::<Count>(entity).expect("alive").0 += 1;
        let proof = move |world: &mut World, passes: u64| {
            let count = world.get::<Count>(entity).expect("alive").0;
            assert_eq!(u64::from(count), passes, "one for each pass");
        };
        steady(world, pass, proof)
    };
    vec![Workload::new("one_row", 1, 1).phalanx("phalanx", one_row)]
}
