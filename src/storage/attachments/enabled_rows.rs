//! The enable bits of one component in a chunk, as terms hand them out.

use core::fmt;
use core::ops::Range;

use super::enable_bits::{ChunkBits, WORD, low_bits};

/// Whether `C` is enabled in each row of a chunk: the item of the term
/// [`Enabled<C>`](crate::Enabled).
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Height(f32);
/// # #[component(enableable)] struct Awake;
/// # let mut world = World::new();
/// world.spawn_batch((0..100).map(|i| (Height(i as f32), Awake)));
/// for (heights, awake) in world.query::<(&Height, Enabled<Awake>)>() {
///     let highest = heights.iter().zip(awake).filter(|(_, awake)| *awake);
///     assert_eq!(highest.count(), 100);
/// }
/// ```
#[derive(Clone, Copy)]
pub struct EnabledRows<'w> {
    bits: Option<ChunkBits<'w>>,
    origin: u32,
    rows: u32,
}

impl<'w> EnabledRows<'w> {
    /// The `rows` rows from row `origin` on.
    #[inline]
    pub(crate) const fn from_row(bits: ChunkBits<'w>, origin: u32, rows: u32) -> Self {
        Self { bits: Some(bits), origin, rows }
    }

    #[inline]
    pub(crate) const fn empty() -> Self {
        Self { bits: None, origin: 0, rows: 0 }
    }

    /// Cuts the first rows off, at most as many as there are.
    #[inline]
    pub(crate) fn split_off(&mut self, rows: usize) -> Self {
        let rows = u32::try_from(rows).map_or(self.rows, |rows| rows.min(self.rows));
        let first = Self { rows, ..*self };
        self.origin += rows;
        self.rows -= rows;
        first
    }

    /// The number of rows.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows as usize
    }

    /// Whether there are no rows.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The position of a row in its chunk.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[inline]
    fn at(&self, row: usize) -> (ChunkBits<'w>, u32) {
        let bits = self.bits.filter(|_| row < self.len());
        let bits = bits.unwrap_or_else(|| panic!("row {row} of {} rows", self.len()));
        #[expect(clippy::cast_possible_truncation, reason = "less than the number of rows")]
        let row = self.origin + row as u32;
        (bits, row)
    }

    /// Whether the component is enabled in a row.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[inline]
    #[must_use]
    pub fn get(&self, row: usize) -> bool {
        let (bits, row) = self.at(row);
        bits.is_enabled(row)
    }

    /// Sixty-four rows a word, row 0 in the lowest bit: set where the component is enabled. Bits
    /// past the last row are not.
    pub fn words(self) -> impl ExactSizeIterator<Item = u64> + 'w {
        (0..self.rows.div_ceil(WORD)).map(move |i| {
            let row = i * WORD;
            let word = self.bits.map_or(0, |bits| bits.enabled_from(self.origin + row));
            word & low_bits(self.rows - row)
        })
    }

    /// The number of rows in which the component is enabled. O(rows / 64).
    #[must_use]
    pub fn count(&self) -> usize {
        self.words().map(|word| word.count_ones() as usize).sum()
    }
}

impl fmt::Debug for EnabledRows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnabledRows")
            .field("rows", &self.rows)
            .field("enabled", &self.count())
            .finish()
    }
}

impl<'w> IntoIterator for EnabledRows<'w> {
    type Item = bool;
    type IntoIter = EnabledRowsIter<'w>;

    #[inline]
    fn into_iter(self) -> EnabledRowsIter<'w> {
        EnabledRowsIter { rows: self, next: 0..self.len() }
    }
}

/// The rows of [`EnabledRows`], one after the other.
#[derive(Clone, Debug)]
#[must_use = "iterators are lazy"]
pub struct EnabledRowsIter<'w> {
    rows: EnabledRows<'w>,
    next: Range<usize>,
}

impl Iterator for EnabledRowsIter<'_> {
    type Item = bool;

    #[inline]
    fn next(&mut self) -> Option<bool> {
        self.next.next().map(|row| self.rows.get(row))
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<bool> {
        self.next.nth(n).map(|row| self.rows.get(row))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.next.size_hint()
    }
}

impl ExactSizeIterator for EnabledRowsIter<'_> {}

/// Switches `C` in rows of a chunk: the item of the term [`EnabledMut<C>`](crate::EnabledMut).
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Speed(f32);
/// # #[component(enableable)] struct Awake;
/// # let mut world = World::new();
/// world.spawn_batch((0..100).map(|i| (Speed(i as f32), Awake)));
/// for (speeds, mut awake) in world.query_mut::<(&Speed, EnabledMut<Awake>)>() {
///     awake.assign(|row| speeds[row].0 >= 10.0);
/// }
/// assert_eq!(world.query::<&Speed>().with::<Awake>().count_rows(), 90);
/// ```
pub struct EnabledRowsMut<'w> {
    rows: EnabledRows<'w>,
}

impl<'w> EnabledRowsMut<'w> {
    /// Switches that nothing else uses, as far as their rows go.
    #[inline]
    pub(crate) const fn new(rows: EnabledRows<'w>) -> Self {
        Self { rows }
    }

