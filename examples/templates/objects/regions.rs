//! Regions: near the viewer in the world of the game, the others each in a world of its own.

use super::components::{Region, new_world};
use phalanx::prelude::*;
use std::error::Error;

/// The regions of a square. The ones around the viewer are in one world, the game.
#[derive(Debug)]
pub(crate) struct Regions {
    side: u32,
    game: World,
    /// The worlds of the regions, row by row. `None` for a region in the game.
    stored: Vec<Option<World>>,
}

/// The numbers of regions that came to the game and left it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) came: usize,
    pub(crate) left: usize,
}

impl Regions {
    /// Regions in the order of rows, all of them far from the viewer.
    pub(crate) fn new(side: u32, worlds: Vec<World>) -> Self {
        Self { side, game: new_world(), stored: worlds.into_iter().map(Some).collect() }
    }

    /// Puts the viewer into a region: it and its neighbours come to the game, all others leave it.
    pub(crate) fn view(&mut self, x: u32, y: u32) -> Result<Moved, Box<dyn Error>> {
        let mut moved = Moved::default();
        for (number, region) in self.stored.iter_mut().zip(0..) {
            let is_near = is_near(self.side, region, (x, y));
            if let Some(world) = number.take_if(|_| is_near) {
                self.game.merge(world)?;
                moved.came += 1;
            } else if number.is_none() && !is_near {
                let mut world = new_world();
                // A disabled object is hidden, and belongs to its region like any other.
                let all = self.game.matching::<Entity>().filter::<IncludeHidden>();
                world.move_from(all.where_shared(&Region(region)))?;
                *number = Some(world);
                moved.left += 1;
            }
        }
        Ok(moved)
    }

    /// The world with the regions near the viewer.
    pub(crate) const fn game(&self) -> &World {
        &self.game
    }

    /// All worlds: the game, and the regions that are far.
    pub(crate) fn worlds(&self) -> impl Iterator<Item = &World> {
        std::iter::once(&self.game).chain(self.stored.iter().flatten())
    }

    /// All worlds, to be changed.
    pub(crate) fn worlds_mut(&mut self) -> impl Iterator<Item = &mut World> {
        std::iter::once(&mut self.game).chain(self.stored.iter_mut().flatten())
    }
}

/// Whether a region is the viewer's, or next to it.
pub(crate) const fn is_near(side: u32, region: u32, (x, y): (u32, u32)) -> bool {
    (region % side).abs_diff(x) <= 1 && (region / side).abs_diff(y) <= 1
}
