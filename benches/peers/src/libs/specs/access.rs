use super::*;

pub(crate) fn random_get(h: &mut Harness, n: usize) {
    read(h, || world_pv(n));
}

pub(crate) fn random_get_mixed(h: &mut Harness, n: usize) {
    read(h, || world_mixed(n));
}

fn read(h: &mut Harness, world: impl Fn() -> (World, Vec<Entity>)) {
    let (w, e) = world();
    let order: Vec<Entity> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    h.run(
        "storage get",
        (w, order, 0f64),
        |(w, o, out)| {
            let p = w.read_storage::<Position>();
            let mut s = 0f32;
            for &e in black_box(&*o) {
                s += p.get(e).expect("alive").x;
            }
            *out = s as f64;
            black_box(s);
        },
        |s| Outcome::Sum(s.2),
    );
}

/// Rows in 16 archetypes, neighbours in different ones.
fn world_mixed(n: usize) -> (World, Vec<Entity>) {
    let (mut w, e) = world_pv(n);
    macro_rules! register {
        ($($t:ident $bit:literal),*) => { $( w.register::<$t>(); )* };
    }
    for_few_tags!(register);
    for (i, &e) in e.iter().enumerate() {
        macro_rules! add {
            ($($t:ident $bit:literal),*) => { $(
                if i >> $bit & 1 == 1 {
                    w.write_storage().insert(e, $t).expect("alive");
                }
            )* };
        }
        for_few_tags!(add);
    }
    (w, e)
}

pub(crate) fn random_get_mut(h: &mut Harness, n: usize) {
    let (w, e) = world_pv(n);
    let order: Vec<Entity> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    h.run(
        "storage get_mut",
        (w, order),
        |(w, o)| {
            let mut p = w.write_storage::<Position>();
            for &e in black_box(&*o) {
                p.get_mut(e).expect("alive").x += 1.0;
            }
        },
        |(w, _)| Outcome::Sum(sum_of::<Position>(w, |p| p.x as f64)),
    );
}
