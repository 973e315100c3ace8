use super::*;
use crate::events::{Seen, event, events, hits};

event! {}

pub(crate) fn write_and_read(h: &mut Harness, n: usize) {
    events(
        h,
        "",
        (Vec::with_capacity(n), [Seen::default(); 2], 0),
        |(queue, seen, frame): &mut (Vec<Hit>, _, _)| {
            queue.clear();
            hits(*frame).for_each(|hit| queue.push(Hit::new(hit)));
            *frame += 1;
            for seen in seen {
                black_box(&*queue).iter().for_each(|hit| seen.add(hit.target, hit.damage));
            }
        },
        |(_, seen, _)| *seen,
    );
}
