use super::*;
use crate::hierarchy::{Forest, Link, hierarchy, nodes};

nodes! { [#[derive(Component)]] }

/// A list of cached references outside of the tables; `[cascade]` is the library's own relation,
/// with a table for the children of each parent.
pub(crate) fn propagate(h: &mut Harness, n: usize) {
    let (w, e) = spawned(n);
    let w: &'static World = Box::leak(Box::new(w));
    let cached = |&e: &Entity| w.entity_from_id(e).cached_ref(Place::id());
    let places_of: Vec<CachedRef<'static, Place>> = e.iter().map(cached).collect();
    let cached = |&e: &Entity| w.entity_from_id(e).cached_ref(Offset::id());
    let offsets: Vec<CachedRef<'static, Offset>> = e.iter().map(cached).collect();
    let numbers: Vec<usize> = (0..n).collect();
    hierarchy(
        h,
        "cached_ref",
        (offsets, places_of, Forest::of(&numbers)),
        |(offsets, places, forest)| {
            for &root in &forest.roots {
                let shifted = offsets[root].get(Offset::shift);
                places[root].get(|place| *place = shifted);
            }
            for &Link { child, parent } in &forest.links {
                let above = places[parent].get(|place| *place);
                let place = offsets[child].get(|offset| above.plus(offset));
                places[child].get(|now| *now = place);
            }
        },
        |_| places(w, &e),
    );

    let (w, e) = spawned(n);
    let Forest { roots, links } = Forest::of(&e);
    for Link { child, parent } in links {
        w.entity_from_id(child).child_of(parent);
    }
    let nodes = w
        .query::<(&Offset, Option<&Place>, &mut Place)>()
        .term_at(1)
        .parent()
        .cascade()
        .set_cached()
        .build();
    hierarchy(
        h,
        "cascade",
        (nodes, w),
        |(nodes, w)| {
            for &root in &roots {
                w.entity_from_id(root).get::<&mut Offset>(|offset| _ = offset.shift());
            }
            nodes.each(|(offset, above, place)| {
                *place = above.copied().unwrap_or(Place::new([0.0; 3])).plus(offset);
            });
        },
        |(_, w)| places(w, &e),
    );
}

fn spawned(n: usize) -> (World, Vec<Entity>) {
    let w = World::new();
    let offsets: Vec<Offset> = (0..n).map(Offset::of).collect();
    let places = vec![Place::new([0.0; 3]); n];
    let e = w.entity_bulk(n as u32).set(&offsets).set(&places).build();
    (w, e)
}

fn places(w: &World, e: &[Entity]) -> Vec<[f32; 3]> {
    e.iter().map(|&e| w.entity_from_id(e).get::<&Place>(|place| place.numbers())).collect()
}
