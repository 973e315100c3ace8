//! The bundle types of a world: for each, its component ids and its archetype, computed once.

use core::any::TypeId;

use rustc_hash::FxHashMap;

use super::archetype::Archetype;
use super::graph::BundleId;
use crate::component::{ComponentId, ComponentSet, NameTaken, Registry};
use crate::entity::ArchetypeId;
use crate::storage::{BundleCells, DistinctColumns};

use super::bundle::Bundle;

/// A bundle type in a world.
#[derive(Debug)]
pub(crate) struct BundleInfo {
    /// The ids of its components, in the bundle's order.
    pub(crate) components: Box<[ComponentId]>,
    /// The archetype of exactly these components, once it was looked up.
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
}

/// The columns of some components in an archetype that has them all.
pub(crate) fn columns_in(archetype: &Archetype, components: &[ComponentId]) -> DistinctColumns {
    let column = |&id| archetype.column(id).expect("the archetype lacks a component of the bundle");
    DistinctColumns::new(components.iter().map(column).collect())
}

/// The bundles of a world: types, and sets of components that are known only at run time.
#[derive(Debug, Default)]
pub(crate) struct Bundles {
    infos: Vec<BundleInfo>,
    by_type: FxHashMap<TypeId, BundleId>,
    /// Bundles without a type: sets of components in ascending order.
    by_components: FxHashMap<Box<[ComponentId]>, BundleId>,
    /// The type of the last look-up: loops look up the same type repeatedly.
    last: Option<(TypeId, BundleId)>,
}

impl Bundles {
    /// The id of `B`. Registers a new bundle.
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

    /// [`Bundles::id`], which returns an error instead of panicking.
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
        let id = BundleId(u32::try_from(self.infos.len()).expect("there are 2³² bundles"));
        self.infos.push(BundleInfo { components, home: None });
        id
    }

    /// The id of a set of components that is known only at run time, in ascending order.
    pub(crate) fn set_id(&mut self, components: &[ComponentId]) -> BundleId {
        debug_assert!(
            components.is_sorted_by(|a, b| a < b),
            "the components are not in ascending order"
        );
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

    /// The archetype of exactly the bundle's components, once it was found.
    #[inline]
    pub(crate) fn home(&self, id: BundleId) -> Option<&BundleTarget> {
        self.info(id).home.as_ref()
    }

    /// Forgets the archetypes of all bundles.
    pub(crate) fn forget_homes(&mut self) {
        self.infos.iter_mut().for_each(|info| info.home = None);
    }

    /// Stores the archetype of exactly the bundle's components.
    #[cold]
    pub(crate) fn set_home(&mut self, id: BundleId, archetype: ArchetypeId, found: &Archetype) {
        let info = &mut self.infos[id.0 as usize];
        let cells = BundleCells::new(found.list(), columns_in(found, &info.components));
        info.home = Some(BundleTarget { archetype, cells });
    }
}
