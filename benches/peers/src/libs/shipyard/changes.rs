use super::*;
use crate::changes::{Calls, Part, Pattern, Visit, frames, rewritten};

pub(crate) fn changed(h: &mut Harness, _: usize, what: (Pattern, Part)) {
    let (pattern, _) = what;
    let mut w = World::new();
    let rows = (0..CHANGED_ENTITIES).map(|i| Tracked(Position::new(pos0(i))));
    let e: Vec<EntityId> = w.bulk_add_entity(rows).collect();
    w.run(|p: ViewMut<Tracked>| p.clear_all_modified());
    let write = |w: &mut World, frame| {
        w.run(|mut p: ViewMut<Tracked>| {
            for row in pattern.rows(frame) {
                let mut p = (&mut p).get(e[row]).expect("alive");
                p.0.x = rewritten(p.0.x);
            }
        });
    };
    let visit = |w: &mut World| {
        w.run(|p: ViewMut<Tracked>| {
            let mut seen = Visit::default();
            p.modified().iter().for_each(|p| {
                seen.rows += 1;
                seen.sum += p.0.x;
            });
            p.clear_all_modified();
            seen
        })
    };
    let all = |w: &mut World| w.run(|p: View<Tracked>| p.iter().map(|p| f64::from(p.0.x)).sum());
    frames(h, "modified", what, w, Calls { write, visit, all });
}
