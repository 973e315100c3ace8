//! The edges between archetypes: where a change of components leads, computed once.

use core::any::TypeId;

use rustc_hash::FxHashMap;

use crate::storage::{DistinctColumns, RowMove};

use super::archetype::{Archetype, ArchetypeId};

/// A bundle's number in its world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BundleId(pub(crate) u32);

/// What happens to an entity's components: a bundle comes, a bundle goes, or one for the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Change {
    Insert(BundleId),
    /// Of an entity that has all of it.
    Remove(BundleId),
    /// As much of it as the entity has.
    RemovePresent(BundleId),
    Exchange {
        removed: BundleId,
        added: BundleId,
    },
    /// As `Exchange`, but what the entity lacks of `removed` is no obstacle.
    ExchangePresent {
        removed: BundleId,
        added: BundleId,
    },
}

/// What a change does to a bundle type, for who asks by types.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChangeKind {
    Insert,
    Remove,
    Exchange,
}

/// An edge's number in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EdgeId(u32);

/// Where a change leads from one archetype, and what the move copies.
#[derive(Debug)]
pub(crate) struct Edge {
    pub(crate) target: ArchetypeId,
    /// What becomes of the cells of a row.
    pub(crate) cells: RowMove,
    /// Whether both ends have the same columns with bytes, and so one layout: they differ in tags.
    pub(crate) keeps_bytes: bool,
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
                // A column that the bundle overwrites need not be copied first.
                (!added.as_slice().contains(&to)).then_some((from, to))
            })
            .collect();
        let cells = RowMove::new((&source.list, &target.list), kept, (added, removed));
        let keeps_bytes = source.components_with_bytes().eq(target.components_with_bytes());
        Self { target: target_id, cells, keeps_bytes }
    }

    /// The added bundle's columns in the target, in the bundle's order.
    #[inline]
    pub(crate) const fn added(&self) -> &[u16] {
        self.cells.added().columns().as_slice()
    }
}

/// The edges that have been taken.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    edges: Vec<Edge>,
    /// The edge that was asked for last: loops ask for the same one again and again.
    last: Option<((ArchetypeId, Change), EdgeId)>,
    /// The edge that each verb took last. Loops that give and take in turn find both.
    taken: [Option<LastEdges>; 3],
    by_change: FxHashMap<(ArchetypeId, Change), EdgeId>,
}

/// Which edge led from an archetype for a bundle type.
#[derive(Clone, Copy, Debug)]
struct LastEdges {
    bundle: TypeId,
    source: ArchetypeId,
    edge: EdgeId,
}

impl Graph {
    /// The edge for a bundle type, if the verb took it last.
    #[inline]
    pub(crate) fn last_edge<B: 'static>(
        &self,
        verb: ChangeKind,
        source: ArchetypeId,
    ) -> Option<EdgeId> {
        let taken = self.taken[verb as usize].as_ref()?;
        (taken.bundle == TypeId::of::<B>() && taken.source == source).then_some(taken.edge)
    }

    /// Notes what the verb takes now.
    pub(crate) fn remember_edge<B: 'static>(
        &mut self,
        verb: ChangeKind,
        source: ArchetypeId,
        edge: EdgeId,
    ) {
        let bundle = TypeId::of::<B>();
        self.taken[verb as usize] = Some(LastEdges { bundle, source, edge });
    }

    #[inline]
    pub(crate) fn find(&mut self, source: ArchetypeId, change: Change) -> Option<EdgeId> {
        match self.last {
            Some((last, edge)) if last == (source, change) => Some(edge),
            _ => self.find_hashed(source, change),
        }
    }

    fn find_hashed(&mut self, source: ArchetypeId, change: Change) -> Option<EdgeId> {
        let edge = *self.by_change.get(&(source, change))?;
        self.last = Some(((source, change), edge));
        Some(edge)
    }

    #[inline]
    pub(crate) fn edge(&self, id: EdgeId) -> &Edge {
        &self.edges[id.0 as usize]
    }

    #[cold]
    pub(crate) fn add(&mut self, source: ArchetypeId, change: Change, edge: Edge) -> EdgeId {
        let id = EdgeId(u32::try_from(self.edges.len()).expect("edges of a graph"));
        self.edges.push(edge);
        self.by_change.insert((source, change), id);
        id
    }
}
