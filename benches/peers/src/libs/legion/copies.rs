use super::*;
use legion::world::Duplicate;

/// An entity can be cloned into another world.
pub(crate) fn instantiate(h: &mut Harness, n: usize) {
    let setup = || {
        let mut source = World::default();
        let prototype = source.push(full(PROTOTYPE));
        let mut merger = Duplicate::new();
        merger.register_copy::<Transform>();
        merger.register_copy::<Position>();
        merger.register_copy::<Rotation>();
        merger.register_copy::<Velocity>();
        let mut w = World::default();
        w.push(full(PROTOTYPE));
        (source, prototype, merger, w)
    };
    let work = |(source, prototype, mut merger, mut w): (World, Entity, Duplicate, World)| {
        for _ in 0..n {
            w.clone_from_single(&source, prototype, &mut merger);
        }
        (w, source, merger)
    };
    h.run_fresh("clone_from_single", setup, work, |(w, ..)| insert::rows(w));
}
