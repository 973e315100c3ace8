use super::kernels::{Seen, sum_x, visit_changed};
use super::*;
use crate::changes::{Calls, Part, Pattern, Visit, frames, frames_narrowed, rewritten};

/// The entities in order, and the version of the world before the writes of the frame.
struct State {
    world: World,
    entities: Vec<Entity>,
    before: Version,
}

/// A position with versions for each 64 rows, and a bit for each row.
#[component(lines)]
pub(super) struct Tracked(pub(super) Position);

pub(crate) fn changed(h: &mut Harness, _: usize, what: (Pattern, Part)) {
    by_value(h, what);
    by_lines(h, what);
    whole_chunks(h, what);
}

/// Exactly the rows that changed: in chunks with a change, values are compared with the values of
/// the last visit, kept in an additional column.
fn by_value(h: &mut Harness, what: (Pattern, Part)) {
    let visit = |State { world, before, .. }: &mut State| {
        let changed =
            world.query_mut::<(&Position, &mut Seen)>().changed_since::<Position>(*before);
        changed.into_iter().fold(Visit::default(), |all, (position, seen)| {
            let (rows, sum) = visit_changed(position, seen);
            Visit { rows: all.rows + rows, sum: all.sum + sum }
        })
    };
    let start = |i| Position::new(pos0(i));
    let state = state((0..CHANGED_ENTITIES).map(|i| (start(i), Seen(start(i)))));
    let calls = Calls { write: |state: &mut State, frame| write(state, what.0, frame), visit, all };
    frames(h, "last seen values", what, state, calls);
}

/// The rows that changed, of a component that tracks them.
fn by_lines(h: &mut Harness, what: (Pattern, Part)) {
    let visit = |State { world, before, .. }: &mut State| {
        let changed = world.query::<&Tracked>().filter_since::<ChangedLines<Tracked>>(*before);
        changed.rows().fold(Visit::default(), |all, tracked| Visit {
            rows: all.rows + 1,
            sum: all.sum + tracked.0.x,
        })
    };
    let state = state((0..CHANGED_ENTITIES).map(|i| (Tracked(Position::new(pos0(i))),)));
    let write = |State { world, entities, before }: &mut State, frame| {
        *before = world.version();
        let mut tracked = world.lookup_mut::<Tracked>();
        for row in what.0.rows(frame) {
            let position = &mut tracked.get_mut(entities[row]).expect("alive").0;
            position.x = rewritten(position.x);
        }
    };
    let all = |State { world, .. }: &mut State| {
        world.query::<&Tracked>().iter().flatten().map(|tracked| f64::from(tracked.0.x)).sum()
    };
    frames(h, "changed lines", what, state, Calls { write, visit, all });
}

/// All rows of the chunks that contain a change: enough if visiting an unchanged row does no harm.
fn whole_chunks(h: &mut Harness, what: (Pattern, Part)) {
    let (pattern, _) = what;
    let visit = |State { world, before, .. }: &mut State| {
        let changed = world.query::<&Position>().changed_since::<Position>(*before);
        changed.into_iter().fold(Visit::default(), |all, position| Visit {
            rows: all.rows + position.len(),
            sum: all.sum + sum_x(position),
        })
    };
    // Rows are in the order of their entities, in the world as in the pattern.
    let narrow = |State { world, entities, before }: &mut State, frame, visit: Visit| {
        let (mut seen, mut written) = (0, Visit::default());
        let mut rows = pattern.rows(frame).map(|row| entities[row]).peekable();
        let changed = world.query::<(Entity, &Position)>().changed_since::<Position>(*before);
        for (entity, position) in changed.rows() {
            seen += 1;
            if rows.next_if_eq(&entity).is_some() {
                written = Visit { rows: written.rows + 1, sum: written.sum + position.x };
            }
        }
        assert_eq!(visit.rows, seen, "the visit and the check see the same chunks");
        written
    };
    let state = state((0..CHANGED_ENTITIES).map(|i| Position::new(pos0(i))));
    let calls =
        Calls { write: |state: &mut State, frame| write(state, pattern, frame), visit, all };
    frames_narrowed(h, "whole chunks", what, state, calls, narrow);
}

fn state<B: Bundle>(rows: impl ExactSizeIterator<Item = B>) -> State {
    let mut world = World::new();
    let entities = world.spawn_batch(rows).to_vec();
    let before = world.version();
    State { world, entities, before }
}

fn write(State { world, entities, before }: &mut State, pattern: Pattern, frame: u64) {
    *before = world.version();
    let mut positions = world.lookup_mut::<Position>();
    for row in pattern.rows(frame) {
        let position = positions.get_mut(entities[row]).expect("alive");
        position.x = rewritten(position.x);
    }
}

fn all(State { world, .. }: &mut State) -> f64 {
    world.query::<&Position>().iter().flatten().map(|p| f64::from(p.x)).sum()
}
