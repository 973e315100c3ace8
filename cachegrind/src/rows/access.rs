//! The least of reads by entity, and of reads of what changed.

use phalanx::prelude::*;

use crate::programs::changed::Changed;
use crate::programs::components::Position;
use crate::programs::lookup::RandomLookup;

use super::{Counted, D1, LINE, Least, PLACE};

impl Counted for RandomLookup {
    /// A read takes the next entity of the order, its place, and the `x` of its row. Places and rows
    /// are hit at random: a full cache has the line with the share that it holds of all lines. One
    /// place in eight lies across two lines.
    fn least(&self) -> Least {
        let per_line = |bytes: u64| bytes as f64 / LINE as f64;
        let reads = self.order.len() as u64;
        let rows = self.world.query::<&Position>().explain().lines() as f64;
        let places = per_line(PLACE * self.world.len() as u64);
        let lines_of_place = 1.0 + per_line(PLACE - size_of::<u32>() as u64);
        let missed = 1.0 - per_line(D1) / (rows + places);
        let read = per_line(size_of::<Entity>() as u64) + (lines_of_place + 1.0) * missed;
        Least { units: reads, lines: read * reads as f64 }
    }
}

impl Counted for Changed {
    /// A unit is a row that was written; the lines are those of the chunks that hold one.
    fn least(&self) -> Least {
        let changed = self.world.query::<&Position>().changed_since::<Position>(self.since);
        Least::of_loop(self.written.len(), changed.explain().lines())
    }
}
