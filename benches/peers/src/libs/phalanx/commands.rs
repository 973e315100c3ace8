use super::*;
use crate::pairs::{self, Pairs};

pub(crate) fn commands(h: &mut Harness, n: usize) {
    let (mut w, e) = structure::entities_with_a(n);
    let buffer = w.command_buffer(0).expect("no ids");
    pairs::run(
        h,
        "",
        Pairs::in_order(((w, buffer), e)),
        |(w, buffer), e| {
            e.iter().for_each(|&e| buffer.insert(e, B(0.0)));
            w.apply(buffer).expect("all are alive");
        },
        |(w, buffer), e| {
            e.iter().for_each(|&e| buffer.remove::<B>(e));
            w.apply(buffer).expect("all are alive");
        },
        |(w, _), _| structure::holders(w),
        |(w, _), e, _| structure::kept(w, e),
    );
}
