//! Passes that write one column, in each way that a query can be used up.

use phalanx::prelude::*;

use super::oracle::{Chunk, Oracle, Watched};
use super::parts::{Mega, Part, Set, Shape};

/// The ways to use up a query. A way with single items can be broken off before the end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    Slices {
        turns: usize,
    },
    Padded {
        turns: usize,
    },
    Chunks {
        turns: usize,
    },
    Rows {
        turns: usize,
    },
    ForEach,
    RowsForEach,
    /// A body that leaves every other chunk as it was, by the id of the first row.
    ForEachChunk,
}

/// The chunks that a pass visits among the chunks with the column: all, or chunks younger than this
/// many versions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Only {
    All,
    /// Its own column.
    Changed {
        age: u64,
    },
    /// Another column, if it is not the one.
    MegaChanged {
        age: u64,
    },
    Added {
        age: u64,
    },
    Both {
        changed: u64,
        added: u64,
    },
}

/// The version that was current this many versions ago.
fn ago(now: Version, age: u64) -> Version {
    Version::from_bits(now.to_bits().saturating_sub(age))
}

/// Writes a column in the requested way. Returns the entities that were seen, in this order.
pub(crate) fn write<P: Part>(world: &mut World, only: Only, way: Way) -> Vec<Entity> {
    let now = world.version();
    let query = world.query_mut::<(Entity, &mut P)>();
    match only {
        Only::All => use_up(query, way),
        Only::Changed { age } => use_up(query.changed_since::<P>(ago(now, age)), way),
        Only::MegaChanged { age } => use_up(query.changed_since::<Mega>(ago(now, age)), way),
        Only::Added { age } => use_up(query.filter_since::<Arrived>(ago(now, age)), way),
        Only::Both { changed, added } => {
            let query = query.changed_since::<P>(ago(now, changed));
            use_up(query.filter_since::<Arrived>(ago(now, added)), way)
        }
    }
}

fn use_up<P: Part, F: Filter>(query: Query<'_, (Entity, &mut P), F>, way: Way) -> Vec<Entity> {
    let mut seen = Vec::new();
    let mut visit = |entities: &[Entity], column: &mut [P]| {
        column.fill(P::zeroed());
        seen.extend_from_slice(entities);
    };
    match way {
        Way::Slices { turns } => {
            for (entities, column) in query.into_iter().take(turns) {
                visit(entities, column);
            }
        }
        Way::Padded { turns } => {
            for (entities, column) in query.padded().into_iter().take(turns) {
                visit(entities, column);
            }
        }
        Way::Chunks { turns } => {
            for chunk in query.chunks().take(turns) {
                let (entities, column) = chunk.slices();
                visit(entities, column);
            }
        }
        Way::Rows { turns } => {
            for (entity, cell) in query.rows().take(turns) {
                visit(&[entity], std::slice::from_mut(cell));
            }
        }
        Way::ForEach => query.into_iter().for_each(|(entities, column)| visit(entities, column)),
        Way::RowsForEach => {
            query.rows().for_each(|(entity, cell)| visit(&[entity], std::slice::from_mut(cell)))
        }
        Way::ForEachChunk => query.for_each_chunk(|(entities, column)| {
            if is_left(entities[0]) {
                return Modified::No;
            }
            visit(entities, column);
            Modified::Yes
        }),
    }
    seen
}

/// Whether [`Way::ForEachChunk`] leaves the chunk with this first entity alone.
const fn is_left(first: Entity) -> bool {
    first.index().is_multiple_of(2)
}

/// The entities that such a pass must see, in this order.
pub(crate) fn expected<P: Part>(oracle: &Oracle, only: Only, way: Way) -> Vec<Entity> {
    // The pass is one version younger than the version that it compares with.
    let newer = |chunk: &Chunk, watched, age| chunk.stamp(watched) > ago(oracle.now, age + 1);
    let own = Watched::Column(P::INDEX);
    let also: Set = if matches!(only, Only::MegaChanged { .. }) { Mega::SET } else { 0 };
    let passes = |chunk: &&Chunk| match only {
        Only::All => true,
        Only::Changed { age } => newer(chunk, own, age),
        Only::MegaChanged { age } => newer(chunk, Watched::Column(Mega::INDEX), age),
        Only::Added { age } => newer(chunk, Watched::Arrival, age),
        Only::Both { changed, added } => {
            newer(chunk, own, changed) && newer(chunk, Watched::Arrival, added)
        }
    };
    let chunks = oracle.chunks_with(P::SET | also).filter(passes).map(|chunk| &chunk.entities);
    match way {
        Way::Slices { turns } | Way::Padded { turns } | Way::Chunks { turns } => {
            chunks.take(turns).flatten().copied().collect()
        }
        Way::Rows { turns } => chunks.flatten().copied().take(turns).collect(),
        Way::ForEach | Way::RowsForEach => chunks.flatten().copied().collect(),
        Way::ForEachChunk => {
            chunks.filter(|entities| !is_left(entities[0])).flatten().copied().collect()
        }
    }
}
