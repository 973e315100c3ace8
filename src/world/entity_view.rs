//! All components of one entity, without their types.

use core::fmt;

use crate::archetype::{Archetype, SharedTags};
use crate::component::{AnyComponent, ComponentInfo, Registry};
use crate::entity::{Entity, NoSuchEntity};
use crate::storage::ChunkRow;
use crate::store::EntityError;

use super::cell_shape::{Cell, CellShape};
use super::component_key::ComponentKey;
use super::world::World;

/// # All components of an entity
impl World {
    /// All components of an entity: for inspectors, editors, and programs that save a scene. Of
    /// [sparse components](crate::component#sparse-components), which are no columns, it has the
    /// names ([`EntityView::sparse`]), and the values by their types.
    ///
    /// # Errors
    ///
    /// If the entity is neither alive nor [`Gone`](crate::Gone). An entity with a
    /// [reserved](World::reserve_entity) id is alive and has no components.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[component(name = "position")]
    /// #[derive(Debug)]
    /// struct Position { x: f32, y: f32 }
    /// #[component(name = "health")]
    /// struct Health(u8);
    /// #[component(name = "frozen")]
    /// struct Frozen;
    /// let mut world = World::new();
    /// let entity = world.spawn((Position { x: 1.0, y: 2.0 }, Health(7), Frozen));
    /// let view = world.entity(entity)?;
    /// let names: Vec<_> = view.components().map(|component| component.info().name()).collect();
    /// assert_eq!(names, ["frozen", "health", "position"]);
    /// assert_eq!(view.component("health").unwrap().bytes(), [7]);
    /// assert_eq!(
    ///     format!("{view:?}"),
    ///     "0v1 {frozen: [], health: [07], position: Position { x: 1.0, y: 2.0 }}",
    /// );
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    pub fn entity(&self, entity: Entity) -> Result<EntityView<'_>, NoSuchEntity> {
        let place = self.store.entities().resolve(entity)?;
        let row = place.map(|place| {
            let archetype = self.archetype(place);
            (archetype, archetype.list().split(place.row()))
        });
        Ok(EntityView { world: self, entity, row })
    }
}

/// All components of one entity. See [`World::entity`].
#[derive(Clone, Copy)]
pub struct EntityView<'w> {
    world: &'w World,
    entity: Entity,
    /// `None` if the id is reserved.
    row: Option<(&'w Archetype, ChunkRow)>,
}

impl<'w> EntityView<'w> {
    /// The entity.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let entity = world.spawn(());
    /// assert_eq!(world.entity(entity)?.id(), entity);
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    #[must_use]
    pub const fn id(&self) -> Entity {
        self.entity
    }

    /// Its components but the sparse ones, sorted by name. O(components).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] struct Health(u8);
    /// # #[component(name = "frozen", enableable)] struct Frozen;
    /// let mut world = World::new();
    /// let entity = world.spawn((Health(7), Frozen));
    /// let names = world.entity(entity)?.components().map(|component| component.info().name());
    /// assert!(names.eq(["frozen", "health"]));
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    pub fn components(&self) -> impl ExactSizeIterator<Item = ComponentView<'w>> + use<'w> {
        let mut views = Vec::new();
        if let Some((archetype, at)) = self.row {
            let columns = (0u16..).zip(archetype.components());
            let all = columns
                .map(|(column, &id)| view((archetype, at), column, self.registry().info(id)));
            views.extend(all.filter(|view| !view.info.is_shared()));
        }
        views.sort_unstable_by_key(|view| view.info.name());
        views.into_iter()
    }

