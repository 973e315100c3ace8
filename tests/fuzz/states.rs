//! States of worlds that are kept, and put back.

use crate::outcome::{DONE, IDLE, Outcome};
use crate::trial::{Side, Trial};

/// States that are kept at a time.
pub(crate) const STATES: usize = 3;

impl Trial {
    /// Keeps the state, in the memory of an older one.
    pub(crate) fn take_state(&mut self, slot: usize) -> Outcome {
        if !self.can_go_back() {
            return "a buffer is alive";
        }
        self.step(|side| {
            let Side { world, states, .. } = side;
            world.snapshot_into(&mut states[slot]).expect("no id is on loan");
        });
        self.known[slot] = Some(self.model.clone());
        DONE
    }

    /// Goes back to a state that was kept.
    pub(crate) fn put_back(&mut self, slot: usize) -> Outcome {
        if !self.can_go_back() {
            return "a buffer is alive";
        }
        let Some(model) = self.known[slot].clone() else { return IDLE };
        self.flush();
        self.model = model;
        let taken = self.step(|side| {
            side.world.restore(&side.states[slot]).expect("it is of this world");
            side.states[slot].version().to_bits()
        });
        self.model.lists.voids.push((taken, self.now()));
        for side in [Some(&self.main), self.twin.as_ref()].into_iter().flatten() {
            assert_eq!(side.world.check(), Ok(()));
        }
        self.model.lists.assert_seen_in(&self.main.world);
        DONE
    }

    /// Whether no buffer may hold ids.
    fn can_go_back(&self) -> bool {
        self.main.buffers.iter().all(Option::is_none)
    }
}
