use super::*;

pub(crate) fn instantiate(h: &mut Harness, n: usize) {
    let setup = || {
        let mut w = World::new();
        let prototype = w.spawn(row(PROTOTYPE));
        (w, prototype)
    };
    let work = |(mut w, prototype): (World, Entity)| {
        w.instantiate(prototype, n).expect("room");
        w
    };
    h.run_fresh("", setup, work, insert::rows);
}
