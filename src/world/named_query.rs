//! A query that is data: its components are named at run time.

use core::convert::Infallible;
use core::fmt;

use std::sync::{Arc, Mutex, PoisonError};

use crate::component::{Component as _, ComponentId, Gone, Registry};
use crate::storage::AccessKind;
use crate::store::{
    AccessRequest, ComponentRef, NamedParts, NamedPlan, RequestKey, Requirements, TermUse,
};

use super::by_name::Reflect;
use super::bytes_error::BytesError;
use super::component_key::ComponentKey;
use super::world::World;

/// A query that is data: for editors, consoles, scripts and inspectors, which learn at run time
/// which components they need. Each is given by its name or its info, as a [`ComponentKey`]. The
/// query belongs to no world.
///
/// [`Reflect::chunks`] reads the rows that it matches, [`ReflectMut::for_each_chunk`] writes them,
/// chunk by chunk, and a [system](NamedQuery::system) does both in a schedule. Its rows are the
/// rows of a typed [`Query`](crate::Query) of the same components: rows with hidden components that
/// it does not name are left out, and so are rows in which a component that it names by
/// [`read`](NamedQuery::read), [`write`](NamedQuery::write) or [`with`](NamedQuery::with) is
/// [disabled](crate::World::set_enabled).
///
/// | query of names | query of types |
/// | --- | --- |
/// | `read("a")`, `write("a")` | `&A`, `&mut A` |
/// | `read_optional("a")`, `write_optional("a")` | `Option<&A>`, `Option<&mut A>` |
/// | `with("a")`, `without("a")` | `With<A>`, `Without<A>` |
/// | `any_of(["a", "b"])` | `AnyOf<(A, B)>`, `Or<(With<A>, With<B>)>` |
/// | `read_optional(Disabled::NAME)` | `Option<&Disabled>`: rows that it hides, too |
///
/// The query keeps its plan: the archetypes that match in the world of the last call. Names are
/// looked up once and each archetype is tested once, as for a type of query, so keep a query from
/// call to call: a new one tests all archetypes. All are tested again after some were
/// [retired](crate::memory::MemoryMut::retire_archetypes) or freed by a
/// [restored](crate::World::restore) state. If the query names a sparse component, so they are
/// after the first value of one came to an archetype, and after a compaction.
///
/// Each field of a [split component](crate::component#split-components) is a component here.
/// [Sparse components](crate::component#sparse-components) have no columns, so they can be named by
/// [`with`](NamedQuery::with), [`without`](NamedQuery::without) and [`any_of`](NamedQuery::any_of)
/// only. Their values are not in chunks: a set has an order and a lock of its own, and the values
/// of most types have no bytes. [`World::sparse`] has them by their type. [Shared
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
#[derive(Clone, Default)]
pub struct NamedQuery {
    parts: NamedParts<ComponentKey<'static>>,
    plan: KeptPlan,
}

