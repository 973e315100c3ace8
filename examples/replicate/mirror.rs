//! The second world, in a process of its own: it takes its state from packets, and runs no
//! simulation.
//!
//! ```text
//!  states that are kept     12          15    16
//!                           │           └─────┴── the sender may not have heard of these
//!                           └── the base of the last packet
//! ```

use std::collections::BTreeMap;
use std::error::Error;

use phalanx::prelude::*;
use phalanx::snapshot::Snapshot;

use crate::game::All;
use crate::wire::{self, Answer, BYTES_MAX, Form, Packet, STATES_MAX, Wire};
use crate::xor;

/// A world that follows another one.
struct Mirror {
    world: World,
    /// The states of frames that were confirmed, and may be the base of a packet.
    states: BTreeMap<u32, Snapshot>,
    /// The frame in which a value is changed.
    spoil: Option<u32>,
}

/// Answers packets until the connection ends.
pub(crate) fn run(port: u16, spoil: Option<u32>) -> Result<(), Box<dyn Error>> {
    let mut wire = Wire::connect(port).map_err(|error| wire::explain(&error))?;
    let mut mirror = Mirror { world: World::new(), states: BTreeMap::new(), spoil };
    mirror.world.register::<All>();
    while let Some(packet) = wire.receive().map_err(|error| wire::explain(&error))? {
        let answer = mirror.take(&packet)?;
        wire.answer(answer).map_err(|error| wire::explain(&error))?;
    }
    Ok(())
}

impl Mirror {
    /// Restores the world to the state of a packet, unless a later one came first.
    fn take(&mut self, packet: &Packet) -> Result<Answer, Box<dyn Error>> {
        let frame = packet.frame;
        if self.states.last_key_value().is_some_and(|(&last, _)| last >= frame) {
            return Ok(Answer { frame, hash: None });
        }
        let state = self.read(packet).map_err(|error| format!("frame {frame}: {error}"))?;
        self.world.restore(&state)?;
        if self.spoil == Some(frame) {
            self.world.spawn(());
        }
        // The sender never goes back to an older base, nor to one that it no longer has.
        let oldest = packet.base.unwrap_or(frame.saturating_sub(STATES_MAX - 1));
        self.states = self.states.split_off(&oldest);
        self.states.insert(frame, state);
        Ok(Answer { frame, hash: Some(self.world.hash()) })
    }

    /// The state in a packet.
    fn read(&mut self, packet: &Packet) -> Result<Snapshot, Box<dyn Error>> {
        let base = || {
            let state = packet.base.and_then(|base| self.states.get(&base));
            state.ok_or("its base is not a state that was confirmed")
        };
        match packet.form {
            Form::Dump => Ok(self.world.read_snapshot(&packet.bytes)?),
            Form::Delta => {
                // The base itself is needed again if the sender does not receive this answer.
                let mut state = base()?.clone();
                state.read_delta(&mut self.world, &packet.bytes)?;
                Ok(state)
            }
            Form::Xor => {
                let old = base()?.to_bytes()?;
                let bytes = xor::decode(&old, &packet.bytes, BYTES_MAX);
                Ok(self.world.read_snapshot(&bytes.ok_or("no bytes that were XORed")?)?)
            }
        }
    }
}
