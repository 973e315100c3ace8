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
        "get",
        (order, 0f64, w),
        |(o, out, w)| {
            let mut s = 0f32;
            for &e in black_box(&*o) {
                s += w.entity_from_id(e).get::<&Position>(|p| p.x);
            }
            *out = s as f64;
            black_box(s);
        },
        |s| Outcome::Sum(s.1),
    );
    let (w, e) = world();
    let order: Vec<Entity> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    h.run(
        "get_untyped",
        (order, 0f64, w),
        |(o, out, w)| {
            let id = w.component_id::<Position>();
            let mut s = 0f32;
            for &e in black_box(&*o) {
                // SAFETY: every entity has a Position.
                s += unsafe { (*w.entity_from_id(e).get_untyped(id).cast::<Position>()).x };
            }
            *out = s as f64;
            black_box(s);
        },
        |s| Outcome::Sum(s.1),
    );
    // One cached reference per entity, kept for the life of the world.
    let (w, e) = world();
    let w: &'static World = Box::leak(Box::new(w));
    let refs: Vec<CachedRef<'static, Position>> =
        e.iter().map(|&e| w.entity_from_id(e).cached_ref(Position::id())).collect();
    h.run(
        "cached_ref",
        (lookup_order(), 0f64, refs),
        |(o, out, refs)| {
            let mut s = 0f32;
            for &i in black_box(&*o) {
                s += refs[i as usize].get(|p| p.x);
            }
            *out = s as f64;
            black_box(s);
        },
        |s| Outcome::Sum(s.1),
    );
}

/// Rows in 16 archetypes, neighbours in different ones.
fn world_mixed(n: usize) -> (World, Vec<Entity>) {
    let (w, e) = world_pv(n);
    for (i, &e) in e.iter().enumerate() {
        macro_rules! add {
            ($($t:ident $bit:literal),*) => { $(
                if i >> $bit & 1 == 1 {
                    w.entity_from_id(e).add($t::id());
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
        "get",
        (order, w),
        |(o, w)| {
            for &e in black_box(&*o) {
                w.entity_from_id(e).get::<&mut Position>(|p| p.x += 1.0);
            }
        },
        |(_, w)| {
            let mut s = 0.0;
            w.new_query::<&Position>().each(|p| s += p.x as f64);
            Outcome::Sum(s)
        },
    );
    let (w, e) = world_pv(n);
    let order: Vec<Entity> = lookup_order().iter().map(|&i| e[i as usize]).collect();
    h.run(
        "get_untyped_mut",
        (order, w),
        |(o, w)| {
            let id = w.component_id::<Position>();
            for &e in black_box(&*o) {
                // SAFETY: every entity has a Position.
                unsafe { (*w.entity_from_id(e).get_untyped_mut(id).cast::<Position>()).x += 1.0 };
            }
        },
        |(_, w)| {
            let mut s = 0.0;
            w.new_query::<&Position>().each(|p| s += p.x as f64);
            Outcome::Sum(s)
        },
    );
}
