use super::*;
use crate::pairs::{self, Pairs};
use hecs::CommandBuffer;

pub(crate) fn commands(h: &mut Harness, n: usize) {
    let (w, e) = structure::entities_with_a(n);
    pairs::run(
        h,
        "",
        Pairs::in_order(((w, CommandBuffer::new()), e)),
        |(w, buffer), e| {
            e.iter().for_each(|&e| buffer.insert_one(e, B(0.0)));
            buffer.run_on(w);
        },
        |(w, buffer), e| {
            e.iter().for_each(|&e| buffer.remove_one::<B>(e));
            buffer.run_on(w);
        },
        |(w, _), _| structure::holders(w),
        |(w, _), e, _| structure::kept(w, e),
    );
}
