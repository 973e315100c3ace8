use super::*;
use crate::events::{Seen, event, events, hits};
use bevy_ecs::message::MessageCursor;
use bevy_ecs::schedule::SingleThreadedExecutor;

event! { #[derive(Message)] }

#[derive(Resource, Default)]
struct First(Seen);
#[derive(Resource, Default)]
struct Second(Seen);

fn update(mut messages: ResMut<Messages<Hit>>) {
    messages.update();
}

fn write(mut frame: Local<u32>, mut writer: MessageWriter<Hit>) {
    hits(*frame).for_each(|hit| _ = writer.write(Hit::new(hit)));
    *frame += 1;
}

fn read_first(mut reader: MessageReader<Hit>, mut first: ResMut<First>) {
    reader.read().for_each(|hit| first.0.add(hit.target, hit.damage));
}

fn read_second(mut reader: MessageReader<Hit>, mut second: ResMut<Second>) {
    reader.read().for_each(|hit| second.0.add(hit.target, hit.damage));
}

/// Systems on one thread; `[cursors]` has no schedule.
pub(crate) fn write_and_read(h: &mut Harness, _: usize) {
    let mut w = World::new();
    w.insert_resource(Messages::<Hit>::default());
    w.insert_resource(First::default());
    w.insert_resource(Second::default());
    let mut schedule = Schedule::default();
    schedule.set_executor(SingleThreadedExecutor::new());
    schedule.add_systems((update, write, read_first, read_second).chain());
    events(
        h,
        "",
        (w, schedule),
        |(w, schedule)| schedule.run(w),
        |(w, _)| [w.resource::<First>().0, w.resource::<Second>().0],
    );

    let readers = [0, 1].map(|_| (MessageCursor::<Hit>::default(), Seen::default()));
    events(
        h,
        "cursors",
        (Messages::<Hit>::default(), readers, 0),
        |(messages, readers, frame)| {
            messages.update();
            messages.write_batch(hits(*frame).map(Hit::new));
            *frame += 1;
            for (cursor, seen) in readers {
                cursor.read(messages).for_each(|hit| seen.add(hit.target, hit.damage));
            }
        },
        |(_, readers, _)| readers.each_ref().map(|(_, seen)| *seen),
    );
}
