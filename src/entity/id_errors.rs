//! The errors of ids.

use core::error::Error;
use core::fmt;

use super::Entity;

/// No entity with this id is alive: it was despawned or never spawned, or its command buffer was
/// not applied yet. Entities that are [`Gone`](crate::Gone) are not alive; their remaining
/// components can be read and removed.
///
/// # Example
///
/// ```
/// use phalanx::prelude::*;
///
/// let mut world = World::new();
/// let entity = world.spawn(());
/// assert!(world.despawn(entity).is_ok());
///
/// let error = world.entity(entity).unwrap_err();
/// assert_eq!(error.entity, entity);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NoSuchEntity {
    /// The requested id.
    pub entity: Entity,
}

impl fmt::Display for NoSuchEntity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entity } = self;
        if entity.is_null() {
            write!(
                f,
                "entity {entity} is the null id; test ids that may be null with `Entity::some`"
            )
        } else {
            write!(
                f,
                "entity {entity} is not alive: it was despawned, alone or with an entity that it follows, or is not spawned yet (`World::apply` spawns the entities of a command buffer); test ids that may be stale with `World::contains`, in a system with `Lookup::get`"
            )
        }
    }
}

impl Error for NoSuchEntity {}

/// No id is left.
///
/// No id was allocated: a request for many ids gets all of them or none.
///
/// # Example
///
/// ```
/// use phalanx::error::OutOfIds;
/// use phalanx::prelude::*;
///
/// let mut world = World::builder().entities_max(2).build();
/// assert!(world.reserve_entities(3).is_err());
/// assert!(world.reserve_entities(2).is_ok());
/// assert_eq!(world.reserve_entity(), Err(OutOfIds::InWorld { limit: 2 }));
///
/// let mut buffer = world.command_buffer(0)?;
/// assert_eq!(buffer.try_spawn(()), Err(OutOfIds::InBuffer { ids: 0 }));
/// # Ok::<(), phalanx::error::ReserveError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutOfIds {
    /// The world has no id left.
    InWorld {
        /// The number of entities that can be alive at once.
        limit: u32,
    },
    /// The command buffer has handed out all its ids.
    InBuffer {
        /// The number of ids it had.
        ids: usize,
    },
}

impl fmt::Display for OutOfIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InWorld { limit } => write!(
                f,
                "not enough of the world's {limit} entity ids are left; despawn entities or build the world with a greater `entities_max`",
            ),
            Self::InBuffer { ids } => write!(
                f,
                "the command buffer has handed out its {ids} ids; ask `World::command_buffer` for more, apply the buffer more often, or use `spawn_batch`, which needs none"
            ),
        }
    }
}

impl Error for OutOfIds {}

/// One call requested more memory than a call may allocate, or than the operating system grants.
///
/// No memory was allocated and no data is lost. [`WorldBuilder::request_bytes_max`] sets the limit,
/// which is 16 GiB unless stated otherwise.
///
/// [`WorldBuilder::request_bytes_max`]: crate::WorldBuilder::request_bytes_max
///
/// # Example
///
/// ```
/// use phalanx::error::ReserveError;
/// use phalanx::prelude::*;
///
/// let mut world = World::new();
/// let grown = world.memory_mut().grow_indices(u32::MAX);
/// let Err(ReserveError::Memory(error)) = grown else { unreachable!() };
/// assert_eq!(error.bytes, 16 * u64::from(u32::MAX));
/// assert_eq!(error.bytes_max, 16 << 30);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TooMuchMemory {
    /// The bytes that the call would allocate, or `u64::MAX` if they are more.
    pub bytes: u64,
    /// The bytes that one call may allocate. If `bytes` is not greater, the system refused them.
    pub bytes_max: u64,
}

impl fmt::Display for TooMuchMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, bytes_max } = self;
        if bytes > bytes_max {
            write!(
                f,
                "the call would take {bytes} bytes of memory and one call may take {bytes_max}; request less, or build the world with a greater `request_bytes_max`"
            )
        } else {
            write!(
                f,
                "the call would take {bytes} bytes of memory, which the system refuses; request less"
            )
        }
    }
}

impl Error for TooMuchMemory {}

/// Ids cannot be reserved, by [`World::reserve_entities`], [`MemoryMut::grow_indices`] or
/// [`World::command_buffer`]. The world is unchanged.
///
/// [`World::reserve_entities`]: crate::World::reserve_entities
/// [`MemoryMut::grow_indices`]: crate::memory::MemoryMut::grow_indices
/// [`World::command_buffer`]: crate::World::command_buffer
///
/// # Example
///
/// ```
/// use phalanx::error::ReserveError;
/// use phalanx::prelude::*;
///
/// let mut world = World::builder().entities_max(10).build();
/// assert!(matches!(world.command_buffer(11), Err(ReserveError::Exhausted(_))));
/// let mut world = World::new();
/// assert!(matches!(world.command_buffer(u32::MAX), Err(ReserveError::Memory(_))));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReserveError {
    /// Fewer ids are left than requested.
    Exhausted(OutOfIds),
    /// The ids would need too much memory.
    Memory(TooMuchMemory),
}

