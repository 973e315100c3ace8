//! One archetype: the layout of its columns, and the use of the bytes of its chunks.

use crate::archetype::Archetype;
use crate::component::Registry;
use crate::line::LINE_BYTES;
use crate::simd::Level;
use crate::storage::{AttachmentFigure, ChunkSize, Column, ListLayout, StampKind};
use crate::version::Version;

/// Sets of a first-level data cache: 32 KiB with 8 ways and 48 KiB with 12 ways, the usual sizes on
/// x86-64, both have 64.
const L1_SETS: usize = 64;

/// An archetype in a [`WorldExplanation`](super::WorldExplanation).
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// # let mut world = World::new();
/// world.spawn_batch((0..5000).map(|_| Health(1.0)));
/// let archetype = &world.explain().archetypes[0];
/// assert_eq!((archetype.rows, archetype.chunks, archetype.capacity), (5000, 2, 4096));
/// assert_eq!(archetype.bytes_used + archetype.wasted.bytes(), 2 * 16_384);
/// println!("{archetype}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchetypeExplanation {
    /// Its index in [`Reflect::archetypes`](crate::reflect::Reflect::archetypes).
    pub archetype: usize,
    /// Live entities.
    pub rows: usize,
    /// Chunks that hold rows.
    pub chunks: usize,
    /// Runs of chunks that follow each other in memory, in one extent: a pass reads each column as
    /// that number of streams. At most `chunks`; zero if rows have no bytes.
    pub runs: usize,
    /// Rows that fit in a present chunk. While the small first block is the only one, its capacity.
    pub capacity: usize,
    /// Rows that fit in a full-sized chunk.
    pub chunk_capacity: usize,
    /// Bytes of a present block, or of the first block to be allocated. Zero if rows have no bytes.
    pub block_bytes: usize,
    /// Offset of the end of the last column in a block, rounded up to a cache line. The bytes after
    /// it are the rest of the block.
    pub columns_end: usize,
    /// The small first block of the archetype, if its layout has one.
    pub first_block: Option<FirstBlock>,
    /// Bytes of the live rows.
    pub bytes_used: usize,
    /// The other bytes of its blocks.
    pub wasted: Waste,
    /// The columns in order, with their places in the present blocks.
    pub columns: Vec<ColumnExplanation>,
    /// For each chunk, the version of the last arrival of rows: they were spawned in it or moved to
    /// it.
    pub arrivals: Vec<Version>,
    /// Sets of the first-level cache in which more than one column starts, in ascending order.
    pub conflicts: Vec<SetConflict>,
}

/// The small block that an archetype uses before its first full-sized chunk.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// # let mut world = World::new();
/// world.spawn(Health(1.0));
/// let first = world.explain().archetypes[0].first_block.unwrap();
/// assert_eq!((first.bytes, first.capacity, first.in_use), (1024, 256, true));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstBlock {
    /// Its size in bytes.
    pub bytes: usize,
    /// Rows that fit.
    pub capacity: usize,
    /// Whether the rows of the archetype are in it now.
    pub in_use: bool,
}

/// Bytes of blocks that hold no live row.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// # let mut world = World::new();
/// world.spawn(Health(1.0));
/// let wasted = world.explain().wasted();
/// assert_eq!((wasted.empty_rows, wasted.bytes()), (255 * 4, 1020));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waste {
    /// Room for rows in chunks that are not full.
    pub empty_rows: usize,
    /// Padding after columns, up to the next cache line or alignment.
    pub column_ends: usize,
    /// Bytes of blocks after the last column.
    pub rest: usize,
    /// Reserved chunks that hold no row yet, and the small first block of an archetype that has
    /// become empty.
    pub spare: usize,
}

impl Waste {
    /// The sum of all fields, in bytes.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.empty_rows + self.column_ends + self.rest + self.spare
    }

    pub(super) const fn add(self, other: Self) -> Self {
        Self {
            empty_rows: self.empty_rows + other.empty_rows,
            column_ends: self.column_ends + other.column_ends,
            rest: self.rest + other.rest,
            spare: self.spare + other.spare,
        }
    }
}

