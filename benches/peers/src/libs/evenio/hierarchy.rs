use super::*;
use crate::hierarchy::{Forest, hierarchy, nodes};

nodes! { [#[derive(evenio::component::Component)]] }

/// A handler that has the list.
pub(crate) fn propagate(h: &mut Harness, n: usize) {
    let mut w = World::new();
    let spawn = |i| {
        let e = w.spawn();
        w.insert(e, Offset::of(i));
        w.insert(e, Place::new([0.0; 3]));
        e
    };
    let e: Vec<EntityId> = (0..n).map(spawn).collect();
    let forest = Forest::of(&e);
    w.add_handler(move |_: Receiver<Tick>, mut nodes: Fetcher<(&mut Offset, &mut Place)>| {
        for &root in &forest.roots {
            let (offset, place) = nodes.get_mut(root).expect("alive");
            *place = offset.shift();
        }
        for link in &forest.links {
            let above = *nodes.get_mut(link.parent).expect("alive").1;
            let (offset, place) = nodes.get_mut(link.child).expect("alive");
            *place = above.plus(offset);
        }
    });
    hierarchy(
        h,
        "Fetcher::get_mut",
        w,
        |w| w.send(Tick),
        |w| e.iter().map(|&e| w.get::<Place>(e).expect("alive").numbers()).collect(),
    );
}
