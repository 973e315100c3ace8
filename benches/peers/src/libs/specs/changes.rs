use super::*;
use crate::changes::{Calls, Part, Pattern, Visit, frames, rewritten};

struct State {
    world: World,
    entities: Vec<Entity>,
    reader: ReaderId<ComponentEvent>,
    modified: BitSet,
}

pub(crate) fn changed(h: &mut Harness, _: usize, what: (Pattern, Part)) {
    let (pattern, _) = what;
    let mut world = World::new();
    world.register::<Tracked>();
    let spawn = |i| world.create_entity().with(Tracked(Position::new(pos0(i)))).build();
    let entities = (0..CHANGED_ENTITIES).map(spawn).collect();
    let reader = world.write_storage::<Tracked>().register_reader();
    let write = |State { world, entities, .. }: &mut State, frame| {
        let mut p = world.write_storage::<Tracked>();
        for row in pattern.rows(frame) {
            let p = p.get_mut(entities[row]).expect("alive");
            p.0.x = rewritten(p.0.x);
        }
    };
    let visit = |State { world, reader, modified, .. }: &mut State| {
        let p = world.read_storage::<Tracked>();
        modified.clear();
        for event in p.channel().read(reader) {
            if let ComponentEvent::Modified(id) = event {
                modified.add(*id);
            }
        }
        let mut seen = Visit::default();
        (&p, &*modified).join().for_each(|(p, _)| {
            seen.rows += 1;
            seen.sum += p.0.x;
        });
        seen
    };
    let all = |s: &mut State| sum_of::<Tracked>(&s.world, |p| f64::from(p.0.x));
    let state = State { world, entities, reader, modified: BitSet::new() };
    frames(h, "FlaggedStorage", what, state, Calls { write, visit, all });
}
