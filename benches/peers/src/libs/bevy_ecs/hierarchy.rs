use super::*;
use crate::hierarchy::{Forest, hierarchy, nodes};
use bevy_ecs::schedule::SingleThreadedExecutor;

nodes! { [#[derive(Component)]] }

#[derive(Resource)]
struct Ordered(Forest<Entity>);

/// A list outside of the tables; `[ChildOf]` walks the library's own relation from the roots down.
pub(crate) fn propagate(h: &mut Harness, n: usize) {
    let (mut w, e) = spawned(n);
    w.insert_resource(Ordered(Forest::of(&e)));
    run(h, "", place, w, e);
    let (mut w, e) = spawned(n);
    for link in Forest::of(&e).links {
        w.entity_mut(link.child).insert(ChildOf(link.parent));
    }
    run(h, "ChildOf", descend, w, e);
}

fn spawned(n: usize) -> (World, Vec<Entity>) {
    let mut w = World::new();
    let e = w.spawn_batch((0..n).map(|i| (Offset::of(i), Place::new([0.0; 3])))).collect();
    (w, e)
}

fn run<M>(
    h: &mut Harness,
    variant: &str,
    system: impl IntoScheduleConfigs<bevy_ecs::system::ScheduleSystem, M>,
    w: World,
    e: Vec<Entity>,
) {
    let mut schedule = Schedule::default();
    schedule.set_executor(SingleThreadedExecutor::new());
    schedule.add_systems(system);
    hierarchy(
        h,
        variant,
        (w, schedule),
        |(w, schedule)| schedule.run(w),
        |(w, _)| e.iter().map(|&e| w.get::<Place>(e).expect("alive").numbers()).collect(),
    );
}

fn place(forest: Res<Ordered>, mut nodes: Query<(&mut Offset, &mut Place)>) {
    for &root in &forest.0.roots {
        let (mut offset, mut place) = nodes.get_mut(root).expect("alive");
        *place = offset.shift();
    }
    for link in &forest.0.links {
        let above = *nodes.get(link.parent).expect("alive").1;
        let (offset, mut place) = nodes.get_mut(link.child).expect("alive");
        *place = above.plus(&offset);
    }
}

fn descend(
    mut roots: Query<(Entity, &mut Offset, &mut Place), Without<ChildOf>>,
    children: Query<&Children>,
    mut nodes: Query<(&Offset, &mut Place), With<ChildOf>>,
    mut open: Local<Vec<(Entity, Place)>>,
) {
    for (root, mut offset, mut place) in &mut roots {
        *place = offset.shift();
        open.push((root, *place));
    }
    while let Some((parent, above)) = open.pop() {
        for &child in children.get(parent).into_iter().flatten() {
            let (offset, mut place) = nodes.get_mut(child).expect("alive");
            *place = above.plus(offset);
            open.push((child, *place));
        }
    }
}
