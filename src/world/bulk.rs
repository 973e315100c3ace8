//! Changing all that a query matches: whole chunks at a time.

use crate::archetype::{Change, EdgeId, Moving, move_chunks};
use crate::bundle::{Bundle, write_run};
use crate::query::{Filter, Match, Query, Store, Terms};
use crate::storage::LayoutError;
use crate::version::Version;

/// Structural change by query.
///
/// The terms and filters of the query say which entities: nothing is handed out, so no `&mut` term
/// is stamped. Filters by version choose whole chunks, as they do for any query.
///
/// Rows keep their order in a chunk. Chunks of all archetypes that lead to one come there in the
/// order of the query; where the target's last chunk is partly filled and full ones come, it stays
/// the last. In an archetype that loses only some of its chunks, those from its end fill the holes.
impl<Q: Terms, F: Filter> Query<'_, Q, F> {
    /// Gives every entity that the query matches the components of `bundle`, and returns how many
    /// entities that were. Components that are there already are overwritten.
    ///
    /// Where an archetype gains tags only, its chunks change owner and no component is copied:
    /// O(entities), 20 bytes each for its id and its place, and O(chunks × columns) for versions.
    /// Otherwise its columns are copied by `memcpy`, a run of rows at a time, as well. Added columns
    /// are filled: O(bytes). An archetype that has them all only has them filled.
    ///
    /// Kept columns keep their versions, added and overwritten ones are new.
    ///
    /// # Errors
    ///
    /// If a row of the resulting components fits no chunk of this world; no entity has changed.
    ///
    /// # Panics
    ///
    /// If the query was made by [`World::query`](crate::World::query) and not by
    /// [`World::query_mut`](crate::World::query_mut), or has started.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Shield(f32);
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Player;
    /// # component!(Health, Shield, Player);
    /// let mut world = World::new();
    /// world.spawn_batch((0..1000).map(|_| Health(1.0)));
    /// let changed = world.query_mut::<&Health>().without::<Player>().insert((Shield(9.0), Player))?;
    /// assert_eq!(changed, 1000);
    /// assert_eq!(world.query::<(&Health, &Shield)>().with::<Player>().rows_len(), 1000);
    /// # Ok::<(), phalanx::LayoutError>(())
    /// ```
    #[track_caller]
    pub fn insert<B: Bundle>(self, bundle: B) -> Result<usize, LayoutError> {
        let (store, matches) = self.into_matches();
        let change = Change::Insert(store.bundles.id::<B>(&mut store.source.registry));
        for matched in &matches {
            store.ensure_fits(matched.archetype, change)?;
        }
        Ok(store.change_chunks(&matches, change, bundle))
    }

    /// Takes the components of `B` from every entity that the query matches, and returns how many
    /// entities had any of them. Components that an entity lacks are passed over; ask with
    /// [`with`](Query::with) for entities that have them all.
    ///
    /// Costs what [`insert`](Query::insert) costs: chunks change owner where only tags go, and are
    /// copied where columns go. Kept columns keep their versions.
    ///
    /// # Panics
    ///
    /// As [`insert`](Query::insert).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Frozen;
    /// # component!(Health, Frozen);
    /// let mut world = World::new();
    /// world.spawn_batch((0..500).map(|_| (Health(1.0), Frozen)));
    /// world.spawn_batch((0..500).map(|_| Health(1.0)));
    /// assert_eq!(world.query_mut::<&Health>().remove::<Frozen>(), 500);
    /// assert_eq!(world.query::<&Frozen>().rows_len(), 0);
    /// ```
    #[track_caller]
    pub fn remove<B: Bundle>(self) -> usize {
        let (store, matches) = self.into_matches();
        let change = Change::Discard(store.bundles.id::<B>(&mut store.source.registry));
        store.change_chunks(&matches, change, ())
    }

    /// Ends the life of every entity that the query matches, and returns how many that were.
    ///
    /// Ids are freed in the order of the query, as if they were despawned one by one; chunks go back
    /// to the world's pool. O(entities + chunks × columns).
    ///
    /// # Panics
    ///
    /// As [`insert`](Query::insert).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Dead;
    /// # component!(Health, Dead);
    /// let mut world = World::new();
    /// world.spawn_batch((0..500).map(|_| (Health(0.0), Dead)));
    /// world.spawn_batch((0..500).map(|_| Health(1.0)));
    /// assert_eq!(world.query_mut::<Entity>().with::<Dead>().despawn(), 500);
    /// assert_eq!(world.len(), 500);
    /// ```
    #[track_caller]
    pub fn despawn(self) -> usize {
        let (store, matches) = self.into_matches();
        if matches.is_empty() {
            return 0;
        }
        let Store { source, entities, pool, .. } = store;
        let now = source.tick();
        let mut ended = 0;
        for Match { archetype: id, chunks } in &matches {
            let archetype = source.catalog.get_mut(*id);
            ended += archetype.rows_of(chunks);
            let mut moving = Moving { entities: &mut *entities, pool: &mut *pool, now };
            archetype.end_chunks(*id, chunks, &mut moving);
        }
        ended
    }
}

