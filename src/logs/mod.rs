//! Logs: events that were sent, and rows that came or went, read once by each reader.
//!
//! A marker type tells the entries of a log. Systems and cursors read any log in the same way:
//!
//! | [`Log`] | entries | in a system | outside of systems |
//! | --- | --- | --- | --- |
//! | [`Events<E>`](Events) | values of type `E` that were sent | [`EventReader<E>`](EventReader) | `world.cursor::<Events<E>>()` |
//! | [`Insertions<C>`](Insertions) | entities that got component `C`, with its values | [`Inserted<C>`](Inserted) | `world.cursor::<Insertions<C>>()` |
//! | [`Removals<C>`](Removals) | entities that lost component `C`, with its values | [`Removed<C>`](Removed) | `world.cursor::<Removals<C>>()` |
//! | [`Despawns`] | entities that were despawned | [`Despawned`] | `world.cursor::<Despawns>()` |
//!
//! Components are those in columns, [sparse components and relations](Removals#sparse-components).
//!
//! The parameters of systems are short names of [`LogReader<L>`](LogReader), and
//! [`World::cursor`](crate::World::cursor) makes a [`LogCursor<L>`](LogCursor). Both have `read`,
//! which returns all unread entries as slices and counts them as read, and `missed`.
//!
//! ```
//! # use phalanx::prelude::*;
//! # #[component] struct Voice(u32);
//! struct Mixer(Vec<u32>);
//!
//! fn play(mut inserted: Inserted<Voice>, mut mixer: ResMut<Mixer>) {
//!     let (_, voices) = inserted.read();
//!     mixer.0.extend(voices.iter().map(|voice| voice.0));
//! }
//!
//! fn silence(mut removed: Removed<Voice>, mut mixer: ResMut<Mixer>) {
//!     let (_, voices) = removed.read();
//!     mixer.0.retain(|playing| voices.iter().all(|voice| voice.0 != *playing));
//! }
//!
//! fn call(mut commands: Commands, mut calls: Local<u32>) {
//!     commands.spawn(Voice(*calls));
//!     *calls += 1;
//! }
//!
//! let mut world = World::new();
//! world.insert_resource(Mixer(vec![]));
//! let mut despawned = world.cursor::<Despawns>();
//! let mut schedule = Schedule::new();
//! schedule.add(call);
//! schedule.add((play, silence)).after(call); // after the commands of this run
//! schedule.run(&mut world)?;
//! schedule.run(&mut world)?;
//! assert_eq!(world.resource::<Mixer>().unwrap().0, [0, 1]);
//! world.clear();
//! schedule.run(&mut world)?;
//! assert_eq!(world.resource::<Mixer>().unwrap().0, [2]);
//! assert_eq!(despawned.read(&world).len(), 2);
//! # Ok::<(), ScheduleError>(())
//! ```
//!
//! # Readers
//!
//! Each reader has its own position, even two readers in one system. A cursor is a reader while it
//! exists. A system is a reader from the first run of its schedule after it was added on, also if a
//! condition skips it. A new reader of events sees the events that are still kept; a new reader of
//! rows sees the rows that come or go from then on, because rows are recorded for readers alone.
//!
//! # How long entries are kept
//!
//! An entry stays until every reader has read it, however many runs of this or other schedules lie
//! between: a system may be skipped, and a schedule may run less often than others, as with
//! [`FixedStep`](crate::schedule::FixedStep). Entries that all have read are dropped when the next
//! run of any schedule begins. Only if unread entries take more than 64 MiB
//! ([`MemoryMut::keep_log`](crate::memory::MemoryMut::keep_log) sets another bound) are the oldest
//! dropped, and their readers count them as [`missed`](LogReader::missed). Between runs, and in a
//! world that runs no schedule, entries are dropped as the log grows if they are many, or by
//! [`MemoryMut::age_logs`](crate::memory::MemoryMut::age_logs). Without readers, events are kept
//! for one whole run.
//!
//! # Order
//!
//! Entries are in the order of the calls, commands and systems that cause them. Within one call,
//! rows are in the order of its entities or of its query. So the order depends neither on threads
//! nor on [`Schedule::shuffle`](crate::Schedule::shuffle).
//!
//! Rows do not change while systems run, so a reader of rows conflicts with no other system: it
//! sees the effects of all sync points before it, and the effects of later ones in its next run. A
//! sparse component that a system inserts or removes by [`SparseMut`](crate::sparse::SparseMut) is
//! an entry from the end of its stage on, so the same holds for it. To
//! read the rows that the commands of a system change in the same run, order the reader
//! [`after`](crate::schedule::SystemEntry::after) that system. Readers of events conflict with the
//! writers of the same type, and see them without a sync point; see [`EventWriter`].

// | file | holds |
// | --- | --- |
// | `log` | the trait of the marker types: their entries, and the steps of a reader |
// | `log_reader`, `log_cursor` | the readers, in a system and outside |
// | `events` | the log of events; the methods of `World` that send them and list them |
// | `event_slice` | the guard of events that are read outside of systems |
// | `event_buffer`, `event_writer` | the events of a system, in order, also from a parallel pass |
// | `insertions`, `removals`, `despawns` | the logs of rows; `impl_row_log` has their steps |
// | `row_shape` | the places of components that have logs |
// | `bounds` | the bound on memory, and the methods of `MemoryMut` that apply it |
//
// The entries are in the store (`store/logs/mod.rs`). Another kind of log is another marker type:
// it implements `Log`, and its rows are another `LogSubject` there.

mod bounds;
mod despawns;
mod event_buffer;
mod event_slice;
mod event_writer;
mod events;
mod impl_row_log;
mod insertions;
mod log;
mod log_cursor;
mod log_reader;
mod removals;
mod row_shape;

pub use despawns::{Despawned, Despawns};
pub use event_buffer::EventBuffer;
pub(crate) use event_buffer::EventBuffers;
pub use event_slice::EventSlice;
pub use event_writer::EventWriter;
pub use events::{EventReader, Events};
pub use insertions::{Inserted, Insertions};
pub use log::Log;
pub(crate) use log::LogAccess;
pub use log_cursor::LogCursor;
pub(crate) use log_reader::LogGrant;
pub use log_reader::LogReader;
pub use removals::{Removals, Removed};
