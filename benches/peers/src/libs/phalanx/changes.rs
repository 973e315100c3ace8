use super::kernels::sum_x;
use super::*;

pub(super) fn frame(h: &mut Harness, _: usize) {
    changed(h, true);
}

pub(super) fn scan(h: &mut Harness, _: usize) {
    changed(h, false);
}

fn changed(h: &mut Harness, whole: bool) {
    let mut w = World::new();
    let e = w.spawn_batch((0..CHANGED_ENTITIES).map(|i| Position::new(pos0(i)))).to_vec();
    let most = CHANGED_RUN + 2 * w.archetypes().map(|a| a.capacity()).max().unwrap_or(0);
    let step = move |(w, e, frame): &mut (World, Vec<Entity>, u64)| {
        let s = changed_start(*frame);
        let before = w.version();
        for &e in &e[s..s + CHANGED_RUN] {
            w.get_mut::<Position>(e).expect("alive").x += 1.0;
        }
        let t = Instant::now();
        let (mut seen, mut sum) = (0, 0.0);
        for p in w.query::<&Position>().changed_since::<Position>(before) {
            seen += p.len();
            sum += sum_x(p);
        }
        let t = t.elapsed();
        black_box(sum);
        assert!((CHANGED_RUN..=most).contains(&seen));
        *frame += 1;
        t
    };
    let check = |s: &mut (World, Vec<Entity>, u64)| {
        Outcome::Sum(s.0.query::<&Position>().iter().flatten().map(|p| p.x as f64).sum())
    };
    let state = (w, e, 0);
    h.run_part("", whole, state, step, check);
}
