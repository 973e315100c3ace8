use super::*;
use crate::many::{self, QUERIES, Queries};

/// Two columns for each query, in a list.
pub(crate) fn query_many(h: &mut Harness, _: usize) {
    type World = Vec<[Vec<f32>; 2]>;
    let column = || (0..MANY_QUERIES_ROWS).map(|i| i as f32).collect();
    let world: World = (0..QUERIES).map(|_| [column(), column()]).collect();
    let query = |number: usize| -> Box<dyn FnMut(&mut World)> {
        Box::new(move |world| {
            for column in &mut world[number] {
                column.iter_mut().for_each(|data| *data += 1.0);
            }
        })
    };
    let queries: Queries<World> = (0..QUERIES).map(query).collect();
    many::query_many(h, "", (world, queries), |world| {
        world.iter().flatten().flatten().copied().collect()
    });
}
