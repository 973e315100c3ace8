use super::*;

pub(crate) fn game_of_life(h: &mut Harness, n: usize) {
    let torus = Grid::of(n);
    let mut w = World::new();
    let grid: Vec<EntityId> = life_start(torus)
        .iter()
        .map(|&a| {
            let e = w.spawn();
            w.insert(e, Cell { alive: a, next: 0 });
            e
        })
        .collect();
    let g = grid.clone();
    w.add_handler(move |_: Receiver<Tick>, mut f: Fetcher<&mut Cell>| {
        for y in 0..torus.height {
            for x in 0..torus.width {
                let mut n = 0;
                for i in torus.around(x, y) {
                    n += f.get_mut(g[i]).expect("cell").alive;
                }
                let c = f.get_mut(g[y * torus.width + x]).expect("cell");
                c.next = life_rule(c.alive, n);
            }
        }
        f.iter_mut().for_each(|c| c.alive = c.next);
    });
    h.run(
        "Fetcher::get_mut",
        w,
        |w| w.send(Tick),
        |w| {
            let got: Vec<u32> =
                grid.iter().map(|&e| w.get::<Cell>(e).expect("cell").alive).collect();
            Outcome::cells(&got)
        },
    );
}
