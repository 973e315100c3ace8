use super::*;

pub(crate) fn game_of_life(h: &mut Harness, n: usize) {
    let torus = Grid::of(n);
    h.run(
        "array",
        (life_start(torus), vec![0; n]),
        |(now, next)| {
            let (now, next) = (black_box(now), black_box(next));
            for y in 0..torus.height {
                for x in 0..torus.width {
                    let neighbours = torus.around(x, y).iter().map(|&i| now[i]).sum();
                    let here = y * torus.width + x;
                    next[here] = life_rule(now[here], neighbours);
                }
            }
            std::mem::swap(now, next);
        },
        |(now, _)| Outcome::cells(now),
    );
}
