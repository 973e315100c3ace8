//! Values apart from the rows: sparse components, and events with a cursor.

use std::collections::VecDeque;

use phalanx::command::ApplyError;
use phalanx::logs::LogCursor;
use phalanx::prelude::*;

use crate::outcome::{DEAD, DONE, Fault as _, IDLE, LACKS, Outcome};
use crate::trial::{Side, Trial};

/// A sparse component.
#[component(sparse)]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Note(Box<u32>);

impl Note {
    pub(crate) fn of(number: u32) -> Self {
        Self(Box::new(number))
    }

    /// Whether a value comes with the components of a bundle that has this number.
    pub(crate) const fn is_beside(number: u32) -> bool {
        number % 4 == 1
    }

    pub(crate) fn number(&self) -> u32 {
        *self.0
    }
}

/// Inserts the value of an entity, or takes it, in one of four ways. Returns the former value, as
/// far as the way returns it.
fn put(world: &mut World, entity: Entity, number: Option<u32>) -> Result<Option<u32>, Outcome> {
    let former = |note: Note| Some(note.number());
    let way = number.unwrap_or(entity.index()) / 4 % 4;
    match (way, number) {
        (0, Some(number)) => {
            let put = world.sparse_mut().insert(entity, Note::of(number));
            put.map(|former| former.map(|note: Note| note.number())).map_err(|error| error.word())
        }
        (0, None) => Ok(world.sparse_mut::<Note>().remove(entity).and_then(former)),
        (1, Some(number)) => {
            world.insert(entity, Note::of(number)).map(|()| None).map_err(|error| error.word())
        }
        (1, None) => world.remove::<Note>(entity).map(former).map_err(|error| error.word()),
        (2, Some(number)) => {
            let put = world.exchange::<(), _>(entity, Note::of(number));
            put.map(|()| None).map_err(|error| error.word())
        }
        (2, None) => {
            world.exchange::<Note, _>(entity, ()).map(former).map_err(|error| error.word())
        }
        _ => {
            let mut buffer = world.command_buffer(0).expect("it asks for no ids");
            match number {
                Some(number) => buffer.insert(entity, Note::of(number)),
                None => buffer.remove::<Note>(entity),
            }
            match world.apply(&mut buffer) {
                Ok(_) => Ok(None),
                Err(ApplyError::Commands(errors)) => Err(errors.as_slice()[0].fault.word()),
                Err(error) => panic!("the buffer is of this world: {error}"),
            }
        }
    }
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ping(u32);

/// The maximum number of events that a world keeps at the beginning of a run.
const EVENTS_MAX: usize = 8;

/// Sets the sparse components and events that a new world keeps. Returns a reader of events.
pub(crate) fn prepare(world: &mut World) -> LogCursor<Events<Ping>> {
    world.sparse_mut::<Note>().keep_in_snapshots();
    world.memory_mut().keep_log::<Events<Ping>>(EVENTS_MAX * size_of::<Ping>());
    world.cursor()
}

/// Unread events, and the number of events that were dropped unread.
#[derive(Debug, Default)]
pub(crate) struct Unread {
    events: VecDeque<u32>,
    missed: u64,
}

impl Unread {
    /// Drops all events, as a restored world does.
    pub(crate) fn drop_all(&mut self) {
        self.missed += self.events.drain(..).len() as u64;
    }

    /// Drops the oldest events above [`EVENTS_MAX`], as a run of a schedule does when it begins.
    pub(crate) fn age(&mut self) {
        let dropped = self.events.len().saturating_sub(EVENTS_MAX);
        self.events.drain(..dropped);
        self.missed += dropped as u64;
    }
}

impl Trial {
    /// Inserts or removes the sparse component of an entity.
    pub(crate) fn put_side(&mut self, entity: Entity, number: Option<u32>) -> Outcome {
        let put = self.step(|side| put(&mut side.world, entity, number));
        let row = self.model.alive(entity).copied();
        let old = row.and_then(|row| row.side);
        if row.is_none() {
            // The view removes what is not there.
            let is_refused = put == Err(DEAD) || (number.is_none() && put == Ok(None));
            assert!(is_refused, "the sparse component of {entity}: {put:?}");
            return DEAD;
        }
        match put {
            Ok(former) => assert!(former.is_none() || former == old, "{entity}: {former:?}"),
            Err(refused) => assert_eq!((refused, number, old), (LACKS, None, None), "{entity}"),
        }
        self.model.row_mut(entity).side = number;
        if old.is_some() || number.is_some() { DONE } else { LACKS }
    }

    pub(crate) fn compare_sides(&self, world: &World) {
        let notes = world.sparse::<Note>();
        let expected = self.model.rows.iter().filter_map(|(&e, row)| Some((e, row.side?)));
        let mut len = 0;
        for (entity, number) in expected {
            let note = notes.get(entity).map(|note| *note.0);
            assert_eq!(note, Some(number), "the sparse component of {entity}");
            len += 1;
        }
        assert_eq!(notes.len(), len, "sparse components");
    }

    pub(crate) fn send(&mut self, number: u32) -> Outcome {
        let events = number % 4;
        self.step_aside(|side| match events {
            0 => side.world.send(Ping(number)),
            _ => side.world.send_batch((0..events).map(|_| Ping(number))),
        });
        self.unread.events.extend((0..events.max(1)).map(|_| number));
        DONE
    }

    pub(crate) fn age_logs(&mut self) -> Outcome {
        self.step_aside(|side| side.world.memory_mut().age_logs());
        self.unread.age();
        DONE
    }

    pub(crate) fn read_events(&mut self) -> Outcome {
        let (missed, read) = self.step_aside(|Side { world, pings, .. }| {
            let missed = pings.missed(world);
            (missed, pings.read(world).to_vec())
        });
        let unread = std::mem::take(&mut self.unread);
        let expected: Vec<Ping> = unread.events.iter().map(|&number| Ping(number)).collect();
        assert_eq!((missed, &read), (unread.missed, &expected), "events");
        if read.is_empty() { IDLE } else { DONE }
    }
}