/// Two queries are equal if they name the same components in the same order.
impl PartialEq for NamedQuery {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

impl Eq for NamedQuery {}

impl fmt::Debug for NamedQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NamedParts { terms, with, without, any_of } = &self.parts;
        let mut shown = f.debug_struct("NamedQuery");
        shown.field("terms", terms).field("with", with).field("without", without);
        shown.field("any_of", any_of).finish()
    }
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
        self.parts.terms.iter().map(|(key, _)| key.name())
    }

    /// Adds a column that is read. Columns are in the order in which they are named.
    ///
    /// ```
    /// # use phalanx::reflect::NamedQuery;
    /// let query = NamedQuery::new().read("position").read("velocity");
    /// # assert_ne!(query, NamedQuery::new());
    /// ```
    #[must_use]
    pub fn read<'n>(self, component: impl Into<ComponentKey<'n>>) -> Self {
        self.term(component.into(), AccessKind::Read, false)
    }

    /// Adds a column that is written.
    ///
    /// ```
    /// # use phalanx::reflect::NamedQuery;
    /// let query = NamedQuery::new().write("position").read("velocity");
    /// # assert_ne!(query, NamedQuery::new().read("position").read("velocity"));
    /// ```
    #[must_use]
    pub fn write<'n>(self, component: impl Into<ComponentKey<'n>>) -> Self {
        self.term(component.into(), AccessKind::Write, false)
    }

    /// Adds a column that is read where an entity has it, like the term `Option<&C>`. In chunks of
    /// entities that lack it, the column is in its place and
    /// [not present](crate::reflect::ColumnView::is_present). It leaves out no rows: the values of
    /// a [disabled](crate::World::set_enabled) component are in the column, too.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component(name = "health")] #[derive(Debug, PartialEq)] struct Health(u16);
    /// # #[component(name = "armour")] #[derive(Debug, PartialEq)] struct Armour(u16);
    /// let mut world = World::new();
    /// world.spawn(Health(1));
    /// world.spawn((Health(2), Armour(5)));
    /// let query = NamedQuery::new().read("health").read_optional("armour");
    /// let mut sum = 0;
    /// for chunk in world.reflect().chunks(&query)? {
    ///     let [health, armour] = chunk.columns() else { unreachable!("the query has two terms") };
    ///     sum += health.values::<Health>()?.iter().map(|health| health.0).sum::<u16>();
    ///     if armour.is_present() {
    ///         sum += armour.values::<Armour>()?.iter().map(|armour| armour.0).sum::<u16>();
    ///     }
    /// }
    /// assert_eq!(sum, 8);
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    #[must_use]
    pub fn read_optional<'n>(self, component: impl Into<ComponentKey<'n>>) -> Self {
        self.term(component.into(), AccessKind::Read, true)
    }

    /// Adds a column that is written where an entity has it, like the term `Option<&mut C>`; see
    /// [`read_optional`](NamedQuery::read_optional).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component(name = "health")] #[derive(Debug, PartialEq)] struct Health(u16);
    /// # #[component(name = "armour")] #[derive(Debug, PartialEq)] struct Armour(u16);
    /// let mut world = World::new();
    /// world.spawn(Health(1));
    /// let armed = world.spawn((Health(2), Armour(5)));
    /// let query = NamedQuery::new().with("health").write_optional("armour");
    /// world.reflect_mut().for_each_chunk(&query, |chunk| {
    ///     let [armour] = chunk.columns_mut() else { unreachable!("the query has one term") };
    ///     if armour.is_present() {
    ///         armour.bytes_mut().unwrap().fill(0);
    ///     }
    /// })?;
    /// assert_eq!(world.get::<Armour>(armed), Ok(&Armour(0)));
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    #[must_use]
    pub fn write_optional<'n>(self, component: impl Into<ComponentKey<'n>>) -> Self {
        self.term(component.into(), AccessKind::Write, true)
    }

    /// Requires entities that have a component, and have it enabled.
    ///
    /// ```
    /// # use phalanx::reflect::NamedQuery;
    /// let query = NamedQuery::new().read("position").with("enemy");
    /// # assert_ne!(query, NamedQuery::new().read("position"));
    /// ```
    #[must_use]
    pub fn with<'n>(self, component: impl Into<ComponentKey<'n>>) -> Self {
        self.changed(|parts| parts.with.push(component.into().into_owned()))
    }

    /// Requires entities that lack a component, or have it disabled.
    ///
    /// ```
    /// # use phalanx::reflect::NamedQuery;
    /// let query = NamedQuery::new().read("position").without("frozen");
    /// # assert_ne!(query, NamedQuery::new().read("position"));
    /// ```
    #[must_use]
    pub fn without<'n>(self, component: impl Into<ComponentKey<'n>>) -> Self {
        self.changed(|parts| parts.without.push(component.into().into_owned()))
    }

    /// Requires entities that have at least one of some components, and have it enabled, like
    /// [`AnyOf`](crate::AnyOf). Each call is a condition of its own. No entity has one of an empty
    /// list.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component(name = "enemy")] struct Enemy;
    /// # #[component(name = "boss")] struct Boss;
    /// let mut world = World::new();
    /// world.register::<(Enemy, Boss)>();
    /// world.spawn(());
    /// world.spawn(Boss);
    /// world.spawn((Enemy, Boss));
    /// let hostile = NamedQuery::new().any_of(["enemy", "boss"]);
    /// assert_eq!(world.reflect().chunks(&hostile)?.map(|chunk| chunk.len()).sum::<usize>(), 2);
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    #[must_use]
    pub fn any_of<'n>(self, components: impl IntoIterator<Item: Into<ComponentKey<'n>>>) -> Self {
        let keys = components.into_iter().map(|one| one.into().into_owned()).collect();
        self.changed(|parts| parts.any_of.push(keys))
    }

    fn term(self, component: ComponentKey<'_>, access: AccessKind, is_optional: bool) -> Self {
        let term = (component.into_owned(), TermUse { access, is_optional });
        self.changed(|parts| parts.terms.push(term))
    }

    /// The query of other parts, without the plan.
    fn changed(mut self, change: impl FnOnce(&mut NamedParts<ComponentKey<'static>>)) -> Self {
        change(&mut self.parts);
        Self { parts: self.parts, plan: KeptPlan::default() }
    }

    /// The name of the first term that is written.
    pub(super) fn written(&self) -> Option<&str> {
        let mut terms = self.parts.terms.iter();
        terms.find(|(_, term)| term.access.is_write()).map(|(key, _)| key.name())
    }

    /// By term: the id in the plan's world, and whether it is written.
    pub(super) fn terms_of(plan: &NamedPlan) -> Vec<(ComponentId, bool)> {
        plan.requirements().columns().map(|column| (column.component.id, column.write)).collect()
    }

    /// The plan of the query in a world, which knows all archetypes. O(1) if it is the world of the
    /// last call, and no archetype is new.
    pub(super) fn plan_in(&self, world: Reflect<'_>) -> Result<Arc<NamedPlan>, BytesError> {
        let (registry, archetypes) = (world.world.store.registry(), world.world.store.archetypes());
        let mut kept = self.plan.0.lock().unwrap_or_else(PoisonError::into_inner);
        let plan = match &mut *kept {
            Some(plan) if plan.is_of(registry) => plan,
            other => {
                let requirements = self.requirements_in(world)?;
                other.insert(Arc::new(NamedPlan::new(requirements, registry)))
            }
        };
        if !plan.is_current(archetypes) {
            Arc::make_mut(plan).update(archetypes);
        }
        Ok(Arc::clone(plan))
    }

    /// The requirements for the archetypes and rows of a world.
    fn requirements_in(&self, world: Reflect<'_>) -> Result<Requirements, BytesError> {
        let parts = self.parts.try_map(|key, term| match term {
            None => world.component_ref(key),
            Some(term) if term.access.is_write() && key.name() == Gone::NAME => {
                Err(BytesError::Gone)
            }
            Some(_) => world.column_ref(key),
        })?;
        let mut ids: Vec<_> = parts.terms.iter().map(|(one, _)| (one.id, one.name)).collect();
        ids.sort_unstable_by_key(|&(id, _)| id);
        if let Some(pair) = ids.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(BytesError::Repeated { name: pair[0].1.to_owned() });
        }
        Ok(Requirements::named(world.world.store.registry(), &parts))
    }

    /// The request of the query in a world, and its plan.
    pub(crate) fn request_in(
        &self,
        world: &World,
        key: RequestKey,
    ) -> Result<(AccessRequest, Arc<NamedPlan>), BytesError> {
        let plan = self.plan_in(world.reflect())?;
        let requirements = Arc::clone(plan.requirements());
        Ok((AccessRequest::by_name(key, requirements, world.store.registry()), plan))
    }

    /// A request in the registry of a schedule, which may not know some of the names. It clashes
    /// with every request that it clashes with in a world.
    pub(crate) fn request_anywhere(&self, registry: &Registry, key: RequestKey) -> AccessRequest {
        let parts = self
            .parts
            .try_map(|key, _| Ok::<_, Infallible>(ComponentRef::of_any_name(registry, key.name())));
        let Ok(parts) = parts;
        let requirements = Arc::new(Requirements::named(registry, &parts));
        AccessRequest::by_name(key, requirements, registry)
    }
}

