use super::*;

pub(crate) fn game_of_life(h: &mut Harness, n: usize) {
    let torus = Grid::of(n);
    let mut w = World::default();
    let grid = w
        .extend(
            life_start(torus).iter().map(|&a| (Cell { alive: a, next: 0 },)).collect::<Vec<_>>(),
        )
        .to_vec();
    h.run(
        "entry_ref",
        (w, grid, <Write<Cell>>::query()),
        |(w, grid, q)| {
            use legion::EntityStore;
            for y in 0..torus.height {
                for x in 0..torus.width {
                    let mut n = 0;
                    for i in torus.around(x, y) {
                        let c = w.entry_ref(grid[i]).expect("cell");
                        n += c.into_component::<Cell>().expect("cell").alive;
                    }
                    let mut c = w.entry_mut(grid[y * torus.width + x]).expect("cell");
                    let c = c.get_component_mut::<Cell>().expect("cell");
                    c.next = life_rule(c.alive, n);
                }
            }
            q.for_each_mut(w, |c| c.alive = c.next);
        },
        |(w, grid, _)| {
            use legion::EntityStore;
            let got: Vec<u32> = grid
                .iter()
                .map(|&e| {
                    w.entry_ref(e).expect("cell").into_component::<Cell>().expect("cell").alive
                })
                .collect();
            Outcome::cells(&got)
        },
    );
}