/// A column of an archetype.
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::Level;
/// # #[component] struct Health(f32);
/// # let mut world = World::new();
/// world.spawn_batch((0..100).map(|_| Health(1.0)));
/// let column = world.explain().archetypes.remove(0).columns.remove(0);
/// assert_eq!((column.offset, column.bytes, column.lines), (0, 1024, 7));
/// assert_eq!(column.rows_per_line(), Some(16.0));
/// assert_eq!(column.rows_per_vector(Level::Avx2), Some(8.0));
/// assert_eq!(column.versions, [world.version()]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnExplanation {
    /// The component's name.
    pub component: &'static str,
    /// Bytes of one row; zero for a tag.
    pub row_bytes: usize,
    /// Offset of its first byte in a chunk of its own. In an extent of several chunks the distance
    /// to the first column is larger.
    pub offset: usize,
    /// Bytes of the column in a block, including the room for rows.
    pub bytes: usize,
    /// Cache lines that hold live rows, over all chunks.
    pub lines: u64,
    /// The number of rows that would fit in a full-sized chunk without this column, minus the rows
    /// that fit with it. `None` if it is the only column with bytes.
    pub capacity_lost: Option<usize>,
    /// Figures about the data that the column has beside its cells:
    /// [disabled](crate::World::set_enabled) rows, bytes of [line
    /// versions](crate::lines::ChangedLines), bytes of a [value of each
    /// chunk](crate::chunks::PerChunk).
    pub attachments: Vec<AttachmentFigure>,
    /// The change version of each chunk, which change filters test: the last mutable borrow of the
    /// column in the chunk, or the last arrival of rows.
    pub versions: Vec<Version>,
}

impl ColumnExplanation {
    /// Rows per cache line; `None` for a tag.
    #[must_use]
    pub fn rows_per_line(&self) -> Option<f64> {
        self.rows_per(LINE_BYTES)
    }

    /// Rows per vector register of a level; `None` for a tag.
    #[must_use]
    pub fn rows_per_vector(&self, level: Level) -> Option<f64> {
        self.rows_per(level.lane_bytes())
    }

    fn rows_per(&self, bytes: usize) -> Option<f64> {
        (self.row_bytes > 0).then(|| bytes as f64 / self.row_bytes as f64)
    }
}

/// Columns of one archetype that start in the same set of the first-level cache.
///
/// A kernel that walks them side by side has their current lines in one set. A set holds 8 to 12
/// lines, so two or three columns do no harm. Many columns may evict each other's lines, and so may
/// a kernel that walks several chunks at once. In extents columns start at different lines, unless
/// rows fill their chunks exactly.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component(name = "Min")] struct Min([f32; 8]);
/// # #[component(name = "Max")] struct Max([f32; 8]);
/// # let mut world = World::new();
/// // A chunk has 256 rows of 2 × 32 bytes: the second column starts 8192 bytes after the first.
/// world.spawn_batch((0..100).map(|_| (Min([0.0; 8]), Max([1.0; 8]))));
/// let conflict = &world.explain().archetypes[0].conflicts[0];
/// assert_eq!((conflict.set, &conflict.components[..]), (0, &["Min", "Max"][..]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetConflict {
    /// The distance of the set from the set in which the block starts; less than 64.
    pub set: usize,
    /// The names of the components.
    pub components: Vec<&'static str>,
}

impl ArchetypeExplanation {
    pub(super) fn new(
        number: usize,
        archetype: &Archetype,
        registry: &Registry,
        size: ChunkSize,
    ) -> Self {
        let list = archetype.list();
        let layouts = list.layouts();
        let first_block = layouts.first().map(|first| FirstBlock {
            bytes: first.bytes() as usize,
            capacity: first.capacity() as usize,
            in_use: list.in_first_block(),
        });
        let columns = columns(archetype, registry, size);
        let in_block = |bytes: u32| if layouts.has_bytes() { bytes as usize } else { 0 };
        Self {
            archetype: number,
            rows: list.len(),
            chunks: list.chunk_len() as usize,
            runs: list.runs(),
            capacity: list.capacity() as usize,
            chunk_capacity: layouts.chunk().capacity() as usize,
            block_bytes: in_block(list.layout().bytes()),
            columns_end: in_block(list.layout().end()),
            first_block,
            bytes_used: list.len() * layouts.row_bytes(),
            wasted: wasted(archetype),
            conflicts: conflicts(&columns),
            columns,
            arrivals: archetype.stamps().versions(StampKind::ARRIVAL).collect(),
        }
    }

