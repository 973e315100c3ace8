//! The rows that a pass of a query would visit or leave out, found without a pass.

use core::ops::Range;

use crate::archetype::Archetype;
use crate::component::Registry;
use crate::store::{Obstacle, Plan, Store};

use super::access::Access;
use super::filter::Filter;
use super::matched_chunks::masks;
use super::open_filter::OpenFilter;
use super::query::Query;
use super::query_type::query_type;
use super::terms::Terms;

/// The visits of a query to each archetype of its world, in the order of their creation.
#[derive(Debug)]
pub(crate) struct Survey<'q> {
    pub(crate) registry: &'q Registry,
    /// The accesses of the terms to their components.
    pub(crate) accesses: &'static [&'static [Access]],
    /// Whether the slices are rounded up to whole vectors.
    pub(crate) padded: bool,
    pub(crate) archetypes: Vec<Surveyed<'q>>,
}

/// The visit of a query to one archetype.
#[derive(Debug)]
pub(crate) struct Surveyed<'q> {
    pub(crate) archetype: &'q Archetype,
    /// The rows that it would visit, or all reasons that exclude the archetype.
    pub(crate) visit: Result<Visit, Vec<Obstacle<'q>>>,
}

/// The chunks and rows that a query would visit in an archetype that matches.
#[derive(Debug)]
pub(crate) struct Visit {
    /// The columns that it slices, each once, and whether it writes them.
    pub(crate) columns: Vec<(u16, bool)>,
    /// The chunks with rows that it visits, in order.
    pub(crate) chunks: Vec<u32>,
    /// The runs of rows that it visits in each of them.
    pub(crate) runs: Vec<Vec<Range<u32>>>,
    /// The rows that it visits.
    pub(crate) rows: usize,
}

impl<Q: Terms, F: Filter> Query<'_, Q, F> {
    /// The rows that a pass would visit. Stamps no chunk and does not advance the clock.
    pub(crate) fn survey(&self) -> Survey<'_> {
        let view = self.view();
        let (store, plan) = (view.store(), view.plan(query_type::<Q, F>()));
        let padded = self.slice_rows.is_padded();
        Survey {
            registry: store.registry(),
            accesses: Q::ACCESSES,
            padded,
            archetypes: surveyed::<Q, F>(store, plan, self.viewed_filter()),
        }
    }
}

fn surveyed<'q, Q: Terms, F: Filter>(
    store: &'q Store,
    plan: &'q Plan,
    filter: OpenFilter<'q, F>,
) -> Vec<Surveyed<'q>> {
    let survey = |(number, archetype)| {
        let visit = match plan.column_map().find(number) {
            Some(entry) => Ok(visit::<Q, F>(plan, entry, archetype, filter)),
            None => Err(plan.obstacles(archetype).collect()),
        };
        Surveyed { archetype, visit }
    };
    (0u32..).zip(store.archetypes().as_slice()).map(survey).collect()
}

/// The visit of a pass to one archetype. `entry` is its entry in the plan.
fn visit<'q, Q: Terms, F: Filter>(
    plan: &'q Plan,
    entry: usize,
    archetype: &'q Archetype,
    filter: OpenFilter<'q, F>,
) -> Visit {
    let (_, columns) = plan.column_map().get(entry).expect("the plan has no such entry");
    let mut columns: Vec<(u16, bool)> = columns
        .columns()
        .iter()
        .filter(|column| !column.is_beside())
        .filter_map(|column| Some((column.column()?, column.written().is_some())))
        .collect();
    // Two terms may read one column.
    columns.sort_unstable();
    columns.dedup();
    let (mut chunks, mut runs, mut rows) = (Vec::new(), Vec::new(), 0);
    for mask in masks::<Q, F>(plan, entry, archetype, filter) {
        chunks.push(mask.chunk());
        runs.push(mask.runs_in_chunk().collect());
        rows += mask.count();
    }
    Visit { columns, chunks, runs, rows }
}
