//! Objects behind pointers against columns, with code of 32 kinds that does not fit together into
//! the first-level cache of instructions.

use phalanx_cachegrind::Work;

use crate::programs::objects::{Columns, Objects};

use super::{Counted, LINE};

/// Bytes of an object: its numbers. The allocator's overhead is not part of the least.
const OBJECT: u64 = 32;

/// Bytes of a pointer to an object and to the functions of its kind.
const POINTER: u64 = size_of::<Box<dyn Send>>() as u64;

impl Counted for Objects {
    /// The lines of the pointers, and of the numbers of all objects if they lay side by side.
    fn work(&self) -> Work {
        let len = self.objects.len() as u64;
        Work::of_units(len, ((OBJECT + POINTER) * len) as f64 / LINE as f64)
    }
}

impl Counted for Columns {
    /// The lines of the numbers.
    fn work(&self) -> Work {
        let len = self.world.len() as u64;
        Work::of_units(len, (OBJECT * len) as f64 / LINE as f64)
    }
}
