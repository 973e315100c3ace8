//! One component's columns in many lists, for random access.
//!
//! A random read is limited by the number of reads that the processor has in flight, and that
//! number by what waits for the slot of the directory: each load and each step of arithmetic that
//! depends on the slot occupies a queue entry until the slot arrives. Neither huge pages nor the
//! size of chunks changed the time of a read; each load less after the slot did. ns per read,
//! 100,000 entities of 12-byte components in random order (Zen 5), and the loads that wait for the
//! slot:
//!
//! | a read | loads | ns |
//! | --- | --- | --- |
//! | one flat array per archetype, nothing checked | 2 | 2.1 |
//! | one archetype has the component: this file | 3 | 2.4 |
//! | several have it, each word of a list and a chunk loaded separately | 6 | 3.4 |
//! | list, chunk and row looked up and checked one by one | 6 | 3.8 |
//!
//! Therefore a list is one word here, and the span of a chunk another. If several archetypes have
//! the component, four loads wait. In a later run such a read took 2.96 ns instead of 3.45, and
//! 2.75 if one archetype has it.

#![expect(
    unsafe_code,
    reason = "a random read is two misses; a checked cast would be a third cost"
)]

use core::marker::PhantomData;
use core::ptr;

use crate::component::Component;
use crate::entity::{DirectoryView, Entity};
use crate::version::Version;

use crate::storage::chunk_list::ChunkList;
use crate::storage::enable::{ChunkBits, EnableBits};
use crate::storage::stamps::{StampKind, StampPair, Stamps};

/// Where the columns of `C` are in the chunks of several lists. A list is identified by its
/// archetype's number in the directory.
///
/// The lookups of [`ChunkList::cell`] are done once, in advance. Invariant, established by
/// [`CellFinder::push`]: for each chunk, `base + position` is a live cell for every position of its
/// span.
#[derive(Debug)]
struct CellFinder<'w, C> {
    directory: DirectoryView<'w>,
    /// How many lists have rows of `C`. If only one has, other lists need not be looked up.
    with_rows: ListsWithRows,
    lists: Vec<ListView>,
    /// The positions of the rows of each chunk, list after list.
    spans: Vec<Span>,
    /// The address of the list's position 0 if the whole list were contiguous with the chunk.
    bases: Vec<*const C>,
}

/// How many lists have rows. If several have, or if directory slots are far, a list is found by its
/// number.
#[derive(Clone, Copy, Debug)]
enum ListsWithRows {
    None,
    One { number: u32, shift: u32 },
    Several,
}

/// The number of a list's first chunk, and the shift of its positions: one load.
#[derive(Clone, Copy, Debug)]
struct ListView(u64);

impl ListView {
    /// A list without rows of the component: no finder has as many chunks.
    const NONE: Self = Self::new(CHUNKS_MAX, 31);

    const fn new(first: u32, shift: u32) -> Self {
        Self(first as u64 | (shift as u64) << u32::BITS)
    }

    /// The number of the chunk that has a position, if the list has it. Otherwise the sum may wrap
    /// if addresses have 32 bits, and the number is arbitrary.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower and the upper half")]
    const fn chunk(self, position: u32) -> usize {
        let number = position.wrapping_shr((self.0 >> u32::BITS) as u32);
        (self.0 as u32 as usize).wrapping_add(number as usize)
    }
}

/// The largest number of chunks in a finder.
const CHUNKS_MAX: u32 = u32::MAX / 2;

/// The positions of a chunk's rows as a half-open range: one load.
#[derive(Clone, Copy, Debug)]
struct Span(u64);

impl Span {
    const EMPTY: Self = Self::new(0, 0);

    const fn new(begin: u32, end: u32) -> Self {
        Self(begin as u64 | (end as u64) << u32::BITS)
    }

    /// The first position.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    const fn begin(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    const fn ends_before(self, position: u32) -> bool {
        (self.0 >> u32::BITS) <= position as u64
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    const fn starts_after(self, position: u32) -> bool {
        (self.0 as u32) > position
    }
}

/// A live cell.
struct Found<C> {
    chunk: usize,
    cell: *const C,
    /// The row's position in its list.
    at: u32,
}

impl<'w, C: Component> CellFinder<'w, C> {
    fn new(directory: DirectoryView<'w>, lists: usize) -> Self {
        Self {
            directory,
            with_rows: ListsWithRows::None,
            lists: Vec::with_capacity(lists),
            spans: Vec::new(),
            bases: Vec::new(),
        }
    }

