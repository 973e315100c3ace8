use super::*;
use crate::pairs::{self, Pairs};
use bevy_ecs::world::CommandQueue;

pub(crate) fn commands(h: &mut Harness, n: usize) {
    let (w, e) = structure::entities_with_a(n);
    pairs::run(
        h,
        "",
        Pairs::in_order(((w, CommandQueue::default()), e)),
        |(w, queue), e| {
            let mut commands = Commands::new(queue, w);
            e.iter().for_each(|&e| _ = commands.entity(e).insert(B(0.0)));
            queue.apply(w);
        },
        |(w, queue), e| {
            let mut commands = Commands::new(queue, w);
            e.iter().for_each(|&e| _ = commands.entity(e).remove::<B>());
            queue.apply(w);
        },
        |(w, _), _| structure::rows_of::<B>(w),
        |(w, _), e, _| structure::kept(w, e),
    );
}
