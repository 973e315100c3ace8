//! The reason why a query has no row of an entity.

use core::error::Error;
use core::fmt;

use crate::entity::{Entity, NoSuchEntity};
use crate::store::{Obstacle, RowRule, Rule};

/// The reason why a query has no row of an entity, or none at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowError {
    /// The entity is not alive. An entity that is [`Gone`](crate::Gone) is not alive for queries
    /// that do not name `Gone`.
    NoSuchEntity(NoSuchEntity),
    /// The entity is alive, or seen although it is gone, and the query does not match it.
    Excluded {
        /// The entity.
        entity: Entity,
        /// The reason that excludes it.
        reason: Exclusion,
    },
    /// Rows have moved since the place was found: there was a structural change. Or the place is of
    /// another world. Only calls that take a [`RowPlace`](crate::rows::RowPlace) return it.
    Moved,
}

/// The reason that excludes an entity from a query: the first that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exclusion {
    /// It lacks the component with this name.
    Lacks(&'static str),
    /// It has the component with this name.
    Has(&'static str),
    /// It has the hidden component with this name, which the query does not name.
    Hidden(&'static str),
    /// It has none of the components of an [`AnyOf`](crate::AnyOf) filter or of an
    /// [`Or`](crate::terms::Or) of `With`, or none is enabled.
    HasNone,
    /// It does not pass an [`Or`](crate::terms::Or) or a [`Not`](crate::terms::Not) of several
    /// filters.
    Unmet,
    /// The component with this name is [disabled](crate::World::set_enabled).
    Disabled(&'static str),
    /// The component with this name is enabled, and the query asks for a disabled one.
    Enabled(&'static str),
    /// Its chunk has not changed since the version of a filter, or its
    /// [value](crate::chunks::PerChunk) does not pass the test of one.
    Unchanged,
}

impl RowError {
    #[cold]
    pub(super) fn excluded(entity: Entity, obstacle: Option<Obstacle<'_>>) -> Self {
        let reason = match obstacle {
            Some(Obstacle::Hidden(name)) => Exclusion::Hidden(name),
            Some(Obstacle::Rule(Rule::Has(component))) => Exclusion::Lacks(component.name),
            Some(Obstacle::Rule(Rule::Lacks(component))) => Exclusion::Has(component.name),
            Some(Obstacle::Rule(Rule::HasAny(_))) => Exclusion::HasNone,
            Some(Obstacle::Rule(Rule::Meets(_))) => Exclusion::Unmet,
            None => unreachable!("no rule excludes an archetype that the plan lacks"),
        };
        Self::Excluded { entity, reason }
    }

    #[cold]
    pub(super) fn unseen(entity: Entity, rule: Option<&RowRule>) -> Self {
        let reason = match rule {
            Some(RowRule::Enabled(component)) if component.is_sparse => {
                Exclusion::Lacks(component.name)
            }
            Some(RowRule::Enabled(component)) => Exclusion::Disabled(component.name),
            Some(RowRule::Disabled(component)) => Exclusion::Enabled(component.name),
            Some(RowRule::Lacks(component)) => Exclusion::Has(component.name),
            Some(RowRule::AnyEnabled(_)) => Exclusion::HasNone,
            Some(RowRule::Meets(_)) => Exclusion::Unmet,
            None => unreachable!("no rule excludes a row that the query does not see"),
        };
        Self::Excluded { entity, reason }
    }
}

impl From<NoSuchEntity> for RowError {
    #[cold]
    fn from(error: NoSuchEntity) -> Self {
        Self::NoSuchEntity(error)
    }
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchEntity(error) => fmt::Display::fmt(error, f),
            Self::Excluded { entity, reason } => {
                write!(f, "the query has no row of entity {entity}: {reason}")
            }
            Self::Moved => f.write_str(
                "rows have moved since the place was found, or it is of another world: find the \
                     places again after each structural change",
            ),
        }
    }
}

impl fmt::Display for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lacks(name) => write!(f, "it has no `{name}`, which the query asks for"),
            Self::Has(name) => write!(f, "it has `{name}`, which the query excludes"),
            Self::Hidden(name) => {
                write!(f, "it has `{name}`, which hides it from queries that do not name it")
            }
            Self::HasNone => f.write_str("it has none of the components of an `AnyOf` or an `Or`"),
            Self::Unmet => f.write_str("it does not pass an `Or` or a `Not` of several filters"),
            Self::Disabled(name) => write!(f, "`{name}` is disabled in it: `set_enabled`"),
            Self::Enabled(name) => {
                write!(f, "`{name}` is enabled in it, and the query asks for a disabled one")
            }
            Self::Unchanged => f.write_str(
                "a filter skips its chunk, or its row, which has not changed since the \
                     filter's version, or has another value than it asks for",
            ),
        }
    }
}

impl Error for RowError {}