    /// Adds the next list, with its column of `C` if it has one. The addresses are valid as long as
    /// the list's rows do not move.
    ///
    /// # Panics
    ///
    /// If the column has another size than `C`.
    fn push(&mut self, list: &ChunkList, column: Option<u16>) {
        let column = column.map(usize::from).filter(|_| list.chunk_len() > 0);
        let Some(column) = column else {
            self.lists.push(ListView::NONE);
            return;
        };
        list.columns()[column].assert_holds::<C>();
        let narrow = |n| u32::try_from(n).expect("the lists have 2^32 chunks or more");
        let (number, shift) = (narrow(self.lists.len()), u32::from(list.shift()));
        self.with_rows = match self.with_rows {
            ListsWithRows::None if self.directory.are_near() => {
                ListsWithRows::One { number, shift }
            }
            _ => ListsWithRows::Several,
        };
        let first = narrow(self.spans.len());
        let fits = u64::from(first) + u64::from(list.chunk_len()) < u64::from(CHUNKS_MAX);
        assert!(fits, "the lists have two billion chunks or more");
        let column = list.layout().columns()[column];
        for chunk in 0..list.chunk_len() {
            let begin = chunk.wrapping_shl(shift);
            let start = if size_of::<C>() == 0 {
                ptr::dangling()
            } else {
                let place = list.blocks()[chunk as usize].place(list.capacity());
                // SAFETY: the block was allocated for the list's layout, which has this column.
                let start = unsafe { place.cell(column, 0) };
                start.as_ptr().cast_const().cast::<C>()
            };
            self.bases.push(start.wrapping_sub(begin as usize));
            // A list has fewer than 2³² rows, because there are fewer ids. So the end does not
            // overflow.
            self.spans.push(Span::new(begin, begin + list.rows(chunk)));
        }
        self.lists.push(ListView::new(first, shift));
    }

    /// The row of a cell in its chunk.
    #[inline]
    fn row(&self, found: &Found<C>) -> u32 {
        found.at - self.spans[found.chunk].begin()
    }

    /// Why an entity has no cell.
    #[cold]
    fn absent(&self, entity: Entity) -> Absent {
        match self.directory.is_alive(entity) {
            true => Absent::Component,
            false => Absent::Entity,
        }
    }

    /// The cell of an entity. `None` if the entity does not exist or lacks the component.
    #[inline]
    fn find_any(&self, entity: Entity) -> Option<Found<C>> {
        // SAFETY: these are the finder's own spans.
        unsafe { self.find(entity, &self.spans) }
    }

    /// The cell of an entity. `None` if the entity does not exist or lacks the component, or if its
    /// chunk's span is empty in `spans`.
    ///
    /// A location that is not that of a live row results in `None` or in some live cell.
    ///
    /// # Safety
    ///
    /// `spans` has as many elements as the finder's own spans, and each is the same or empty.
    #[inline]
    unsafe fn find(&self, entity: Entity, spans: &[Span]) -> Option<Found<C>> {
        let (chunk, at) = match self.with_rows {
            ListsWithRows::None => return None,
            ListsWithRows::One { number, shift } => {
                let at = self.directory.position_in(entity, number)?;
                (at.wrapping_shr(shift) as usize, at)
            }
            ListsWithRows::Several => {
                // The location of a free slot is in no archetype, and so in no list.
                let location = self.directory.get(entity)?;
                let (list, at) = (self.lists.get(location.archetype().index())?, location.row().0);
                let chunk = list.chunk(at);
                // A position past the end of its list would be in the next list.
                if spans.get(chunk)?.starts_after(at) {
                    return None;
                }
                (chunk, at)
            }
        };
        if spans.get(chunk)?.ends_before(at) {
            return None;
        }
        // SAFETY: `push` makes `bases` and the finder's spans equally long, and by the contract of
        // this function `spans` is as long.
        let base = unsafe { self.bases.get_unchecked(chunk) };
        // The chunk's span contains the position. It is not past the last row, as checked. It is
        // not before the first: for several lists that was checked, and for one list the chunk's
        // number was computed from the position by the list's own shift.
        Some(Found { chunk, cell: base.wrapping_add(at as usize), at })
    }
}

/// The enable bits of each chunk of a finder, if its component has any.
#[derive(Debug, Default)]
struct Bits<'w>(Vec<ChunkBits<'w>>);

