use super::*;
use crate::relations::{Related, TARGETS, Task, relations, target_of, value};

#[derive(Component)]
struct Follows;

/// The library's own relation, with a table for the sources of each target and a cached query for
/// each.
pub(crate) fn relate(h: &mut Harness, n: usize, task: Task) {
    let w = World::new();
    w.component::<Follows>().add_trait::<flecs::Exclusive>();
    let targets: Vec<Entity> = (0..TARGETS).map(|_| w.entity().id()).collect();
    let source = |i| {
        let source = w.entity().set(Data(value(i)));
        source.add((Follows::id(), targets[target_of(i, 0)])).id()
    };
    let sources: Vec<Entity> = (0..n).map(source).collect();
    let of = |w: &World, target: Entity| {
        w.query::<&Data>().with((Follows::id(), target)).set_cached().build()
    };
    // Targets that are deleted have no query that lasts.
    let lasting = if task == Task::Delete { &[][..] } else { &targets };
    let queries: Vec<_> = lasting.iter().map(|&target| of(&w, target)).collect();
    let related = Related { world: (queries, w), sources, targets };
    relations(
        (h, "", task),
        related,
        |(queries, w), targets, sums| {
            let mut push = |query: &Query<&Data>| {
                let mut sum = 0.0;
                query.each(|data| sum += data.0);
                sums.push(sum);
            };
            match queries.is_empty() {
                true => targets.iter().for_each(|&target| push(&of(w, target))),
                false => queries.iter().for_each(push),
            }
        },
        |(_, w), pairs| {
            for &(source, target) in pairs {
                w.entity_from_id(source).add((Follows::id(), target));
            }
        },
        |(_, w), source| {
            w.entity_from_id(source).target(Follows::id(), 0).map(|target| target.id())
        },
        |(_, w), targets| targets.iter().for_each(|&one| w.entity_from_id(one).destruct()),
        |(_, w), sources| {
            let target = w.entity().id();
            for &source in sources {
                w.entity_from_id(source).add((Follows::id(), target));
            }
            target
        },
    );
}
