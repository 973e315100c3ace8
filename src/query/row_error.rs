//! Why a query has no row of an entity.

use core::error::Error;
use core::fmt;

use crate::entity::{Entity, NoSuchEntity};
use crate::store::Rule;

/// Why a query has no row of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowError {
    /// The entity is not alive.
    NoSuchEntity(NoSuchEntity),
    /// The entity is alive, and the query does not match it.
    Excluded {
        /// The entity.
        entity: Entity,
        /// What excludes it.
        reason: Exclusion,
    },
}

/// What excludes an entity from a query: the first reason that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exclusion {
    /// It lacks the component with this name.
    Lacks(&'static str),
    /// It has the component with this name.
    Has(&'static str),
    /// It has none of the components of an [`AnyOf`](crate::AnyOf) filter.
    HasNone,
    /// Its chunk has not changed since the version of a filter.
    Unchanged,
}

impl RowError {
    #[cold]
    pub(super) fn excluded(entity: Entity, rule: Option<&Rule>) -> Self {
        let reason = match rule {
            Some(Rule::Has(component)) => Exclusion::Lacks(component.name),
            Some(Rule::Lacks(component)) => Exclusion::Has(component.name),
            Some(Rule::HasAny(_)) => Exclusion::HasNone,
            None => unreachable!("no rule excludes an archetype that the plan lacks"),
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
        }
    }
}

impl fmt::Display for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lacks(name) => write!(f, "it has no `{name}`, which the query asks for"),
            Self::Has(name) => write!(f, "it has `{name}`, which the query excludes"),
            Self::HasNone => f.write_str("it has none of the components of an `any_of`"),
            Self::Unchanged => {
                f.write_str("its chunk has not changed since the version of the query's filter")
            }
        }
    }
}

impl Error for RowError {}
