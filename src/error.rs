//! The errors of worlds and queries, and a table of all errors of the crate.
//!
//! | error | returned by | what to do |
//! | --- | --- | --- |
//! | **entities** | | |
//! | [`NoSuchEntity`] | [`World::entity`]; a part of other errors | test ids that may be stale: [`World::contains`], [`Entity::some`] |
//! | [`EntityError`] | [`World::despawn`], [`World::get`], [`World::insert`], [`World::remove`], [`Lookup::get`] and the like | insert the component, or ask [`World::has`] before |
//! | [`RowError`], for an [`Exclusion`] | [`Query::get`], [`RowLookup`] | pass over the entity, or change the terms and filters; find the places again |
//! | [`PlaceError`] | [`PlaceLookup`], [`PlaceLookupMut`] | find the places again |
//! | [`NotSingle`] | [`Query::single`] | spawn the row, or filter by a tag |
//! | [`BytesError`] | [`ReflectMut`]; in a [`CommandErrorKind`] | compare names and lengths with [`World::reflect`] |
//! | [`RegisterError`] | [`ReflectMut::register_layout`] | another name; fields in another order |
//! | [`RelationError`] | in an [`EntityError`], a [`SpawnError`] or a [`CommandErrorKind`] | another target; remove the relation that refuses a despawn |
//! | **room** | | |
//! | [`SpawnError`] | [`World::try_spawn`], [`World::spawn_at`], [`World::reserve`] and the like | as for the error in it |
//! | [`AllocAtError`] | in a [`SpawnError`] of [`World::spawn_at`] | choose another index |
//! | [`OutOfIds`] | [`World::reserve_entity`], [`CommandBuffer::try_spawn`] | a greater [`WorldBuilder::entities_max`]; more ids for the buffer |
//! | [`TooMuchMemory`] | a part of other errors | request less, or a greater [`WorldBuilder::request_bytes_max`] |
//! | [`ReserveError`] | [`World::command_buffer`], [`World::reserve_entities`], [`MemoryMut::grow_indices`] | as for the error in it |
//! | [`LayoutError`] | [`Matching::insert`]; a part of other errors | smaller components, or a greater [`WorldBuilder::chunk_size`] |
//! | [`ChunkSizeError`] | [`ChunkSize::new`], `str::parse` | one of [`ChunkSize::ALL`] |
//! | **types and values** | | |
//! | [`NameTaken`] | in a [`CommandErrorKind`] or a [`MergeErrorKind`]; a panic elsewhere | another [name](macro@crate::component) for one of the types |
//! | [`MissingResource`] | [`World::resource`] | [`World::insert_resource`] before |
//! | [`ScatterError`] | [`Query::scatter`] | one value per row |
//! | **worlds** | | |
//! | [`MergeError`], for a [`MergeErrorKind`] | [`World::merge`] | build both worlds alike; the error has the other world |
//! | [`MergeErrorKind`] | [`World::move_from`] | build both worlds alike |
//! | [`BrokenInvariant`] | [`World::check`] | report a bug of this crate |
//! | [`SnapshotError`], [`ReadError`] | [`World::snapshot`], [`World::restore`], [`World::read_snapshot`] | apply command buffers before; keep the last good state |
//! | **commands and systems** | | |
//! | [`ApplyError`], with [`CommandErrors`] | [`World::apply`] | read [`CommandError`]: the call, a [`CommandVerb`], and a [`CommandErrorKind`] |
//! | [`ScheduleError`] | [`Schedule::run`], [`Schedule::check`] | read it: it names the system or set |
//! | [`SystemError`] | in [`ScheduleError::Failed`] | it is the error that a system returned |
//! | [`AliasingParameters`], two of a [`Parameter`], for a [`Subject`] | [`Schedule::try_add`] | filters that exclude each other, or one parameter |
//! | [`RunError`] | [`World::try_run`] | as for the error in it |
//! | **levels and tests** | | |
//! | [`UnsupportedLevel`] | [`Level::pin`] | one of [`Level::available`] |
//! | [`LevelError`] | [`Level::try_current`] | another value of `PHALANX_LEVEL` |
//! | [`ParseLevelError`] | `str::parse` | a name that the text lists |
//! | [`NotSame`], [`Difference`] | [`same_bits`], [`compare`] | the text shows the first difference |
//!
//! An error is exported here or by the module of its subject, and the links above lead there: rows,
//! commands, schedules, snapshots, levels ([`simd`](crate::simd)), bytes
//! ([`reflect`](crate::reflect)) and tests ([`testing`](crate::testing)) have theirs, with the
//! reasons that they name. Each text says in one line what happened and how to fix it. `Debug`
//! prints the same text, so that `unwrap`, `expect`, and a `main` that returns a `Result` show it
//! too.
//!
//! ```should_panic
//! # use phalanx::prelude::*;
//! # fn draw() {}
//! let mut schedule = Schedule::new();
//! schedule.add(draw).after("phisics");
//! schedule.run(&mut World::new()).unwrap(); // `draw` must run after `phisics`, but no system …
//! ```
//!
//! [`same_bits`]: crate::testing::same_bits
//! [`compare`]: crate::testing::compare
//! [`ChunkSize::ALL`]: crate::ChunkSize::ALL
//! [`ChunkSize::new`]: crate::ChunkSize::new
//! [`CommandBuffer::try_spawn`]: crate::CommandBuffer::try_spawn
//! [`Entity::some`]: crate::Entity::some
//! [`Level::available`]: crate::Level::available
//! [`Level::pin`]: crate::Level::pin
//! [`Level::try_current`]: crate::Level::try_current
//! [`Lookup::get`]: crate::Lookup::get
//! [`Matching::insert`]: crate::Matching::insert
//! [`MemoryMut::grow_indices`]: crate::memory::MemoryMut::grow_indices
//! [`PlaceError`]: crate::rows::PlaceError
//! [`PlaceLookupMut`]: crate::rows::PlaceLookupMut
//! [`PlaceLookup`]: crate::rows::PlaceLookup
//! [`Query::get`]: crate::Query::get
//! [`Query::scatter`]: crate::Query::scatter
//! [`Query::single`]: crate::Query::single
//! [`ReflectMut`]: crate::reflect::ReflectMut
//! [`ReflectMut::register_layout`]: crate::reflect::ReflectMut::register_layout
//! [`RowLookup`]: crate::rows::RowLookup
//! [`Schedule::check`]: crate::Schedule::check
//! [`Schedule::run`]: crate::Schedule::run
//! [`Schedule::try_add`]: crate::Schedule::try_add
//! [`ScheduleError::Failed`]: crate::schedule::ScheduleError::Failed
//! [`World::apply`]: crate::World::apply
//! [`World::check`]: crate::World::check
//! [`World::command_buffer`]: crate::World::command_buffer
//! [`World::contains`]: crate::World::contains
//! [`World::despawn`]: crate::World::despawn
//! [`World::entity`]: crate::World::entity
//! [`World::get`]: crate::World::get
//! [`World::has`]: crate::World::has
//! [`World::insert_resource`]: crate::World::insert_resource
//! [`World::insert`]: crate::World::insert
//! [`World::merge`]: crate::World::merge
//! [`World::move_from`]: crate::World::move_from
//! [`World::read_snapshot`]: crate::World::read_snapshot
//! [`World::reflect`]: crate::World::reflect
//! [`World::remove`]: crate::World::remove
//! [`World::reserve_entities`]: crate::World::reserve_entities
//! [`World::reserve_entity`]: crate::World::reserve_entity
//! [`World::reserve`]: crate::World::reserve
//! [`World::resource`]: crate::World::resource
//! [`World::restore`]: crate::World::restore
//! [`World::snapshot`]: crate::World::snapshot
//! [`World::spawn_at`]: crate::World::spawn_at
//! [`World::try_run`]: crate::World::try_run
//! [`World::try_spawn`]: crate::World::try_spawn
//! [`WorldBuilder::chunk_size`]: crate::WorldBuilder::chunk_size
//! [`WorldBuilder::entities_max`]: crate::WorldBuilder::entities_max
//! [`WorldBuilder::request_bytes_max`]: crate::WorldBuilder::request_bytes_max
//! [`CommandVerb`]: crate::command::CommandVerb
//! [`CommandErrorKind`]: crate::command::CommandErrorKind
//! [`Subject`]: crate::schedule::Subject
//! [`Parameter`]: crate::schedule::Parameter
//! [`Exclusion`]: crate::rows::Exclusion
//! [`RelationError`]: crate::sparse::RelationError

use core::fmt;

use crate::command::{ApplyError, CommandError, CommandErrors};
use crate::component::RegisterError;
use crate::query::RowError;
use crate::schedule::{AliasingParameters, RunError, ScheduleError, SystemError};
use crate::simd::{LevelError, ParseLevelError, UnsupportedLevel};
use crate::snapshot::{ReadError, SnapshotError};
use crate::testing::{Difference, NotSame};
use crate::world::{BytesError, PlaceError, RelationError};

pub use crate::component::NameTaken;
pub use crate::entity::{AllocAtError, NoSuchEntity, OutOfIds, ReserveError, TooMuchMemory};
pub use crate::query::{NotSingle, ScatterError};
pub use crate::storage::{ChunkSizeError, LayoutError};
pub use crate::store::MergeErrorKind;
pub use crate::world::{BrokenInvariant, EntityError, MergeError, MissingResource, SpawnError};

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
    MergeErrorKind, MissingResource, NameTaken, NoSuchEntity, NotSame, NotSingle,
    OutOfIds, ParseLevelError, PlaceError, ReadError, RegisterError, RelationError, ReserveError,
    RowError, RunError,
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
