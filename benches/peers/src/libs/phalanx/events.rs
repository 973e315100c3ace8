use super::*;
use crate::events::{Seen, event, events, hits};

event! {}

#[derive(Default)]
struct First(Seen);
#[derive(Default)]
struct Second(Seen);

fn write(mut frame: Local<u32>, mut writer: EventWriter<Hit>) {
    hits(*frame).for_each(|hit| writer.send(Hit::new(hit)));
    *frame += 1;
}

fn read_first(mut reader: EventReader<Hit>, mut first: ResMut<First>) {
    reader.read().iter().for_each(|hit| first.0.add(hit.target, hit.damage));
}

fn read_second(mut reader: EventReader<Hit>, mut second: ResMut<Second>) {
    reader.read().iter().for_each(|hit| second.0.add(hit.target, hit.damage));
}

/// Systems on one thread; `[cursors]` has no schedule.
pub(crate) fn write_and_read(h: &mut Harness, _: usize) {
    let mut w = World::new();
    w.insert_resource(First::default());
    w.insert_resource(Second::default());
    let mut schedule = Schedule::new();
    schedule.threads(1).add((write, read_first, read_second));
    events(
        h,
        "",
        (w, schedule),
        |(w, schedule)| schedule.run(w).expect("no system fails"),
        |(w, _)| {
            let first = w.resource::<First>().expect("inserted").0;
            [first, w.resource::<Second>().expect("inserted").0]
        },
    );

    let mut w = World::new();
    let readers = [0, 1].map(|_| (w.cursor::<Events<Hit>>(), Seen::default()));
    events(
        h,
        "cursors",
        (w, readers, 0),
        |(w, readers, frame)| {
            w.send_batch(hits(*frame).map(Hit::new));
            *frame += 1;
            for (cursor, seen) in readers {
                cursor.read(w).iter().for_each(|hit| seen.add(hit.target, hit.damage));
            }
        },
        |(_, readers, _)| readers.each_ref().map(|(_, seen)| *seen),
    );
}
