use super::*;

pub(crate) fn create_destroy(h: &mut Harness, n: usize) {
    h.run_halves(
        "",
        (EcsWorld::default(), Vec::with_capacity(n)),
        |(w, es): &mut (EcsWorld, Vec<Entity<Body>>)| {
            for i in 0..n {
                es.push(w.create::<Body>((Position::new(pos0(i)), Velocity::new(vel0(i)))));
            }
        },
        |(w, es): &mut (EcsWorld, Vec<Entity<Body>>)| {
            for e in es.drain(..) {
                w.destroy(e).expect("alive");
            }
        },
        |(w, _)| w.archetype::<Body>().len(),
        |(w, _)| Outcome::Count(w.archetype::<Body>().len()),
    );
}
