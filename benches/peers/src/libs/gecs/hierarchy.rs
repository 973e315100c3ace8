use super::*;
use crate::hierarchy::{Forest, hierarchy};

/// Offsets are in the positions of the archetype that the library's world has, places in its
/// velocities.
pub(crate) fn propagate(h: &mut Harness, n: usize) {
    let mut w = EcsWorld::default();
    let spawn = |i| w.create::<Body>((Position::new(pos0(i)), Velocity::new([0.0; 3])));
    let e: Vec<Entity<Body>> = (0..n).map(spawn).collect();
    hierarchy(
        h,
        "ecs_find",
        (w, Forest::of(&e)),
        |(w, forest)| {
            for &root in &forest.roots {
                ecs_find!(w, root, |offset: &mut Position, place: &mut Velocity| {
                    offset.x += 1.0;
                    *place = Velocity { x: offset.x, y: offset.y, z: offset.z };
                })
                .expect("alive");
            }
            for link in &forest.links {
                let above = ecs_find!(w, link.parent, |place: &Velocity| *place).expect("alive");
                ecs_find!(w, link.child, |offset: &Position, place: &mut Velocity| {
                    place.x = above.x + offset.x;
                    place.y = above.y + offset.y;
                    place.z = above.z + offset.z;
                })
                .expect("alive");
            }
        },
        |(w, _)| {
            let place = |e| ecs_find_borrow!(w, e, |p: &Velocity| [p.x, p.y, p.z]).expect("alive");
            e.iter().map(|&e| place(e)).collect()
        },
    );
}