    /// Cuts the first rows off, at most as many as there are.
    #[inline]
    pub(crate) fn split_off(&mut self, rows: usize) -> Self {
        Self { rows: self.rows.split_off(rows) }
    }

    /// The same rows, to be read.
    #[inline]
    #[must_use]
    pub const fn as_rows(&self) -> EnabledRows<'_> {
        self.rows
    }

    /// The number of rows.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether the component is enabled in a row.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[inline]
    #[must_use]
    pub fn get(&self, row: usize) -> bool {
        self.rows.get(row)
    }

    /// Enables or disables the component in a row.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[inline]
    pub fn set(&mut self, row: usize, enabled: bool) {
        let (bits, row) = self.rows.at(row);
        bits.set(row, enabled);
    }

    /// Enables or disables the component in all rows. O(rows / 64).
    pub fn fill(&mut self, enabled: bool) {
        if let Some(bits) = self.rows.bits {
            bits.fill(self.rows.origin..self.rows.origin + self.rows.rows, enabled);
        }
    }

    /// Enables the component in the rows for which `enabled` returns `true`, and disables it in the
    /// others. A word at a time: faster than [`set`](EnabledRowsMut::set) in a loop.
    pub fn assign(&mut self, mut enabled: impl FnMut(usize) -> bool) {
        self.update(|row, _| enabled(row));
    }

    /// Enables the component in the rows for which `enabled` returns `true`, and disables it in the
    /// others. It is called with the number of each row, and with whether it is enabled now.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Fuel(u32);
    /// # #[component(enableable)] struct Engine;
    /// # let mut world = World::new();
    /// world.spawn_batch((0..10).map(|i| (Fuel(i % 2), Engine)));
    /// for (fuel, mut engines) in world.query_mut::<(&Fuel, EnabledMut<Engine>)>() {
    ///     engines.update(|row, runs| runs && fuel[row].0 > 0); // none is started again
    /// }
    /// assert_eq!(world.query::<&Engine>().count_rows(), 5);
    /// ```
    pub fn update(&mut self, mut enabled: impl FnMut(usize, bool) -> bool) {
        let Some(bits) = self.rows.bits else { return };
        let EnabledRows { origin, rows, .. } = self.rows;
        for start in (0..rows).step_by(WORD as usize) {
            let (some, was) = (WORD.min(rows - start), bits.enabled_from(origin + start));
            let bit = |i: u32| u64::from(enabled((start + i) as usize, was >> i & 1 == 1)) << i;
            let word = (0..some).map(bit).fold(0, |word, bit| word | bit);
            bits.set_word(origin + start..origin + start + some, word);
        }
    }
}

impl fmt::Debug for EnabledRowsMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows.fmt(f)
    }
}

impl<'w> IntoIterator for EnabledRowsMut<'w> {
    type Item = EnabledRow<'w>;
    type IntoIter = EnabledRowsMutIter<'w>;

    #[inline]
    fn into_iter(self) -> EnabledRowsMutIter<'w> {
        EnabledRowsMutIter { next: 0..self.len(), rows: self.rows }
    }
}

/// The rows of [`EnabledRowsMut`], one after the other.
#[derive(Debug)]
#[must_use = "iterators are lazy"]
pub struct EnabledRowsMutIter<'w> {
    rows: EnabledRows<'w>,
    next: Range<usize>,
}

impl<'w> Iterator for EnabledRowsMutIter<'w> {
    type Item = EnabledRow<'w>;

    #[inline]
    fn next(&mut self) -> Option<EnabledRow<'w>> {
        let (bits, row) = self.rows.at(self.next.next()?);
        Some(EnabledRow { bits, row })
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<EnabledRow<'w>> {
        let (bits, row) = self.rows.at(self.next.nth(n)?);
        Some(EnabledRow { bits, row })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.next.size_hint()
    }
}

impl ExactSizeIterator for EnabledRowsMutIter<'_> {}

/// Switches `C` in one row: the item of [`EnabledMut<C>`](crate::EnabledMut) for an entity.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Speed(f32);
/// # #[component(enableable)] struct Awake;
/// # let mut world = World::new();
/// world.spawn_batch((0..100).map(|i| (Speed(i as f32), Awake)));
/// for (speed, mut awake) in world.query_mut::<(&Speed, EnabledMut<Awake>)>().rows() {
///     awake.set(speed.0 >= 10.0);
/// }
/// assert_eq!(world.query::<&Speed>().with::<Awake>().count_rows(), 90);
/// ```
#[derive(Debug)]
pub struct EnabledRow<'w> {
    bits: ChunkBits<'w>,
    row: u32,
}

impl EnabledRow<'_> {
    /// Whether the component is enabled.
    #[inline]
    #[must_use]
    pub fn get(&self) -> bool {
        self.bits.is_enabled(self.row)
    }

    /// Enables or disables the component.
    #[inline]
    pub fn set(&mut self, enabled: bool) {
        self.bits.set(self.row, enabled);
    }
}
