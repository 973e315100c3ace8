//! The chunks of a query that is data, for reading and for writing.

use core::ops::Range;

use crate::component::ComponentInfo;
use crate::entity::ArchetypeId;
use crate::storage::{RowMask, StampKind};
use crate::store::{AccessGuard, GrantedRows, NamedColumns, NamedPlan};
use crate::version::Version;

use super::by_name::{Reflect, ReflectMut};
use super::bytes_error::BytesError;
use super::column_view::{ColumnView, ColumnViewMut};
use super::named_chunk::{NamedChunk, NamedChunkMut};
use super::named_query::NamedQuery;

/// The rows that a query matches.
struct NamedRuns {
    runs: Vec<NamedRun>,
    /// The number of each archetype that matches, and its columns of the terms.
    archetypes: Vec<(usize, NamedColumns)>,
}

/// Rows of one chunk that follow each other.
struct NamedRun {
    /// The place of the archetype among those that match.
    place: usize,
    chunk: u32,
    rows: Range<u32>,
}

impl<'w> Reflect<'w> {
    /// The rows that a query matches, chunk by chunk, for reading. A chunk is yielded once, or once
    /// for each run of rows that match, if it has others: rows that are disabled, or that names of
    /// [sparse components](crate::component#sparse-components) leave out. O(archetypes that match +
    /// chunks + runs) for the call; the query keeps the list of these archetypes and tests new ones
    /// once, or all as [`NamedQuery`] says.
    ///
    /// # Errors
    ///
    /// If a name is unknown or the world has another component of it, if a column is sparse or is
    /// named twice, or if the query writes. Filters may name it again.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component(name = "health")] struct Health(u16);
    /// let mut world = World::new();
    /// world.spawn_batch((0..3).map(Health));
    /// let query = NamedQuery::new().read("health");
    /// let chunk = world.reflect().chunks(&query)?.next().unwrap();
    /// assert_eq!(chunk.columns()[0].row(2), 2_u16.to_ne_bytes());
    /// let error = world.reflect().chunks(&NamedQuery::new().read("helth")).err().unwrap();
    /// assert!(error.to_string().ends_with("did you mean `health`?"));
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub fn chunks(
        self,
        query: &NamedQuery,
    ) -> Result<impl ExactSizeIterator<Item = NamedChunk<'w>> + use<'w>, BytesError> {
        if let Some(name) = query.written() {
            return Err(BytesError::ReadOnly { name: name.to_owned() });
        }
        let plan = query.plan_in(self)?;
        let NamedRuns { runs, archetypes } = self.runs(&plan);
        let registry = self.world.store.registry();
        let terms = NamedQuery::terms_of(&plan);
        let infos: Vec<_> = terms.iter().map(|&(id, _)| registry.info(id)).collect();
        let chunk = move |run: NamedRun| {
            let (number, columns) = &archetypes[run.place];
            let archetype = &self.world.store.archetypes().as_slice()[*number];
            let (chunk, rows) = (run.chunk, run.rows.start as usize..run.rows.end as usize);
            let column = |(column, &info): (Option<u16>, &&'w ComponentInfo)| {
                let Some(column) = column else {
                    let (bytes, version) = (&[][..], Version::NEVER);
                    return ColumnView { info, bytes, version, is_present: false };
                };
                let bytes = archetype.list().column_bytes(usize::from(column), chunk);
                let bytes = &bytes[rows.start * info.size()..rows.end * info.size()];
                let version = archetype.stamps().get(StampKind::column(column), chunk as usize);
                ColumnView { info, bytes, version, is_present: true }
            };
            let by_term = columns.by_term(columns.columns.as_slice().iter().copied());
            NamedChunk {
                archetype: *number,
                index: chunk as usize,
                entities: &archetype.entities_of_chunk(chunk)[rows.clone()],
                columns: by_term.zip(&infos).map(column).collect(),
                rows,
            }
        };
        Ok(runs.into_iter().map(chunk))
    }

    /// The rows of the archetypes and chunks that match a plan.
    fn runs(self, plan: &NamedPlan) -> NamedRuns {
        let (mut runs, mut matched) = (Vec::new(), Vec::new());
        let archetypes = self.world.store.archetypes().as_slice();
        for number in plan.matching().iter().map(|&number| number as usize) {
            let archetype = &archetypes[number];
            let Some(columns) = plan.requirements().resolve(archetype) else { continue };
            for chunk in 0..archetype.list().chunk_len() {
                let live = archetype.list().rows(chunk);
                let mask = RowMask::new(&columns.rows, archetype.attachments(), chunk, live);
                let mut seen = mask.runs();
                while let Some(rows) = seen.next_run() {
                    runs.push(NamedRun { place: matched.len(), chunk, rows });
                }
            }
            matched.push((number, columns));
        }
        NamedRuns { runs, archetypes: matched }
    }
}

