use super::*;
use crate::churn::{self, CHURN_ENTITIES, CHURN_KINDS, kind_of};

/// Row by row; `[batch]` has one call for all despawns, `[commands]` records all in a buffer.
pub(crate) fn churn(h: &mut Harness, _: usize) {
    let x = |w: &World, e| w.get::<Position>(e).expect("alive").x;
    let len = |w: &mut World| w.len();
    churn::churn(
        h,
        "",
        populated(),
        |w, entities, replaced| {
            for &place in replaced.places {
                w.despawn(entities[place]).expect("alive");
            }
            for (place, serial, kind) in replaced.births() {
                entities[place] = SPAWN[kind](w, body(serial));
            }
        },
        x,
        len,
    );
    churn::churn(
        h,
        "batch",
        populated(),
        |w, entities, replaced| {
            let gone: Vec<_> = replaced.places.iter().map(|&place| entities[place]).collect();
            w.despawn_batch(&gone);
            for (place, serial, kind) in replaced.births() {
                entities[place] = SPAWN[kind](w, body(serial));
            }
        },
        x,
        len,
    );
    let (mut w, entities) = populated();
    let buffer = w.command_buffer(churn::REPLACED as u32).expect("ids");
    churn::churn(
        h,
        "commands",
        ((w, buffer), entities),
        |(w, buffer), entities, replaced| {
            for &place in replaced.places {
                buffer.despawn(entities[place]);
            }
            for (place, serial, kind) in replaced.births() {
                entities[place] = RECORD[kind](buffer, body(serial));
            }
            w.apply(buffer).expect("all are alive");
        },
        |(w, _), e| x(w, e),
        |(w, _)| len(w),
    );
}

type Body = (Position, Velocity);

fn body(serial: usize) -> Body {
    (Position::new(pos0(serial)), Velocity::new(vel0(serial)))
}

macro_rules! spawns {
    ($w:ident $(($a:ident $b:ident))*) => { [$(|w: &mut $w, body| w.spawn((body, $a, $b))),*] };
}
const SPAWN: [fn(&mut World, Body) -> Entity; CHURN_KINDS] = with_pairs!(spawns World);
const RECORD: [fn(&mut CommandBuffer, Body) -> Entity; CHURN_KINDS] =
    with_pairs!(spawns CommandBuffer);

fn populated() -> (World, Vec<Entity>) {
    let mut w = World::new();
    let spawn = |serial| SPAWN[kind_of(serial)](&mut w, body(serial));
    let entities = (0..CHURN_ENTITIES).map(spawn).collect();
    (w, entities)
}

pub(crate) fn spawn_despawn(h: &mut Harness, _: usize) {
    churn::spawn_despawn(
        h,
        "",
        World::new(),
        |w, serial| w.spawn(body(serial)),
        |w, e| w.despawn(e).expect("alive"),
        |w, e| w.get::<Position>(e).expect("alive").x,
        |w| w.len(),
    );
}
