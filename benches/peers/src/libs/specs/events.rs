use super::*;
use crate::events::{Seen, event, events, hits};
use specs::shrev::{EventChannel, ReaderId};

event! {}

#[derive(Default)]
struct Both([Seen; 2]);

struct Writer {
    frame: u32,
}
impl<'a> System<'a> for Writer {
    type SystemData = Write<'a, EventChannel<Hit>>;
    fn run(&mut self, mut channel: Self::SystemData) {
        channel.iter_write(hits(self.frame).map(Hit::new));
        self.frame += 1;
    }
}

struct Reader {
    number: usize,
    id: ReaderId<Hit>,
}
impl<'a> System<'a> for Reader {
    type SystemData = (Read<'a, EventChannel<Hit>>, Write<'a, Both>);
    fn run(&mut self, (channel, mut both): Self::SystemData) {
        let seen = &mut both.0[self.number];
        channel.read(&mut self.id).for_each(|hit| seen.add(hit.target, hit.damage));
    }
}

/// Systems in order, on one thread.
pub(crate) fn write_and_read(h: &mut Harness, _: usize) {
    let mut w = World::new();
    let mut channel = EventChannel::<Hit>::new();
    let readers = [0, 1].map(|number| Reader { number, id: channel.register_reader() });
    w.insert(channel);
    w.insert(Both::default());
    let [first, second] = readers;
    let d = DispatcherBuilder::new()
        .with(Writer { frame: 0 }, "write", &[])
        .with(first, "first", &["write"])
        .with(second, "second", &["write"])
        .build();
    events(h, "EventChannel", (w, d), |(w, d)| d.dispatch_seq(w), |(w, _)| w.fetch::<Both>().0);
}
