use super::*;
use crate::changes::{Calls, Part, Pattern, Visit, frames, rewritten};
use hecs::ChangeTracker;

type State = (World, Vec<Entity>, ChangeTracker<Position>);

/// No change detection in the storage: `ChangeTracker` compares copies.
pub(crate) fn changed(h: &mut Harness, _: usize, what: (Pattern, Part)) {
    let (pattern, _) = what;
    let mut w = World::new();
    let rows = (0..CHANGED_ENTITIES).map(|i| (Position::new(pos0(i)),));
    let e: Vec<Entity> = w.spawn_batch(rows).collect();
    let mut tracker = ChangeTracker::new();
    drop(tracker.track(&mut w));
    let write = |(w, e, _): &mut State, frame| {
        let mut q = PreparedQuery::<&mut Position>::new();
        let mut view = q.view_mut(w);
        for row in pattern.rows(frame) {
            let p = view.get_mut(e[row]).expect("alive");
            p.x = rewritten(p.x);
        }
    };
    let visit = |(w, _, tracker): &mut State| {
        let mut seen = Visit::default();
        for (_, _, p) in tracker.track(w).changed() {
            seen.rows += 1;
            seen.sum += p.x;
        }
        seen
    };
    let all = |(w, ..): &mut State| w.query::<&Position>().iter().map(|p| f64::from(p.x)).sum();
    frames(h, "ChangeTracker", what, (w, e, tracker), Calls { write, visit, all });
}
