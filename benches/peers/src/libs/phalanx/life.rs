use super::kernels::commit;
use super::*;

pub(crate) fn game_of_life(h: &mut Harness, n: usize) {
    let torus = Grid::of(n);
    let start = life_start(torus);
    let mut w = World::new();
    let cells = w.spawn_batch(start.iter().map(|&a| Cell { alive: a, next: 0 })).to_vec();
    h.run(
        "lookup",
        (w, cells, vec![0u32; n]),
        |(w, cells, next)| {
            let view = w.lookup::<Cell>();
            for y in 0..torus.height {
                for x in 0..torus.width {
                    let mut n = 0;
                    for i in torus.around(x, y) {
                        n += view.get(cells[i]).expect("cell").alive;
                    }
                    let c = view.get(cells[y * torus.width + x]).expect("cell");
                    next[y * torus.width + x] = life_rule(c.alive, n);
                }
            }
            let mut next = &next[..];
            for cells in w.query_mut::<&mut Cell>() {
                commit(cells, next.split_off(..cells.len()).expect("a state for each cell"));
            }
        },
        |(w, cells, _)| {
            let alive: Vec<u32> =
                cells.iter().map(|&e| w.get::<Cell>(e).expect("cell").alive).collect();
            Outcome::cells(&alive)
        },
    );
}
