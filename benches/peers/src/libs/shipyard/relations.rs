use super::*;
use crate::relations::{ByHand, End, Related, TARGETS, Task, lists, relations, value};

#[derive(shipyard::Component)]
struct Link(End<EntityId>);

#[derive(shipyard::Component)]
struct List(Vec<EntityId>);

struct Views<'w> {
    links: ViewMut<'w, Link>,
    lists: ViewMut<'w, List>,
    values: View<'w, Data>,
}

impl ByHand<EntityId> for Views<'_> {
    #[inline(always)]
    fn end(&mut self, source: EntityId) -> End<EntityId> {
        self.links[source].0
    }
    #[inline(always)]
    fn set_end(&mut self, source: EntityId, end: End<EntityId>) {
        self.links[source].0 = end;
    }
    #[inline(always)]
    fn set_place(&mut self, source: EntityId, place: usize) {
        self.links[source].0.place = place;
    }
    #[inline(always)]
    fn list(&mut self, target: EntityId) -> &mut Vec<EntityId> {
        &mut self.lists[target].0
    }
    #[inline(always)]
    fn value(&self, source: EntityId) -> f32 {
        self.values[source].0
    }
}

/// By hand: the library has no relation.
pub(crate) fn relate(h: &mut Harness, n: usize, task: Task) {
    let mut w = World::new();
    let targets: Vec<EntityId> = (0..TARGETS).map(|_| w.add_entity(())).collect();
    let sources: Vec<EntityId> = w.bulk_add_entity((0..n).map(|i| Data(value(i)))).collect();
    let (lists, ends) = lists(&sources, &targets);
    for (&target, list) in targets.iter().zip(lists) {
        w.add_component(target, List(list));
    }
    for (&source, end) in sources.iter().zip(ends) {
        w.add_component(source, Link(end));
    }
    let related = Related { world: w, sources, targets };
    relations(
        (h, "by hand", task),
        related,
        |w, targets, sums| {
            w.run(|links: ViewMut<Link>, lists: ViewMut<List>, values: View<Data>| {
                Views { links, lists, values }.sums(targets, sums);
            });
        },
        |w, pairs| {
            w.run(|links: ViewMut<Link>, lists: ViewMut<List>, values: View<Data>| {
                Views { links, lists, values }.change(pairs);
            });
        },
        |w, source| w.run(|links: View<Link>| links.get(source).ok().map(|link| link.0.target)),
        |w, targets| {
            for &target in targets {
                w.run(|mut links: ViewMut<Link>, mut lists: ViewMut<List>| {
                    let List(sources) = lists.remove(target).expect("alive");
                    for source in sources {
                        links.remove(source);
                    }
                });
                w.delete_entity(target);
            }
        },
        |w, sources| {
            let target = w.add_entity(List(sources.to_vec()));
            for (place, &source) in sources.iter().enumerate() {
                w.add_component(source, Link(End { target, place }));
            }
            target
        },
    );
}