impl fmt::Display for ReserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exhausted(error) => fmt::Display::fmt(error, f),
            Self::Memory(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl Error for ReserveError {}

impl From<OutOfIds> for ReserveError {
    #[cold]
    fn from(error: OutOfIds) -> Self {
        Self::Exhausted(error)
    }
}

impl From<TooMuchMemory> for ReserveError {
    #[cold]
    fn from(error: TooMuchMemory) -> Self {
        Self::Memory(error)
    }
}

/// An entity cannot be spawned with the given id.
///
/// # Example
///
/// ```
/// use phalanx::{Entity, error::AllocAtError};
///
/// let error = AllocAtError::Null { entity: Entity::NULL };
/// assert!(error.to_string().contains("generation 0"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AllocAtError {
    /// The id has generation 0, which belongs to no entity.
    Null {
        /// The requested id.
        entity: Entity,
    },
    /// The index belongs to an entity that is alive, perhaps of another generation.
    Occupied {
        /// The requested id.
        entity: Entity,
        /// The entity that is alive.
        occupant: Entity,
    },
    /// The index is on loan to a command buffer.
    Lent {
        /// The requested id.
        entity: Entity,
    },
    /// All generations of the index are used up.
    Retired {
        /// The requested id.
        entity: Entity,
    },
    /// The index is not below the world's limit.
    AboveLimit {
        /// The requested id.
        entity: Entity,
        /// The number of indices, one more than the highest.
        limit: u32,
    },
    /// The index is too far beyond the end of the directory: each skipped index costs 16 bytes, and
    /// a few stray ids could allocate gigabytes.
    GapTooWide {
        /// The requested id.
        entity: Entity,
        /// The number of indices that would be skipped.
        gap: u32,
        /// The most that this call may skip: 1,048,576, less the free ids that were never used.
        gap_max: u32,
        /// The memory that the skipped indices would need.
        bytes: u64,
    },
}

impl fmt::Display for AllocAtError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null { entity } => write!(
                f,
                "no entity can have the id {entity}: generation 0 means no entity; use generations from 1"
            ),
            Self::Occupied { entity, occupant } => write!(
                f,
                "the index of {entity} belongs to {occupant}, which is alive; despawn that one first or choose another index"
            ),
            Self::Lent { entity } => write!(
                f,
                "the index of {entity} is on loan to a command buffer; apply or drop the buffer first, or choose another index"
            ),
            Self::Retired { entity } => write!(
                f,
                "the index of {entity} has used up its generations and is retired; choose another index"
            ),
            Self::AboveLimit { entity, limit: u32::MAX } => write!(
                f,
                "the index of {entity} is one more than the highest that an entity can have; \
                 choose a lower index"
            ),
            Self::AboveLimit { entity, limit } => write!(
                f,
                "the index of {entity} is not below the world's limit of {limit}; build the world with a greater `entities_max` or choose a lower index"
            ),
            Self::GapTooWide { entity, gap, gap_max, bytes } => write!(
                f,
                "the index of {entity} is {gap} beyond the highest in use, which would take {bytes} bytes, and this call may skip {gap_max}; call `MemoryMut::grow_indices` first, or choose a lower index"
            ),
        }
    }
}

impl Error for AllocAtError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_names_the_id_and_says_what_to_do() {
        let entity = Entity::new(7, 2);
        let (bytes, gap_max) = (96, 5);
        let errors: [Box<dyn Error>; 8] = [
            Box::new(NoSuchEntity { entity }),
            Box::new(NoSuchEntity { entity: Entity::new(7, 0) }),
            Box::new(AllocAtError::Null { entity }),
            Box::new(AllocAtError::Occupied { entity, occupant: Entity::new(7, 3) }),
            Box::new(AllocAtError::Lent { entity }),
            Box::new(AllocAtError::Retired { entity }),
            Box::new(AllocAtError::AboveLimit { entity, limit: 3 }),
            Box::new(AllocAtError::GapTooWide { entity, gap: 6, gap_max, bytes }),
        ];
        for error in errors {
            let text = error.to_string();
            assert!(text.contains("7v"), "{text}");
            assert!(text.contains("; "), "{text}");
        }
        let entity = Entity::new(u32::MAX, 1);
        let text = AllocAtError::AboveLimit { entity, limit: u32::MAX }.to_string();
        assert!(!text.contains("entities_max"), "no limit is greater: {text}");
        let text = OutOfIds::InWorld { limit: 9 }.to_string();
        assert!(text.contains('9') && text.contains("entities_max"), "{text}");
        let text = TooMuchMemory { bytes: 7, bytes_max: 5 }.to_string();
        assert!(text.contains("7 bytes") && text.contains("request_bytes_max"), "{text}");
        let text = TooMuchMemory { bytes: 7, bytes_max: 9 }.to_string();
        assert!(text.contains("7 bytes") && text.contains("the system refuses"), "{text}");
    }
}
