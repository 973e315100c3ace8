//! The chunks of a query that is data, for reading and for writing.

use core::ops::Range;

use crate::component::ComponentInfo;
use crate::entity::ArchetypeId;
use crate::storage::{DistinctColumns, RowMask, StampKind};
use crate::store::NamedColumns;

use super::by_name::{BytesError, Reflect, ReflectMut};
use super::column_view::{ColumnView, ColumnViewMut};
use super::named_chunk::{NamedChunk, NamedChunkMut};
use super::named_query::NamedQuery;

/// Rows of one chunk that follow each other.
struct NamedRun {
    archetype: usize,
    chunk: u32,
    rows: Range<u32>,
    /// The columns of the terms.
    columns: DistinctColumns,
}

impl<'w> Reflect<'w> {
    /// The rows that a query matches, chunk by chunk, for reading. A chunk is yielded once, or once
    /// for each run of visible rows if some are disabled. O(archetypes + chunks) for the call.
    ///
    /// # Errors
    ///
    /// If a name is unknown, if a term is sparse or is named twice, or if the query writes.
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
        if let Some(name) = query.written().next() {
            return Err(BytesError::ReadOnly { name: name.to_owned() });
        }
        let (runs, infos) = self.runs(query)?;
        let chunk = move |run: NamedRun| {
            let archetype = &self.world.store.archetypes().as_slice()[run.archetype];
            let (chunk, rows) = (run.chunk, run.rows.start as usize..run.rows.end as usize);
            let column = |(&column, &info): (&u16, &&'w ComponentInfo)| ColumnView {
                info,
                bytes: &archetype.list().column_bytes(usize::from(column), chunk)
                    [rows.start * info.size()..rows.end * info.size()],
                version: archetype.stamps().get(StampKind::column(column), chunk as usize),
            };
            NamedChunk {
                archetype: run.archetype,
                index: chunk as usize,
                entities: &archetype.entities_of_chunk(chunk)[rows.clone()],
                columns: run.columns.as_slice().iter().zip(&infos).map(column).collect(),
                rows,
            }
        };
        Ok(runs.into_iter().map(chunk))
    }

    /// The runs of rows that a query matches, and the components of its terms.
    fn runs(
        self,
        query: &NamedQuery,
    ) -> Result<(Vec<NamedRun>, Vec<&'w ComponentInfo>), BytesError> {
        let terms = query.terms_in(self)?;
        let requirements = query.requirements_in(self, &terms)?;
        let mut runs = Vec::new();
        for (number, archetype) in self.world.store.archetypes().as_slice().iter().enumerate() {
            let Some(NamedColumns { columns, rows }) = requirements.resolve(archetype) else {
                continue;
            };
            for chunk in 0..archetype.list().chunk_len() {
                let live = archetype.list().rows(chunk);
                let mut seen = RowMask::new(&rows, archetype.attachments(), chunk, live).runs();
                while let Some(rows) = seen.next_run() {
                    let columns = columns.clone();
                    runs.push(NamedRun { archetype: number, chunk, rows, columns });
                }
            }
        }
        let registry = self.world.store.registry();
        Ok((runs, terms.iter().map(|&(id, _)| registry.info(id)).collect()))
    }
}

impl ReflectMut<'_> {
    /// Calls `f` with the rows that a query matches, chunk by chunk. Stamps the columns that are
    /// named by [`write`](NamedQuery::write), like a typed query that names them `&mut`. Rows that
    /// are disabled are left out, as in [`Reflect::chunks`]. O(archetypes + chunks), besides `f`.
    ///
    /// # Errors
    ///
    /// If a name is unknown, or if a term is sparse or is named twice. No chunk is visited.
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
    ///     let (x, speed) = (x.bytes_mut().unwrap().as_chunks_mut().0, speed.bytes().as_chunks().0);
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
        self.world.flush();
        let view = Reflect { world: self.world };
        let (runs, infos) = view.runs(query)?;
        let infos: Vec<ComponentInfo> = infos.into_iter().copied().collect();
        let writes: Vec<bool> =
            query.terms_in(view)?.iter().map(|(_, access)| access.is_write()).collect();
        let mut now = None;
        for NamedRun { archetype, chunk, rows, columns } in runs {
            let (archetypes, clock) = self.world.store.in_place();
            if writes.contains(&true) {
                *clock = now.unwrap_or_else(|| clock.next());
                now = Some(*clock);
            }
            let number = u32::try_from(archetype).expect("an archetype has a number of 32 bits");
            let values = archetypes.into_archetype(ArchetypeId(number));
            let (bytes, entities, beside) = values.bytes((chunk, rows.clone()), &columns);
            for (&column, _) in columns.as_slice().iter().zip(&writes).filter(|(_, write)| **write)
            {
                beside.touch_rows(column, chunk, rows.clone(), *clock);
            }
            let rows = rows.start as usize..rows.end as usize;
            let column = |((bytes, info), &is_written)| ColumnViewMut { info, bytes, is_written };
            f(&mut NamedChunkMut {
                archetype,
                index: chunk as usize,
                entities,
                columns: bytes.into_iter().zip(&infos).zip(&writes).map(column).collect(),
                rows,
            });
        }
        Ok(())
    }
}
