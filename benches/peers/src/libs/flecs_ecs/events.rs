use super::*;
use crate::events::{Seen, event, events, hits};
use std::cell::Cell;
use std::rc::Rc;

event! { #[derive(Component)] }

/// Two observers, which are called as an event is emitted. Observers of one entity are never called
/// by this version.
pub(crate) fn write_and_read(h: &mut Harness, _: usize) {
    let w = World::new();
    let target = w.entity().id();
    let seen = [0, 1].map(|_| Rc::new(Cell::new(Seen::default())));
    for seen in &seen {
        let seen = seen.clone();
        w.observer::<Hit, ()>().with(id::<flecs::Any>()).each_iter(move |it, _, ()| {
            let mut now = seen.get();
            now.add(it.param().target, it.param().damage);
            seen.set(now);
        });
    }
    events(
        h,
        "observers",
        (seen, w, 0),
        |(_, w, frame)| {
            let target = w.entity_from_id(target);
            hits(*frame).for_each(|hit| target.emit(&Hit::new(hit)));
            *frame += 1;
        },
        |(seen, ..)| seen.each_ref().map(|seen| seen.get()),
    );
}
