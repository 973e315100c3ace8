use super::*;
use shipyard::sparse_set::SparseSet;

/// Components can be cloned to an entity of another world.
pub(crate) fn instantiate(h: &mut Harness, n: usize) {
    let setup = || {
        let mut source = World::new();
        source.register_clone::<(
            SparseSet<Transform>,
            SparseSet<Position>,
            SparseSet<Rotation>,
            SparseSet<Velocity>,
        )>();
        let prototype = source.add_entity(full(PROTOTYPE));
        let mut w = World::new();
        w.add_entity(full(PROTOTYPE));
        (source, prototype, w)
    };
    let work = |(source, prototype, mut w): (World, EntityId, World)| {
        for _ in 0..n {
            let copy = w.add_entity(());
            source.clone_components_to(&mut w, prototype, copy);
        }
        (w, source)
    };
    h.run_fresh("clone_components_to", setup, work, |(w, _)| insert::rows(w));
}
