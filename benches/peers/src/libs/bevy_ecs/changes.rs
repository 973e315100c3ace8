use super::*;

pub(super) fn frame(h: &mut Harness, _: usize) {
    changed(h, true);
}

pub(super) fn scan(h: &mut Harness, _: usize) {
    changed(h, false);
}

fn changed(h: &mut Harness, whole: bool) {
    #[derive(Resource, Default)]
    struct Seen(usize, f32);
    fn visit(q: Query<&Position, Changed<Position>>, mut seen: ResMut<Seen>) {
        let (mut n, mut sum) = (0, 0.0);
        q.iter().for_each(|p| {
            n += 1;
            sum += p.x;
        });
        *seen = Seen(n, sum);
    }
    let mut w = World::new();
    let e: Vec<Entity> =
        w.spawn_batch((0..CHANGED_ENTITIES).map(|i| Position::new(pos0(i)))).collect();
    w.init_resource::<Seen>();
    let q = w.query::<&mut Position>();
    let mut sys = IntoSystem::into_system(visit);
    sys.initialize(&mut w);
    sys.run((), &mut w).expect("runs");
    let step = |(w, e, q, sys, frame): &mut (World, Vec<Entity>, Write<Position>, _, u64)| {
        let s = changed_start(*frame);
        w.increment_change_tick();
        {
            let mut q = q.query_mut(&mut *w);
            for &e in &e[s..s + CHANGED_RUN] {
                q.get_mut(e).expect("alive").x += 1.0;
            }
        }
        let t = Instant::now();
        System::run(sys, (), w).expect("runs");
        let t = t.elapsed();
        assert_eq!(w.resource::<Seen>().0, CHANGED_RUN);
        black_box(w.resource::<Seen>().1);
        *frame += 1;
        t
    };
    let state = (w, e, q, sys, 0);
    h.run_part("Changed", whole, state, step, |s| {
        Outcome::Sum(sum_of::<Position>(&mut s.0, |p| p.x as f64))
    });
}
