use super::*;
use crate::relations::{ByHand, End, Related, TARGETS, Task, lists, relations, target_of, value};

#[relation]
struct Target;

/// A relation; `[by hand]` keeps the lists in components.
pub(crate) fn relate(h: &mut Harness, n: usize, task: Task) {
    let mut w = World::new();
    let targets = w.spawn_batch([(); TARGETS]).to_vec();
    let source = |i| (Data(value(i)), Target::of(targets[target_of(i, 0)]));
    let sources = w.spawn_batch((0..n).map(source)).to_vec();
    relations(
        (h, "", task),
        Related { world: w, sources, targets },
        |w, targets, sums| {
            w.run(|relation: Relation<Target>, values: Lookup<Data>| {
                let value = |&source: &Entity| values.get(source).expect("alive").0;
                let sum = |&target| relation.sources(target).iter().map(value).sum::<f32>();
                sums.extend(targets.iter().map(sum));
            });
        },
        |w, pairs| {
            for &(source, target) in pairs {
                w.insert(source, Target::of(target)).expect("alive");
            }
        },
        |w, source| w.get::<Target>(source).ok().map(|target| target.target()),
        |w, targets| targets.iter().for_each(|&target| w.despawn(target).expect("alive")),
        |w, sources| {
            let target = w.spawn(());
            for &source in sources {
                w.insert(source, Target::of(target)).expect("alive");
            }
            target
        },
    );
    by_hand(h, n, task);
}

/// A source's target, and its place in the list of the target.
#[component]
struct Link {
    target: Entity,
    place: u64,
}

/// The sources of each target.
#[component(sparse)]
struct List(Vec<Entity>);

struct Views<'w> {
    links: LookupMut<'w, Link>,
    lists: SparseMut<'w, List>,
    values: Lookup<'w, Data>,
}

impl ByHand<Entity> for Views<'_> {
    #[inline(always)]
    fn end(&mut self, source: Entity) -> End<Entity> {
        let link = self.links.get(source).expect("alive");
        End { target: link.target, place: link.place as usize }
    }
    #[inline(always)]
    fn set_end(&mut self, source: Entity, end: End<Entity>) {
        let place = end.place as u64;
        *self.links.get_mut(source).expect("alive") = Link { target: end.target, place };
    }
    #[inline(always)]
    fn set_place(&mut self, source: Entity, place: usize) {
        self.links.get_mut(source).expect("alive").place = place as u64;
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

/// The same without a relation.
fn by_hand(h: &mut Harness, n: usize, task: Task) {
    let mut w = World::new();
    let targets = w.spawn_batch([(); TARGETS]).to_vec();
    let sources = w.spawn_batch((0..n).map(|i| Data(value(i)))).to_vec();
    let (lists, ends) = lists(&sources, &targets);
    for (&target, list) in targets.iter().zip(lists) {
        w.insert(target, List(list)).expect("alive");
    }
    for (&source, end) in sources.iter().zip(ends) {
        let link = Link { target: end.target, place: end.place as u64 };
        w.insert(source, link).expect("alive");
    }
    relations(
        (h, "by hand", task),
        Related { world: w, sources, targets },
        |w, targets, sums| {
            w.run(|links: LookupMut<Link>, lists: SparseMut<List>, values: Lookup<Data>| {
                Views { links, lists, values }.sums(targets, sums);
            });
        },
        |w, pairs| {
            w.run(|links: LookupMut<Link>, lists: SparseMut<List>, values: Lookup<Data>| {
                Views { links, lists, values }.change(pairs);
            });
        },
        |w, source| w.get::<Link>(source).ok().map(|link| link.target),
        |w, targets| {
            for &target in targets {
                let List(sources) = w.remove(target).expect("alive");
                for source in sources {
                    w.remove::<Link>(source).expect("alive");
                }
                w.despawn(target).expect("alive");
            }
        },
        |w, sources| {
            let target = w.spawn(List(sources.to_vec()));
            for (&source, place) in sources.iter().zip(0..) {
                w.insert(source, Link { target, place }).expect("alive");
            }
            target
        },
    );
}
