use super::*;
use crate::churn::{self, CHURN_ENTITIES, CHURN_KINDS, kind_of};

pub(crate) fn churn(h: &mut Harness, _: usize) {
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
        |w, e| w.get::<&Position>(e).expect("alive").x,
        |w| w.len() as usize,
    );
}

type Body = (Position, Velocity);

fn body(serial: usize) -> Body {
    (Position::new(pos0(serial)), Velocity::new(vel0(serial)))
}

macro_rules! spawns {
    ($w:ident $(($a:ident $b:ident))*) => { [$(|w: &mut $w, (p, v)| w.spawn((p, v, $a, $b))),*] };
}
const SPAWN: [fn(&mut World, Body) -> Entity; CHURN_KINDS] = with_pairs!(spawns World);

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
        |w, e| w.get::<&Position>(e).expect("alive").x,
        |w| w.len() as usize,
    );
}
