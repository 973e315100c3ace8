use super::*;

pub(super) fn frame(h: &mut Harness, _: usize) {
    changed(h, true);
}

pub(super) fn scan(h: &mut Harness, _: usize) {
    changed(h, false);
}

fn changed(h: &mut Harness, whole: bool) {
    let mut w = World::new();
    w.register::<Tracked>();
    let e: Vec<Entity> = (0..CHANGED_ENTITIES)
        .map(|i| w.create_entity().with(Tracked(Position::new(pos0(i)))).build())
        .collect();
    let reader = w.write_storage::<Tracked>().register_reader();
    type St = (World, Vec<Entity>, ReaderId<ComponentEvent>, BitSet, u64);
    let step = |(w, e, reader, set, frame): &mut St| {
        let s = changed_start(*frame);
        {
            let mut p = w.write_storage::<Tracked>();
            for &e in &e[s..s + CHANGED_RUN] {
                p.get_mut(e).expect("alive").0.x += 1.0;
            }
        }
        let t = Instant::now();
        let (mut seen, mut sum) = (0, 0.0);
        {
            let p = w.read_storage::<Tracked>();
            set.clear();
            for ev in p.channel().read(reader) {
                if let ComponentEvent::Modified(id) = ev {
                    set.add(*id);
                }
            }
            (&p, &*set).join().for_each(|(p, _)| {
                seen += 1;
                sum += p.0.x;
            });
        }
        let t = t.elapsed();
        black_box(sum);
        assert_eq!(seen, CHANGED_RUN);
        *frame += 1;
        t
    };
    let check = |s: &mut St| Outcome::Sum(sum_of::<Tracked>(&s.0, |p| p.0.x as f64));
    let state: St = (w, e, reader, BitSet::new(), 0);
    h.run_part("FlaggedStorage", whole, state, step, check);
}
