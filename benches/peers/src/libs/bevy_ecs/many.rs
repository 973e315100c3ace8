use super::*;
use crate::many::{self, Queries};

/// Cached `QueryState`s.
pub(crate) fn query_many(h: &mut Harness, _: usize) {
    let mut w = World::new();
    let mut queries: Queries<World> = Vec::new();
    let data = || (0..MANY_QUERIES_ROWS).map(|i| Data(i as f32));
    macro_rules! add {
        ($a:ident $b:ident) => {
            w.spawn_batch(data().map(|data| (data, $a, $b)));
            w.spawn_batch(data().map(|data| (data, $a, $b, New)));
            let mut query = w.query_filtered::<&mut Data, (With<$a>, With<$b>)>();
            queries.push(Box::new(move |w| query.iter_mut(w).for_each(|mut data| data.0 += 1.0)));
        };
    }
    for_pairs!(add);
    many::query_many(h, "", (w, queries), |w| {
        let mut all = w.query::<&Data>();
        all.iter(w).map(|data| data.0).collect()
    });
}
