//! The check of every invariant of a world, for tests.

use core::error::Error;
use core::fmt;

use crate::archetype::Archetype;
use crate::component::{Component as _, HasSparseCleanup};
use crate::entity::{BrokenDirectory, Location};

use super::world::World;

/// A broken invariant: a bug in this library or in its platform. The text names the invariant.
#[derive(Clone, PartialEq, Eq)]
pub struct BrokenInvariant(Defect);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Defect {
    /// The directory of entities is inconsistent.
    Directory(BrokenDirectory),
    /// An archetype is not filed under its own set, or not in the cached queries that it matches.
    Archetypes,
    /// Chunks, blocks and rows of an archetype disagree.
    Chunks {
        /// The archetype's number.
        archetype: usize,
    },
    /// Rows, entities and stamps of an archetype disagree in number.
    Rows {
        /// The archetype's number.
        archetype: usize,
    },
    /// Components, stamps or attachments of an archetype cannot be those of its rows.
    State {
        /// The archetype's number.
        archetype: usize,
        /// The reason.
        what: &'static str,
    },
    /// An archetype with rows does not own its shared values, or one without rows does.
    SharedValues {
        /// The archetype's number.
        archetype: usize,
    },
    /// The numbers of the shared values of a type contradict each other or the components.
    SharedNumbers {
        /// The name of the type.
        name: &'static str,
        /// The contradiction.
        what: &'static str,
    },
    /// The bytes of a cell are not a value of the column's component.
    Values {
        /// The archetype's number.
        archetype: usize,
        /// The column's number.
        column: usize,
    },
    /// A stamp is newer than its summary (of archetypes with several chunks), or the summary is
    /// newer than the clock.
    Stamps {
        /// The archetype's number.
        archetype: usize,
    },
    /// The directory has another location for the entity of a row.
    Place {
        /// The archetype's number.
        archetype: usize,
        /// The row, counted over all chunks.
        row: usize,
    },
    /// The numbers of rows and of entities differ.
    Count {
        /// Rows of all archetypes.
        rows: usize,
        /// Entities.
        entities: usize,
    },
    /// The parts of a sparse set disagree, or it has a value of an entity that is not alive.
    Sparse {
        /// The name of the component.
        name: &'static str,
    },
    /// The rows with the bit of a sparse component are not those of the entities that have it.
    Members {
        /// The name of the component.
        name: &'static str,
    },
    /// The archetypes hold a different number of blocks than the pool has allocated.
    Blocks {
        /// Blocks of all archetypes.
        held: usize,
        /// Blocks that the pool has allocated.
        lent: usize,
    },
}

impl fmt::Display for BrokenInvariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the world is inconsistent, which is a bug in phalanx: {:?}", self.0)
    }
}

impl Error for BrokenInvariant {}

/// # Tests
impl World {
    /// Checks every invariant of the world: directory, rows, chunks, values, shared values, stamps,
    /// sparse components and memory agree. For tests: O(entities + chunks × components + cached
    /// queries × archetypes + sparse components + shared values), and the bytes of components that
    /// do not accept any.
    ///
    /// # Errors
    ///
    /// The first invariant that does not hold.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// world.spawn_batch([(); 100]);
    /// assert!(world.check().is_ok());
    /// ```
    pub fn check(&self) -> Result<(), BrokenInvariant> {
        self.find_defect().map_err(BrokenInvariant)
    }

    fn find_defect(&self) -> Result<(), Defect> {
        self.store.entities().check().map_err(Defect::Directory)?;
        if let Some((name, what)) = self.store.registry().find_shared_defect() {
            return Err(Defect::SharedNumbers { name, what });
        }
        if !self.store.is_consistent() {
            return Err(Defect::Archetypes);
        }
        let (mut rows, mut held) = (0, 0);
        for (number, archetype) in self.store.archetypes().as_slice().iter().enumerate() {
            self.check_archetype(number, archetype)?;
            rows += archetype.len();
            held += archetype.list().block_len();
        }
        let (entities, lent) = (self.store.entities().len(), self.store.pool().allocated());
        if rows != entities {
            return Err(Defect::Count { rows, entities });
        }
        if held != lent {
            return Err(Defect::Blocks { held, lent });
        }
        if self.store.lacks_cleanup_values() {
            return Err(Defect::Members { name: HasSparseCleanup::NAME });
        }
        let is_alive = |entity, is_cleanup| self.store.may_have_values(entity, is_cleanup);
        if let Some(name) = self.store.find_member_defect() {
            return Err(Defect::Members { name });
        }
        if let Some(name) = self.store.sparse().find_defect(&is_alive, self.store.clock()) {
            return Err(Defect::Sparse { name });
        }
        Ok(())
    }

    fn check_archetype(&self, number: usize, archetype: &Archetype) -> Result<(), Defect> {
        let list = archetype.list();
        if !list.is_consistent() {
            return Err(Defect::Chunks { archetype: number });
        }
        for (column, shape) in list.columns().iter().enumerate() {
            let mut chunks = 0..list.chunk_len();
            if !chunks.all(|chunk| shape.values.accept(list.column_bytes(column, chunk))) {
                return Err(Defect::Values { archetype: number, column });
            }
        }
        let chunks = archetype.list().chunk_len() as usize;
        if archetype.entities().len() != archetype.len() || archetype.stamps().chunk_len() != chunks
        {
            return Err(Defect::Rows { archetype: number });
        }
        let rows = (archetype.len(), |chunk| list.rows(chunk));
        if let Some(what) = archetype.find_defect(rows, self.store.clock(), self.store.registry()) {
            return Err(Defect::State { archetype: number, what });
        }
        let chunk_len = list.chunk_len();
        if !archetype.shared().is_none_or(|shared| shared.is_consistent(chunk_len)) {
            return Err(Defect::SharedValues { archetype: number });
        }
        for run in archetype.stamps().all_kinds() {
            let newest = archetype.stamps().newest(run);
            let stale = archetype.stamps().versions(run).any(|stamp| stamp > newest);
            if stale || newest > self.store.clock() {
                return Err(Defect::Stamps { archetype: number });
            }
        }
        for (row, &entity) in archetype.entities().iter().enumerate() {
            let place = self.store.entities().locate(entity);
            let here = archetype.list().position_of(row);
            let filed = place.is_ok_and(|p| p == Location::new(p.archetype(), here));
            if !filed || place.is_ok_and(|p| p.archetype().index() != number) {
                return Err(Defect::Place { archetype: number, row });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_shared_values_are_checked() {
        let mut world = World::new();
        for value in [1_u32, 2, 3] {
            let entity = world.spawn(());
            world.insert_shared(entity, value).expect("it is alive");
        }
        assert_eq!(world.check(), Ok(()));
        let len = world.store.registry().len();
        world.store.registry_mut().forget_shared_tags(len - 1);
        let text = world.check().expect_err("the last value has no tag").to_string();
        assert!(text.contains("u32") && text.contains("another number"), "{text}");
    }
}
