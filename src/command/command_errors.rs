//! The result of a playback: counts of its effects, and the commands that had no effect.

use core::error::Error;
use core::fmt;
use core::mem::discriminant;
use core::ops::AddAssign;
use core::panic::Location;

use crate::component::NameTaken;
use crate::entity::{Entity, NoSuchEntity, OutOfIds, TooMuchMemory};
use crate::storage::LayoutError;
use crate::store::{EntityError, RelationError};
use crate::world::BytesError;

/// The effects of a playback, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// Commands that were played back, with or without effect; a batch is one.
    pub commands: usize,
    /// Entities that were spawned, except by closures.
    pub spawned: usize,
    /// Entities that were despawned, except by closures, with those that went because the target
    /// of their relation did. In a world without relations and cleanup components, an entity that
    /// was spawned and despawned between two barriers is in neither number.
    pub despawned: usize,
    /// Rows that moved to another archetype. In a world without relations and cleanup components,
    /// an entity moves once between two barriers.
    pub moved: usize,
    /// Entities that were changed or despawned by query.
    pub matched: usize,
}

impl AddAssign for Applied {
    fn add_assign(&mut self, other: Self) {
        self.commands += other.commands;
        self.spawned += other.spawned;
        self.despawned += other.despawned;
        self.moved += other.moved;
        self.matched += other.matched;
    }
}

/// A policy for commands on entities that are not alive at playback.
///
/// A despawn of such an entity is never an error, since two systems may despawn the same one. For
/// other commands each buffer has a policy: see
/// [`CommandBuffer::on_dead_entity`](crate::CommandBuffer::on_dead_entity).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeadEntityPolicy {
    /// The command is one of the [`CommandErrors`] that [`World::apply`](crate::World::apply)
    /// returns. A schedule continues, and counts it in its [report](crate::Schedule::report).
    #[default]
    Report,
    /// A command on a dead entity has no effect. One with a dead target is applied without that
    /// relation. Neither is reported.
    Ignore,
    /// [`World::apply`](crate::World::apply), or the run of a schedule, panics with its text after
    /// the other commands were applied.
    Panic,
}

/// The action of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandVerb {
    /// Spawns an entity.
    Spawn,
    /// Inserts components.
    Insert,
    /// Removes components.
    Remove,
    /// Removes components and inserts others.
    Exchange,
    /// Despawns one entity or all that a query matches. It fails only if a
    /// [relation](crate::sparse::relation) refuses it.
    Despawn,
    /// Sorts the rows that a query matches.
    Sort,
    /// [`set_enabled`](crate::CommandBuffer::set_enabled) with `true`, or
    /// [`enable_where`](crate::CommandBuffer::enable_where).
    Enable,
    /// [`set_enabled`](crate::CommandBuffer::set_enabled) with `false`, or
    /// [`disable_where`](crate::CommandBuffer::disable_where).
    Disable,
    /// [`insert_shared`](crate::CommandBuffer::insert_shared), or
    /// [`insert_shared_where`](crate::CommandBuffer::insert_shared_where).
    InsertShared,
    /// [`remove_shared`](crate::CommandBuffer::remove_shared).
    RemoveShared,
}

impl fmt::Display for CommandVerb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spawn => "spawn",
            Self::Insert => "insert",
            Self::Remove => "remove",
            Self::Exchange => "exchange",
            Self::Despawn => "despawn",
            Self::Sort => "sort",
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::InsertShared => "insert of a shared value",
            Self::RemoveShared => "removal of a shared value",
        })
    }
}

