use super::*;
use crate::pairs::{self, Pairs};
use legion::systems::CommandBuffer;

pub(crate) fn commands(h: &mut Harness, n: usize) {
    let (w, e) = structure::entities_with_a(n);
    let buffer = CommandBuffer::new(&w);
    pairs::run(
        h,
        "",
        Pairs::in_order(((w, buffer, Resources::default()), e)),
        |(w, buffer, resources), e| {
            e.iter().for_each(|&e| buffer.add_component(e, B(0.0)));
            buffer.flush(w, resources);
        },
        |(w, buffer, resources), e| {
            e.iter().for_each(|&e| buffer.remove_component::<B>(e));
            buffer.flush(w, resources);
        },
        |(w, ..), _| structure::rows_of::<B>(w),
        |(w, ..), e, _| structure::kept(w, e),
    );
}
