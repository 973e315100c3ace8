use super::*;
use crate::passing::{Groups, passing};

/// A tag of all entities that is enabled and disabled, and one that comes and goes, in the tables
/// or beside them.
pub(crate) fn toggle(h: &mut Harness, n: usize) {
    let (w, e) = spawned(n);
    w.component::<New>().add_trait::<flecs::CanToggle>();
    e.iter().for_each(|&e| _ = w.entity_from_id(e).add(New::id()).disable(New::id()));
    passing(
        h,
        "CanToggle",
        Groups::Halves,
        (w, e),
        |w, passed| {
            passed.to.iter().for_each(|&e| _ = w.entity_from_id(e).enable(New::id()));
            passed.from.iter().for_each(|&e| _ = w.entity_from_id(e).disable(New::id()));
        },
        |w, e| (x(w, e), w.entity_from_id(e).is_enabled(New::id()).then_some(0.0)),
        tagged,
    );
    for in_tables in [true, false] {
        let (w, e) = spawned(n);
        let tag = w.component::<New>();
        if !in_tables {
            tag.add_trait::<flecs::DontFragment>();
        }
        passing(
            h,
            if in_tables { "" } else { "DontFragment" },
            Groups::Halves,
            (w, e),
            |w, passed| {
                passed.to.iter().for_each(|&e| _ = w.entity_from_id(e).add(New::id()));
                passed.from.iter().for_each(|&e| _ = w.entity_from_id(e).remove(New::id()));
            },
            |w, e| (x(w, e), w.entity_from_id(e).has(New::id()).then_some(0.0)),
            tagged,
        );
    }
}

fn tagged(w: &mut World) -> usize {
    let tagged = w.query::<()>().with(New::id()).build().count();
    usize::try_from(tagged).expect("not negative")
}

/// A component beside the tables, or in them.
pub(crate) fn sparse(h: &mut Harness, n: usize) {
    for in_tables in [false, true] {
        let (w, e) = spawned(n);
        let data = w.component::<Data>();
        if !in_tables {
            data.add_trait::<flecs::DontFragment>();
        }
        passing(
            h,
            if in_tables { "" } else { "DontFragment" },
            Groups::Random,
            (w, e),
            |w, passed| {
                for &e in passed.to {
                    w.entity_from_id(e).set(Data(passed.value));
                }
                passed.from.iter().for_each(|&e| _ = w.entity_from_id(e).remove(Data::id()));
            },
            |w, e| (x(w, e), w.entity_from_id(e).try_get::<&Data>(|data| data.0)),
            |w| w.new_query::<&Data>().count() as usize,
        );
    }
}

fn spawned(n: usize) -> (World, Vec<Entity>) {
    let w = World::new();
    let p: Vec<Position> = (0..n).map(|i| Position::new(pos0(i))).collect();
    let e = w.entity_bulk(n as u32).set(&p).build();
    (w, e)
}

fn x(w: &World, e: Entity) -> f32 {
    w.entity_from_id(e).get::<&Position>(|p| p.x)
}
