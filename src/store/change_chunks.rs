//! Changes of all rows that a query matches: whole chunks at a time.

use core::slice::from_ref;

use crate::archetype::{Change, ColumnBundle, EdgeId, MoveContext, NewRows, move_chunks};
use crate::entity::{ArchetypeId, Entity};
use crate::version::Version;

use super::matches::{MatchedChunks, Matches};
use super::store::Store;

impl Store {
    /// Changes the components of all entities that match. The change must have an edge from each of
    /// their archetypes. Returns the number of changed entities.
    pub(crate) fn change_matches<B: ColumnBundle>(
        &mut self,
        matches: &Matches,
        change: Change,
        bundle: B,
    ) -> usize {
        // Each edge is made before the first row moves, because `Component::hint` may panic then.
        for matched in &matches.rows {
            self.known_edge(matched.archetype, change);
        }
        let whole = self.change_chunks(&matches.chunks, change, bundle);
        let rows = matches.rows.iter().map(|matched| self.change_rows(matched, change, bundle));
        let changed = whole + rows.sum::<usize>();
        self.end_cleanup();
        changed
    }

    /// Moves the matched chunks along their edges and fills the added columns with `bundle`.
    /// Returns the number of changed entities.
    fn change_chunks<B: ColumnBundle>(
        &mut self,
        matches: &[MatchedChunks],
        change: Change,
        bundle: B,
    ) -> usize {
        let edges: Vec<_> = matches.iter().map(|m| self.known_edge(m.archetype, change)).collect();
        let target = |edge: &EdgeId| self.graph.edge(*edge).target;
        // Archetypes that already have the components are overwritten before others move into them:
        // moved chunks would be counted twice.
        let (stay, leave): (Vec<_>, Vec<_>) =
            matches.iter().zip(edges).partition(|(m, edge)| target(edge) == m.archetype);
        let inserts = matches!(change, Change::Insert(_));
        if leave.is_empty() && (stay.is_empty() || !inserts) {
            return 0;
        }
        let now = self.advance_clock();
        let overwritten = stay.iter().filter(|_| inserts);
        let filled: usize =
            overwritten.map(|(m, edge)| self.overwrite_chunks(m, *edge, bundle, now)).sum();
        let moved: usize =
            leave.iter().map(|(m, edge)| self.move_chunks(m, *edge, bundle, now)).sum();
        filled + moved
    }

    /// The edge of a checked change: no component is missing, and a row fits.
    pub(super) fn known_edge(&mut self, archetype: ArchetypeId, change: Change) -> EdgeId {
        match self.edge(archetype, change) {
            Ok(edge) => edge,
            Err(error) => unreachable!("a change that was checked leads nowhere: {error:?}"),
        }
    }

    /// Fills columns of chunks that stay where they are.
    fn overwrite_chunks<B: ColumnBundle>(
        &mut self,
        MatchedChunks { archetype: id, chunks }: &MatchedChunks,
        edge: EdgeId,
        bundle: B,
        now: Version,
    ) -> usize {
        let added = self.graph.edge(edge).cells.added();
        let archetype = self.archetypes.get_mut(*id);
        for chunk in chunks.iter(archetype.list().chunk_len()) {
            archetype.overwrite_chunk(added, chunk, now, |columns| bundle.overwrite(columns));
        }
        archetype.rows_of(chunks)
    }

    /// Moves chunks along an edge to another archetype and fills the added columns.
    pub(super) fn move_chunks<B: ColumnBundle>(
        &mut self,
        matched: &MatchedChunks,
        edge: EdgeId,
        bundle: B,
        now: Version,
    ) -> usize {
        let MatchedChunks { archetype: id, chunks } = matched;
        self.record_moved_chunks(*id, edge, chunks);
        let arriving = match self.logs.gained.is_read() {
            true => self.entities_of(from_ref(matched)),
            false => vec![],
        };
        let Self { archetypes, entities, pool, graph, logs, .. } = self;
        let edge = graph.edge(edge);
        let (from, target) = archetypes.pair_mut(*id, edge.target);
        let rows = from.rows_of(chunks);
        let mut moving = MoveContext { entities, pool, now };
        let landed = move_chunks((*id, from), target, chunks, edge, &mut moving, &|writer| {
            NewRows::write(writer, |rows| rows.fill(bundle))
        });
        for chunk in landed {
            target.overwrite_chunk(edge.cells.added(), chunk, now, |new| bundle.overwrite(new));
        }
        if !arriving.is_empty() {
            logs.gained.record_entities((target, moving.entities), Some(from), &arriving);
        }
        rows
    }

    /// The entities of the rows of some chunks, in the order of the query.
    #[cold]
    pub(super) fn entities_of(&self, matches: &[MatchedChunks]) -> Vec<Entity> {
        let mut entities = Vec::new();
        for MatchedChunks { archetype, chunks } in matches {
            let archetype = self.archetypes.get(*archetype);
            for chunk in chunks.iter(archetype.list().chunk_len()) {
                entities.extend_from_slice(archetype.entities_of_chunk(chunk));
            }
        }
        entities
    }
}
