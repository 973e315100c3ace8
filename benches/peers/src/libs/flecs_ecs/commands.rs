use super::*;
use crate::pairs::{self, Pairs};

pub(crate) fn commands(h: &mut Harness, n: usize) {
    let (e, w) = structure::entities_with_a(n);
    pairs::run(
        h,
        "defer",
        Pairs::in_order((w, e)),
        |w, e| {
            w.defer_begin();
            e.iter().for_each(|&e| _ = w.entity_from_id(e).set(B(0.0)));
            w.defer_end();
        },
        |w, e| {
            w.defer_begin();
            e.iter().for_each(|&e| _ = w.entity_from_id(e).remove(B::id()));
            w.defer_end();
        },
        |w, _| structure::rows_of::<B>(w),
        |w, e, _| structure::kept(w, e),
    );
}
