use super::*;
use crate::events::{Seen, event, events, hits};
use evenio::handler::Local;

event! { #[derive(GlobalEvent)] }

#[derive(evenio::component::Component, Default)]
struct First(Seen);
#[derive(evenio::component::Component, Default)]
struct Second(Seen);

/// Two handlers, which are called for each event; `[Sender]` queues all of them from a handler.
pub(crate) fn write_and_read(h: &mut Harness, _: usize) {
    events(
        h,
        "",
        (world(), 0),
        |((w, _), frame)| {
            hits(*frame).for_each(|hit| w.send(Hit::new(hit)));
            *frame += 1;
        },
        |((w, readers), _)| seen(w, *readers),
    );
    let (mut w, readers) = world();
    w.add_handler(|_: Receiver<Tick>, mut frame: Local<u32>, mut sender: Sender<Hit>| {
        hits(*frame).for_each(|hit| sender.send(Hit::new(hit)));
        *frame += 1;
    });
    events(h, "Sender", w, |w| w.send(Tick), |w| seen(w, readers));
}

/// A world with an entity for the sums of both readers.
fn world() -> (World, EntityId) {
    let mut w = World::new();
    let readers = w.spawn();
    w.insert(readers, First::default());
    w.insert(readers, Second::default());
    w.add_handler(|hit: Receiver<Hit>, Single(first): Single<&mut First>| {
        first.0.add(hit.event.target, hit.event.damage);
    });
    w.add_handler(|hit: Receiver<Hit>, Single(second): Single<&mut Second>| {
        second.0.add(hit.event.target, hit.event.damage);
    });
    (w, readers)
}

fn seen(w: &World, readers: EntityId) -> [Seen; 2] {
    let first = w.get::<First>(readers).expect("inserted").0;
    [first, w.get::<Second>(readers).expect("inserted").0]
}
