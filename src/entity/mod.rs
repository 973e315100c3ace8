//! Entities: the id, and the table that says where each one lives.
//!
//! An [`Entity`] is an index and a generation. The index picks one slot of the [`Directory`]; the
//! generation says whether the slot still belongs to the handle that asks:
//!
//! ```text
//!            0          4          8         12
//!            +----------+----------+----------+
//!   alive    | its own  | archetype| position |   generation >= 1
//!   free     | the next | u32::MAX | in stack |   generation >= 1
//!   lent     | its own  | u32::MAX | u32::MAX |   generation >= 1
//!   retired  |    0     | u32::MAX | u32::MAX |
//!            +----------+----------+----------+
//!             generation
//! ```
//!
//! One slot is twelve bytes and holds all that a random read needs, so following an id costs one
//! cache line here and one at the datum. Generations and locations in two arrays would cost two
//! lines here; padding the slot to sixteen bytes would keep every slot inside a line (of the
//! twelve-byte ones one in eight straddles two) at the price of a third more memory, and so fewer
//! slots in cache.
//!
//! The generation of a slot moves when its entity dies, not when the next one is made: a free slot
//! already holds the generation of its next user. A stale handle therefore fails on the comparison
//! every look-up makes anyway, and making an entity does not touch the generation. Only a handle
//! that somebody made up can equal a free slot's generation; the archetype `u32::MAX` turns it
//! away.
//!
//! Free indices are kept in a stack and used before fresh ones, so tables that are indexed by
//! entity are bounded by the peak of the living. A slot remembers its place in the stack, so a
//! given index can be taken out of the middle ([`Directory::alloc_at`]), and whether an id is
//! reserved is one comparison.
//!
//! Ids can be lent in advance, for entities that come to life later ([`loan`]): a lent slot is
//! neither free nor alive. While systems run, the ids that are next in use are parted among them
//! ([`id_queue`]). A system that takes many more than before can get indices far beyond the end of the
//! table: their slots are kept apart ([`far_slots`]) until the table has grown to them.
//!
//! A slot whose last generation has died is retired: one index less, after 4,294,967,295 lives, and
//! no old handle ever comes back to life.

mod allocate;
mod check;
mod directory;
mod error;
mod far_slots;
mod id;
mod id_queue;
mod loan;
mod next_ids;
mod request;
mod reserve;
mod returned_ids;
mod state;
mod unused;

#[cfg(test)]
mod model_tests;

pub use check::BrokenDirectory;
pub(crate) use directory::{Directory, DirectoryView, Location};
pub use error::{AllocAtError, EntitiesExhausted, NoSuchEntity, ReserveError, TooMuchMemory};
pub use id::Entity;
pub(crate) use id_queue::{IdDemand, IdQueue, IdShare};
pub(crate) use request::RequestLimit;
pub use reserve::ReservedEntities;
pub(crate) use returned_ids::ReturnedIds;
