//! The rows of a query of names, with the bytes of its terms.

#![expect(unsafe_code, reason = "writes through granted access, while the store is shared")]

use core::iter;
use core::ops::Range;

use crate::archetype::Archetype;
use crate::component::ComponentInfo;
use crate::entity::Entity;
use crate::storage::{ColumnBytes, EnableRules, RowMask};

use super::named_plan::NamedPlan;
use super::requirements::NeededColumn;
use super::split_store::AccessGuard;

/// Rows of one chunk that a query of names matches, with the bytes of its terms.
#[derive(Debug)]
pub(crate) struct GrantedRows<'a> {
    pub(crate) archetype: usize,
    pub(crate) chunk: u32,
    pub(crate) rows: Range<u32>,
    pub(crate) entities: &'a [Entity],
    /// By term: the component, the bytes if the archetype has it, and whether they may be written.
    pub(crate) columns: Vec<(&'a ComponentInfo, Option<ColumnBytes<'a>>, bool)>,
}

/// Live rows of a chunk that follow each other.
struct BytesRun<'s> {
    archetype: &'s Archetype,
    chunk: u32,
    rows: Range<u32>,
}

impl<'s> BytesRun<'s> {
    /// The runs of the rows of an archetype that some rules choose.
    fn all(archetype: &'s Archetype, rules: &'s EnableRules) -> impl Iterator<Item = Self> {
        (0..archetype.list().chunk_len()).flat_map(move |chunk| {
            let live = archetype.list().rows(chunk);
            let mut seen = RowMask::new(rules, archetype.attachments(), chunk, live).runs();
            iter::from_fn(move || seen.next_run()).map(move |rows| Self { archetype, chunk, rows })
        })
    }

    fn entities(&self) -> &'s [Entity] {
        let entities = self.archetype.entities_of_chunk(self.chunk);
        &entities[self.rows.start as usize..self.rows.end as usize]
    }

    /// The bytes of a column, for reading.
    fn read(&self, column: u16, info: &ComponentInfo) -> ColumnBytes<'s> {
        let (start, end) = (self.rows.start as usize, self.rows.end as usize);
        let bytes = self.archetype.list().column_bytes(usize::from(column), self.chunk);
        let size = info.size();
        ColumnBytes::shared(&bytes[start * size..end * size], size, info.values())
    }

    /// The chunk, and the rows in it.
    fn place(&self) -> (u32, Range<u32>) {
        (self.chunk, self.rows.clone())
    }
}

impl AccessGuard<'_> {
    /// Visits the rows that the request matches, chunk by chunk, or run by run where rows are left
    /// out. Stamps the columns that are written. Tests the archetypes that are new to the plan of
    /// the request.
    ///
    /// # Panics
    ///
    /// If two terms name one component, or if the plan is of another request.
    pub(crate) fn visit_bytes(
        &mut self,
        plan: &mut NamedPlan,
        mut visit: impl FnMut(GrantedRows<'_>),
    ) {
        let (requirements, store, now) = self.parts();
        assert!(plan.has(requirements), "the plan is of another request");
        plan.update(&store.archetypes);
        let terms: Vec<_> = requirements.columns().collect();
        for number in plan.matching().iter().map(|&number| number as usize) {
            let archetype = &store.archetypes.as_slice()[number];
            let Some(found) = requirements.resolve(archetype) else { continue };
            for run in BytesRun::all(archetype, &found.rows) {
                let bytes = |(column, term): (Option<&u16>, &NeededColumn)| {
                    let info = store.registry.info(term.component.id);
                    let Some(&column) = column else { return (info, None, term.write) };
                    if !term.write {
                        return (info, Some(run.read(column, info)), false);
                    }
                    archetype.beside().touch_rows(column, run.chunk, run.rows.clone(), now);
                    // SAFETY: the requirements of the guard write the column in an archetype that
                    // they match, so no other guard reads or writes it (`SplitStore::grant`). The
                    // guard is borrowed exclusively, so it has no other pass, and no two of its
                    // columns are the same (`DistinctColumns`). Rows do not move while the store is
                    // split.
                    let bytes = unsafe { archetype.list().bytes_unchecked(column, run.place()) };
                    (info, Some(bytes), true)
                };
                let columns = found.by_term(found.columns.as_slice());
                let columns = columns.zip(&terms).map(bytes).collect();
                let (entities, chunk, rows) = (run.entities(), run.chunk, run.rows);
                visit(GrantedRows { archetype: number, chunk, rows, entities, columns });
            }
        }
    }
}
