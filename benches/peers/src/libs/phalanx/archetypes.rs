use super::*;
use crate::cached::{self, Queries};

pub(crate) fn new_archetypes(h: &mut Harness, archetypes: usize) {
    let add = |w: &mut World, e| w.insert(e, New).expect("alive");
    cached::new_archetypes(h, || iterate::tagged(archetypes, |_| 1.0), |_| queries(), add);
}

/// A world keeps its queries by their type, from the first time they are asked.
fn queries() -> Queries<World> {
    let mut all = Queries::<World>::new();
    macro_rules! add {
        ($a:ident $b:ident) => {
            all.push(Box::new(|w, ask| {
                ask.of(w.query::<&Data>().with::<$a>().with::<$b>().iter().flatten())
            }));
            all.push(Box::new(|w, ask| {
                ask.of(w.query::<&Data>().with::<$a>().without::<$b>().iter().flatten())
            }));
        };
    }
    for_pairs!(add);
    all
}
