//! The edges of a store's graph: the archetype to which a change of components moves a row.

use crate::archetype::{Change, Edge, EdgeId, columns_in};
use crate::component::{ComponentId, ComponentSet};
use crate::entity::ArchetypeId;
use crate::storage::LayoutError;

use super::store::Store;

/// The reason why a change of components has no edge.
#[derive(Debug)]
pub(crate) enum EdgeError {
    /// The source lacks a component that the change removes.
    Missing(ComponentId),
    /// A row of the resulting components does not fit a chunk.
    Layout(LayoutError),
    /// The entities of the source are gone, so a component cannot be inserted.
    Gone,
}

impl From<LayoutError> for EdgeError {
    fn from(error: LayoutError) -> Self {
        Self::Layout(error)
    }
}

impl Store {
    /// Finds the edge of a change, or adds it.
    ///
    /// # Errors
    ///
    /// If the change is impossible. The store is unchanged.
    #[inline]
    pub(crate) fn edge(
        &mut self,
        source: ArchetypeId,
        change: Change,
    ) -> Result<EdgeId, EdgeError> {
        match self.graph.find(self.archetypes.as_slice(), source, change) {
            Some(edge) => Ok(edge),
            None => self.add_edge(source, change),
        }
    }

    /// Checks that the target of a change fits a chunk, without creating its archetype.
    ///
    /// # Errors
    ///
    /// If a row of the resulting components does not fit a chunk.
    pub(crate) fn ensure_fits(
        &mut self,
        source: ArchetypeId,
        change: Change,
    ) -> Result<(), LayoutError> {
        if self.graph.find(self.archetypes.as_slice(), source, change).is_some() {
            return Ok(());
        }
        match self.target_set(source, change) {
            Ok(set) => self.ensure_set_fits(&set),
            Err(_) => Ok(()),
        }
    }

    /// Computes the edge of a change. Later uses of the edge need neither a set nor its hash.
    #[cold]
    fn add_edge(&mut self, source_id: ArchetypeId, change: Change) -> Result<EdgeId, EdgeError> {
        let set = self.target_set(source_id, change)?;
        let target_id = self.find_or_add(&set)?;
        self.follow_members(source_id, target_id);
        if self.registry.is_over(&set) {
            self.without_cleanup = Some(target_id);
        }
        let source = self.archetypes.get(source_id);
        let target = self.archetypes.get(target_id);
        let (none, components) = (&[][..], |id| &*self.bundles.info(id).components);
        let (removed, added) = match change {
            Change::Insert(added) | Change::Despawn(added) => (none, components(added)),
            Change::Remove(removed) => (components(removed), none),
            // The values of removed components are not read.
            Change::RemovePresent(_) | Change::Copy | Change::Unshare(_) => (none, none),
            Change::Exchange { removed, added } => (components(removed), components(added)),
            Change::ExchangePresent { added, .. } => (none, components(added)),
            Change::Share { marker, tag } => (none, &[marker, tag][..]),
        };
        let (added, removed) = (columns_in(target, added), columns_in(source, removed));
        let edge = Edge::new((source, target), target_id, added, removed);
        Ok(self.graph.add(source_id, change, edge))
    }

    /// The components of an entity of the source after a change.
    ///
    /// # Errors
    ///
    /// If the entities are gone, or the change requires a component that the source lacks; the
    /// error names the first one.
    fn target_set(&self, source: ArchetypeId, change: Change) -> Result<ComponentSet, EdgeError> {
        let mut set = self.archetypes.get(source).set().clone();
        let components = |id| &*self.bundles.info(id).components;
        let only_removes = match change {
            Change::RemovePresent(_) | Change::Unshare(_) => true,
            // The empty bundle takes nothing, so the call is refused as for any id that is not
            // alive.
            Change::Remove(removed) => !components(removed).is_empty(),
            Change::ExchangePresent { removed, added } => {
                !components(removed).is_empty() && components(added).is_empty()
            }
            _ => false,
        };
        if !only_removes && self.archetypes.get(source).is_gone() {
            return Err(EdgeError::Gone);
        }
        let (removed, added) = match change {
            Change::Insert(added) => (&[][..], components(added)),
            Change::Remove(removed) | Change::RemovePresent(removed) => {
                (components(removed), &[][..])
            }
            Change::Exchange { removed, added } | Change::ExchangePresent { removed, added } => {
                (components(removed), components(added))
            }
            Change::Share { marker, .. } | Change::Unshare(marker) => {
                let kept = set.iter().filter(|&id| {
                    id != marker && self.registry.shared_type(id).is_none_or(|of| of.1 != marker)
                });
                let mut kept: ComponentSet = kept.collect();
                if let Change::Share { tag, .. } = change {
                    kept.insert(marker);
                    kept.insert(tag);
                }
                return Ok(kept);
            }
            Change::Copy => {
                return Ok(set.iter().filter(|&id| self.registry.info(id).is_copied()).collect());
            }
            Change::Despawn(gone) => {
                let kept = set.iter().filter(|&id| self.registry.info(id).is_cleanup());
                return Ok(kept.chain(components(gone).iter().copied()).collect());
            }
        };
        let requires = !matches!(change, Change::RemovePresent(_) | Change::ExchangePresent { .. });
        for &id in removed {
            if !set.remove(id) && requires {
                return Err(EdgeError::Missing(id));
            }
        }
        for &id in added {
            set.insert(id);
        }
        Ok(set)
    }
}
