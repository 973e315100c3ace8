use super::*;

pub(super) fn frame(h: &mut Harness, _: usize) {
    changed(h, true);
}

pub(super) fn scan(h: &mut Harness, _: usize) {
    changed(h, false);
}

/// No change detection in the storage; hecs::ChangeTracker compares copies.
fn changed(h: &mut Harness, whole: bool) {
    let mut w = World::new();
    let e: Vec<Entity> =
        w.spawn_batch((0..CHANGED_ENTITIES).map(|i| (Position::new(pos0(i)),))).collect();
    let mut tracker = hecs::ChangeTracker::<Position>::new();
    drop(tracker.track(&mut w));
    let step =
        |(w, e, tracker, frame): &mut (World, Vec<Entity>, hecs::ChangeTracker<Position>, u64)| {
            let s = changed_start(*frame);
            {
                let mut q = PreparedQuery::<&mut Position>::new();
                let mut view = q.view_mut(w);
                for &e in &e[s..s + CHANGED_RUN] {
                    view.get_mut(e).expect("alive").x += 1.0;
                }
            }
            let t = Instant::now();
            let (mut seen, mut sum) = (0, 0.0);
            for (_, _, p) in tracker.track(w).changed() {
                seen += 1;
                sum += p.x;
            }
            let t = t.elapsed();
            black_box(sum);
            assert_eq!(seen, CHANGED_RUN);
            *frame += 1;
            t
        };
    let check = |s: &mut (World, Vec<Entity>, hecs::ChangeTracker<Position>, u64)| {
        Outcome::Sum(s.0.query::<&Position>().iter().map(|p| p.x as f64).sum())
    };
    let state = (w, e, tracker, 0);
    h.run_part("ChangeTracker", whole, state, step, check);
}
