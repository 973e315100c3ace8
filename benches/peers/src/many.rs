//! `query_many`: queries over few rows each, so that most of the time is their start.
//!
//! There are 50 queries, one for each pair of `for_pairs`. Each matches two archetypes, with and
//! without the tag `New`, and adds 1 to the data of its 40 rows. An iteration makes all of them
//! twenty times.

use crate::data::MANY_QUERIES_ROWS;
use crate::harness::Harness;
use crate::outcome::Outcome;

const PASSES: usize = 20;
pub(crate) const QUERIES: usize = 50;
/// Starts of a query in an iteration.
pub(crate) const STARTS: usize = PASSES * QUERIES;

/// The queries of a world; one function may make several.
pub(crate) type Queries<W> = Vec<Box<dyn FnMut(&mut W)>>;

/// Runs the workload; `data` returns the values of all entities, in any order.
pub(crate) fn query_many<W>(
    h: &mut Harness,
    variant: &str,
    (world, queries): (W, Queries<W>),
    mut data: impl FnMut(&mut W) -> Vec<f32>,
) {
    h.run(
        variant,
        // Queries first: some must be dropped before their world.
        (queries, world),
        |(queries, world)| {
            for _ in 0..PASSES {
                queries.iter_mut().for_each(|query| query(world));
            }
        },
        |(_, world)| outcome(data(world)),
    );
}

fn outcome(mut data: Vec<f32>) -> Outcome {
    data.sort_unstable_by(f32::total_cmp);
    Outcome::floats(data)
}

/// The outcome after a number of iterations. The rows of an archetype begin with different values.
pub(crate) fn expected(steps: u64) -> Outcome {
    let added = (steps * PASSES as u64) as f32;
    let rows = (0..2 * QUERIES).flat_map(|_| 0..MANY_QUERIES_ROWS);
    outcome(rows.map(|row| row as f32 + added).collect())
}
