use super::*;
use legion::EntityStore;

pub(super) fn add_remove_one(h: &mut Harness, n: usize) {
    let mut w = World::default();
    let e = w.extend((0..n).map(|i| (A(i as f32),)).collect::<Vec<_>>()).to_vec();
    h.run(
        "",
        (w, e),
        |(w, e)| {
            for &e in &*e {
                w.entry(e).expect("alive").add_component(B(0.0));
            }
            for &e in &*e {
                w.entry(e).expect("alive").remove_component::<B>();
            }
        },
        |(w, e)| {
            let left_over = <Read<B>>::query().iter(&*w).count();
            let kept = e.iter().map(|&e| {
                let entry = w.entry_ref(e).expect("alive");
                entry.into_component::<A>().expect("A").0
            });
            Outcome::kept(kept, left_over)
        },
    );
}

pub(super) fn create_destroy(h: &mut Harness, n: usize) {
    h.run(
        "",
        (World::default(), Vec::with_capacity(n)),
        |(w, es): &mut (World, Vec<Entity>)| {
            for i in 0..n {
                es.push(w.push((Position::new(pos0(i)), Velocity::new(vel0(i)))));
            }
            for e in es.drain(..) {
                assert!(w.remove(e));
            }
        },
        |(w, _)| Outcome::Count(w.len()),
    );
}
