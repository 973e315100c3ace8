//! All errors of this crate, with the reasons that they name. The modules `command`, `schedule`,
//! `simd` and `snapshot` export theirs as well; [`testing`](crate::testing) has the differences
//! that tests report.
//!
//! Each text says in one line what happened and how to fix it. `Debug` prints the same text, so
//! that `unwrap`, `expect`, and a `main` that returns a `Result` show it too.
//!
//! ```should_panic
//! # use phalanx::prelude::*;
//! # fn draw() {}
//! let mut schedule = Schedule::new();
//! schedule.add(draw).after("phisics");
//! schedule.run(&mut World::new()).unwrap(); // `draw` must run after `phisics`, but no system …
//! ```

use core::fmt;

use crate::testing::{Difference, NotSame};

pub use crate::command::{ApplyError, CommandError, CommandErrorKind, CommandErrors, CommandVerb};
pub use crate::component::NameTaken;
pub use crate::entity::{AllocAtError, NoSuchEntity, OutOfIds, ReserveError, TooMuchMemory};
pub use crate::query::{Exclusion, NotSingle, RowError, ScatterError};
pub use crate::schedule::{
    AliasingParameters, Parameter, RunError, ScheduleError, Subject, SystemError,
};
pub use crate::simd::{LevelError, ParseLevelError, UnsupportedLevel};
pub use crate::snapshot::{ReadError, SnapshotError};
pub use crate::storage::{ChunkSizeError, LayoutError, ParseChunkSizeError};
pub use crate::store::MergeErrorKind;
pub use crate::world::{
    BrokenInvariant, BytesError, EntityError, MergeError, MissingComponent, MissingResource,
    SpawnError,
};

/// Implements `Debug` for errors as their text.
macro_rules! debug_is_text {
    ($($error:ty),* $(,)?) => {$(
        impl fmt::Debug for $error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}

debug_is_text! {
    AliasingParameters, AllocAtError, ApplyError, BrokenInvariant, BytesError, ChunkSizeError,
    CommandError, CommandErrors, Difference, EntityError, LayoutError, LevelError, MergeError,
    MergeErrorKind, MissingComponent, MissingResource, NameTaken, NoSuchEntity, NotSame, NotSingle,
    OutOfIds, ParseChunkSizeError, ParseLevelError, ReadError, ReserveError, RowError, RunError,
    ScatterError, ScheduleError, SnapshotError, SpawnError, SystemError, TooMuchMemory,
    UnsupportedLevel,
}

#[cfg(test)]
mod tests {
    use core::error::Error;
    use std::panic::catch_unwind;

    use super::*;
    use crate::prelude::*;

    #[track_caller]
    fn says<E: Error>(error: &E, what_to_do: &str) {
        let debug = format!("{error:?}");
        assert_eq!(debug, error.to_string());
        assert!(debug.contains(what_to_do), "{debug}");
        let pretty = format!("{error:#?}");
        assert_eq!(pretty, debug, "in one line");
    }

    #[test]
    fn debug_is_the_text_that_says_what_to_do() {
        let entity = Entity::NULL;
        says(&NoSuchEntity { entity }, "`Entity::some`");
        says(&RowError::NoSuchEntity(NoSuchEntity { entity }), "`Entity::some`");
        says(&ScheduleError::OtherWorld, "`Schedule::reset`");
        says(&ApplyError::OtherWorld, "`command_buffer`");
        says(&OutOfIds::InBuffer { ids: 3 }, "`World::command_buffer`");
        says(&ReadError::Kind { is_delta: true }, "`Snapshot::read_delta`");
        says(&NotSame::NothingChanged, "give it rows");
        let several = ScheduleError::Several(vec![ScheduleError::OtherWorld; 2]);
        assert!(format!("{:?}", Err::<(), _>(several)).starts_with("Err(this schedule has run"));
    }

    #[test]
    fn unwrap_says_what_to_do() {
        fn draw() {}
        let late = || {
            let mut schedule = Schedule::new();
            schedule.add(draw).named("draw").after("phisics");
            schedule.check()
        };
        let error = late().expect_err("no system has that name");
        let panic = catch_unwind(|| late().unwrap()).expect_err("no system has that name");
        let text = panic.downcast_ref::<String>().expect("`unwrap` formats its message");
        assert!(
            text.ends_with(&error.to_string()) && text.contains("no system or set has that name"),
            "{text}"
        );
    }
}