impl<'w> Bits<'w> {
    /// Adds those of the next list.
    fn push<C: Component>(
        &mut self,
        list: &ChunkList,
        bits: Option<&'w EnableBits>,
        column: Option<u16>,
    ) {
        let Some(column) = column.filter(|_| C::ENABLEABLE) else { return };
        let bits = bits.and_then(|bits| Some((bits, bits.array_of(column)?)));
        let (bits, array) = bits.expect("a list has no bits of an enableable component");
        self.0.extend((0..list.chunk_len()).map(|chunk| bits.chunk(array, chunk)));
    }
}

/// Why a view has no cell of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// The entity is not alive.
    Entity,
    /// The entity lacks the component.
    Component,
}

/// Component `C` of many entities, for reading.
#[derive(Debug)]
pub(crate) struct ColumnViews<'w, C> {
    finder: CellFinder<'w, C>,
    bits: Bits<'w>,
    borrow: PhantomData<&'w [C]>,
    /// Invariant in `C`: a subtype of `C` is another component.
    component: PhantomData<fn(C) -> C>,
}

// SAFETY: a view only reads components, which are `Sync`.
unsafe impl<C: Sync> Send for ColumnViews<'_, C> {}
// SAFETY: a view only reads components, which are `Sync`.
unsafe impl<C: Sync> Sync for ColumnViews<'_, C> {}

impl<'w, C: Component> ColumnViews<'w, C> {
    /// A view with room for `lists` lists, for the entities in `directory`.
    pub(crate) fn new(directory: DirectoryView<'w>, lists: usize) -> Self {
        let finder = CellFinder::new(directory, lists);
        Self { finder, bits: Bits::default(), borrow: PhantomData, component: PhantomData }
    }

    /// Adds the next list, with its column of `C` if it has one.
    ///
    /// # Panics
    ///
    /// If the column has another size than `C`.
    pub(crate) fn push(
        &mut self,
        (list, bits): (&'w ChunkList, Option<&'w EnableBits>),
        column: Option<u16>,
    ) {
        self.finder.push(list, column);
        self.bits.push::<C>(list, bits, column);
    }

    /// Whether the component of an entity is enabled.
    #[inline]
    pub(crate) fn is_enabled(&self, entity: Entity) -> Result<bool, Absent> {
        let Some(found) = self.finder.find_any(entity) else {
            return Err(self.finder.absent(entity));
        };
        Ok(self.bits.0[found.chunk].is_enabled(self.finder.row(&found)))
    }

    /// The cell of an entity.
    #[inline]
    pub(crate) fn get(&self, entity: Entity) -> Result<&'w C, Absent> {
        let Some(found) = self.finder.find_any(entity) else {
            return Err(self.finder.absent(entity));
        };
        // SAFETY: a live cell is aligned by `ChunkLayout` and initialised. `push` borrowed its list
        // shared for `'w`, so that nothing moves it; what writes through a shared list has promised
        // that nothing else reads its columns (`ChunkIter::exclusive_unchecked`).
        Ok(unsafe { &*found.cell })
    }
}

/// Component `C` of many entities, for writing.
#[derive(Debug)]
pub(crate) struct ColumnViewsMut<'w, C> {
    finder: CellFinder<'w, C>,
    /// The spans of the chunks that are stamped, and empty spans for the others. A chunk is stamped
    /// once: nothing else stamps it while the view exists. A cell found in these spans needs no
    /// separate check.
    stamped: Vec<Span>,
    /// The stamps of each chunk.
    stamps: Vec<StampPair<'w>>,
    bits: Bits<'w>,
    /// The version of the writes.
    now: Version,
    borrow: PhantomData<&'w mut [C]>,
}

// SAFETY: a view is the right to write components, which are `Send`.
unsafe impl<C: Send> Send for ColumnViewsMut<'_, C> {}
// SAFETY: a shared view only reads components, which are `Sync`.
unsafe impl<C: Sync> Sync for ColumnViewsMut<'_, C> {}

impl<'w, C: Component> ColumnViewsMut<'w, C> {
    /// A view with room for `lists` lists, for the entities in `directory`. Its writes have version
    /// `now`.
    pub(crate) fn new(directory: DirectoryView<'w>, lists: usize, now: Version) -> Self {
        let finder = CellFinder::new(directory, lists);
        let (stamped, stamps, bits) = (Vec::new(), Vec::new(), Bits::default());
        Self { finder, stamped, stamps, bits, now, borrow: PhantomData }
    }

    /// Adds the next list, with its column of `C` if it has one, and its stamps.
    ///
    /// # Panics
    ///
    /// If the column has another size than `C`.
    pub(crate) fn push(
        &mut self,
        (list, bits): (&'w mut ChunkList, Option<&'w EnableBits>),
        stamps: &'w Stamps,
        column: Option<u16>,
    ) {
        // SAFETY: the list is borrowed exclusively for `'w`.
        unsafe { self.push_unchecked((list, bits), stamps, column) }
    }

