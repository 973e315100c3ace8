use super::*;

pub(crate) fn instantiate(h: &mut Harness, n: usize) {
    let setup = || {
        let w = fresh();
        let prototype = set_full(w.entity()).id();
        (w, prototype)
    };
    let work = |(w, prototype): (World, Entity)| {
        for _ in 0..n {
            w.entity_from_id(prototype).duplicate(true);
        }
        w
    };
    h.run_fresh("duplicate", setup, work, insert::rows);
    // A prefab is no row of a query: its first instance stands for it.
    let setup = || {
        let w = fresh();
        let prefab = set_full(w.prefab()).id();
        w.entity().is_a(prefab);
        (w, prefab)
    };
    let work = |(w, prefab): (World, Entity)| {
        for _ in 0..n {
            w.entity().is_a(prefab);
        }
        w
    };
    h.run_fresh("prefab", setup, work, insert::rows);
}

fn set_full(entity: EntityView<'_>) -> EntityView<'_> {
    entity
        .set(Position::new(pos0(PROTOTYPE)))
        .set(Rotation::new([0.0; 3]))
        .set(Velocity::new(vel0(PROTOTYPE)))
        .set(Transform([1.0; 16]))
}
