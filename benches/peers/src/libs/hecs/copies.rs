use super::*;
use hecs::{BuiltEntityClone, EntityBuilderClone};

/// An entity cannot be copied, but a builder that is kept makes equal ones.
pub(crate) fn instantiate(h: &mut Harness, n: usize) {
    let setup = || {
        let (t, p, r, v) = full(PROTOTYPE);
        let mut builder = EntityBuilderClone::new();
        builder.add(t).add(p).add(r).add(v);
        let prototype = builder.build();
        let mut w = World::new();
        w.spawn(&prototype);
        (w, prototype)
    };
    let work = |(mut w, prototype): (World, BuiltEntityClone)| {
        for _ in 0..n {
            w.spawn(&prototype);
        }
        (w, prototype)
    };
    h.run_fresh("EntityBuilderClone", setup, work, |(w, _)| insert::rows(w));
}
