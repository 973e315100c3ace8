//! The first world: it simulates, sends each frame as the difference from the last frame that the
//! mirror has acknowledged, and compares hashes.

use std::error::Error;
use std::time::Instant;

use phalanx::snapshot::{Snapshot, SnapshotRing};

use crate::game::Game;
use crate::link::{Conditions, Link};
use crate::tally::{Size, Sizes};
use crate::wire::{self, Answer, Form, Packet, STATES_MAX, Wire};
use crate::xor;

/// A game with frames that are sent over a bad link.
pub(crate) struct Sender {
    pub(crate) game: Game,
    form: Form,
    wire: Wire,
    out: Link<Packet>,
    back: Link<Answer>,
    /// The last states. The state of the present frame is the last.
    states: SnapshotRing,
    /// The hash of each frame.
    hashes: Vec<u64>,
    /// The last acknowledged frame.
    base: Option<u32>,
    pub(crate) sizes: Sizes,
    /// Frames that were sent without a base.
    pub(crate) whole: u32,
    /// Frames that arrived after a later one.
    pub(crate) overtaken: u32,
    pub(crate) acknowledged: u32,
}

impl Sender {
    pub(crate) fn new(
        game: Game,
        wire: Wire,
        (form, conditions, seed): (Form, Conditions, u64),
    ) -> Self {
        Self {
            game,
            form,
            wire,
            out: Link::new(conditions, seed ^ 0xA5A5_0001),
            back: Link::new(conditions, seed ^ 0x5A5A_0002),
            states: SnapshotRing::new(STATES_MAX as usize),
            hashes: Vec::new(),
            base: None,
            sizes: Sizes::default(),
            whole: 0,
            overtaken: 0,
            acknowledged: 0,
        }
    }

    /// One frame.
    pub(crate) fn frame(&mut self) -> Result<(), Box<dyn Error>> {
        let now = u32::try_from(self.hashes.len())?;
        self.hear(now)?;
        self.game.step();
        self.hashes.push(self.game.world.hash());
        self.states.push(&mut self.game.world)?;
        let packet = self.pack(now)?;
        self.out.send(now, packet);
        self.deliver(now)
    }

    /// Waits for all messages on their way.
    pub(crate) fn end(&mut self) -> Result<(), Box<dyn Error>> {
        let mut now = u32::try_from(self.hashes.len())?;
        while !(self.out.is_empty() && self.back.is_empty()) {
            self.hear(now)?;
            self.deliver(now)?;
            now += 1;
        }
        Ok(())
    }

    /// Receives acknowledgements: the mirror must have the hash that this world had.
    fn hear(&mut self, now: u32) -> Result<(), Box<dyn Error>> {
        for Answer { frame, hash } in self.back.arrive(now) {
            let own = self.hashes[frame as usize];
            if hash != Some(own) {
                let other = hash.unwrap_or_default();
                let wrong = format!("frame {frame}: the mirror has {other:016x}, not {own:016x}");
                return Err(wrong.into());
            }
            self.acknowledged += 1;
            self.base = self.base.max(Some(frame));
        }
        Ok(())
    }

    /// The present frame as a packet, and the sizes of all forms.
    fn pack(&mut self, now: u32) -> Result<Packet, Box<dyn Error>> {
        // After too many frames without an answer, no state is left as a base.
        let states = &self.states;
        let kept = |frame: u32| Some((frame, states.get((now - frame) as usize)?));
        let Some((base, older)) = self.base.and_then(kept) else {
            self.whole += 1;
            let bytes = present(states).to_bytes()?;
            return Ok(Packet { form: Form::Dump, frame: now, base: None, bytes });
        };
        let start = Instant::now();
        let dump = present(states).to_bytes()?;
        self.sizes.dump.add(&dump, start);
        let start = Instant::now();
        let delta = older.delta(&mut self.game.world)?;
        self.sizes.delta.add(&delta, start);
        let mut packed = Vec::new();
        xor::pack(&delta, &mut packed);
        self.sizes.packed.add(&packed, start);
        // The time of both dumps counts.
        let start = Instant::now();
        let xored = xor::encode(&older.to_bytes()?, &present(states).to_bytes()?);
        self.sizes.xor.add(&xored, start);
        let (base, bytes) = match self.form {
            Form::Dump => (None, dump),
            Form::Delta => (Some(base), delta),
            Form::Xor => (Some(base), xored),
        };
        Ok(Packet { form: self.form, frame: now, base, bytes })
    }

    /// Takes packets out of the link, and sends them to the other process.
    fn deliver(&mut self, now: u32) -> Result<(), Box<dyn Error>> {
        for packet in self.out.arrive(now) {
            let start = Instant::now();
            let answer = self.wire.ask(&packet).map_err(|error| wire::explain(&error))?;
            match answer.hash {
                Some(_) => {
                    self.sizes.sent.add(&packet.bytes, start);
                    self.back.send(now, answer);
                }
                None => self.overtaken += 1,
            }
        }
        Ok(())
    }

    /// The numbers of lost and late messages, of frames and of acknowledgements.
    pub(crate) const fn troubles(&self) -> [(u32, u32); 2] {
        [(self.out.lost, self.out.late), (self.back.lost, self.back.late)]
    }

    /// The sizes of all forms.
    pub(crate) const fn rows(&self) -> [(&'static str, &Size); 4] {
        let Sizes { dump, delta, packed, xor, .. } = &self.sizes;
        [("dump", dump), ("delta", delta), ("delta, packed", packed), ("xor, packed", xor)]
    }
}

/// The state of the present frame.
fn present(states: &SnapshotRing) -> &Snapshot {
    states.get(0).expect("it was pushed")
}
