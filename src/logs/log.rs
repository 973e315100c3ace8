//! The marker types of logs.

use core::any::TypeId;
use core::ops::Deref;

use crate::store::{Kept, Logs, ReaderPosition};
use crate::world::World;

/// A marker type: the entries that a [`LogReader`](super::LogReader) or a
/// [`LogCursor`](super::LogCursor) reads.
///
/// | marker | [`Items`](Log::Items) | [`Held`](Log::Held) |
/// | --- | --- | --- |
/// | [`Events<E>`](super::Events) | `&[E]` | [`EventSlice<E>`](super::EventSlice) |
/// | [`Insertions<C>`](super::Insertions) | `(&[Entity], &[C])`, or units | the same |
/// | [`Removals<C>`](super::Removals) | `(&[Entity], &[C])`, or units | the same |
/// | [`Despawns`](super::Despawns) | `&[Entity]` | the same |
///
/// The trait is sealed: there are no other logs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a log",
    note = "the logs are `Events<E>`, `Insertions<C>`, `Removals<C>` and `Despawns`, with a component `C`, sparse or of one column, and `E: Send + Sync`"
)]
pub trait Log: sealed::Sealed + 'static {
    /// Unread entries in a system.
    type Items<'w>;
    /// Unread entries outside of systems: for events a guard.
    type Held<'w>;
    /// The entries in the store.
    #[doc(hidden)]
    type Kept: Kept;
    /// The borrow of the entries.
    #[doc(hidden)]
    type Guard<'w>: Deref<Target = Self::Kept>;
    /// Whether a reader begins with later entries, so that it must exist before them.
    #[doc(hidden)]
    const BEGINS_LATER: bool;
    #[doc(hidden)]
    fn access() -> LogAccess;
    /// Makes the position of a new reader.
    #[doc(hidden)]
    fn add_reader(world: &mut World) -> ReaderPosition;
    /// Sets the most bytes of entries that are kept for readers that have not read them.
    #[doc(hidden)]
    fn keep(world: &mut World, bytes: usize);
    /// The entries. The log must have had a reader.
    #[doc(hidden)]
    fn guard(logs: &Logs) -> Self::Guard<'_>;
    /// The entries from a position on.
    #[doc(hidden)]
    fn items(kept: &Self::Kept, since: u64) -> Self::Items<'_>;
    /// The entries from a position on, outside of systems, and the position after them.
    #[doc(hidden)]
    fn hold(world: &World, since: u64) -> (Self::Held<'_>, u64);
}

pub(super) mod sealed {
    pub trait Sealed {}
}

/// The access of a reader to its log, as a schedule compares and prints it.
#[derive(Clone, Copy, Debug)]
pub enum LogAccess {
    /// Events of a type, which systems send.
    Events { id: TypeId, name: &'static str },
    /// Rows, which change at sync points only: a phrase, and the name of the component.
    Rows { phrase: &'static str, name: &'static str },
}
