//! A query seen without starting it: what its walk would visit, and what it would leave out.

use crate::archetype::Archetype;
use crate::component::Registry;
use crate::store::{Plan, Rule, Store};

use super::access::Access;
use super::filter::Filter;
use super::matched_chunks::passing;
use super::query::Query;
use super::query_type::query_type;
use super::terms::Terms;

/// What a query would do with each archetype of its world, in the order of their creation.
#[derive(Debug)]
pub(crate) struct Survey<'q> {
    pub(crate) registry: &'q Registry,
    /// What the terms do to their components.
    pub(crate) accesses: &'static [Access],
    /// Whether the slices are rounded up to whole vectors.
    pub(crate) padded: bool,
    pub(crate) archetypes: Vec<Surveyed<'q>>,
}

/// What a query would do with one archetype.
#[derive(Debug)]
pub(crate) struct Surveyed<'q> {
    pub(crate) archetype: &'q Archetype,
    /// What it would visit, or the rules that keep the archetype out.
    pub(crate) visit: Result<Visit, Vec<&'q Rule>>,
}

/// What a query would visit of an archetype that matches.
#[derive(Debug)]
pub(crate) struct Visit {
    /// The columns that it cuts, each once, and whether it writes them.
    pub(crate) columns: Vec<(u16, bool)>,
    /// The chunks that pass the filter, in order.
    pub(crate) chunks: Vec<u32>,
}

impl<Q: Terms, F: Filter> Query<'_, Q, F> {
    /// What a pass would visit. Stamps nothing; the clock stands still.
    pub(crate) fn survey(&self) -> Survey<'_> {
        let (store, plan) = self.borrow.planned(&query_type::<Q, F>());
        let padded = self.padded;
        Survey {
            registry: &store.registry,
            accesses: Q::ACCESSES,
            padded,
            archetypes: surveyed(store, plan, &self.filter),
        }
    }
}

fn surveyed<'q, F: Filter>(store: &'q Store, plan: &'q Plan, filter: &F) -> Vec<Surveyed<'q>> {
    let survey = |(number, archetype)| {
        let visit = match plan.table().find(number) {
            Some(entry) => Ok(visit(plan, entry, archetype, filter)),
            None => Err(plan.broken(archetype).collect()),
        };
        Surveyed { archetype, visit }
    };
    (0u32..).zip(store.archetypes.as_slice()).map(survey).collect()
}

/// What the walk visits in the archetype of one row of the plan's tables.
fn visit<F: Filter>(plan: &Plan, entry: usize, archetype: &Archetype, filter: &F) -> Visit {
    let (_, row) = plan.table().get(entry).expect("a row of the plan");
    let mut columns: Vec<(u16, bool)> = row
        .columns()
        .iter()
        .filter_map(|cut| Some((cut.column()?, cut.written().is_some())))
        .collect();
    // A column may be read by two terms; its lines are the same.
    columns.sort_unstable();
    columns.dedup();
    Visit { columns, chunks: passing(plan, entry, archetype, filter) }
}
