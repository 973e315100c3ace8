use super::*;
use crate::many::{self, Queries};
use hecs::With;

/// Prepared queries; `[query_mut]`: unprepared.
pub(crate) fn query_many(h: &mut Harness, _: usize) {
    let data = |w: &mut World| w.query::<&Data>().iter().map(|data| data.0).collect();
    many::query_many(h, "", (populated(), prepared()), data);
    many::query_many(h, "query_mut", (populated(), unprepared()), data);
}

fn populated() -> World {
    let mut w = World::new();
    let data = || (0..MANY_QUERIES_ROWS).map(|i| Data(i as f32));
    macro_rules! add {
        ($a:ident $b:ident) => {
            w.spawn_batch(data().map(|data| (data, $a, $b)));
            w.spawn_batch(data().map(|data| (data, $a, $b, New)));
        };
    }
    for_pairs!(add);
    w
}

fn prepared() -> Queries<World> {
    let mut queries: Queries<World> = Vec::new();
    macro_rules! add {
        ($a:ident $b:ident) => {
            let mut query = PreparedQuery::<With<&mut Data, (&$a, &$b)>>::new();
            queries.push(Box::new(move |w| query.query_mut(w).for_each(|data| data.0 += 1.0)));
        };
    }
    for_pairs!(add);
    queries
}

fn unprepared() -> Queries<World> {
    let mut queries: Queries<World> = Vec::new();
    macro_rules! add {
        ($a:ident $b:ident) => {
            queries.push(Box::new(|w| {
                let query = w.query_mut::<With<&mut Data, (&$a, &$b)>>();
                query.into_iter().for_each(|data| data.0 += 1.0);
            }));
        };
    }
    for_pairs!(add);
    queries
}
