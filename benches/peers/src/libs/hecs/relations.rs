use super::*;
use crate::relations::{ByHand, End, Related, TARGETS, Task, lists, relations, value};
use hecs::ViewBorrow;

struct List(Vec<Entity>);

struct Views<'w> {
    ends: ViewBorrow<'w, &'static mut End<Entity>>,
    lists: ViewBorrow<'w, &'static mut List>,
    values: ViewBorrow<'w, &'static Data>,
}

impl<'w> Views<'w> {
    fn of(w: &'w World) -> Self {
        Self { ends: w.view(), lists: w.view(), values: w.view() }
    }
}

impl ByHand<Entity> for Views<'_> {
    #[inline(always)]
    fn end(&mut self, source: Entity) -> End<Entity> {
        *self.ends.get_mut(source).expect("alive")
    }
    #[inline(always)]
    fn set_end(&mut self, source: Entity, end: End<Entity>) {
        *self.ends.get_mut(source).expect("alive") = end;
    }
    #[inline(always)]
    fn set_place(&mut self, source: Entity, place: usize) {
        self.ends.get_mut(source).expect("alive").place = place;
    }
    #[inline(always)]
    fn list(&mut self, target: Entity) -> &mut Vec<Entity> {
        &mut self.lists.get_mut(target).expect("alive").0
    }
    #[inline(always)]
    fn value(&self, source: Entity) -> f32 {
        self.values.get(source).expect("alive").0
    }
}

/// By hand: the library has no relation.
pub(crate) fn relate(h: &mut Harness, n: usize, task: Task) {
    let mut w = World::new();
    let targets: Vec<Entity> = (0..TARGETS).map(|_| w.spawn(())).collect();
    let sources: Vec<Entity> = w.spawn_batch((0..n).map(|i| (Data(value(i)),))).collect();
    let (lists, ends) = lists(&sources, &targets);
    for (&target, list) in targets.iter().zip(lists) {
        w.insert_one(target, List(list)).expect("alive");
    }
    for (&source, end) in sources.iter().zip(ends) {
        w.insert_one(source, end).expect("alive");
    }
    let related = Related { world: w, sources, targets };
    relations(
        (h, "by hand", task),
        related,
        |w, targets, sums| Views::of(w).sums(targets, sums),
        |w, pairs| Views::of(w).change(pairs),
        |w, source| w.get::<&End<Entity>>(source).ok().map(|end| end.target),
        |w, targets| {
            for &target in targets {
                let List(sources) = w.remove_one(target).expect("alive");
                for source in sources {
                    w.remove_one::<End<Entity>>(source).expect("alive");
                }
                w.despawn(target).expect("alive");
            }
        },
        |w, sources| {
            let target = w.spawn((List(sources.to_vec()),));
            for (place, &source) in sources.iter().enumerate() {
                w.insert_one(source, End { target, place }).expect("alive");
            }
            target
        },
    );
}
