//! One of two worlds that are compared.

use crate::archetype::Archetype;
use crate::component::{ComponentId, Registry};
use crate::world::World;

/// One of the worlds.
pub(super) struct ComparedWorld<'w> {
    pub(super) archetypes: &'w [Archetype],
    pub(super) registry: &'w Registry,
}

impl<'w> ComparedWorld<'w> {
    pub(super) fn new(world: &'w World) -> Self {
        Self { archetypes: world.store.archetypes().as_slice(), registry: world.store.registry() }
    }

    /// The columns of an archetype with their components, sorted by name: the order of columns
    /// depends on which type was used first.
    pub(super) fn columns(&self, archetype: usize) -> Vec<(usize, ComponentId)> {
        let components = self.archetypes.get(archetype).map_or(&[][..], Archetype::components);
        let mut columns: Vec<_> = components.iter().copied().enumerate().collect();
        let key = |&(_, id): &_| (self.registry.info(id).name(), self.registry.shared_names(id));
        columns.sort_unstable_by_key(key);
        columns
    }

    pub(super) fn names(&self, archetype: usize) -> Vec<&'static str> {
        let columns = self.columns(archetype);
        columns.into_iter().map(|(_, id)| self.registry.info(id).name()).collect()
    }

    /// The states that attachments of a column have, by row.
    pub(super) fn states(
        &self,
        archetype: usize,
        column: usize,
    ) -> impl Iterator<Item = (usize, &'static str)> {
        let archetype = &self.archetypes[archetype];
        let column = u16::try_from(column).expect("an archetype has fewer columns");
        archetype.attachments().into_iter().flat_map(move |all| {
            all.row_states(archetype.stamps(), column, |chunk| archetype.list().rows(chunk))
        })
    }

    /// All rows of a column, one after the other.
    pub(super) fn bytes(&self, archetype: usize, column: usize) -> Vec<u8> {
        let list = self.archetypes[archetype].list();
        let mut bytes = Vec::new();
        for chunk in 0..list.chunk_len() {
            bytes.extend_from_slice(list.column_bytes(column, chunk));
        }
        bytes
    }
}
