//! States of worlds that are kept, written as bytes, read, and restored.

use phalanx::prelude::*;

use crate::chunks::Stamp;
use crate::model::Model;
use crate::outcome::{DONE, IDLE, Outcome};
use crate::trial::{Side, Trial};

/// The number of states that are kept at a time.
pub(crate) const STATES: usize = 3;

/// The model's data of a state.
#[derive(Clone)]
pub(crate) struct Known {
    model: Model,
    /// The version of the state: the version of the world, or its age if read from bytes.
    version: Stamp,
    /// Whether it was read from bytes.
    is_read: bool,
}

impl Trial {
    /// Keeps the state, and reuses the memory of an older one.
    pub(crate) fn take_state(&mut self, slot: usize) -> Outcome {
        if !self.can_go_back() {
            return "a buffer is alive";
        }
        self.step(|side| {
            let Side { world, states, .. } = side;
            world.snapshot_into(&mut states[slot]).expect("no id is on loan");
        });
        let version = self.now();
        self.known[slot] = Some(Known { model: self.model.clone(), version, is_read: false });
        DONE
    }

    /// Keeps a state that is read from bytes: a whole snapshot, or a delta since the state that was
    /// kept in this slot.
    pub(crate) fn read_state(&mut self, slot: usize, as_delta: bool) -> Outcome {
        if !self.can_go_back() {
            return "a buffer is alive";
        }
        if as_delta {
            if self.known[slot].is_none() {
                return IDLE;
            }
            self.step(|Side { world, states, .. }| {
                let delta = states[slot].delta(world).expect("no id is on loan");
                states[slot].read_delta(world, &delta).expect("it is from this state");
            });
        } else {
            // The twin reads the bytes that the world has written, if their chunks have the same
            // size.
            let mut written: Option<(ChunkSize, Vec<u8>)> = None;
            self.step(|Side { world, states, .. }| {
                let size = world.chunk_size();
                // Of the twin too, because it makes reserved ids alive.
                let state = world.snapshot().expect("no id is on loan");
                if written.as_ref().is_none_or(|(of, _)| *of != size) {
                    written = Some((size, state.to_bytes().expect("nothing is shared")));
                }
                let (_, bytes) = written.as_ref().expect("just written");
                states[slot] = world.read_snapshot(bytes).expect("it was written");
            });
        }
        let version = self.model.lists.age(self.now());
        let mut model = self.model.clone();
        // Bytes contain no sparse values that are not plain.
        model.rows.values_mut().for_each(|row| row.side = None);
        self.known[slot] = Some(Known { model, version, is_read: true });
        DONE
    }

    /// Restores a state that was kept.
    pub(crate) fn put_back(&mut self, slot: usize) -> Outcome {
        if !self.can_go_back() {
            return "a buffer is alive";
        }
        let Some(known) = self.known[slot].clone() else { return IDLE };
        self.flush();
        let first = self.now() + 1;
        self.model = known.model;
        self.step(|side| {
            assert_eq!(side.states[slot].version().to_bits(), known.version);
            side.world.restore(&side.states[slot]).expect("it is of this world");
        });
        if known.is_read {
            assert_eq!(self.now(), first + known.version);
            self.model.lists.read_from_bytes(first);
        } else {
            assert_eq!(self.now(), first);
            self.model.lists.discarded.push((known.version, first));
        }
        self.unread.drop_all();
        self.model.rows.values_mut().for_each(|row| row.touched = 0);
        self.compared = self.main.world.version();
        for side in [Some(&self.main), self.twin.as_ref()].into_iter().flatten() {
            assert_eq!(side.world.check(), Ok(()));
        }
        self.model.lists.assert_seen_in(&self.main.world);
        DONE
    }

    /// Whether the world has no buffer, which might hold ids.
    fn can_go_back(&self) -> bool {
        self.main.buffers.iter().all(Option::is_none)
    }
}