    /// The names of the components, in the order of their columns.
    #[must_use]
    pub fn components(&self) -> Vec<&'static str> {
        self.columns.iter().map(|column| column.component).collect()
    }

    /// Live rows of a chunk: every chunk but the last is full. Zero if the chunk does not exist.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..5000).map(|_| Health(1.0)));
    /// let archetype = &world.explain().archetypes[0];
    /// assert_eq!([0, 1, 2].map(|chunk| archetype.chunk_rows(chunk)), [4096, 904, 0]);
    /// ```
    #[must_use]
    pub fn chunk_rows(&self, chunk: usize) -> usize {
        let before = chunk.saturating_mul(self.capacity);
        if chunk < self.chunks { self.rows.saturating_sub(before).min(self.capacity) } else { 0 }
    }

    /// The version at which a column of a chunk was last written, if it is later than the last
    /// arrival of rows in the chunk. `None` if the column or the chunk does not exist.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// assert_eq!(world.explain().archetypes[0].written(0, 0), None);
    /// world.get_mut::<Health>(entity).unwrap().0 = 0.5;
    /// assert_eq!(world.explain().archetypes[0].written(0, 0), Some(world.version()));
    /// ```
    #[must_use]
    pub fn written(&self, column: usize, chunk: usize) -> Option<Version> {
        let version = *self.columns.get(column)?.versions.get(chunk)?;
        (version > *self.arrivals.get(chunk)?).then_some(version)
    }

    /// The number of live rows divided by the rows that fit in the chunks, from 0 to 1; 1 without
    /// chunks.
    #[must_use]
    pub fn occupancy(&self) -> f64 {
        match self.chunks * self.capacity {
            0 => 1.0,
            room => self.rows as f64 / room as f64,
        }
    }

    /// Bytes of one row in all columns.
    #[must_use]
    pub fn row_bytes(&self) -> usize {
        self.columns.iter().map(|column| column.row_bytes).sum()
    }
}

fn columns(archetype: &Archetype, registry: &Registry, size: ChunkSize) -> Vec<ColumnExplanation> {
    let list = archetype.list();
    let layout = list.layout();
    let explained = |((&id, column), run): ((_, &Column), u16)| {
        let number = usize::from(run);
        let rows = (0..list.chunk_len()).map(|chunk| list.rows(chunk));
        let (info, attachments) = (registry.info(id), archetype.attachments().into_iter());
        ColumnExplanation {
            component: info.name(),
            row_bytes: column.size as usize,
            offset: column.offset as usize,
            bytes: layout.column_bytes(number) as usize,
            lines: rows.map(|rows| column.lines(rows)).sum(),
            capacity_lost: capacity_lost(list.layouts(), number, size),
            attachments: attachments.flat_map(|all| all.figures(run, info)).collect(),
            versions: archetype.stamps().versions(StampKind::column(run)).collect(),
        }
    };
    let columns = archetype.components().iter().zip(layout.columns()).zip(0..);
    // The marker of a shared value is shown; its tag gives no further information.
    columns.filter(|((id, _), _)| registry.shared_type(**id).is_none()).map(explained).collect()
}

/// Computes [`ColumnExplanation::capacity_lost`] from a second layout without the column.
fn capacity_lost(layouts: &ListLayout, column: usize, size: ChunkSize) -> Option<usize> {
    let mut others = layouts.columns().to_vec();
    others.remove(column);
    let without = ListLayout::new(size, others).ok().filter(ListLayout::has_bytes)?;
    // Without the column, the runs of the others may end on lines, which costs them rows.
    let [without, with] = [&without, layouts].map(|layouts| layouts.chunk().capacity() as usize);
    Some(without.saturating_sub(with))
}

fn wasted(archetype: &Archetype) -> Waste {
    let list = archetype.list();
    if !list.layouts().has_bytes() {
        return Waste::default();
    }
    let layout = list.layout();
    let chunks = list.chunk_len() as usize;
    let room = chunks * layout.capacity() as usize;
    let in_columns: u32 = (0..layout.columns().len()).map(|c| layout.column_bytes(c)).sum();
    Waste {
        empty_rows: (room - list.len()) * list.layouts().row_bytes(),
        column_ends: chunks * (layout.end() - in_columns) as usize,
        rest: chunks * (layout.bytes() - layout.end()) as usize,
        spare: list.block_bytes() - chunks * layout.bytes() as usize,
    }
}

fn conflicts(columns: &[ColumnExplanation]) -> Vec<SetConflict> {
    let mut sets = vec![Vec::new(); L1_SETS];
    for column in columns.iter().filter(|column| column.row_bytes > 0) {
        sets[column.offset / LINE_BYTES % L1_SETS].push(column.component);
    }
    let shared = sets.into_iter().enumerate().filter(|(_, components)| components.len() > 1);
    shared.map(|(set, components)| SetConflict { set, components }).collect()
}
