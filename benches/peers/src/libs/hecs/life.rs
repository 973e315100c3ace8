use super::*;

pub(crate) fn game_of_life(h: &mut Harness, n: usize) {
    let torus = Grid::of(n);
    let start = life_start(torus);
    let mut w = World::new();
    let grid: Vec<Entity> =
        w.spawn_batch(start.iter().map(|&a| (Cell { alive: a, next: 0 },))).collect();
    h.run(
        "prepared view",
        (w, grid, PreparedQuery::<&mut Cell>::new()),
        |(w, grid, q)| {
            let mut view = q.view_mut(w);
            for y in 0..torus.height {
                for x in 0..torus.width {
                    let mut n = 0;
                    for i in torus.around(x, y) {
                        n += view.get_mut(grid[i]).expect("cell").alive;
                    }
                    let c = view.get_mut(grid[y * torus.width + x]).expect("cell");
                    c.next = life_rule(c.alive, n);
                }
            }
            for c in view.iter_mut() {
                c.alive = c.next;
            }
        },
        |(w, grid, _)| {
            let got: Vec<u32> =
                grid.iter().map(|&e| w.get::<&Cell>(e).expect("cell").alive).collect();
            Outcome::cells(&got)
        },
    );
}
