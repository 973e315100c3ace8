use super::*;
use crate::hierarchy::{Forest, hierarchy, nodes};

nodes! { [] }

pub(crate) fn propagate(h: &mut Harness, n: usize) {
    let mut w = World::default();
    let rows: Vec<_> = (0..n).map(|i| (Offset::of(i), Place::new([0.0; 3]))).collect();
    let e = w.extend(rows).to_vec();
    hierarchy(
        h,
        "Query::get_mut",
        (w, <(Write<Offset>, Write<Place>)>::query(), Forest::of(&e)),
        |(w, q, forest)| {
            for &root in &forest.roots {
                let (offset, place) = q.get_mut(w, root).expect("alive");
                *place = offset.shift();
            }
            for link in &forest.links {
                let above = *q.get_mut(w, link.parent).expect("alive").1;
                let (offset, place) = q.get_mut(w, link.child).expect("alive");
                *place = above.plus(offset);
            }
        },
        |(w, ..)| {
            let mut q = <Read<Place>>::query();
            e.iter().map(|&e| q.get(w, e).expect("alive").numbers()).collect()
        },
    );
}
