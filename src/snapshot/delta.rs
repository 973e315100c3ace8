//! The rows that a delta has: those that differ from an older state.
//!
//! Chunks with the same versions are left out unread; in the others the bytes are compared. A whole
//! state is the same without an older one, with all rows. Arrays beside the rows are compared by
//! elements.

use std::ops::Range;

use crate::archetype::RowsView;
use crate::line::VECTOR_ROWS;
use crate::storage::StampKind;

/// The rows whose entities differ from those of an older state.
pub(super) fn changed_entities(
    view: &RowsView<'_>,
    older: Option<&RowsView<'_>>,
) -> Vec<Range<usize>> {
    let Some(older) = older else { return whole(view.len()) };
    let mut ranges = Vec::new();
    for chunk in view.written(older, StampKind::ORDER) {
        let rows = view.rows_of(chunk);
        let old = older.entities().get(rows.start..).unwrap_or(&[]);
        for range in differences(&view.entities()[rows.clone()], &old[..old.len().min(rows.len())])
        {
            push(&mut ranges, rows.start + range.start..rows.start + range.end);
        }
    }
    ranges
}

/// The rows whose column may differ from an older state: in the chunks that were written, the lines
/// of sixteen rows with other bytes.
pub(super) fn changed_rows(
    view: &RowsView<'_>,
    older: Option<&RowsView<'_>>,
    column: u16,
    size: usize,
) -> Vec<Range<usize>> {
    if size == 0 {
        return Vec::new();
    }
    let Some(older) = older else { return whole(view.len()) };
    let mut ranges = Vec::new();
    let line_bytes = VECTOR_ROWS * size;
    for chunk in view.written(older, StampKind::column(column)) {
        let rows = view.rows_of(chunk);
        // These rows lie in one chunk of the older state as well: its chunks have the same size, or
        // it has one chunk.
        let common = rows.start..rows.end.min(older.len()).max(rows.start);
        let old = if common.is_empty() { &[] } else { older.cells(column, size, common) };
        let lines = view.cells(column, size, rows.clone()).chunks(line_bytes);
        for (line, cells) in lines.enumerate() {
            let start = line * line_bytes;
            if old.get(start..start + cells.len()) != Some(cells) {
                let first = rows.start + line * VECTOR_ROWS;
                push(&mut ranges, first..(first + VECTOR_ROWS).min(rows.end));
            }
        }
    }
    ranges
}

/// All rows, if there are any.
fn whole(rows: usize) -> Vec<Range<usize>> {
    Vec::from_iter((rows > 0).then_some(0..rows))
}

/// Adds a range, or extends the last one if they touch.
pub(super) fn push(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}

/// The cost of a range in elements of four and eight bytes. Shorter gaps are included.
const GAP: usize = 2;
/// The same for values of any size.
const GAP_BYTES: usize = 8;

/// Adds a range, or extends the last one, including the gap between them if it is short.
fn join(ranges: &mut Vec<Range<usize>>, range: Range<usize>, gap: usize) {
    match ranges.last_mut() {
        Some(last) if range.start - last.end <= gap => last.end = range.end,
        _ => ranges.push(range),
    }
}

/// The same ranges as [`differences`], from the ascending places at which the arrays differ.
pub(super) fn differences_at(places: &[u32]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    places.iter().map(|&at| at as usize).for_each(|at| join(&mut ranges, at..at + 1, GAP));
    ranges
}

/// The ranges in which an array differs from an older one. Elements beyond the older one differ.
pub(super) fn differences<T: PartialEq>(new: &[T], old: &[T]) -> Vec<Range<usize>> {
    differences_by((new.len(), old.len(), GAP), |range| new[range.clone()] == old[range])
}

/// [`differences`] of arrays of values with `size` bytes each. Values without bytes are equal.
pub(super) fn value_differences(new: &[u8], old: &[u8], size: usize) -> Vec<Range<usize>> {
    let Some(len) = new.len().checked_div(size) else { return Vec::new() };
    let bytes = |range: Range<usize>| range.start * size..range.end * size;
    let gap = GAP_BYTES / size;
    differences_by((len, old.len() / size, gap), |range| {
        new[bytes(range.clone())] == old[bytes(range)]
    })
}

/// The ranges in which an array of one length differs from an older one of another.
fn differences_by(
    (new, old, gap): (usize, usize, usize),
    is_equal: impl Fn(Range<usize>) -> bool,
) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let common = new.min(old);
    let mut add = |range| join(&mut ranges, range, gap);
    // Arrays are mostly equal, and equal slices are compared at the speed of memory.
    const STEP: usize = 256;
    for start in (0..common).step_by(STEP) {
        let end = (start + STEP).min(common);
        if !is_equal(start..end) {
            (start..end).filter(|&i| !is_equal(i..i + 1)).for_each(|i| add(i..i + 1));
        }
    }
    if new > common {
        add(common..new);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_ranges() {
        let old: Vec<u32> = (0..1000).collect();
        let mut new = old.clone();
        assert_eq!(differences(&new, &old), []);
        for i in [0, 1, 4, 300, 999] {
            new[i] += 1;
        }
        assert_eq!(differences(&new, &old), [0..5, 300..301, 999..1000]);
        new.push(7);
        assert_eq!(differences(&new, &old), [0..5, 300..301, 999..1001]);
        let one = |new, old| <[Range<usize>; 1]>::try_from(differences::<u32>(new, old)).ok();
        assert_eq!(one(&new[..300], &old).map(|[range]| range), Some(0..5));
        assert_eq!(one(&old, &[]).map(|[range]| range), Some(0..1000));
        assert_eq!(differences::<u32>(&[], &old), []);
    }
}