/// The reason why a command had no effect, or not all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandErrorKind {
    /// The entity is not alive. It was never spawned, or it was despawned, by this buffer or
    /// elsewhere: alone, or with an entity that it follows.
    NoSuchEntity(NoSuchEntity),
    /// A row of the resulting components does not fit a chunk.
    Layout(LayoutError),
    /// No ids were left for the entities to be spawned.
    Exhausted(OutOfIds),
    /// The entities to be spawned would need too much memory.
    Memory(TooMuchMemory),
    /// A component type of the command has the name of another type in the world. An entity that
    /// was to be spawned with it is never alive, as if it were despawned at once.
    NameTaken(NameTaken),
    /// A relation is refused: the command was applied without it. A command with two refused
    /// relations has an error for each. Or a relation refuses the despawn: it had no effect.
    Relation(RelationError),
    /// A command that names components or a relation by text is refused, for a name, a place or the
    /// bytes of a value. An entity that was to be spawned by it is never alive.
    Bytes(BytesError),
}

impl CommandErrorKind {
    /// Returns `true` if the fault need not be a bug: another command or system may have despawned
    /// the entity, or the target of its relation.
    pub(crate) const fn is_stale(&self) -> bool {
        matches!(self, Self::NoSuchEntity(_) | Self::Relation(RelationError::DeadTarget { .. }))
    }

    /// Whether two faults are of one kind, and of one relation. Names that are text are not
    /// compared: a program may make any number of them.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Relation(one), Self::Relation(other)) => {
                discriminant(one) == discriminant(other) && one.relation() == other.relation()
            }
            (Self::Bytes(one), Self::Bytes(other)) => discriminant(one) == discriminant(other),
            _ => discriminant(self) == discriminant(other),
        }
    }
}

impl From<BytesError> for CommandErrorKind {
    fn from(error: BytesError) -> Self {
        match error {
            BytesError::Entity(EntityError::NoSuchEntity(error)) => Self::NoSuchEntity(error),
            BytesError::Entity(EntityError::Layout(error)) => Self::Layout(error),
            BytesError::Entity(EntityError::Relation(error)) => Self::Relation(error),
            error => Self::Bytes(error),
        }
    }
}

impl fmt::Display for CommandErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchEntity(error) => fmt::Display::fmt(error, f),
            Self::Layout(error) => fmt::Display::fmt(error, f),
            Self::Exhausted(error) => fmt::Display::fmt(error, f),
            Self::Memory(error) => fmt::Display::fmt(error, f),
            Self::NameTaken(error) => fmt::Display::fmt(error, f),
            Self::Relation(error) => fmt::Display::fmt(error, f),
            Self::Bytes(error) => fmt::Display::fmt(error, f),
        }
    }
}

/// A command that had no effect, with its call site and the reason; or that was applied without a
/// relation, which is refused.
///
/// ```
/// # use phalanx::prelude::*;
/// # use phalanx::command::ApplyError;
/// # #[component(name = "health")] struct Health(f32);
/// # let mut world = World::new();
/// let entity = world.spawn(());
/// let mut buffer = world.command_buffer(0)?;
/// buffer.despawn(entity);
/// buffer.insert(entity, Health(1.0));
/// let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else { panic!("Ok") };
/// let error = &errors.as_slice()[0];
/// assert_eq!((error.entity, &error.components[..]), (entity, &["health"][..]));
/// assert!(error.to_string().contains("insert of `health`"));
/// # Ok::<(), phalanx::error::ReserveError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct CommandError {
    /// The action of the command.
    pub verb: CommandVerb,
    /// The entity; [`Entity::NULL`] for a query, or a batch that failed as a whole.
    pub entity: Entity,
    /// The names of the components: first the inserted ones, after them the removed ones. Of a
    /// command that names them by text, those that the world knows.
    pub components: Vec<&'static str>,
    /// The source location that recorded it.
    pub place: &'static Location<'static>,
    /// The reason why it had no effect, or made no relation.
    pub fault: CommandErrorKind,
}

