use super::*;

pub(crate) fn game_of_life(h: &mut Harness, n: usize) {
    let torus = Grid::of(n);
    let mut w = World::new();
    let grid: Vec<EntityId> = w
        .bulk_add_entity(life_start(torus).into_iter().map(|a| Cell { alive: a, next: 0 }))
        .collect();
    h.run(
        "view get",
        (w, grid),
        |(w, grid)| {
            let mut cells = w.borrow::<ViewMut<Cell>>().expect("view");
            for y in 0..torus.height {
                for x in 0..torus.width {
                    let mut n = 0;
                    for i in torus.around(x, y) {
                        n += (&cells).get(grid[i]).expect("cell").alive;
                    }
                    let mut c = (&mut cells).get(grid[y * torus.width + x]).expect("cell");
                    c.next = life_rule(c.alive, n);
                }
            }
            (&mut cells).iter().for_each(|c| c.alive = c.next);
        },
        |(w, grid)| {
            let cells = w.borrow::<View<Cell>>().expect("view");
            let got: Vec<u32> = grid.iter().map(|&e| cells[e].alive).collect();
            Outcome::cells(&got)
        },
    );
}
