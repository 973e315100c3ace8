use super::*;
use crate::cached::{self, Queries};
use legion::component;

pub(crate) fn new_archetypes(h: &mut Harness, archetypes: usize) {
    let add = |w: &mut World, e| w.entry(e).expect("alive").add_component(New);
    cached::new_archetypes(h, || iterate::tagged(archetypes, |_| 1.0), |_| queries(), add);
}

fn queries() -> Queries<World> {
    let mut all = Queries::<World>::new();
    macro_rules! add {
        ($a:ident $b:ident) => {
            let mut both = <Read<Data>>::query().filter(component::<$a>() & component::<$b>());
            all.push(Box::new(move |w, ask| ask.of(both.iter(&*w))));
            let mut one = <Read<Data>>::query().filter(component::<$a>() & !component::<$b>());
            all.push(Box::new(move |w, ask| ask.of(one.iter(&*w))));
        };
    }
    for_pairs!(add);
    all
}
