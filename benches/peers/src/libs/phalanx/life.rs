use super::kernels::commit;
use super::*;
use phalanx::schedule::Local;

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
    inhabited(h, torus, &start);
}

/// A living cell.
#[component(sparse)]
struct Inhabited;
/// The number of living neighbours.
#[component]
struct Count(u32);
#[component]
struct Neighbours([Entity; 8]);

/// Living cells have a sparse component, and only these look for their neighbours.
fn inhabited(h: &mut Harness, torus: Grid, start: &[u32]) {
    let mut w = World::new();
    let empty = start.iter().map(|_| (Count(0), Neighbours([Entity::NULL; 8])));
    let cells = w.spawn_batch(empty).to_vec();
    for ((x, y), around) in torus.places().zip(w.query_mut::<&mut Neighbours>().rows()) {
        around.0 = torus.around(x, y).map(|i| cells[i]);
    }
    for (&cell, _) in cells.iter().zip(start).filter(|(_, alive)| **alive == 1) {
        w.insert(cell, Inhabited).expect("a cell");
    }
    let mut generation = Schedule::new();
    generation.threads(1);
    generation.add((count, leave, settle)).chain();
    h.run(
        "sparse",
        (w, cells, generation),
        |(w, _, generation)| generation.run(w).expect("no system fails"),
        |(w, cells, _)| {
            let alive: Vec<u32> = cells.iter().map(|&e| u32::from(w.has::<Inhabited>(e))).collect();
            Outcome::cells(&alive)
        },
    );
}

/// Living cells count themselves in their neighbours.
fn count(living: Query<&Neighbours, With<Inhabited>>, mut counts: LookupMut<Count>) {
    for around in living.rows() {
        for &cell in &around.0 {
            counts.get_mut(cell).expect("a cell").0 += 1;
        }
    }
}

/// Living cells die: the walk is over them alone.
fn leave(
    counts: Lookup<Count>,
    mut inhabited: SparseMut<Inhabited>,
    mut dying: Local<Vec<Entity>>,
) {
    let dies = |&cell: &Entity| !matches!(counts.get(cell).expect("a cell").0, 2 | 3);
    dying.extend(inhabited.iter().map(|(cell, _)| cell).filter(dies));
    dying.drain(..).for_each(|cell| _ = inhabited.remove(cell));
}

/// Cells with three living neighbours live, whether they did or not.
fn settle(mut cells: Query<(Entity, &mut Count)>, mut inhabited: SparseMut<Inhabited>) {
    for (cells, counts) in cells.iter_mut() {
        for (&cell, _) in cells.iter().zip(&*counts).filter(|(_, count)| count.0 == 3) {
            inhabited.insert(cell, Inhabited).expect("a cell");
        }
        counts.fill(Count(0));
    }
}