    /// [`ColumnViewsMut::push`] for a list that is borrowed shared.
    ///
    /// # Safety
    ///
    /// For `'w` nothing else reads or writes the column or its stamps, and the list's rows do not
    /// move. Each list is added once.
    ///
    /// # Panics
    ///
    /// If the column has another size than `C`.
    pub(crate) unsafe fn push_unchecked(
        &mut self,
        (list, bits): (&'w ChunkList, Option<&'w EnableBits>),
        stamps: &'w Stamps,
        column: Option<u16>,
    ) {
        self.finder.push(list, column);
        self.bits.push::<C>(list, bits, column);
        if let Some(column) = column {
            let chunks = 0..list.chunk_len() as usize;
            self.stamps.extend(chunks.map(|chunk| stamps.pair(StampKind::column(column), chunk)));
        }
        self.stamped.resize(self.finder.spans.len(), Span::EMPTY);
        debug_assert_eq!(self.stamps.len(), self.stamped.len(), "a chunk has no stamps");
    }

    /// The cell of an entity, for reading.
    #[inline]
    pub(crate) fn get(&self, entity: Entity) -> Result<&C, Absent> {
        let Some(found) = self.finder.find_any(entity) else {
            return Err(self.finder.absent(entity));
        };
        // SAFETY: a live cell is aligned by `ChunkLayout` and initialised. By the contract of
        // `push_unchecked` only this view accesses it, and the view is borrowed shared.
        Ok(unsafe { &*found.cell })
    }

    /// Whether the component of an entity is enabled.
    #[inline]
    pub(crate) fn is_enabled(&self, entity: Entity) -> Result<bool, Absent> {
        let Some(found) = self.finder.find_any(entity) else {
            return Err(self.finder.absent(entity));
        };
        Ok(self.bits.0[found.chunk].is_enabled(self.finder.row(&found)))
    }

    /// Enables or disables the component of an entity, and stamps its chunk if that changes it.
    /// Returns whether it did.
    #[inline]
    pub(crate) fn set_enabled(&mut self, entity: Entity, enabled: bool) -> Result<bool, Absent> {
        if let Some(found) = self.find_stamped(entity) {
            return Ok(self.bits.0[found.chunk].set_alone(self.finder.row(&found), enabled));
        }
        self.set_enabled_unstamped(entity, enabled)
    }

    /// The cell of an entity, for writing; its chunk is stamped.
    #[inline]
    pub(crate) fn get_mut(&mut self, entity: Entity) -> Result<&mut C, Absent> {
        let found = match self.find_stamped(entity) {
            Some(found) => found,
            None => match self.find_and_stamp(entity) {
                Some(found) => found,
                None => return Err(self.finder.absent(entity)),
            },
        };
        // SAFETY: a live cell is aligned by `ChunkLayout` and initialised. By the contract of
        // `push_unchecked` only this view accesses it, and the view is borrowed exclusively. The
        // pointer is derived from that of the block, which may be written through.
        Ok(unsafe { &mut *found.cell.cast_mut() })
    }

    /// The cell of an entity whose chunk is stamped.
    #[inline]
    fn find_stamped(&self, entity: Entity) -> Option<Found<C>> {
        // SAFETY: `push_unchecked` makes `stamped` as long as the finder's spans, and each of its
        // elements is empty or copied from there.
        unsafe { self.finder.find(entity, &self.stamped) }
    }

    /// [`ColumnViewsMut::set_enabled`] in a chunk that may not be stamped yet.
    #[cold]
    fn set_enabled_unstamped(&mut self, entity: Entity, enabled: bool) -> Result<bool, Absent> {
        let Some(found) = self.finder.find_any(entity) else {
            return Err(self.finder.absent(entity));
        };
        let switched = self.bits.0[found.chunk].set_alone(self.finder.row(&found), enabled);
        if switched {
            self.stamps[found.chunk].set(self.now);
            self.stamped[found.chunk] = self.finder.spans[found.chunk];
        }
        Ok(switched)
    }

    /// The cell of an entity whose chunk may not be stamped yet. Stamps the chunk.
    #[cold]
    fn find_and_stamp(&mut self, entity: Entity) -> Option<Found<C>> {
        let found = self.finder.find_any(entity)?;
        self.stamps[found.chunk].set(self.now);
        self.stamped[found.chunk] = self.finder.spans[found.chunk];
        Some(found)
    }
}
