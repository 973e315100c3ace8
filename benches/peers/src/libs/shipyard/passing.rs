use super::*;
use crate::passing::{Groups, passing};

pub(crate) fn toggle(h: &mut Harness, n: usize) {
    passing(
        h,
        "",
        Groups::Halves,
        spawned(n),
        |w, passed| {
            w.run(|entities: EntitiesView, mut tags: ViewMut<New>| {
                passed.to.iter().for_each(|&e| entities.add_component(e, &mut tags, New));
                passed.from.iter().for_each(|&e| _ = tags.delete(e));
            });
        },
        |w, e| (x(w, e), w.get::<&New>(e).is_ok().then_some(0.0)),
        |w| w.run(|tags: View<New>| tags.iter().count()),
    );
}

pub(crate) fn sparse(h: &mut Harness, n: usize) {
    passing(
        h,
        "",
        Groups::Random,
        spawned(n),
        |w, passed| {
            w.run(|entities: EntitiesView, mut data: ViewMut<Data>| {
                for &e in passed.to {
                    entities.add_component(e, &mut data, Data(passed.value));
                }
                passed.from.iter().for_each(|&e| _ = data.delete(e));
            });
        },
        |w, e| (x(w, e), w.get::<&Data>(e).ok().map(|data| data.0)),
        |w| w.run(|data: View<Data>| data.iter().count()),
    );
}

fn spawned(n: usize) -> (World, Vec<EntityId>) {
    let mut w = World::new();
    let e = w.bulk_add_entity((0..n).map(|i| Position::new(pos0(i)))).collect();
    (w, e)
}

fn x(w: &World, e: EntityId) -> f32 {
    w.get::<&Position>(e).expect("alive").x
}
