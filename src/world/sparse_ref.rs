//! Sparse components by entity, and the views of their sets.

use core::fmt;
use core::ops::Deref;

use crate::component::{AnyComponent, SparseComponent, assert_writable};
use crate::entity::Entity;
use crate::store::{ReadGuard, SetRows, SparseSet, SparseSetInfo};

use super::relation_shape::RelationShape;
use super::sparse_views::{Sparse, SparseMut};
use super::world::World;

/// # Sparse components
impl World {
    /// The sets of sparse components.
    pub(crate) fn sparse_sets(&self) -> impl Iterator<Item = SparseSetInfo> {
        self.store.sparse().infos()
    }

    /// The values of a [sparse component](crate::component#sparse-components), for reading.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// let mut world = World::new();
    /// let entity = world.spawn(Name("Ada".to_owned()));
    /// let names = world.sparse::<Name>();
    /// assert_eq!(names.get(entity).unwrap().0, "Ada");
    /// ```
    #[must_use]
    pub fn sparse<S: SparseComponent>(&self) -> Sparse<'_, S> {
        self.store.note_guard();
        let set = self.store.read_sparse();
        Sparse::new(set.map(ReadGuard::Lock), SetRows::new(&self.store))
    }

    /// The values of a [sparse component](crate::component#sparse-components), for writing:
    /// entities can gain and lose it.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// let mut world = World::new();
    /// let entities = world.spawn_batch([(); 3]).to_vec();
    /// let mut names = world.sparse_mut::<Name>();
    /// for entity in entities {
    ///     names.insert(entity, Name(format!("orc {entity}")))?;
    /// }
    /// assert_eq!(names.len(), 3);
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    #[must_use]
    pub fn sparse_mut<S: SparseComponent>(&mut self) -> SparseMut<'_, S> {
        const { assert_writable::<S>() };
        self.flush();
        let (set, number, (rows, now)) = self.store.sparse_mut();
        SparseMut::new((set, number), rows, now)
    }

    /// A [relation](crate::sparse::relation), from both ends: a
    /// [`Relation`](crate::sparse::Relation), or [`Pairs`](crate::sparse::Pairs) if it is one to
    /// many.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[relation(tree)]
    /// struct ChildOf;
    ///
    /// let mut world = World::new();
    /// let parent = world.spawn(());
    /// let child = world.spawn(ChildOf::of(parent));
    /// let tree = world.relation::<ChildOf>();
    /// assert_eq!((tree.target(child), tree.sources(parent)), (Some(parent), &[child][..]));
    /// ```
    #[must_use]
    pub fn relation<R>(&self) -> <R::Shape as RelationShape<R>>::View<'_>
    where
        R: AnyComponent<Shape: RelationShape<R>>,
    {
        R::Shape::view(self)
    }

    /// The value of one entity, for reading.
    pub(super) fn sparse_ref<S: SparseComponent>(
        &self,
        entity: Entity,
    ) -> Option<SparseRef<'_, S>> {
        self.store.note_guard();
        let set = ReadGuard::Lock(self.store.read_sparse()?);
        let position = set.position(entity)?;
        Some(SparseRef { set, position })
    }
}

/// A sparse component of one entity, for reading: see [`World::get`].
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component(sparse)] struct Name(String);
/// let mut world = World::new();
/// let entity = world.spawn(Name("Ada".to_owned()));
/// assert_eq!(world.get::<Name>(entity)?.0, "Ada");
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
pub struct SparseRef<'w, S: SparseComponent> {
    set: ReadGuard<'w, SparseSet<S>>,
    position: usize,
}

impl<S: SparseComponent> Deref for SparseRef<'_, S> {
    type Target = S;

    #[inline]
    fn deref(&self) -> &S {
        self.set.at(self.position)
    }
}

impl<S: SparseComponent + fmt::Debug> fmt::Debug for SparseRef<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
