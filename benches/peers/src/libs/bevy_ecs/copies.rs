use super::*;

pub(crate) fn instantiate(h: &mut Harness, n: usize) {
    let setup = || {
        let mut w = World::new();
        let prototype = w.spawn(full(PROTOTYPE)).id();
        (w, prototype)
    };
    let work = |(mut w, prototype): (World, Entity)| {
        let mut entity = w.entity_mut(prototype);
        for _ in 0..n {
            entity.clone_and_spawn();
        }
        w
    };
    h.run_fresh("clone_and_spawn", setup, work, insert::rows);
}
