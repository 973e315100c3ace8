//! The error of `World::try_run`.

use core::error::Error;
use core::fmt;

use crate::command::ApplyError;
use crate::world::MissingResource;

use super::schedule_error::AliasingParameters;

/// The reason why [`World::try_run`](crate::World::try_run) has no result.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// use phalanx::schedule::RunError;
///
/// fn heal(one: Query<&mut Health>, two: Query<&Health>) {}
///
/// let error = World::new().try_run(heal).unwrap_err();
/// assert!(matches!(error, RunError::Parameters(_)));
/// assert!(error.to_string().starts_with("system `heal`: parameters 1 `Query<&mut Health>` and 2"));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// Two parameters clash. The function was not called.
    Parameters(AliasingParameters),
    /// The world lacks a resource. The function was not called.
    MissingResource(MissingResource),
    /// The function has run, and some of its commands had no effect, or made no relation. All
    /// others were applied.
    Commands(ApplyError),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameters(error) => fmt::Display::fmt(error, f),
            Self::MissingResource(error) => fmt::Display::fmt(error, f),
            Self::Commands(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl Error for RunError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(match self {
            Self::Parameters(error) => error,
            Self::MissingResource(error) => error,
            Self::Commands(error) => error,
        })
    }
}

impl From<AliasingParameters> for RunError {
    fn from(error: AliasingParameters) -> Self {
        Self::Parameters(error)
    }
}

impl From<MissingResource> for RunError {
    fn from(error: MissingResource) -> Self {
        Self::MissingResource(error)
    }
}

impl From<ApplyError> for RunError {
    fn from(error: ApplyError) -> Self {
        Self::Commands(error)
    }
}