    /// The component with this name, if the entity has it and it is not sparse.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] struct Health(u8);
    /// # #[component(name = "frozen", enableable)] struct Frozen;
    /// let mut world = World::new();
    /// let entity = world.spawn((Health(7), Frozen));
    /// assert_eq!(world.entity(entity)?.component("health").unwrap().bytes(), [7]);
    /// assert!(world.entity(entity)?.component("mana").is_none());
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    #[must_use]
    pub fn component(&self, name: &str) -> Option<ComponentView<'w>> {
        let (archetype, at) = self.row?;
        let id = self.registry().id_of_name(name)?;
        Some(view((archetype, at), archetype.column(id)?, self.registry().info(id)))
    }

    /// Whether the entity has all of these components, by names or infos, including
    /// [sparse](Self::sparse) ones. An unknown component counts as missing. O(keys), and O(sets)
    /// for each sparse or missing key. For components with types a query tells it:
    /// `world.query::<()>().filter::<(With<A>, With<B>)>().contains(entity)`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] struct Health(u8);
    /// # #[component(name = "title", sparse)] struct Title(String);
    /// let mut world = World::new();
    /// let entity = world.spawn((Health(7), Title("Dr".to_owned())));
    /// assert!(world.entity(entity)?.has_all(&["health", "title"]));
    /// assert!(!world.entity(entity)?.has_all(&["health", "mana"]));
    /// let health = world.reflect().component("health").unwrap();
    /// assert!(world.entity(entity)?.has_all([health]));
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    #[must_use]
    pub fn has_all<'k>(&self, components: impl IntoIterator<Item: Into<ComponentKey<'k>>>) -> bool {
        let mut keys = components.into_iter().map(Into::into);
        keys.all(|key: ComponentKey<'_>| match self.component(key.name()) {
            Some(own) => key.means(own.info),
            None => {
                let pair = self.registry().pair_info(key.name());
                let is_meant = key.is_name() || pair.is_some_and(|info| key.means(info));
                is_meant && self.sparse().any(|own| own == key.name())
            }
        })
    }

    /// The component of type `C`.
    ///
    /// # Errors
    ///
    /// If the entity lacks it.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] struct Health(u8);
    /// # #[component(name = "frozen", enableable)] struct Frozen;
    /// let mut world = World::new();
    /// let entity = world.spawn((Health(7), Frozen));
    /// assert_eq!(world.entity(entity)?.get::<Health>()?.0, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get<C: AnyComponent<Shape: CellShape<C>>>(&self) -> Result<Cell<'w, C>, EntityError> {
        self.world.get::<C>(self.entity)
    }

    /// The names of its [sparse components](crate::component#sparse-components).
    /// [`components`](Self::components) omits them, because a view has no locks: the values are
    /// behind one for each component, which [`get`](Self::get) takes. O(sets of the world).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse, name = "name")] struct Name(String);
    /// let mut world = World::new();
    /// let entity = world.spawn(Name("Ada".to_owned()));
    /// assert!(world.entity(entity)?.sparse().eq(["name"]));
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    pub fn sparse(&self) -> impl Iterator<Item = &'static str> + use<'w> {
        self.world.store.sparse().names_of(self.entity)
    }

    /// The types of its [shared values](crate::shared::Shared), as the compiler names them.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let entity = world.spawn(());
    /// world.insert_shared(entity, String::from("oak"))?;
    /// let types: Vec<_> = world.entity(entity)?.shared_types().collect();
    /// assert_eq!(types, ["alloc::string::String"]);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    pub fn shared_types(&self) -> impl Iterator<Item = &'static str> + use<'w> {
        let registry = self.registry();
        let shared = self.row.and_then(|(archetype, _)| archetype.shared());
        let tags = shared.into_iter().flat_map(SharedTags::tags);
        tags.filter_map(|tag| registry.shared_type(tag)).map(|(name, _)| name)
    }

    fn registry(&self) -> &'w Registry {
        self.world.store.registry()
    }
}

impl<'w> ComponentView<'w> {
    /// The value of a pair of a relation.
    pub(super) const fn of_pair(info: &'w ComponentInfo, bytes: &'w [u8]) -> Self {
        Self { info, bytes, is_enabled: true }
    }
}

/// A component of the row at a place.
fn view<'w>(
    (archetype, at): (&'w Archetype, ChunkRow),
    column: u16,
    info: &'w ComponentInfo,
) -> ComponentView<'w> {
    let ChunkRow { chunk, row } = at;
    let bytes = archetype.list().column_bytes(usize::from(column), chunk);
    let is_enabled = archetype.bits(column).is_none_or(|bits| bits.chunk(chunk).is_enabled(row));
    ComponentView { info, bytes: &bytes[row as usize * info.size()..][..info.size()], is_enabled }
}

impl fmt::Debug for EntityView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} ", self.entity)?;
        let mut map = f.debug_map();
        for component in self.components() {
            map.entry(&format_args!("{}", component.info.name()), &component);
        }
        for name in self.sparse() {
            map.entry(&format_args!("{name}"), &format_args!("sparse"));
        }
        for shared in self.shared_types() {
            map.entry(&format_args!("{shared}"), &format_args!("shared"));
        }
        map.finish()
    }
}

/// A component of an entity, or the value of a [pair](crate::reflect::Reflect::pair): its name, its
/// layout, and its bytes. The `Debug` output is the one of its type, or the bytes if the type has
/// no `Debug`.
#[derive(Clone, Copy)]
pub struct ComponentView<'w> {
    info: &'w ComponentInfo,
    bytes: &'w [u8],
    is_enabled: bool,
}

impl<'w> ComponentView<'w> {
    /// The name and the layout of its type.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] struct Health(u8);
    /// # #[component(name = "frozen", enableable)] struct Frozen;
    /// let mut world = World::new();
    /// let entity = world.spawn((Health(7), Frozen));
    /// let view = world.entity(entity)?;
    /// assert_eq!(view.component("health").unwrap().info().align(), 1);
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    #[must_use]
    pub const fn info(&self) -> &'w ComponentInfo {
        self.info
    }

    /// Whether it is enabled. Components that cannot be [disabled](crate::World::set_enabled)
    /// always are.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] struct Health(u8);
    /// # #[component(name = "frozen", enableable)] struct Frozen;
    /// let mut world = World::new();
    /// let entity = world.spawn((Health(7), Frozen));
    /// world.set_enabled::<Frozen>(entity, false)?;
    /// assert!(!world.entity(entity)?.component("frozen").unwrap().is_enabled());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    /// The bytes of its value, empty for a tag. In the byte order of the machine.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] struct Health(u8);
    /// # #[component(name = "frozen", enableable)] struct Frozen;
    /// let mut world = World::new();
    /// let entity = world.spawn((Health(7), Frozen));
    /// let view = world.entity(entity)?;
    /// let bytes: Vec<_> = view.components().map(|component| component.bytes()).collect();
    /// assert_eq!(bytes, [&[][..], &[7]]);
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    #[must_use]
    pub const fn bytes(&self) -> &'w [u8] {
        self.bytes
    }
}

impl fmt::Debug for ComponentView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.info.format(self.bytes, f)
    }
}
