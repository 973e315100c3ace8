use super::*;
use crate::cached::{self, Queries};
use hecs::{With, Without};

pub(crate) fn new_archetypes(h: &mut Harness, archetypes: usize) {
    let add = |w: &mut World, e| w.insert_one(e, New).expect("alive");
    cached::new_archetypes(h, || iterate::tagged(archetypes, |_| 1.0), |_| queries(), add);
}

fn queries() -> Queries<World> {
    let mut all = Queries::<World>::new();
    macro_rules! add {
        ($a:ident $b:ident) => {
            let mut both = PreparedQuery::<With<&Data, (&$a, &$b)>>::new();
            all.push(Box::new(move |w, ask| ask.of(both.query_mut(w))));
            let mut one = PreparedQuery::<With<Without<&Data, &$b>, &$a>>::new();
            all.push(Box::new(move |w, ask| ask.of(one.query_mut(w))));
        };
    }
    for_pairs!(add);
    all
}
