use super::*;
use crate::relations::{Related, TARGETS, Task, relations, target_of, value};

#[derive(Component)]
#[relationship(relationship_target = Sources)]
struct Target(Entity);

#[derive(Component)]
#[relationship_target(relationship = Target)]
struct Sources(Vec<Entity>);

/// The library's own relation.
pub(crate) fn relate(h: &mut Harness, n: usize, task: Task) {
    let mut w = World::new();
    let targets: Vec<Entity> = (0..TARGETS).map(|_| w.spawn_empty().id()).collect();
    let source = |i| w.spawn((Data(value(i)), Target(targets[target_of(i, 0)]))).id();
    let sources = (0..n).map(source).collect();
    let (lists, data) = (w.query::<&Sources>(), w.query::<&Data>());
    let related = Related { world: (w, lists, data), sources, targets };
    relations(
        (h, "", task),
        related,
        |(w, lists, data), targets, sums| {
            let (lists, data) = (lists.query(w), data.query(w));
            let sum = |&target: &Entity| {
                let sources = lists.get(target).into_iter().flat_map(|list| &list.0);
                sources.map(|&source| data.get(source).expect("alive").0).sum::<f32>()
            };
            sums.extend(targets.iter().map(sum));
        },
        |(w, ..), pairs| {
            for &(source, target) in pairs {
                w.entity_mut(source).insert(Target(target));
            }
        },
        |(w, ..), source| w.get::<Target>(source).map(|target| target.0),
        |(w, ..), targets| targets.iter().for_each(|&one| assert!(w.despawn(one))),
        |(w, ..), sources| {
            let target = w.spawn_empty().id();
            for &source in sources {
                w.entity_mut(source).insert(Target(target));
            }
            target
        },
    );
}
