use super::*;

pub(super) fn add_remove_one(h: &mut Harness, n: usize) {
    let mut w = fresh();
    let e: Vec<Entity> = (0..n).map(|i| w.create_entity().with(A(i as f32)).build()).collect();
    h.run(
        "",
        (w, e),
        |(w, e)| {
            let mut b = w.write_storage::<B>();
            for &e in &*e {
                let _ = b.insert(e, B(0.0));
            }
            for &e in &*e {
                b.remove(e);
            }
        },
        |(w, e)| {
            let (a, b) = (w.read_storage::<A>(), w.read_storage::<B>());
            Outcome::kept(e.iter().map(|&e| a.get(e).expect("A").0), b.count())
        },
    );
}

pub(super) fn create_destroy(h: &mut Harness, n: usize) {
    h.run(
        "",
        (fresh(), Vec::with_capacity(n)),
        |(w, es): &mut (World, Vec<Entity>)| {
            for i in 0..n {
                es.push(
                    w.create_entity()
                        .with(Position::new(pos0(i)))
                        .with(Velocity::new(vel0(i)))
                        .build(),
                );
            }
            for e in es.drain(..) {
                w.delete_entity(e).expect("alive");
            }
        },
        |(w, _)| Outcome::Count(w.read_storage::<Position>().count()),
    );
    h.run(
        "delete_entities",
        (fresh(), Vec::with_capacity(n)),
        |(w, es): &mut (World, Vec<Entity>)| {
            for i in 0..n {
                es.push(
                    w.create_entity()
                        .with(Position::new(pos0(i)))
                        .with(Velocity::new(vel0(i)))
                        .build(),
                );
            }
            w.delete_entities(es).expect("alive");
            es.clear();
        },
        |(w, _)| Outcome::Count(w.read_storage::<Position>().count()),
    );
}
