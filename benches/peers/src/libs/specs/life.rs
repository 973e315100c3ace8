use super::*;

pub(crate) fn game_of_life(h: &mut Harness, n: usize) {
    let torus = Grid::of(n);
    let mut w = fresh();
    let grid: Vec<Entity> = life_start(torus)
        .iter()
        .map(|&a| w.create_entity().with(Cell { alive: a, next: 0 }).build())
        .collect();
    h.run(
        "storage get",
        (w, grid),
        |(w, grid)| {
            let mut cells = w.write_storage::<Cell>();
            for y in 0..torus.height {
                for x in 0..torus.width {
                    let mut n = 0;
                    for i in torus.around(x, y) {
                        n += cells.get(grid[i]).expect("cell").alive;
                    }
                    let c = cells.get_mut(grid[y * torus.width + x]).expect("cell");
                    c.next = life_rule(c.alive, n);
                }
            }
            (&mut cells).join().for_each(|c| c.alive = c.next);
        },
        |(w, grid)| {
            let cells = w.read_storage::<Cell>();
            let got: Vec<u32> = grid.iter().map(|&e| cells.get(e).expect("cell").alive).collect();
            Outcome::cells(&got)
        },
    );
}