/// The most names of components that a message has.
const NAMES_MAX: usize = 10;

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.verb, f)?;
        for (i, name) in self.components.iter().take(NAMES_MAX).enumerate() {
            write!(f, "{}`{name}`", if i == 0 { " of " } else { ", " })?;
        }
        if self.components.len() > NAMES_MAX {
            write!(f, " and {} more", self.components.len() - NAMES_MAX)?;
        }
        let names = !matches!(
            self.verb,
            CommandVerb::Despawn
                | CommandVerb::Sort
                | CommandVerb::InsertShared
                | CommandVerb::RemoveShared
        );
        // An error of names that are text has the name itself.
        let names = names && !matches!(self.fault, CommandErrorKind::Bytes(_));
        // A change by query of sparse components has no list of them.
        let is_by_query =
            self.entity.is_null() && !matches!(self.fault, CommandErrorKind::NoSuchEntity(_));
        if self.components.is_empty() && names && !is_by_query {
            f.write_str(" of no components")?;
        }
        let relation = match &self.fault {
            CommandErrorKind::Relation(error) if self.verb != CommandVerb::Despawn => Some(error),
            _ => None,
        };
        let outcome = if relation.is_some() { "was applied" } else { "had no effect" };
        write!(f, ", recorded at {}, {outcome}", self.place)?;
        if !self.entity.is_null() {
            write!(f, " {} {}", if relation.is_some() { "to" } else { "on" }, self.entity)?;
        }
        if let Some(relation) = relation {
            write!(f, " without the relation `{}`", relation.relation())?;
        }
        f.write_str(": ")?;
        fmt::Display::fmt(&self.fault, f)
    }
}

impl Error for CommandError {}

/// The commands of a buffer that had no effect, or made no relation, in the order of their
/// recording. All others were applied.
#[derive(Clone, PartialEq, Eq)]
pub struct CommandErrors {
    errors: Vec<CommandError>,
    applied: Applied,
}

impl CommandErrors {
    /// `None` without errors.
    pub(super) fn new(errors: Vec<CommandError>, applied: Applied) -> Option<Self> {
        (!errors.is_empty()).then_some(Self { errors, applied })
    }

    /// One or more errors.
    #[must_use]
    pub const fn as_slice(&self) -> &[CommandError] {
        self.errors.as_slice()
    }

    /// The number of errors: one or more.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub const fn len(&self) -> usize {
        self.errors.len()
    }

    /// Iterates over the errors.
    pub fn iter(&self) -> core::slice::Iter<'_, CommandError> {
        self.errors.iter()
    }

    /// The effects of the other commands, and of those that made all but a relation.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::command::ApplyError;
    /// # let mut world = World::new();
    /// let mut buffer = world.command_buffer(1)?;
    /// buffer.spawn(());
    /// buffer.insert(Entity::NULL, ());
    /// let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else { panic!("Ok") };
    /// assert_eq!((errors.len(), errors.applied().spawned), (1, 1));
    /// assert!(errors.iter().all(|error| error.entity == Entity::NULL));
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    #[must_use]
    pub const fn applied(&self) -> Applied {
        self.applied
    }
}

impl<'e> IntoIterator for &'e CommandErrors {
    type Item = &'e CommandError;
    type IntoIter = core::slice::Iter<'e, CommandError>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for CommandErrors {
    type Item = CommandError;
    type IntoIter = std::vec::IntoIter<CommandError>;

    fn into_iter(self) -> Self::IntoIter {
        self.errors.into_iter()
    }
}

impl fmt::Display for CommandErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, others) = self.errors.split_first().expect("the list of errors is empty");
        fmt::Display::fmt(first, f)?;
        match others.len() {
            0 => Ok(()),
            others => write!(f, " (and {others} more; `CommandErrors::as_slice` lists them)"),
        }
    }
}

impl Error for CommandErrors {}

/// A buffer was not applied, or not all of it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApplyError {
    /// The buffer belongs to another world. No command was applied, and the buffer is unchanged.
    /// Or, if a closure of the buffer replaced this world by another one, the commands after it are
    /// lost.
    OtherWorld,
    /// Some commands had no effect, or were applied without a relation. All others were applied,
    /// and the buffer is empty.
    Commands(CommandErrors),
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherWorld => f.write_str(
                "the command buffer belongs to another world; apply it to the world whose `command_buffer` made it",
            ),
            Self::Commands(errors) => fmt::Display::fmt(errors, f),
        }
    }
}

impl Error for ApplyError {}
