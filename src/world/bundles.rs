//! What a bundle type means in this world, worked out once: its components and its archetype.

use core::any::TypeId;

use rustc_hash::FxHashMap;

use crate::archetype::{Archetype, ArchetypeId, BundleId};
use crate::bundle::{Bundle, assert_distinct};
use crate::component::{ComponentId, ComponentSet};
use crate::query::Source;
use crate::storage::{DistinctColumns, LayoutError};

/// A bundle type's components, in its own order.
#[derive(Debug)]
pub(super) struct BundleInfo {
    pub(super) components: Box<[ComponentId]>,
    /// Where entities of exactly these components live, once one was spawned.
    home: Option<Home>,
}

/// An archetype and the bundle's columns in it.
#[derive(Clone, Debug)]
pub(super) struct Home {
    pub(super) archetype: ArchetypeId,
    pub(super) columns: DistinctColumns,
}

impl BundleInfo {
    /// The columns of the bundle's components in an archetype that has them all.
    pub(super) fn columns_in(&self, archetype: &Archetype) -> DistinctColumns {
        let column = |&id| archetype.column(id).expect("the archetype has the bundle's components");
        DistinctColumns::new(self.components.iter().map(column).collect())
    }
}

/// The bundle types that this world has seen.
#[derive(Debug, Default)]
pub(super) struct Bundles {
    infos: Vec<BundleInfo>,
    by_type: FxHashMap<TypeId, BundleId>,
    /// The type asked for last: loops ask for the same one again and again.
    last: Option<(TypeId, BundleId)>,
}

impl Bundles {
    #[inline]
    pub(super) fn id<B: Bundle>(&mut self, source: &mut Source) -> BundleId {
        assert_distinct::<B>();
        match self.last {
            Some((last, id)) if last == TypeId::of::<B>() => id,
            _ => self.find::<B>(source),
        }
    }

    fn find<B: Bundle>(&mut self, source: &mut Source) -> BundleId {
        let id = match self.by_type.get(&TypeId::of::<B>()) {
            Some(&id) => id,
            None => self.add::<B>(source),
        };
        self.last = Some((TypeId::of::<B>(), id));
        id
    }

    #[cold]
    fn add<B: Bundle>(&mut self, source: &mut Source) -> BundleId {
        let mut components = Vec::new();
        B::register(&mut source.registry, &mut components);
        let id = BundleId(u32::try_from(self.infos.len()).expect("bundle types of a program"));
        self.infos.push(BundleInfo { components: components.into(), home: None });
        self.by_type.insert(TypeId::of::<B>(), id);
        id
    }

    #[inline]
    pub(super) fn info(&self, id: BundleId) -> &BundleInfo {
        &self.infos[id.0 as usize]
    }

    /// The archetype of exactly the bundle's components.
    #[inline]
    pub(super) fn home<B: Bundle>(&mut self, source: &mut Source) -> Result<&Home, LayoutError> {
        let id = self.id::<B>(source);
        let info = &mut self.infos[id.0 as usize];
        if info.home.is_none() {
            info.find_home(source)?;
        }
        Ok(info.home.as_ref().expect("found above"))
    }
}

impl BundleInfo {
    #[cold]
    fn find_home(&mut self, source: &mut Source) -> Result<(), LayoutError> {
        let set: ComponentSet = self.components.iter().copied().collect();
        let archetype = source.find_or_add(&set)?;
        let columns = self.columns_in(source.catalog.get(archetype));
        self.home = Some(Home { archetype, columns });
        Ok(())
    }
}
