use super::*;
use phalanx::rows::LevelPlan;

use crate::hierarchy::{Forest, hierarchy, nodes};

nodes! { [] }
impl_component!(Offset, Place);

#[relation(tree)]
struct ChildOf;

/// The roots, which move.
struct Roots(Vec<Entity>);

/// The pass by level of a relation. `[lookups]` has the list outside of the world that the other
/// libraries have, and a view of each component, in a system; `[query]` has one view of both.
pub(crate) fn propagate(h: &mut Harness, n: usize) {
    let (mut w, e) = spawned(n);
    let forest = Forest::of(&e);
    for link in &forest.links {
        w.insert(link.child, ChildOf::of(link.parent)).expect("a tree");
    }
    w.insert_resource(Roots(forest.roots));
    let mut plan = LevelPlan::new();
    let place = move |tree: Relation<ChildOf>, nodes: Query<(&mut Place, &Offset)>| {
        tree.propagate(&mut plan, nodes, &Place::new([0.0; 3]), |places, offsets, above| {
            place_level(places, offsets, above);
        });
    };
    let mut schedule = Schedule::new();
    schedule.threads(1).add((shift, place));
    hierarchy(
        h,
        "",
        (w, schedule),
        |(w, schedule)| schedule.run(w).expect("no system fails"),
        |(w, _)| places(w, &e),
    );
    let (mut w, e) = spawned(n);
    w.insert_resource(Forest::of(&e));
    let mut schedule = Schedule::new();
    schedule.threads(1).add(place_all);
    hierarchy(
        h,
        "lookups",
        (w, schedule),
        |(w, schedule)| schedule.run(w).expect("no system fails"),
        |(w, _)| places(w, &e),
    );
    let (w, e) = spawned(n);
    hierarchy(
        h,
        "query",
        (w, Forest::of(&e)),
        |(w, forest)| {
            let mut nodes = w.query_mut::<(&mut Offset, &mut Place)>();
            let mut nodes = nodes.lookup_mut();
            for &root in &forest.roots {
                let (offset, place) = nodes.get_mut(root).expect("alive");
                *place = offset.shift();
            }
            for link in &forest.links {
                let above = *nodes.get_mut(link.parent).expect("alive").1;
                let (offset, place) = nodes.get_mut(link.child).expect("alive");
                *place = above.plus(offset);
            }
        },
        |(w, _)| places(w, &e),
    );
}

fn shift(roots: Res<Roots>, mut offsets: LookupMut<Offset>) {
    for &root in &roots.0 {
        offsets.get_mut(root).expect("alive").shift();
    }
}

#[kernel]
fn place_level(places: &mut [Place], offsets: &[Offset], above: &[Place]) {
    for ((place, offset), above) in places.iter_mut().zip(offsets).zip(above) {
        *place = above.plus(offset);
    }
}

fn place_all(
    forest: Res<Forest<Entity>>,
    mut offsets: LookupMut<Offset>,
    mut places: LookupMut<Place>,
) {
    for &root in &forest.roots {
        let place = offsets.get_mut(root).expect("alive").shift();
        *places.get_mut(root).expect("alive") = place;
    }
    for link in &forest.links {
        let above = *places.get(link.parent).expect("alive");
        let offset = offsets.get(link.child).expect("alive");
        *places.get_mut(link.child).expect("alive") = above.plus(offset);
    }
}

fn spawned(n: usize) -> (World, Vec<Entity>) {
    let mut w = World::new();
    let e = w.spawn_batch((0..n).map(|i| (Offset::of(i), Place::new([0.0; 3])))).to_vec();
    (w, e)
}

fn places(w: &World, e: &[Entity]) -> Vec<[f32; 3]> {
    e.iter().map(|&e| w.get::<Place>(e).expect("alive").numbers()).collect()
}
