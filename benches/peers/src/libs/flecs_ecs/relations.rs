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
    let of =
        |&target: &Entity| w.query::<&Data>().with((Follows::id(), target)).set_cached().build();
    let queries: Vec<Query<&Data>> = targets.iter().map(of).collect();
    relations(
        h,
        "",
        task,
        Related { world: (queries, w), sources, targets },
        |(queries, _), _, sums| {
            for query in queries {
                let mut sum = 0.0;
                query.each(|data| sum += data.0);
                sums.push(sum);
            }
        },
        |(_, w), pairs| {
            for &(source, target) in pairs {
                w.entity_from_id(source).add((Follows::id(), target));
            }
        },
        |(_, w), source| w.entity_from_id(source).target(Follows::id(), 0).expect("has one").id(),
    );
}
