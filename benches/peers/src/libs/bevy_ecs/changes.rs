use super::snapshots::changed as changed_blocks;
use super::*;
use crate::changes::{Calls, Part, Pattern, Visit, frames, rewritten};

#[derive(Resource, Default)]
struct Seen(Visit);

fn see(q: Query<&Position, Changed<Position>>, mut seen: ResMut<Seen>) {
    let mut visit = Visit::default();
    q.iter().for_each(|p| {
        visit.rows += 1;
        visit.sum += p.x;
    });
    seen.0 = visit;
}

/// The same over slices of ticks: a block without a newer tick is passed over as a whole.
fn see_blocks(q: Query<Ref<Position>>, mut seen: ResMut<Seen>) {
    let mut visit = Visit::default();
    for p in q.contiguous_iter().expect("dense") {
        let (ticks, since, now) = (p.changed_ticks_slice(), p.last_run_tick(), p.this_run_tick());
        for row in changed_blocks(ticks, since, now).flatten() {
            if ticks[row].is_newer_than(since, now) {
                visit.rows += 1;
                visit.sum += p[row].x;
            }
        }
    }
    seen.0 = visit;
}

pub(crate) fn changed(h: &mut Harness, _: usize, what: (Pattern, Part)) {
    visited(h, "Changed", what, see);
    visited(h, "contig ticks", what, see_blocks);
}

fn visited<M>(
    h: &mut Harness,
    variant: &str,
    what: (Pattern, Part),
    see: impl IntoSystem<(), (), M>,
) {
    let (pattern, _) = what;
    let mut w = World::new();
    let rows = (0..CHANGED_ENTITIES).map(|i| Position::new(pos0(i)));
    let e: Vec<Entity> = w.spawn_batch(rows).collect();
    w.init_resource::<Seen>();
    let mut q = w.query::<&mut Position>();
    let mut system = IntoSystem::into_system(see);
    system.initialize(&mut w);
    system.run((), &mut w).expect("runs");
    let write = |w: &mut World, frame| {
        w.increment_change_tick();
        let mut q = q.query_mut(w);
        for row in pattern.rows(frame) {
            let mut p = q.get_mut(e[row]).expect("alive");
            p.x = rewritten(p.x);
        }
    };
    let visit = |w: &mut World| {
        System::run(&mut system, (), w).expect("runs");
        w.resource::<Seen>().0
    };
    let all = |w: &mut World| sum_of::<Position>(w, |p| f64::from(p.x));
    frames(h, variant, what, w, Calls { write, visit, all });
}
