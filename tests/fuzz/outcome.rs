//! Outcomes of operations, in a few words, which are compared and counted in the histogram.

use phalanx::command::CommandErrorKind;
use phalanx::error::{
    AllocAtError, EntityError, LayoutError, NoSuchEntity, OutOfIds, ReserveError, ScatterError,
    SpawnError,
};
use phalanx::reflect::BytesError;
use phalanx::sparse::RelationError;

/// The answer of an operation.
pub(crate) type Outcome = &'static str;

pub(crate) const DONE: Outcome = "done";
pub(crate) const DEAD: Outcome = "no such entity";
pub(crate) const LACKS: Outcome = "component missing";
pub(crate) const DEAD_TARGET: Outcome = "no such target";
pub(crate) const A_CYCLE: Outcome = "a cycle";
pub(crate) const HELD: Outcome = "held";
pub(crate) const WIDE: Outcome = "row too wide";
pub(crate) const EXHAUSTED: Outcome = "ids exhausted";
pub(crate) const PANICKED: Outcome = "panicked as told";
/// The operation had no target, or no effect.
pub(crate) const IDLE: Outcome = "nothing to do";

/// An error with a word.
pub(crate) trait Fault {
    fn word(&self) -> Outcome;
}

macro_rules! faults {
    ($($error:ty { $($pattern:pat => $word:expr),* $(,)? })*) => {$(
        impl Fault for $error {
            fn word(&self) -> Outcome {
                match self {
                    $($pattern => $word,)*
                    #[expect(clippy::allow_attributes, reason = "some enums may grow")]
                    #[allow(unreachable_patterns, reason = "some enums may grow")]
                    other => panic!("an error that the fuzz does not know: {other:?}"),
                }
            }
        }
    )*};
}

faults! {
    NoSuchEntity { _ => DEAD }
    OutOfIds { _ => EXHAUSTED }
    ReserveError { Self::Exhausted(_) => EXHAUSTED }
    ScatterError { _ => "wrong number of values" }
    LayoutError { Self::RowTooWide { .. } => WIDE }
    EntityError {
        Self::NoSuchEntity(_) => DEAD,
        Self::Missing { .. } => LACKS,
        Self::Layout(_) => WIDE,
        Self::Repeated(_) => "repeated",
        Self::Relation(error) => error.word(),
    }
    SpawnError {
        Self::Exhausted(_) => EXHAUSTED,
        Self::Layout(_) => WIDE,
        Self::NoSuchEntity(_) => DEAD,
        Self::Id(error) => error.word(),
        Self::Uneven { .. } => "uneven columns",
        Self::Relation(error) => error.word(),
    }
    AllocAtError {
        Self::Null { .. } => "null id",
        Self::Occupied { .. } => "id occupied",
        Self::Lent { .. } => "id lent",
        Self::Retired { .. } => "id retired",
        Self::AboveLimit { .. } => "id above the limit",
        Self::GapTooWide { .. } => "gap too wide",
    }
    CommandErrorKind {
        Self::NoSuchEntity(_) => DEAD,
        Self::Layout(_) => WIDE,
        Self::Exhausted(_) => EXHAUSTED,
        Self::Relation(error) => error.word(),
    }
    BytesError {
        Self::Entity(error) => error.word(),
    }
    RelationError {
        Self::DeadTarget { .. } => DEAD_TARGET,
        Self::Cycle { .. } => A_CYCLE,
        Self::Held { .. } => HELD,
    }
}

/// The word of a result.
pub(crate) fn word<T, E: Fault>(result: &Result<T, E>) -> Outcome {
    result.as_ref().map_or_else(Fault::word, |_| DONE)
}

/// Panics on purpose, without a call of the panic hook.
pub(crate) fn panic_as_told() -> ! {
    std::panic::resume_unwind(Box::new(PANICKED))
}

/// Runs a closure that may panic on purpose; any other panic continues.
pub(crate) fn told<R>(run: impl FnOnce() -> R) -> Result<R, Outcome> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).map_err(|payload| {
        match payload.downcast_ref::<Outcome>() {
            Some(&PANICKED) => PANICKED,
            _ => std::panic::resume_unwind(payload),
        }
    })
}
