//! Entities: their ids, and the directory that maps each id to a location.
//!
//! An [`Entity`] ([`id`]) is an index and a generation. The index selects one slot of the
//! [`Directory`] ([`directory`]); the generation tells whether the slot still belongs to that id:
//!
//! ```text
//!              generation  archetype  position
//!            +----------+----------+----------+
//!   alive    | current  | archetype| position |   generation >= 1
//!   free     | next     | u32::MAX | in stack |   generation >= 1
//!   on loan  | current  | u32::MAX | u32::MAX |   generation >= 1
//!   retired  |    0     | u32::MAX | u32::MAX |
//!            +----------+----------+----------+
//!            0          4          8         12 bytes
//! ```
//!
//! One slot ([`slot`]) is twelve bytes and holds all data for a random read, so resolving an id
//! costs one cache line here and one for the component. Generations and locations in two arrays
//! would cost two lines here. Slots padded to sixteen bytes would never straddle two lines (one in
//! eight of the twelve-byte slots does), but would take a third more memory, so fewer would fit in
//! cache.
//!
//! The generation of a slot is incremented when its entity is despawned ([`free`]), not when the
//! next one is spawned: a free slot already holds the generation of its next entity. A stale id
//! therefore fails the comparison that every look-up makes anyway, and allocating an id
//! ([`allocate`]) does not touch the generation. Only a reserved or a made-up id can equal the
//! generation of a free slot; the archetype `u32::MAX` shows that no entity is alive there.
//!
//! Free indices are kept in a stack ([`free_stack`]) and used before fresh ones ([`next_ids`]), so
//! tables that are indexed by entity are bounded by the peak number of entities, where no ids are
//! given, on loan, or taken by several systems at once. A slot records its
//! position in the stack, so a given index can be taken out of the middle
//! ([`Directory::alloc_at`]), and testing whether an id is reserved ([`reserve`]) needs no search
//! of the stack. Several threads raise the number of reserved ids ([`reserved`]). Indices that
//! `spawn_at` skips are free without ever having been used ([`unused`]).
//!
//! Ids can be put on loan for entities that are spawned later ([`loan`]): a slot on loan is neither
//! free nor alive. A dropped command buffer returns its loans through [`returned_ids`]. While
//! systems run ([`stage`]), the queue of next ids is divided among them ([`id_queue`]), by the
//! numbers that they took before ([`id_demands`]). A system that takes many more ids than before
//! can get indices far beyond the end of the slots; their slots are stored separately
//! ([`far_slots`]) until the vector of slots has nearly reached them ([`absorb`]).
//!
//! The slot of an index is retired after its last generation, 4,294,967,295 ([`free`]). An old id
//! becomes valid again only by `spawn_at`, and by a restore of a state in which it was. A
//! [`location`] is the archetype and the row of an entity; a [`directory_view`] finds it.
//!
//! A [`paged_index`] has a number for some entities, found by the index of their ids, each in an
//! [`index_place`]. An [`index_run`] gives numbers to many entities.
//!
//! [`request`] limits the memory of one call, [`id_errors`] holds the errors, [`state`] lists the
//! numbers that a hash of the world covers, and [`broken_directory`] tests every invariant.
//! [`id_map`] has the new ids of entities that came from another world: a directory becomes one
//! when its world is merged. `model_tests` compares the directory with a naive model.
//!
//! [`directory_image`] is a copy of a directory without the slots of entities, which follow from
//! the rows; [`id_numbers`] has the ids as numbers, for writing and reading, and [`id_changes`]
//! finds the ids that have changed since an image was made.
//!
//! Each file uses files above it in this list only:
//!
//! ```text
//!   id, location                  used by the rest of the world
//!   error, slot                   an error names ids; a slot has a location
//!   far_slots, request, returned_ids, reserved
//!                                 parts of the directory that use no other part
//!   free_stack                    grows like far slots
//!   next_ids, directory_view      read slots, near and far, and reserved ids
//!   id_demands                    uses none of them
//!   id_queue                      holds the slots during a stage, for reading
//!   directory                     holds all parts
//!   absorb, allocate, check, free, loan, reserve, stage, unused
//!                                 methods of the directory
//!   directory_image               made of a directory
//!   id_map, id_numbers            made of a directory or of its image
//!   id_changes                    compares both
//!   state                         asks `unused` for its limit
//!   index_place                   uses none of them
//!   paged_index                   made of index places
//!   index_run                     a method of the paged index
//! ```

mod absorb;
mod allocate;
mod broken_directory;
mod directory;
mod directory_image;
mod directory_view;
mod far_slots;
mod free;
mod free_stack;
mod id;
mod id_changes;
mod id_demands;
mod id_errors;
mod id_map;
mod id_numbers;
mod id_queue;
mod index_place;
mod index_run;
mod loan;
mod location;
mod next_ids;
mod paged_index;
mod request;
mod reserve;
mod reserved;
mod returned_ids;
mod slot;
mod stage;
mod state;
mod unused;

#[cfg(test)]
mod model_tests;

pub(crate) use broken_directory::BrokenDirectory;
pub(crate) use directory::Directory;
pub(crate) use directory_image::DirectoryImage;
pub(crate) use directory_view::DirectoryView;
pub use id::Entity;
pub(crate) use id_demands::Seat;
pub use id_errors::{AllocAtError, NoSuchEntity, OutOfIds, ReserveError, TooMuchMemory};
pub(crate) use id_map::IdMap;
pub(crate) use id_numbers::{IdDefect, IdNumbers};
pub(crate) use id_queue::{IdQueue, IdShare};
pub(crate) use index_place::IndexPlace;
pub(crate) use location::{ArchetypeId, Location, RowIndex};
pub(crate) use paged_index::PagedIndex;
pub(crate) use request::RequestLimit;
pub use reserve::ReservedEntities;
pub(crate) use returned_ids::ReturnedIds;
