use super::*;
use crate::hierarchy::{Forest, hierarchy, nodes};

nodes! { [#[derive(shipyard::Component)]] }

pub(crate) fn propagate(h: &mut Harness, n: usize) {
    let mut w = World::new();
    let e: Vec<EntityId> =
        w.bulk_add_entity((0..n).map(|i| (Offset::of(i), Place::new([0.0; 3])))).collect();
    hierarchy(
        h,
        "views",
        (w, Forest::of(&e)),
        |(w, forest)| {
            w.run(|mut offsets: ViewMut<Offset>, mut places: ViewMut<Place>| {
                for &root in &forest.roots {
                    let place = (&mut offsets).get(root).expect("alive").shift();
                    *(&mut places).get(root).expect("alive") = place;
                }
                for link in &forest.links {
                    let above = *(&places).get(link.parent).expect("alive");
                    let offset = (&offsets).get(link.child).expect("alive");
                    *(&mut places).get(link.child).expect("alive") = above.plus(offset);
                }
            });
        },
        |(w, _)| w.run(|places: View<Place>| e.iter().map(|&e| places[e].numbers()).collect()),
    );
}
