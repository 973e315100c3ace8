//! A query that is data: its components are named at run time.

use crate::component::{Component as _, ComponentId, Gone, Registry};
use crate::storage::AccessKind;
use crate::store::{AccessRequest, ComponentRef, RequestKey, Requirements};

use super::by_name::Reflect;
use super::bytes_error::BytesError;
use super::world::World;

/// A query that is data: for editors, consoles, scripts and inspectors, which learn at run time
/// which components they need. It belongs to no world.
///
/// [`Reflect::chunks`] reads the rows that it matches, [`ReflectMut::for_each_chunk`] writes them,
/// chunk by chunk, and a [system](NamedQuery::system) does both in a schedule. Its rows are the
/// rows of a typed [`Query`](crate::Query) of the same components: rows with hidden components that
/// it does not name are left out, and so are rows in which a component that it names by
/// [`read`](NamedQuery::read), [`write`](NamedQuery::write) or [`with`](NamedQuery::with) is
/// [disabled](crate::World::set_enabled).
///
/// Each field of a [split component](crate::component#split-components) is a component here.
/// [Sparse components](crate::component#sparse-components) have no columns, so they can be named by
/// [`with`](NamedQuery::with) and [`without`](NamedQuery::without) only. [Shared
/// values](crate::shared::Shared) have no names here: a typed query has a term and filters of them.
///
/// [`ReflectMut::for_each_chunk`]: crate::reflect::ReflectMut::for_each_chunk
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::reflect::NamedQuery;
///
/// #[component(name = "game.height")]
/// struct Height(f32);
/// #[component(name = "game.asleep")]
/// struct Asleep;
///
/// let mut world = World::new();
/// let entities = world.spawn_batch((0..5).map(|i| Height(i as f32))).to_vec();
/// world.insert(entities[0], Asleep)?;
///
/// let awake = NamedQuery::new().read("game.height").without("game.asleep");
/// let mut highest = 0.0_f32;
/// for chunk in world.reflect().chunks(&awake)? {
///     for height in chunk.columns()[0].values::<Height>()? {
///         highest = highest.max(height.0);
///     }
///     assert_eq!((chunk.len(), chunk.columns()[0].info().name()), (4, "game.height"));
/// }
/// assert_eq!(highest, 4.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedQuery {
    terms: Vec<(String, AccessKind)>,
    with: Vec<String>,
    without: Vec<String>,
}

impl NamedQuery {
    /// A query of all entities, but those with hidden components.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// world.spawn(Health(1.0));
    /// world.spawn(());
    /// let all = NamedQuery::new();
    /// assert_eq!(world.reflect().chunks(&all)?.map(|chunk| chunk.len()).sum::<usize>(), 2);
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The names of the columns, in their order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(|(name, _)| &name[..])
    }

    /// Adds a column that is read. Columns are in the order in which they are named.
    ///
    /// ```
    /// # use phalanx::reflect::NamedQuery;
    /// let query = NamedQuery::new().read("position").read("velocity");
    /// # assert_ne!(query, NamedQuery::new());
    /// ```
    #[must_use]
    pub fn read(mut self, name: impl Into<String>) -> Self {
        self.terms.push((name.into(), AccessKind::Read));
        self
    }

    /// Adds a column that is written.
    ///
    /// ```
    /// # use phalanx::reflect::NamedQuery;
    /// let query = NamedQuery::new().write("position").read("velocity");
    /// # assert_ne!(query, NamedQuery::new().read("position").read("velocity"));
    /// ```
    #[must_use]
    pub fn write(mut self, name: impl Into<String>) -> Self {
        self.terms.push((name.into(), AccessKind::Write));
        self
    }

    /// Requires entities that have a component, and have it enabled.
    ///
    /// ```
    /// # use phalanx::reflect::NamedQuery;
    /// let query = NamedQuery::new().read("position").with("enemy");
    /// # assert_ne!(query, NamedQuery::new().read("position"));
    /// ```
    #[must_use]
    pub fn with(mut self, name: impl Into<String>) -> Self {
        self.with.push(name.into());
        self
    }

    /// Requires entities that lack a component, or have it disabled.
    ///
    /// ```
    /// # use phalanx::reflect::NamedQuery;
    /// let query = NamedQuery::new().read("position").without("frozen");
    /// # assert_ne!(query, NamedQuery::new().read("position"));
    /// ```
    #[must_use]
    pub fn without(mut self, name: impl Into<String>) -> Self {
        self.without.push(name.into());
        self
    }

    /// The names of the terms that are written.
    pub(super) fn written(&self) -> impl Iterator<Item = &str> {
        let written = self.terms.iter().filter(|(_, access)| access.is_write());
        written.map(|(name, _)| name.as_str())
    }

    /// The ids of the terms in a world.
    pub(super) fn terms_in(
        &self,
        world: Reflect<'_>,
    ) -> Result<Vec<(ComponentId, AccessKind)>, BytesError> {
        let mut terms: Vec<(ComponentId, AccessKind)> = Vec::new();
        for (name, access) in &self.terms {
            if name == Gone::NAME && access.is_write() {
                return Err(BytesError::Gone);
            }
            let id = world.known(name)?;
            if terms.iter().any(|&(other, _)| other == id) {
                return Err(BytesError::Repeated { name: name.clone() });
            }
            terms.push((id, *access));
        }
        Ok(terms)
    }

    /// What the query requires of the archetypes and rows of a world.
    pub(super) fn requirements_in(
        &self,
        world: Reflect<'_>,
        terms: &[(ComponentId, AccessKind)],
    ) -> Result<Requirements, BytesError> {
        let registry = world.world.store.registry();
        let named = |names: &[String]| {
            let one = |name: &String| {
                let unknown = || world.unknown(name, registry.sparse_names());
                ComponentRef::of_name(registry, name).ok_or_else(unknown)
            };
            names.iter().map(one).collect::<Result<Vec<_>, _>>()
        };
        let (with, without) = (named(&self.with)?, named(&self.without)?);
        let terms: Vec<_> =
            terms.iter().map(|&(id, access)| (ComponentRef::of_id(registry, id), access)).collect();
        Ok(Requirements::named(registry, &terms, &with, &without))
    }

    /// The request of the query in a world.
    pub(crate) fn request_in(
        &self,
        world: &World,
        key: RequestKey,
    ) -> Result<AccessRequest, BytesError> {
        let world = world.reflect();
        let terms = self.terms_in(world)?;
        let requirements = self.requirements_in(world, &terms)?;
        Ok(AccessRequest::by_name(key, requirements, world.world.store.registry()))
    }

    /// A request in the registry of a schedule, which may not know some of the names. It clashes
    /// with every request that it clashes with in a world.
    pub(crate) fn request_anywhere(&self, registry: &Registry, key: RequestKey) -> AccessRequest {
        let one = |name: &String| ComponentRef::of_any_name(registry, name);
        let terms: Vec<_> = self.terms.iter().map(|(name, access)| (one(name), *access)).collect();
        let (with, without): (Vec<_>, Vec<_>) =
            (self.with.iter().map(one).collect(), self.without.iter().map(one).collect());
        let requirements = Requirements::named(registry, &terms, &with, &without);
        AccessRequest::by_name(key, requirements, registry)
    }
}
