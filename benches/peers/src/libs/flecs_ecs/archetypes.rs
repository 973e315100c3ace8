use super::*;
use crate::cached::{self, Ask, Queries};

pub(crate) fn new_archetypes(h: &mut Harness, archetypes: usize) {
    let add = |w: &mut World, e: Entity| {
        w.entity_from_id(e).add(New::id());
    };
    cached::new_archetypes(h, || iterate::tagged(archetypes, |_| 1.0), queries, add);
}

fn queries(w: &mut World) -> Queries<World> {
    let mut all = Queries::<World>::new();
    macro_rules! add {
        ($a:ident $b:ident) => {
            let mut both = w.query::<&Data>().with($a::id()).with($b::id()).set_cached().build();
            all.push(Box::new(move |_, ask| answer(&mut both, ask)));
            let mut one = w.query::<&Data>().with($a::id()).without($b::id()).set_cached().build();
            all.push(Box::new(move |_, ask| answer(&mut one, ask)));
        };
    }
    for_pairs!(add);
    all
}

fn answer(query: &mut Query<&'static Data>, ask: Ask) -> usize {
    match ask {
        Ask::First => usize::from(query.is_true()),
        Ask::All => usize::try_from(query.count()).expect("not negative"),
    }
}
