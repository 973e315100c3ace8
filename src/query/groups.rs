//! The matches of a query by archetype, counted without a walk.

use core::fmt;

use crate::archetype::{Archetype, SharedTags};
use crate::component::{
    ColumnVisitor, Columnar, ColumnarShape as _, Component, Registry, SharedValue,
};
use crate::entity::{ArchetypeId, Entity};
use crate::storage::RowMask;

use super::filter::Filter;
use super::gather::Copies;
use super::matched_chunks::{entries, masks};
use super::query_type::{is_by_row, query_type};
use super::terms::Terms;

/// # Matches by archetype
impl<'q, 'w, Q: Terms, F: Filter> Copies<'q, 'w, Q, F> {
    /// The matches archetype by archetype, in the order of the query: the entities of a group have
    /// the same components and the same shared values, so a loop over groups groups by any of
    /// these. Groups without matches are left out. Stamps no chunk. O(1) for a group, or O(chunks)
    /// with filters that choose chunks or rows.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use std::collections::BTreeMap;
    /// # #[component] struct Soldier;
    /// # #[component] struct Wounded;
    /// # let mut world = World::new();
    /// # let soldiers = world.spawn_batch([Soldier; 6]).to_vec();
    /// # for (number, &soldier) in soldiers.iter().enumerate() {
    /// #     world.insert_shared(soldier, ["red", "blue"][number % 2])?;
    /// # }
    /// # world.insert(soldiers[0], Wounded)?;
    /// let soldiers = world.query::<&Soldier>();
    /// let mut teams: BTreeMap<_, (usize, usize)> = BTreeMap::new();
    /// for group in soldiers.copies().groups() {
    ///     let (all, wounded) = teams.entry(group.shared::<&str>()).or_default();
    ///     *all += group.len();
    ///     *wounded += if group.has::<Wounded>() { group.len() } else { 0 };
    /// }
    /// assert_eq!(teams[&Some(&"red")], (3, 1));
    /// assert_eq!(teams[&Some(&"blue")], (3, 0));
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    pub fn groups(&self) -> impl Iterator<Item = Group<'q>> + use<'q, 'w, Q, F> {
        let query = self.query();
        let view = query.view();
        let (store, plan) = (view.store(), view.plan(query_type::<Q, F>()));
        let registry = store.registry();
        let all = entries(plan, store.archetypes().as_slice(), query.viewed_filter());
        let group = move |(entry, number, archetype): (usize, _, &'q Archetype)| {
            let masks = (F::BY_CHUNK || is_by_row::<Q, F>())
                .then(|| masks::<Q, F>(plan, entry, archetype, query.viewed_filter()).collect());
            Group { registry, archetype, number, masks }
        };
        all.map(group).filter(|group| !group.is_empty())
    }
}

/// The matches of a query in one archetype; see [`Copies::groups`].
pub struct Group<'q> {
    registry: &'q Registry,
    archetype: &'q Archetype,
    number: ArchetypeId,
    /// The rows of each chunk, if the query does not match all rows.
    masks: Option<Vec<RowMask<'q>>>,
}

impl<'q> Group<'q> {
    /// The number of the archetype: its index in
    /// [`Reflect::archetypes`](crate::reflect::Reflect::archetypes).
    #[must_use]
    pub const fn archetype(&self) -> usize {
        self.number.index()
    }

    /// The number of matches. O(1), or O(chunks) with filters that choose chunks or rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.masks {
            Some(masks) => masks.iter().map(RowMask::count).sum(),
            None => self.archetype.len(),
        }
    }

    /// Whether it has no matches. A query has no such group.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether its entities have `C`, enabled or not.
    #[must_use]
    pub fn has<C: Columnar>(&self) -> bool {
        let mut has = Has { registry: self.registry, archetype: self.archetype, all: true };
        C::Shape::visit(&mut has);
        has.all
    }

    /// The [shared value](crate::shared::Shared) of type `T` that its entities have.
    #[must_use]
    pub fn shared<T: SharedValue>(&self) -> Option<&'q T> {
        self.archetype.shared().and_then(SharedTags::get)
    }

    /// The entities, in the order of the query. O(entities).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Mass(f32);
    /// # #[component] struct Fixed;
    /// let mut world = World::new();
    /// let loose = world.spawn(Mass(1.0));
    /// let fixed = world.spawn((Mass(2.0), Fixed));
    /// let query = world.query::<&Mass>();
    /// let by_group: Vec<_> = query.copies().groups().map(|group| group.entities()).collect();
    /// assert_eq!(by_group, [[loose], [fixed]]);
    /// ```
    #[must_use]
    pub fn entities(&self) -> Vec<Entity> {
        let mut entities = Vec::with_capacity(self.len());
        match &self.masks {
            Some(masks) => masks.iter().for_each(|mask| {
                let in_chunk = self.archetype.entities_of_chunk(mask.chunk());
                mask.runs().for_each(|run| entities.extend_from_slice(&in_chunk[run]));
            }),
            None => entities.extend_from_slice(self.archetype.entities()),
        }
        entities
    }
}

impl fmt::Debug for Group<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group")
            .field("archetype", &self.archetype())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// Whether an archetype has all columns of a component.
struct Has<'q> {
    registry: &'q Registry,
    archetype: &'q Archetype,
    all: bool,
}

impl ColumnVisitor for Has<'_> {
    fn visit<C: Component>(&mut self) {
        self.all &= self.archetype.set().contains(self.registry.id::<C>());
    }
}
