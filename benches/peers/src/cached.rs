//! `new_archetypes`: archetypes made in a world that has thousands of them, beside cached queries.
//!
//! Some libraries test a new archetype against every cached query at once, others at the next use
//! of a query. An iteration therefore does both: an entity in each of a hundred archetypes gets one
//! more tag, which moves it to a new archetype, and afterwards every query is asked for its first
//! row.

use crate::data::{CACHED_QUERIES, NEW_ARCHETYPES};
use crate::harness::Harness;
use crate::outcome::Outcome;

/// The question to a cached query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ask {
    /// Whether it has a row.
    First,
    /// The number of its rows.
    All,
}

impl Ask {
    /// The answer, from the rows.
    pub(crate) fn of<T>(self, mut rows: impl Iterator<Item = T>) -> usize {
        match self {
            Self::First => usize::from(rows.next().is_some()),
            Self::All => rows.count(),
        }
    }
}

/// The cached queries of a world, as one question to all of them: the sum of their answers.
pub(crate) type Queries<W> = Vec<Box<dyn FnMut(&mut W, Ask) -> usize>>;

fn ask<W>(queries: &mut Queries<W>, world: &mut W, what: Ask) -> usize {
    queries.iter_mut().map(|query| query(world, what)).sum()
}

/// Runs the workload: `tagged` makes the world and its entities, `cache` its queries, `add` gives
/// an entity the new tag.
pub(crate) fn new_archetypes<W, E: Copy>(
    h: &mut Harness,
    tagged: impl Fn() -> (W, Vec<E>),
    cache: impl Fn(&mut W) -> Queries<W>,
    add: impl Fn(&mut W, E),
) {
    let setup = || {
        let (mut world, entities) = tagged();
        let mut queries = cache(&mut world);
        assert_eq!(ask(&mut queries, &mut world, Ask::First), CACHED_QUERIES, "all are cached");
        (queries, world, entities)
    };
    let work = |(mut queries, mut world, entities): (Queries<W>, W, Vec<E>)| {
        for &entity in &entities[..NEW_ARCHETYPES] {
            add(&mut world, entity);
        }
        assert_eq!(ask(&mut queries, &mut world, Ask::First), CACHED_QUERIES, "all are asked");
        // Queries first: queries of flecs must be dropped before their world.
        (queries, world)
    };
    h.run_fresh("", setup, work, |(queries, world)| {
        let (mut world, mut queries) = (world, queries);
        Outcome::Count(ask(&mut queries, &mut world, Ask::All))
    });
}