/// The plan of a query in the world that used it last. A copy of the query shares it until one of
/// them tests other archetypes.
#[derive(Default)]
struct KeptPlan(Mutex<Option<Arc<NamedPlan>>>);

impl Clone for KeptPlan {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()))
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::{Pod, Zeroable};

    use super::*;
    use crate::impl_component;

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Kept(u32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Else(u32);
    impl_component!(Kept as "kept", Else as "else");

    #[test]
    fn a_query_keeps_its_plan_from_call_to_call() {
        let (mut world, mut other) = (World::new(), World::new());
        world.spawn(Kept(1));
        other.spawn(Kept(2));
        let query = NamedQuery::new().read("kept");
        let plan = |world: &World| query.plan_in(world.reflect()).expect("the name is known");
        let first = plan(&world);
        assert!(Arc::ptr_eq(&first, &plan(&world)), "no archetype is tested again");
        world.spawn(Kept(3));
        assert!(Arc::ptr_eq(&first, &plan(&world)), "no archetype is new");
        world.spawn((Kept(4), Else(5)));
        let second = plan(&world);
        assert!(!Arc::ptr_eq(&first, &second), "a plan in use is not changed");
        assert!(Arc::ptr_eq(first.requirements(), second.requirements()), "the names stay");
        assert_eq!((first.matching().len(), second.matching().len()), (1, 2));
        let copy = query.clone();
        let of_copy = copy.plan_in(world.reflect()).expect("the name is known");
        assert!(Arc::ptr_eq(&of_copy, &second), "a copy shares it");
        assert_eq!(copy, query);
        assert!(!Arc::ptr_eq(plan(&other).requirements(), second.requirements()));
        assert_eq!(plan(&other).matching().len(), 1);
        let wider = copy.with("else");
        let of_wider = wider.plan_in(world.reflect()).expect("the names are known");
        assert_eq!(of_wider.matching().len(), 1, "a query that is changed has no plan");
    }
}
