use super::*;

pub(crate) fn game_of_life(h: &mut Harness, n: usize) {
    let torus = Grid::of(n);
    let make = || {
        let w = World::new();
        let cells: Vec<Cell> =
            life_start(torus).iter().map(|&a| Cell { alive: a, next: 0 }).collect();
        let grid = w.entity_bulk(n as u32).set(&cells).build();
        let q = w.query::<&mut Cell>().set_cached().build();
        (grid, q, w)
    };
    let read = |w: &World, grid: &[Entity]| -> Vec<u32> {
        grid.iter().map(|&e| w.entity_from_id(e).get::<&Cell>(|c| c.alive)).collect()
    };
    h.run(
        "get",
        make(),
        |(grid, q, w)| {
            for y in 0..torus.height {
                for x in 0..torus.width {
                    let mut n = 0;
                    for i in torus.around(x, y) {
                        n += w.entity_from_id(grid[i]).get::<&Cell>(|c| c.alive);
                    }
                    w.entity_from_id(grid[y * torus.width + x])
                        .get::<&mut Cell>(|c| c.next = life_rule(c.alive, n));
                }
            }
            q.each(|c| c.alive = c.next);
        },
        |(grid, _, w)| Outcome::cells(&read(w, grid)),
    );
    let (grid, q, w) = make();
    let w: &'static World = Box::leak(Box::new(w));
    let refs: Vec<CachedRef<'static, Cell>> =
        grid.iter().map(|&e| w.entity_from_id(e).cached_ref(Cell::id())).collect();
    h.run(
        "cached_ref",
        (refs, q),
        |(refs, q)| {
            for y in 0..torus.height {
                for x in 0..torus.width {
                    let mut n = 0;
                    for i in torus.around(x, y) {
                        n += refs[i].get(|c| c.alive);
                    }
                    refs[y * torus.width + x].get(|c| c.next = life_rule(c.alive, n));
                }
            }
            q.each(|c| c.alive = c.next);
        },
        |_| Outcome::cells(&read(w, &grid)),
    );
}
