//! The bundle types of a world: for each, its component ids and its archetype, computed once.

use core::any::TypeId;

use rustc_hash::FxHashMap;

use super::archetype::Archetype;
use super::graph::{BundleId, NoBundle};
use crate::component::{ComponentId, ComponentSet, NameTaken, Registry};
use crate::entity::ArchetypeId;
use crate::storage::{BundleCells, DistinctColumns};

use super::column_bundle::ColumnBundle;

/// A bundle type in a world.
#[derive(Debug)]
pub(crate) struct BundleInfo {
    /// The ids of its components, in the bundle's order.
    pub(crate) components: Box<[ComponentId]>,
    /// The archetype of exactly these components, once it was looked up.
    home: Option<HomeId>,
}

/// The number of a bundle's home in its world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HomeId(u32);

/// The archetype of exactly a bundle's components, and the bundle's columns in it.
#[derive(Debug)]
pub(crate) struct Home {
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
#[derive(Debug)]
pub(crate) struct Bundles {
    infos: Vec<BundleInfo>,
    homes: Vec<Home>,
    by_type: FxHashMap<TypeId, BundleId>,
    /// Bundles without a type: sets of components in ascending order.
    by_components: FxHashMap<Box<[ComponentId]>, BundleId>,
    /// The type of the last look-up: loops look up the same type repeatedly.
    last: Last<BundleId>,
    /// The type whose home was last looked up.
    last_home: Last<HomeId>,
}

/// The result of the last look-up of a bundle type.
#[derive(Debug)]
struct Last<T> {
    bundle: TypeId,
    found: T,
}

impl<T> Last<T> {
    /// The result of no look-up.
    const fn none(found: T) -> Self {
        Self { bundle: TypeId::of::<NoBundle>(), found }
    }
}

impl Default for Bundles {
    fn default() -> Self {
        Self {
            infos: Vec::new(),
            homes: Vec::new(),
            by_type: FxHashMap::default(),
            by_components: FxHashMap::default(),
            last: Last::none(BundleId(u32::MAX)),
            last_home: Last::none(HomeId(u32::MAX)),
        }
    }
}

impl Bundles {
    /// The id of `B`. Registers a new bundle.
    ///
    /// # Panics
    ///
    /// If another type has the name of one of its components.
    #[inline]
    pub(crate) fn id<B: ColumnBundle>(&mut self, registry: &mut Registry) -> BundleId {
        if self.last.bundle == TypeId::of::<B>() {
            return self.last.found;
        }
        self.find::<B>(registry)
    }

    #[inline(never)]
    fn find<B: ColumnBundle>(&mut self, registry: &mut Registry) -> BundleId {
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
    pub(crate) fn try_id<B: ColumnBundle>(
        &mut self,
        registry: &mut Registry,
    ) -> Result<BundleId, NameTaken> {
        let id = match self.by_type.get(&TypeId::of::<B>()) {
            Some(&id) => id,
            None => self.add::<B>(registry)?,
        };
        self.last = Last { bundle: TypeId::of::<B>(), found: id };
        Ok(id)
    }

    #[cold]
    fn add<B: ColumnBundle>(&mut self, registry: &mut Registry) -> Result<BundleId, NameTaken> {
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

    /// The home of a bundle, once it was found.
    #[inline]
    pub(crate) fn home_of(&self, id: BundleId) -> Option<HomeId> {
        self.info(id).home
    }

    /// The home of `B`, if it was the last one that was looked up by type.
    #[inline]
    pub(crate) fn last_home<B: ColumnBundle>(&self) -> Option<HomeId> {
        (self.last_home.bundle == TypeId::of::<B>()).then_some(self.last_home.found)
    }

    /// Remembers the home of `B`.
    pub(crate) fn remember_home<B: ColumnBundle>(&mut self, home: HomeId) {
        self.last_home = Last { bundle: TypeId::of::<B>(), found: home };
    }

    #[inline]
    pub(crate) fn home(&self, id: HomeId) -> &Home {
        &self.homes[id.0 as usize]
    }

    /// Forgets the homes of all bundles. Their ids become invalid.
    pub(crate) fn forget_homes(&mut self) {
        self.infos.iter_mut().for_each(|info| info.home = None);
        self.homes.clear();
        self.last_home = Last::none(HomeId(u32::MAX));
    }

    /// Stores the archetype of exactly the bundle's components.
    #[cold]
    pub(crate) fn set_home(
        &mut self,
        id: BundleId,
        archetype: ArchetypeId,
        found: &Archetype,
    ) -> HomeId {
        let info = &mut self.infos[id.0 as usize];
        let cells = BundleCells::new(found.list(), columns_in(found, &info.components));
        let home = HomeId(u32::try_from(self.homes.len()).expect("there are 2³² bundles"));
        self.homes.push(Home { archetype, cells });
        info.home = Some(home);
        home
    }
}
