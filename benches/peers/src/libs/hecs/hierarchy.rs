use super::*;
use crate::hierarchy::{Forest, hierarchy, nodes};

nodes! { [] }

/// A prepared view of both components.
pub(crate) fn propagate(h: &mut Harness, n: usize) {
    let mut w = World::new();
    let e: Vec<Entity> =
        w.spawn_batch((0..n).map(|i| (Offset::of(i), Place::new([0.0; 3])))).collect();
    hierarchy(
        h,
        "prepared view",
        (w, PreparedQuery::<(&mut Offset, &mut Place)>::new(), Forest::of(&e)),
        |(w, q, forest)| {
            let mut nodes = q.view_mut(w);
            for &root in &forest.roots {
                let (offset, place) = nodes.get_mut(root).expect("alive");
                *place = offset.shift();
            }
            for link in &forest.links {
                let above = *nodes.get_mut(link.parent).expect("alive").1;
                let (offset, place) = nodes.get_mut(link.child).expect("alive");
                *place = above.plus(offset);
            }
        },
        |(w, ..)| e.iter().map(|&e| w.get::<&Place>(e).expect("alive").numbers()).collect(),
    );
}
