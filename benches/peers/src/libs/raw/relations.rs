use super::*;
use crate::relations::{ByHand, End, Related, TARGETS, Task, lists, relations, value};

/// The target of a source that has none.
const NONE: u32 = u32::MAX;

/// Columns of values and ends, and a list for each target.
struct Columns {
    ends: Vec<End<u32>>,
    lists: Vec<Vec<u32>>,
    values: Vec<f32>,
}

impl ByHand<u32> for Columns {
    #[inline(always)]
    fn end(&mut self, source: u32) -> End<u32> {
        self.ends[source as usize]
    }
    #[inline(always)]
    fn set_end(&mut self, source: u32, end: End<u32>) {
        self.ends[source as usize] = end;
    }
    #[inline(always)]
    fn set_place(&mut self, source: u32, place: usize) {
        self.ends[source as usize].place = place;
    }
    #[inline(always)]
    fn list(&mut self, target: u32) -> &mut Vec<u32> {
        &mut self.lists[target as usize]
    }
    #[inline(always)]
    fn value(&self, source: u32) -> f32 {
        self.values[source as usize]
    }
}

pub(crate) fn relate(h: &mut Harness, n: usize, task: Task) {
    let sources: Vec<u32> = (0..n as u32).collect();
    let targets: Vec<u32> = (0..TARGETS as u32).collect();
    let (lists, ends) = lists(&sources, &targets);
    let world = Columns { ends, lists, values: (0..n).map(value).collect() };
    let related = Related { world, sources, targets };
    relations(
        (h, "", task),
        related,
        |columns, targets, sums| columns.sums(targets, sums),
        |columns, pairs| columns.change(pairs),
        |columns, source| Some(columns.end(source).target).filter(|&target| target != NONE),
        |columns, targets| {
            for &target in targets {
                for source in std::mem::take(columns.list(target)) {
                    columns.ends[source as usize].target = NONE;
                }
            }
        },
        |columns, sources| {
            let target =
                columns.lists.iter().position(Vec::is_empty).expect("one is deleted") as u32;
            columns.lists[target as usize] = sources.to_vec();
            for (place, &source) in sources.iter().enumerate() {
                columns.set_end(source, End { target, place });
            }
            target
        },
    );
}
