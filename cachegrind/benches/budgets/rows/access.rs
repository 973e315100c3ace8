//! The least of reads by entity, and of reads of changed rows.

use phalanx::prelude::*;
use phalanx_cachegrind::{D1_BYTES, Work};

use crate::programs::changed::Changed;
use crate::programs::components::Position;
use crate::programs::lookup::RandomLookup;
use crate::programs::one_of_many::OneOfMany;

use super::{Counted, LINE, SLOT};

impl Counted for RandomLookup {
    /// A read takes the next entity of the order, its slot, and the `x` of its row. Slots and rows
    /// are read at random: the share of hits is the size of the cache divided by the size of all
    /// lines. One slot in eight lies across two lines.
    fn work(&self) -> Work {
        let per_line = |bytes: u64| bytes as f64 / LINE as f64;
        let reads = self.order.len() as u64;
        let rows = self.world.query::<&Position>().explain().lines() as f64;
        let slots = per_line(SLOT * self.world.len() as u64);
        let lines_of_slot = 1.0 + per_line(SLOT - size_of::<u32>() as u64);
        let missed = 1.0 - per_line(D1_BYTES) / (rows + slots);
        let read = per_line(size_of::<Entity>() as u64) + (lines_of_slot + 1.0) * missed;
        Work::of_units(reads, read * reads as f64)
    }
}

impl Counted for Changed {
    /// A unit is a written row. The lines are the lines of all chunks with written rows.
    fn work(&self) -> Work {
        let changed = self.world.query::<&Position>().changed_since::<Position>(self.since);
        Work::of_query(&changed.explain()).in_units(self.written.len() as u64)
    }
}

impl Counted for OneOfMany {
    /// The budget is in instructions: a query finds its value without the others.
    fn work(&self) -> Work {
        Work::of_units(1, 0.0)
    }
}
