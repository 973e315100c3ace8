//! The players' inputs, and the frames of their arrival at the other machine.

use crate::game::Input;
use phalanx_examples::chance::Chance;

/// The inputs of a run. The inputs of the second player come over the network.
pub(crate) struct Network {
    pressed: Vec<[Input; 2]>,
    /// For each frame, the frame in which the second player's input arrives.
    arrivals: Vec<u32>,
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
        Self { pressed, arrivals }
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
        self.arrived(move |arrival| arrival == now)
    }

    /// The inputs that are still on their way after the last frame.
    pub(crate) fn arriving_at_last(&self) -> impl Iterator<Item = (u32, Input)> {
        let frames = self.pressed.len();
        self.arrived(move |arrival| arrival as usize >= frames)
    }

    fn arrived(&self, is_due: impl Fn(u32) -> bool) -> impl Iterator<Item = (u32, Input)> {
        let all = (0u32..).zip(self.pressed.iter().zip(&self.arrivals));
        let due = all.filter(move |(_, (_, arrival))| is_due(**arrival));
        due.map(|(frame, (&[_, other], _))| (frame, other))
    }
}
