use super::*;
use crate::hierarchy::{hierarchy, nodes, parents};

nodes! { [] }

/// Columns in the order of the levels, and a number for each parent.
pub(crate) fn propagate(h: &mut Harness, n: usize) {
    let offsets: Vec<Offset> = (0..n).map(Offset::of).collect();
    let parents: Vec<u32> = parents().into_iter().map(|parent| parent as u32).collect();
    hierarchy(
        h,
        "",
        (offsets, vec![Place::new([0.0; 3]); n], parents),
        |(offsets, places, parents)| {
            let roots = places.len() - parents.len();
            for (place, offset) in places[..roots].iter_mut().zip(&mut *offsets) {
                *place = offset.shift();
            }
            for (node, &parent) in (roots..).zip(&*parents) {
                places[node] = places[parent as usize].plus(&offsets[node]);
            }
        },
        |(_, places, _)| places.iter().map(|place| place.numbers()).collect(),
    );
}
