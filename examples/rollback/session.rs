//! The machine of one player: it runs ahead of the other player's inputs.
//!
//! ```text
//!  frame         20   21   22   23   24   now: 25
//!  own input      x    x    x    x    x    x
//!  other input    x    ?    x    ?    ?         ? is guessed: as the last one that is known
//!                      ↑
//!                arrives, and is not as guessed: the world goes back to the state before
//!                frame 21, and 21 to 24 run again
//! ```

use core::fmt;
use std::error::Error;
use std::time::{Duration, Instant};

use phalanx::snapshot::SnapshotRing;

use crate::game::{Game, Input};

/// The game on one machine.
pub(crate) struct Session {
    game: Game,
    /// The states before the last frames: the last one before frame `inputs.len() - 1`.
    states: SnapshotRing,
    inputs: Vec<Moment>,
    timing: Timing,
}

/// The inputs of both players in a frame.
#[derive(Clone, Copy)]
struct Moment {
    own: Input,
    other: Input,
    /// Whether the other input has arrived.
    is_known: bool,
}

#[derive(Default)]
struct Timing {
    snapshots: Tally,
    rollbacks: Tally,
    frames: Tally,
    /// Frames that ran again.
    again: usize,
}

/// The number, the total duration, and the longest one.
#[derive(Default)]
struct Tally {
    count: u32,
    total: Duration,
    worst: Duration,
}

impl Tally {
    fn add(&mut self, start: Instant) {
        let spent = start.elapsed();
        self.count += 1;
        self.total += spent;
        self.worst = self.worst.max(spent);
    }
}

impl Session {
    /// A game with inputs that are late by up to `late` frames.
    pub(crate) fn new(game: Game, late: u32) -> Self {
        let states = SnapshotRing::new(late as usize + 1);
        Self { game, states, inputs: Vec::new(), timing: Timing::default() }
    }

    /// Receives the other player's inputs of some frames. Inputs of future frames are not sent yet.
    pub(crate) fn hear(
        &mut self,
        arrived: impl Iterator<Item = (u32, Input)>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let mut wrong = None;
        for (frame, input) in arrived {
            let frame = frame as usize;
            if frame == self.inputs.len() {
                // Not late: `advance` takes it.
                self.inputs.push(Moment { own: Input::default(), other: input, is_known: true });
                continue;
            }
            let moment = &mut self.inputs[frame];
            let was_wrong = moment.other != input;
            (moment.other, moment.is_known) = (input, true);
            if was_wrong {
                wrong = Some(wrong.unwrap_or(frame).min(frame));
            }
        }
        wrong.map_or(Ok(()), |frame| self.go_back(frame))
    }

    /// Goes back to the state before a frame, and runs again from there.
    fn go_back(&mut self, frame: usize) -> Result<(), Box<dyn Error + Send + Sync>> {
        let start = Instant::now();
        let done = self.frames_done();
        self.states.restore(&mut self.game.world, done - 1 - frame)?;
        self.guess(frame);
        for again in frame..done {
            if again > frame {
                self.states.push(&mut self.game.world)?;
            }
            self.game.step(self.pressed(again));
        }
        self.timing.again += done - frame;
        self.timing.rollbacks.add(start);
        Ok(())
    }

    /// One frame, with the own input.
    pub(crate) fn advance(&mut self, own: Input) -> Result<(), Box<dyn Error + Send + Sync>> {
        let start = Instant::now();
        let now = self.frames_done();
        match self.inputs.get_mut(now) {
            Some(moment) => moment.own = own,
            None => self.inputs.push(Moment { own, other: Input::default(), is_known: false }),
        }
        self.guess(now);
        self.states.push(&mut self.game.world)?;
        self.timing.snapshots.add(start);
        self.game.step(self.pressed(now));
        self.timing.frames.add(start);
        Ok(())
    }

    /// The hash of the world.
    pub(crate) fn hash(&self) -> u64 {
        self.game.world.hash()
    }

    /// The number of frames that have run.
    const fn frames_done(&self) -> usize {
        self.timing.frames.count as usize
    }

    /// Guesses unknown inputs from a frame on: a player keeps the same input.
    fn guess(&mut self, from: usize) {
        let mut last = from.checked_sub(1).map_or(Input::default(), |i| self.inputs[i].other);
        for moment in &mut self.inputs[from..] {
            if !moment.is_known {
                moment.other = last;
            }
            last = moment.other;
        }
    }

    fn pressed(&self, frame: usize) -> [Input; 2] {
        let Moment { own, other, .. } = self.inputs[frame];
        [own, other]
    }
}

impl fmt::Display for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Timing { snapshots, rollbacks, frames, again } = &self.timing;
        writeln!(f, "{} entities, {} frames", self.game.world.len(), frames.count)?;
        writeln!(
            f,
            "{} rollbacks, {again} frames ran again, {} kB for {} states",
            rollbacks.count,
            self.states.bytes() / 1000,
            self.states.len(),
        )?;
        writeln!(f, "\n{:<10}{:>10}{:>10}", "µs", "mean", "worst")?;
        let rows = [("snapshot", snapshots), ("rollback", rollbacks), ("frame", frames)];
        for (name, Tally { count, total, worst }) in rows {
            let mean = *total / (*count).max(1);
            let micros = |time: Duration| time.as_secs_f64() * 1e6;
            writeln!(f, "{name:<10}{:>10.1}{:>10.1}", micros(mean), micros(*worst))?;
        }
        Ok(())
    }
}