impl ReflectMut<'_> {
    /// Calls `f` with the rows that a query matches, chunk by chunk. Stamps the columns that are
    /// named by [`write`](NamedQuery::write), like a typed query that names them `&mut`. The rows
    /// and runs are those of [`Reflect::chunks`]. O(archetypes that match + chunks + runs), besides
    /// `f`.
    ///
    /// # Errors
    ///
    /// If a name is unknown or the world has another component of it, or if a column is sparse or
    /// is named twice. The world is unchanged.
    ///
    /// # Panics
    ///
    /// If `f` panics. The columns of the chunk are stamped.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// #[component(name = "place", split)]
    /// #[derive(Debug, PartialEq)] struct Place { x: f32, y: f32 }
    /// #[component(name = "speed")] struct Speed(f32);
    /// let mut world = World::new();
    /// let entity = world.spawn((Place { x: 1.0, y: 2.0 }, Speed(0.5)));
    /// let query = NamedQuery::new().write("place.x").read("speed");
    /// world.reflect_mut().for_each_chunk(&query, |chunk| {
    ///     let [x, speed] = chunk.columns_mut() else { unreachable!("the query has two terms") };
    ///     let speed = speed.bytes().as_chunks().0;
    ///     let x = x.bytes_mut().unwrap().as_chunks_mut().0;
    ///     for (x, &speed) in x.iter_mut().zip(speed) {
    ///         *x = (f32::from_ne_bytes(*x) + f32::from_ne_bytes(speed)).to_ne_bytes();
    ///     }
    /// })?;
    /// assert_eq!(world.get::<Place>(entity), Ok(Place { x: 1.5, y: 2.0 }));
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub fn for_each_chunk(
        &mut self,
        query: &NamedQuery,
        mut f: impl FnMut(&mut NamedChunkMut<'_>),
    ) -> Result<(), BytesError> {
        // Before reserved ids become entities: a query that is refused leaves them.
        query.plan_in(Reflect { world: self.world })?;
        self.world.flush();
        let plan = query.plan_in(Reflect { world: self.world })?;
        let terms = NamedQuery::terms_of(&plan);
        let registry = self.world.store.registry();
        let infos: Vec<ComponentInfo> = terms.iter().map(|&(id, _)| *registry.info(id)).collect();
        let found = Reflect { world: self.world }.runs(&plan);
        let mut now = None;
        for NamedRun { place, chunk, rows } in found.runs {
            let (archetype, ref columns) = found.archetypes[place];
            let (archetypes, clock) = self.world.store.in_place();
            if columns.present.iter().zip(&terms).any(|(present, (_, write))| *present && *write) {
                *clock = now.unwrap_or_else(|| clock.next());
                now = Some(*clock);
            }
            let number = u32::try_from(archetype).expect("an archetype has a number of 32 bits");
            let values = archetypes.into_archetype(ArchetypeId(number));
            let present = columns.columns.as_slice().iter();
            let (bytes, entities, beside) = values.bytes((chunk, rows.clone()), &columns.columns);
            let written = columns.by_term(present).zip(&terms).filter(|(_, (_, write))| *write);
            for &column in written.filter_map(|(column, _)| column) {
                beside.touch_rows(column, chunk, rows.clone(), *clock);
            }
            let rows = rows.start as usize..rows.end as usize;
            let column = |((bytes, info), &(_, is_written)): ((_, _), &(_, bool))| ColumnViewMut {
                info,
                bytes,
                is_written,
            };
            f(&mut NamedChunkMut {
                archetype,
                index: chunk as usize,
                entities,
                columns: columns.by_term(bytes).zip(&infos).zip(&terms).map(column).collect(),
                rows,
            });
        }
        Ok(())
    }
}

impl NamedChunkMut<'_> {
    /// Calls `f` with the rows that a request of a query matches, chunk by chunk. `plan` must be
    /// the plan of the request.
    pub(crate) fn visit_granted(
        guard: &mut AccessGuard<'_>,
        plan: &mut NamedPlan,
        mut f: impl FnMut(&mut NamedChunkMut<'_>),
    ) {
        guard.visit_bytes(plan, |granted| {
            let GrantedRows { archetype, chunk, rows, entities, columns } = granted;
            let rows = rows.start as usize..rows.end as usize;
            let column = |(info, bytes, is_written)| ColumnViewMut { info, bytes, is_written };
            let columns = columns.into_iter().map(column).collect();
            let index = chunk as usize;
            f(&mut NamedChunkMut { archetype, index, rows, entities, columns });
        });
    }
}
