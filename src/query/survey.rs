//! What a pass of a query would visit, and what it would leave out, found without a pass.

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
    /// What it would visit, or the rules that exclude the archetype.
    pub(crate) visit: Result<Visit, Vec<&'q Rule>>,
}

/// What a query would visit of an archetype that matches.
#[derive(Debug)]
pub(crate) struct Visit {
    /// The columns that it slices, each once, and whether it writes them.
    pub(crate) columns: Vec<(u16, bool)>,
    /// The chunks that pass the filter, in order.
    pub(crate) chunks: Vec<u32>,
}

impl<Q: Terms, F: Filter> Query<'_, Q, F> {
    /// What a pass would visit. Stamps nothing and does not advance the clock.
    pub(crate) fn survey(&self) -> Survey<'_> {
        let (store, plan) = self.borrow.plan(&query_type::<Q, F>());
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
        let visit = match plan.column_map().find(number) {
            Some(entry) => Ok(visit(plan, entry, archetype, filter)),
            None => Err(plan.broken_rules(archetype).collect()),
        };
        Surveyed { archetype, visit }
    };
    (0u32..).zip(store.archetypes.as_slice()).map(survey).collect()
}

/// What a pass visits in one archetype. `entry` is its entry in the plan.
fn visit<F: Filter>(plan: &Plan, entry: usize, archetype: &Archetype, filter: &F) -> Visit {
    let (_, columns) = plan.column_map().get(entry).expect("the plan has no such entry");
    let mut columns: Vec<(u16, bool)> = columns
        .columns()
        .iter()
        .filter_map(|column| Some((column.column()?, column.written().is_some())))
        .collect();
    // Two terms may read one column.
    columns.sort_unstable();
    columns.dedup();
    Visit { columns, chunks: passing(plan, entry, archetype, filter) }
}
