use super::*;

pub(super) fn frame(h: &mut Harness, _: usize) {
    changed(h, true);
}

pub(super) fn scan(h: &mut Harness, _: usize) {
    changed(h, false);
}

fn changed(h: &mut Harness, whole: bool) {
    let mut w = World::new();
    let e: Vec<EntityId> =
        w.bulk_add_entity((0..CHANGED_ENTITIES).map(|i| Tracked(Position::new(pos0(i))))).collect();
    w.run(|p: ViewMut<Tracked>| p.clear_all_modified());
    let step = |(w, e, frame): &mut (World, Vec<EntityId>, u64)| {
        let s = changed_start(*frame);
        w.run(|mut p: ViewMut<Tracked>| {
            for &e in &e[s..s + CHANGED_RUN] {
                (&mut p).get(e).expect("alive").0.x += 1.0;
            }
        });
        let t = Instant::now();
        let (seen, sum) = w.run(|p: ViewMut<Tracked>| {
            let (mut seen, mut sum) = (0, 0.0);
            p.modified().iter().for_each(|p| {
                seen += 1;
                sum += p.0.x;
            });
            p.clear_all_modified();
            (seen, sum)
        });
        let t = t.elapsed();
        black_box(sum);
        assert_eq!(seen, CHANGED_RUN);
        *frame += 1;
        t
    };
    let check = |s: &mut (World, Vec<EntityId>, u64)| {
        Outcome::Sum(s.0.run(|p: View<Tracked>| p.iter().map(|p| p.0.x as f64).sum()))
    };
    h.run_part("modified", whole, (w, e, 0), step, check);
}
