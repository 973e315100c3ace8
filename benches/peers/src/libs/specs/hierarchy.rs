use super::*;
use crate::hierarchy::{Forest, hierarchy, nodes};

nodes! { [] }
impl Component for Offset {
    type Storage = VecStorage<Self>;
}
impl Component for Place {
    type Storage = VecStorage<Self>;
}

pub(crate) fn propagate(h: &mut Harness, n: usize) {
    let mut w = World::new();
    w.register::<Offset>();
    w.register::<Place>();
    let spawn = |i| w.create_entity().with(Offset::of(i)).with(Place::new([0.0; 3])).build();
    let e: Vec<Entity> = (0..n).map(spawn).collect();
    hierarchy(
        h,
        "storages",
        (w, Forest::of(&e)),
        |(w, forest)| {
            let (mut offsets, mut places) =
                (w.write_storage::<Offset>(), w.write_storage::<Place>());
            for &root in &forest.roots {
                let place = offsets.get_mut(root).expect("alive").shift();
                *places.get_mut(root).expect("alive") = place;
            }
            for link in &forest.links {
                let above = *places.get(link.parent).expect("alive");
                let offset = offsets.get(link.child).expect("alive");
                *places.get_mut(link.child).expect("alive") = above.plus(offset);
            }
        },
        |(w, _)| {
            let places = w.read_storage::<Place>();
            e.iter().map(|&e| places.get(e).expect("alive").numbers()).collect()
        },
    );
}
