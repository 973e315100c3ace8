use gecs::prelude::*;

use super::{Harness, Outcome};
use crate::data::{Grid, life_rule, life_start};

#[derive(Clone, Copy)]
pub struct Cell {
    alive: u32,
    next: u32,
}
ecs_world! {
    ecs_archetype!(Torus, dyn, Cell);
}

pub(crate) fn game_of_life(h: &mut Harness, n: usize) {
    let torus = Grid::of(n);
    let mut w = EcsWorld::default();
    let spawn = |&alive: &u32| w.create::<Torus>((Cell { alive, next: 0 },));
    let grid: Vec<Entity<Torus>> = life_start(torus).iter().map(spawn).collect();
    let alive = |w: &mut EcsWorld, e| ecs_find!(w, e, |c: &Cell| c.alive).expect("cell");
    h.run(
        "ecs_find",
        (w, grid),
        |(w, grid)| {
            for y in 0..torus.height {
                for x in 0..torus.width {
                    let n = torus.around(x, y).iter().map(|&i| alive(w, grid[i])).sum();
                    let here = grid[y * torus.width + x];
                    ecs_find!(w, here, |c: &mut Cell| c.next = life_rule(c.alive, n))
                        .expect("cell");
                }
            }
            ecs_iter!(w, |c: &mut Cell| c.alive = c.next);
        },
        |(w, grid)| {
            let got: Vec<u32> = grid.iter().map(|&e| alive(w, e)).collect();
            Outcome::cells(&got)
        },
    );
}
