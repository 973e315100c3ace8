use super::column::Column;
use super::*;
use crate::changes::rewritten;
use crate::snapshots::{Call, Live, Values, Written, written as frames};
use std::ops::Range;

struct Flat {
    p: Column<Position>,
    v: Column<Velocity>,
    /// The rows written last are known: no search is needed.
    written: Range<usize>,
}

impl Live for Flat {
    fn write(&mut self, rows: Range<usize>) {
        self.written = rows.clone();
        self.p.write()[rows.clone()].iter_mut().for_each(|p| p.x = rewritten(p.x));
        self.v.write()[rows].iter_mut().for_each(|v| v.x = rewritten(v.x));
    }

    fn values(&mut self, nth: usize) -> Option<Values> {
        let (p, v) = (self.p.read().get(nth)?, self.v.read().get(nth)?);
        Some([p.x, p.y, p.z, v.x, v.y, v.z])
    }

    fn len(&mut self) -> usize {
        self.p.read().len()
    }
}

/// A copy of the written rows, by `memcpy`, between existing memory.
pub(crate) fn written(h: &mut Harness, n: usize, what: (Call, Written)) {
    let (p, v) = (positions(n), velocities(n));
    let live = Flat { p: Column::new(&p, 0), v: Column::new(&v, 1), written: 0..n };
    let saved = (Column::new(&p, 2), Column::new(&v, 3));
    let take = |live: &mut Flat, (p, v): &mut (Column<Position>, Column<Velocity>)| {
        let rows = live.written.clone();
        p.write()[rows.clone()].copy_from_slice(&live.p.read()[rows.clone()]);
        v.write()[rows.clone()].copy_from_slice(&live.v.read()[rows]);
    };
    let restore = |live: &mut Flat, (p, v): &mut (Column<Position>, Column<Velocity>)| {
        let rows = live.written.clone();
        live.p.write()[rows.clone()].copy_from_slice(&p.read()[rows.clone()]);
        live.v.write()[rows.clone()].copy_from_slice(&v.read()[rows]);
    };
    frames(h, "memcpy, known rows", what, (live, saved), take, restore);
}
