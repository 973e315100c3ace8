use super::*;
use crate::many::{self, Queries};

/// Chunks for a kernel, as the documentation shows first. `[rows]` has no call of a kernel.
pub(crate) fn query_many(h: &mut Harness, _: usize) {
    let data = |w: &mut World| w.query::<&Data>().rows().map(|data| data.0).collect();
    many::query_many(h, "", (populated(), by_chunks()), data);
    many::query_many(h, "rows", (populated(), by_rows()), data);
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

fn by_chunks() -> Queries<World> {
    let mut queries: Queries<World> = Vec::new();
    macro_rules! add {
        ($a:ident $b:ident) => {
            queries.push(Box::new(|w| {
                for data in w.query_mut::<&mut Data>().with::<$a>().with::<$b>() {
                    add_one(data);
                }
            }));
        };
    }
    for_pairs!(add);
    queries
}

#[kernel]
fn add_one(data: &mut [Data]) {
    data.iter_mut().for_each(|data| data.0 += 1.0);
}

fn by_rows() -> Queries<World> {
    let mut queries: Queries<World> = Vec::new();
    macro_rules! add {
        ($a:ident $b:ident) => {
            queries.push(Box::new(|w| {
                for data in w.query_mut::<&mut Data>().with::<$a>().with::<$b>().rows() {
                    data.0 += 1.0;
                }
            }));
        };
    }
    for_pairs!(add);
    queries
}
