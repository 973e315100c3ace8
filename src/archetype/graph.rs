//! The edges between archetypes: the target of each change of components, computed once.

use core::any::TypeId;

use rustc_hash::FxHashMap;

use crate::component::ComponentId;
use crate::storage::{DistinctColumns, RowMove};

use super::archetype::Archetype;
use crate::entity::ArchetypeId;

/// A bundle's number in its world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BundleId(pub(crate) u32);

/// A type that is no bundle: a comparison with it fails, so no look-up needs a test before.
#[derive(Debug)]
pub(super) enum NoBundle {}

/// A change of an entity's components: a bundle is added, removed, or exchanged for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Change {
    Insert(BundleId),
    /// Removes the bundle. The entity must have all of it.
    Remove(BundleId),
    /// Removes the components of the bundle that the entity has.
    RemovePresent(BundleId),
    Exchange {
        removed: BundleId,
        added: BundleId,
    },
    /// Like `Exchange`, but the entity may lack components of `removed`.
    ExchangePresent {
        removed: BundleId,
        added: BundleId,
    },
    /// To the components that a copy has. The entity itself stays.
    Copy,
    /// To the cleanup components and `Gone`, which is this bundle.
    Despawn(BundleId),
    /// To the shared value of a tag, whose type has this marker.
    Share {
        marker: ComponentId,
        tag: ComponentId,
    },
    /// To no shared value of the type of this marker.
    Unshare(ComponentId),
}

/// The kind of a change, for lookups by bundle type.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChangeKind {
    Insert,
    Remove,
    Exchange,
}

/// An edge's number in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EdgeId(u32);

/// The target of a change from one archetype, and the columns that the move copies.
#[derive(Debug)]
pub(crate) struct Edge {
    pub(crate) target: ArchetypeId,
    /// The move of the cells of a row.
    pub(crate) cells: RowMove,
    /// Whether both archetypes have the same columns with bytes, in the same places, and differ
    /// only in tags.
    pub(crate) keeps_bytes: bool,
    /// The number of sparse components of the source whose members the target can have.
    members: usize,
}

impl Edge {
    /// The edge from `source` to `target`.
    pub(crate) fn new(
        (source, target): (&Archetype, &Archetype),
        target_id: ArchetypeId,
        added: DistinctColumns,
        removed: DistinctColumns,
    ) -> Self {
        let kept: Vec<_> = source
            .components()
            .iter()
            .zip(0u16..)
            .filter_map(|(&id, from)| {
                let to = target.column(id)?;
                // A column that the bundle overwrites need not be copied.
                (!added.as_slice().contains(&to)).then_some((from, to))
            })
            .collect();
        let cells = RowMove::new((&source.list, &target.list), kept, (added, removed));
        let keeps_bytes = source.components_with_bytes().eq(target.components_with_bytes())
            && source.list.layouts().is_like(target.list.layouts());
        Self { target: target_id, cells, keeps_bytes, members: source.tracked_components().len() }
    }

    /// The edge between archetypes of the same components, which belong to two worlds.
    pub(super) fn between(
        (source, target): (&Archetype, &Archetype),
        target_id: ArchetypeId,
        kept: Vec<(u16, u16)>,
        keeps_bytes: bool,
    ) -> Self {
        let none = || DistinctColumns::new(Vec::new());
        let cells = RowMove::new((&source.list, &target.list), kept, (none(), none()));
        Self { target: target_id, cells, keeps_bytes, members: 0 }
    }

    /// Computes the edge again for its archetypes, after columns were exchanged.
    #[cold]
    fn renew(&mut self, pair: (&Archetype, &Archetype)) {
        let [added, removed] = [self.cells.added(), self.cells.removed()];
        let [added, removed] = [added, removed].map(|cells| cells.columns().clone());
        *self = Self::new(pair, self.target, added, removed);
    }

    /// The added bundle's columns in the target, in the bundle's order.
    #[inline]
    pub(crate) const fn added(&self) -> &[u16] {
        self.cells.added().columns().as_slice()
    }
}

/// All edges that were used so far.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    edges: Vec<Edge>,
    /// The edge of the last look-up: loops look up the same edge again and again.
    last: Option<((ArchetypeId, Change), EdgeId)>,
    /// The last edge of each kind of change. Loops that alternate between insert and remove find
    /// both.
    last_edges: [LastEdge; 3],
    by_change: FxHashMap<(ArchetypeId, Change), EdgeId>,
}

/// An edge from an archetype, for a bundle type.
#[derive(Clone, Copy, Debug)]
struct LastEdge {
    bundle: TypeId,
    source: ArchetypeId,
    edge: EdgeId,
}

impl Default for LastEdge {
    fn default() -> Self {
        let bundle = TypeId::of::<NoBundle>();
        Self { bundle, source: ArchetypeId(u32::MAX), edge: EdgeId(u32::MAX) }
    }
}

impl Graph {
    /// The edge for a bundle type, if it was the last one of its kind.
    #[inline]
    pub(crate) fn last_edge<B: 'static>(
        &self,
        kind: ChangeKind,
        source: ArchetypeId,
    ) -> Option<EdgeId> {
        let last = &self.last_edges[kind as usize];
        (last.bundle == TypeId::of::<B>() && last.source == source).then_some(last.edge)
    }

    /// Remembers the last edge of its kind.
    pub(crate) fn remember_edge<B: 'static>(
        &mut self,
        kind: ChangeKind,
        source: ArchetypeId,
        edge: EdgeId,
    ) {
        let bundle = TypeId::of::<B>();
        self.last_edges[kind as usize] = LastEdge { bundle, source, edge };
    }

    /// The edge of a change, if it was computed. Updates it to the present places of columns.
    /// `None` also if the source has members of a sparse component that it lacked then.
    #[inline]
    pub(crate) fn find(
        &mut self,
        archetypes: &[Archetype],
        source: ArchetypeId,
        change: Change,
    ) -> Option<EdgeId> {
        match self.last {
            Some((last, edge)) if last == (source, change) => Some(edge),
            _ => self.find_hashed(archetypes, source, change),
        }
    }

    fn find_hashed(
        &mut self,
        archetypes: &[Archetype],
        source: ArchetypeId,
        change: Change,
    ) -> Option<EdgeId> {
        let id = *self.by_change.get(&(source, change))?;
        let edge = &mut self.edges[id.0 as usize];
        let pair = (&archetypes[source.index()], &archetypes[edge.target.index()]);
        if edge.members != pair.0.tracked_components().len() {
            return None;
        }
        if !edge.cells.is_between(&pair.0.list, &pair.1.list) {
            edge.renew(pair);
        }
        self.last = Some(((source, change), id));
        Some(id)
    }

    #[inline]
    pub(crate) fn edge(&self, id: EdgeId) -> &Edge {
        &self.edges[id.0 as usize]
    }

    /// Forgets the last edges, because columns were exchanged or an archetype has new members: each
    /// edge is compared with its archetypes at its next look-up.
    pub(crate) fn recheck(&mut self) {
        self.last = None;
        self.last_edges = Default::default();
    }

    /// Forgets all edges. Their ids become invalid.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds the edge of a change, or replaces it.
    #[cold]
    pub(crate) fn add(&mut self, source: ArchetypeId, change: Change, edge: Edge) -> EdgeId {
        if let Some(&id) = self.by_change.get(&(source, change)) {
            self.edges[id.0 as usize] = edge;
            return id;
        }
        let id = EdgeId(u32::try_from(self.edges.len()).expect("a graph has 2^32 edges or more"));
        self.edges.push(edge);
        self.by_change.insert((source, change), id);
        id
    }
}
