//! What a bundle type means in this world, worked out once: its components and its archetype.

use core::any::TypeId;

use rustc_hash::FxHashMap;

use crate::archetype::{Archetype, ArchetypeId, BundleId};
use crate::component::{ComponentId, ComponentSet, NameTaken, Registry};
use crate::storage::{BundleCells, DistinctColumns};

use super::bundle::Bundle;

/// A bundle type's components, in its own order.
#[derive(Debug)]
pub(crate) struct BundleInfo {
    pub(crate) components: Box<[ComponentId]>,
    /// Where entities of exactly these components live, once one was spawned.
    home: Option<BundleTarget>,
}

/// An archetype and the bundle's columns in it.
#[derive(Clone, Debug)]
pub(crate) struct BundleTarget {
    pub(crate) archetype: ArchetypeId,
    pub(crate) cells: BundleCells,
}

impl BundleInfo {
    /// Exactly the bundle's components.
    pub(crate) fn set(&self) -> ComponentSet {
        self.components.iter().copied().collect()
    }

    /// The columns of the bundle's components in an archetype that has them all.
    pub(crate) fn columns_in(&self, archetype: &Archetype) -> DistinctColumns {
        let column = |&id| archetype.column(id).expect("the archetype has the bundle's components");
        DistinctColumns::new(self.components.iter().map(column).collect())
    }
}

/// The bundle types that this world has seen, and bundles without a type.
#[derive(Debug, Default)]
pub(crate) struct Bundles {
    infos: Vec<BundleInfo>,
    by_type: FxHashMap<TypeId, BundleId>,
    /// Bundles that no type names: sets of components in ascending order.
    by_components: FxHashMap<Box<[ComponentId]>, BundleId>,
    /// The type asked for last: loops ask for the same one again and again.
    last: Option<(TypeId, BundleId)>,
}

impl Bundles {
    /// The number of `B`, given now if `B` is new.
    ///
    /// # Panics
    ///
    /// If another type has the name of one of its components.
    #[inline]
    pub(crate) fn id<B: Bundle>(&mut self, registry: &mut Registry) -> BundleId {
        match self.last {
            Some((last, id)) if last == TypeId::of::<B>() => id,
            _ => self.find::<B>(registry),
        }
    }

    #[inline(never)]
    fn find<B: Bundle>(&mut self, registry: &mut Registry) -> BundleId {
        match self.try_id::<B>(registry) {
            Ok(id) => id,
            Err(taken) => taken.refuse(),
        }
    }

    /// [`Bundles::id`], with the reason if it cannot be.
    ///
    /// # Errors
    ///
    /// If another type has the name of one of its components.
    pub(crate) fn try_id<B: Bundle>(
        &mut self,
        registry: &mut Registry,
    ) -> Result<BundleId, NameTaken> {
        let id = match self.by_type.get(&TypeId::of::<B>()) {
            Some(&id) => id,
            None => self.add::<B>(registry)?,
        };
        self.last = Some((TypeId::of::<B>(), id));
        Ok(id)
    }

    #[cold]
    fn add<B: Bundle>(&mut self, registry: &mut Registry) -> Result<BundleId, NameTaken> {
        let mut components = Vec::new();
        B::register(registry, &mut components)?;
        let id = self.push(components.into());
        self.by_type.insert(TypeId::of::<B>(), id);
        Ok(id)
    }

    fn push(&mut self, components: Box<[ComponentId]>) -> BundleId {
        let id = BundleId(u32::try_from(self.infos.len()).expect("bundles of a program"));
        self.infos.push(BundleInfo { components, home: None });
        id
    }

    /// The bundle of components that are known at run time only, in ascending order.
    pub(crate) fn set_id(&mut self, components: &[ComponentId]) -> BundleId {
        debug_assert!(components.is_sorted_by(|a, b| a < b), "ascending, each once");
        if let Some(&id) = self.by_components.get(components) {
            return id;
        }
        let id = self.push(components.into());
        self.by_components.insert(components.into(), id);
        id
    }

    #[inline]
    pub(crate) fn info(&self, id: BundleId) -> &BundleInfo {
        &self.infos[id.0 as usize]
    }

    /// Where entities of exactly the bundle's components live, once that was found.
    #[inline]
    pub(crate) fn home(&self, id: BundleId) -> Option<&BundleTarget> {
        self.info(id).home.as_ref()
    }

    /// Remembers the archetype of exactly the bundle's components.
    #[cold]
    pub(crate) fn set_home(&mut self, id: BundleId, archetype: ArchetypeId, found: &Archetype) {
        let info = &mut self.infos[id.0 as usize];
        let cells = BundleCells::new(found.list(), info.columns_in(found));
        info.home = Some(BundleTarget { archetype, cells });
    }
}
