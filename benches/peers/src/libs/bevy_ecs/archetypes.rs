use super::*;
use crate::cached::{self, Queries};

pub(crate) fn new_archetypes(h: &mut Harness, archetypes: usize) {
    let add = |w: &mut World, e: Entity| {
        w.entity_mut(e).insert(New);
    };
    cached::new_archetypes(h, || iterate::tagged(archetypes, |_| 1.0), queries, add);
}

fn queries(w: &mut World) -> Queries<World> {
    let mut all = Queries::<World>::new();
    macro_rules! add {
        ($a:ident $b:ident) => {
            let mut both = w.query_filtered::<&Data, (With<$a>, With<$b>)>();
            all.push(Box::new(move |w, ask| ask.of(both.iter(w))));
            let mut one = w.query_filtered::<&Data, (With<$a>, Without<$b>)>();
            all.push(Box::new(move |w, ask| ask.of(one.iter(w))));
        };
    }
    for_pairs!(add);
    all
}
