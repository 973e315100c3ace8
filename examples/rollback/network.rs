//! The players' inputs, and the frames of their arrival at the other machine.

use crate::game::Input;
use phalanx_examples::chance::Chance;
use std::ops::Range;

/// The inputs of a run. The inputs of the second player come over the network.
pub(crate) struct Network {
    pressed: Vec<[Input; 2]>,
    /// For each frame, the frame in which the second player's input arrives.
    arrivals: Vec<u32>,
    /// The most frames from an input to its arrival.
    late: u32,
}

impl Network {
    /// Players who press or release a key every few frames, and packets that are late by up to
    /// `late` frames, by different numbers, so that they overtake each other.
    pub(crate) fn new(seed: u64, frames: u32, late: u32) -> Self {
        let mut chance = Chance::new(seed);
        let mut keys = [Input::default(); 2];
        let mut press = |chance: &mut Chance| {
            for Input(keys) in &mut keys {
                if chance.below(6) == 0 {
                    *keys ^= 1 << chance.below(Input::KEYS.into());
                }
            }
            keys
        };
        let pressed = (0..frames).map(|_| press(&mut chance)).collect();
        let arrivals = (0..frames).map(|frame| frame + chance.below(late + 1)).collect();
        Self { pressed, arrivals, late }
    }

    /// All inputs.
    pub(crate) fn pressed(&self) -> &[[Input; 2]] {
        &self.pressed
    }

    /// The first player's input, which arrives in time.
    pub(crate) fn own(&self, frame: u32) -> Input {
        self.pressed[frame as usize][0]
    }

    /// The second player's inputs that arrive in a frame, with the frames they belong to.
    pub(crate) fn arriving(&self, now: u32) -> impl Iterator<Item = (u32, Input)> {
        self.arrived(now.saturating_sub(self.late)..now + 1, move |arrival| arrival == now)
    }

    /// The inputs that are still on their way after the last frame.
    pub(crate) fn arriving_at_last(&self) -> impl Iterator<Item = (u32, Input)> {
        let end = u32::try_from(self.pressed.len()).expect("frames are a `u32`");
        self.arrived(end.saturating_sub(self.late)..end, move |arrival| arrival >= end)
    }

    /// The inputs of some frames that are due. A run has many frames, so only these are looked at.
    fn arrived(
        &self,
        frames: Range<u32>,
        is_due: impl Fn(u32) -> bool,
    ) -> impl Iterator<Item = (u32, Input)> {
        let due = frames.filter(move |&frame| is_due(self.arrivals[frame as usize]));
        due.map(|frame| (frame, self.pressed[frame as usize][1]))
    }
}
