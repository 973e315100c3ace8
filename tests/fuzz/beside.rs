//! Values apart from the rows: sparse components, and events with a cursor.

use std::collections::VecDeque;

use phalanx::logs::LogCursor;
use phalanx::prelude::*;

use crate::outcome::{DEAD, DONE, IDLE, LACKS, Outcome, word};
use crate::trial::{Side, Trial};

/// A sparse component.
#[component(sparse)]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Note(Box<u32>);

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
        let put = match number {
            Some(number) => {
                self.step(|side| side.world.sparse_mut().insert(entity, Note(Box::new(number))))
            }
            None => self.step(|side| Ok(side.world.sparse_mut().remove(entity))),
        };
        let row = self.model.alive(entity).copied();
        if row.is_none() && number.is_some() {
            assert_eq!(word(&put), DEAD, "{entity}");
            return DEAD;
        }
        let old = row.and_then(|row| row.side);
        let put = put.expect("it lives, or has none");
        assert_eq!(put.map(|note| *note.0), old, "the sparse component of {entity}");
        if row.is_some() {
            self.model.row_mut(entity).side = number;
        }
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