impl Store {
    /// Moves what was matched along its edges and fills the added columns with `bundle`. Returns
    /// how many entities have changed.
    fn change_chunks<B: Bundle>(&mut self, matches: &[Match], change: Change, bundle: B) -> usize {
        let edges: Vec<_> = matches.iter().map(|m| self.known_edge(m, change)).collect();
        let target = |edge: &EdgeId| self.graph.edge(*edge).target;
        // Where a change leads, it leads nowhere else: what is there already is overwritten first,
        // before the chunks that come have numbers there.
        let (stay, leave): (Vec<_>, Vec<_>) =
            matches.iter().zip(edges).partition(|(m, edge)| target(edge) == m.archetype);
        let inserts = matches!(change, Change::Insert(_));
        if leave.is_empty() && (stay.is_empty() || !inserts) {
            return 0;
        }
        let now = self.source.tick();
        let overwritten = stay.iter().filter(|_| inserts);
        let filled: usize =
            overwritten.map(|(m, edge)| self.overwrite_chunks(m, *edge, bundle, now)).sum();
        let moved: usize =
            leave.iter().map(|(m, edge)| self.move_matched(m, *edge, bundle, now)).sum();
        filled + moved
    }

    /// The edge of a change for which every archetype has the components, and a row fits.
    fn known_edge(&mut self, matched: &Match, change: Change) -> EdgeId {
        match self.edge(matched.archetype, change) {
            Ok(Ok(edge)) => edge,
            Ok(Err(_)) => unreachable!("neither insertion nor discarding requires a component"),
            Err(error) => unreachable!("a row fits, or nothing was added to it: {error}"),
        }
    }

    /// Fills columns of chunks that stay where they are.
    fn overwrite_chunks<B: Bundle>(
        &mut self,
        Match { archetype: id, chunks }: &Match,
        edge: EdgeId,
        bundle: B,
        now: Version,
    ) -> usize {
        let added = self.graph.edge(edge).cells.added();
        let archetype = self.source.catalog.get_mut(*id);
        for chunk in chunks.iter(archetype.list().chunk_count()) {
            archetype.overwrite_chunk(added, chunk, now, |columns| bundle.overwrite(columns));
        }
        archetype.rows_of(chunks)
    }

    /// Moves chunks along an edge and fills the added columns.
    fn move_matched<B: Bundle>(
        &mut self,
        Match { archetype: id, chunks }: &Match,
        edge: EdgeId,
        bundle: B,
        now: Version,
    ) -> usize {
        let Self { source, entities, pool, graph, .. } = self;
        let edge = graph.edge(edge);
        let (from, target) = source.catalog.pair_mut(*id, edge.target);
        let rows = from.rows_of(chunks);
        let mut moving = Moving { entities, pool, now };
        let landed = move_chunks((*id, from), target, chunks, edge, &mut moving, &|writer| {
            write_run::<B>(writer, |cells| bundle.fill(cells))
        });
        for chunk in landed {
            target.overwrite_chunk(edge.cells.added(), chunk, now, |new| bundle.overwrite(new));
        }
        rows
    }
}
