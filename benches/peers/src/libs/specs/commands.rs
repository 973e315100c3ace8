use super::*;
use crate::pairs::{self, Pairs};

pub(crate) fn commands(h: &mut Harness, n: usize) {
    pairs::run(
        h,
        "LazyUpdate",
        Pairs::in_order(structure::entities_with_a(n)),
        |w, e| {
            let lazy = w.read_resource::<LazyUpdate>();
            e.iter().for_each(|&e| lazy.insert(e, B(0.0)));
            drop(lazy);
            w.maintain();
        },
        |w, e| {
            let lazy = w.read_resource::<LazyUpdate>();
            e.iter().for_each(|&e| lazy.remove::<B>(e));
            drop(lazy);
            w.maintain();
        },
        |w, _| structure::rows_of::<B>(w),
        |w, e, _| structure::kept(w, e),
    );
}
