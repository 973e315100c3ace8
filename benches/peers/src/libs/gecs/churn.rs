use super::*;
use crate::churn::{self, CHURN_ENTITIES, CHURN_KINDS, kind_of};

pub(crate) fn churn(h: &mut Harness, _: usize) {
    churn::churn(
        h,
        "",
        populated(),
        |w, entities, replaced| {
            for &place in replaced.places {
                assert!(w.destroy(entities[place]));
            }
            for (place, serial, kind) in replaced.births() {
                entities[place] = SPAWN[kind](w, serial);
            }
        },
        |w, e| ecs_find_borrow!(w, e, |p: &Position| p.x).expect("alive"),
        len,
    );
}

fn len(w: &mut EcsWorld) -> usize {
    let mut len = 0;
    ecs_iter!(w, |_: &Position| len += 1);
    len
}

macro_rules! spawns {
    ($(($kind:ident $a:ident $b:ident))*) => {
        [$(|w: &mut EcsWorld, serial| {
            let (p, v) = (Position::new(pos0(serial)), Velocity::new(vel0(serial)));
            w.create::<$kind>((p, v, $a, $b)).into()
        }),*]
    };
}
const SPAWN: [fn(&mut EcsWorld, usize) -> EntityAny; CHURN_KINDS] = with_kinds!(spawns);

fn populated() -> (EcsWorld, Vec<EntityAny>) {
    let mut w = EcsWorld::default();
    let spawn = |serial| SPAWN[kind_of(serial)](&mut w, serial);
    let entities = (0..CHURN_ENTITIES).map(spawn).collect();
    (w, entities)
}

pub(crate) fn spawn_despawn(h: &mut Harness, _: usize) {
    churn::spawn_despawn(
        h,
        "",
        EcsWorld::default(),
        |w, i| w.create::<Body>((Position::new(pos0(i)), Velocity::new(vel0(i)))),
        |w, e| _ = w.destroy(e).expect("alive"),
        |w, e| ecs_find_borrow!(w, e, |p: &Position| p.x).expect("alive"),
        len,
    );
}
