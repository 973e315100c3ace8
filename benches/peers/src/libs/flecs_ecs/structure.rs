use super::*;

pub(super) fn add_remove_one(h: &mut Harness, n: usize) {
    h.run(
        "",
        entities_with_a(n),
        |(e, w)| {
            for &e in &*e {
                w.entity_from_id(e).set(B(0.0));
            }
            for &e in &*e {
                w.entity_from_id(e).remove(B::id());
            }
        },
        kept,
    );
}

pub(super) fn add_remove_query(h: &mut Harness, n: usize) {
    h.run(
        "set one, remove_all",
        entities_with_a(n),
        |(e, w)| {
            for &e in &*e {
                w.entity_from_id(e).set(B(0.0));
            }
            w.remove_all(B::id());
        },
        kept,
    );
}

pub(super) fn create_destroy(h: &mut Harness, n: usize) {
    let w = World::new();
    w.component::<Position>();
    w.component::<Velocity>();
    h.run(
        "",
        (Vec::with_capacity(n), w),
        |(es, w): &mut (Vec<Entity>, World)| {
            for i in 0..n {
                es.push(w.entity().set(Position::new(pos0(i))).set(Velocity::new(vel0(i))).id());
            }
            for e in es.drain(..) {
                w.entity_from_id(e).destruct();
            }
        },
        |(_, w)| Outcome::Count(w.new_query::<&Position>().count() as usize),
    );
}

fn entities_with_a(n: usize) -> (Vec<Entity>, World) {
    let w = World::new();
    let a: Vec<A> = (0..n).map(|i| A(i as f32)).collect();
    w.component::<B>();
    let e = w.entity_bulk(n as u32).set(&a).build();
    (e, w)
}

fn kept((e, w): &mut (Vec<Entity>, World)) -> Outcome {
    let left_over = w.new_query::<&B>().count() as usize;
    Outcome::kept(e.iter().map(|&e| w.entity_from_id(e).get::<&A>(|a| a.0)), left_over)
}
