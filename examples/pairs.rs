//! Relations to many: creatures that remember each other, and a spell that binds some of them.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin pairs
//! ```
#![allow(clippy::missing_assert_message, reason = "the lines above say it")]

use phalanx::prelude::*;

/// A source has any number of targets, and the value of each pair is plain data.
#[relation(many)]
struct Remembers {
    grudge: f32,
}

/// A pair without data. A spell ends with any of its targets.
#[relation(many, on_delete = despawn)]
struct Binds;

#[component]
struct Anger(f32);

/// Each is as angry as its grudges are great.
fn anger(mut all: Query<(&mut Anger, &Remembers)>) {
    for (anger, remembered) in all.rows_mut() {
        anger.0 = remembered.values().iter().map(|one| one.grudge).sum();
    }
}

/// Calms each creature that remembers one, and looks at no other.
fn calm(creature: Entity, memory: &Pairs<Remembers>, all: &mut Query<&mut Anger>) {
    memory.for_each_of(creature, all, |anger| anger.0 *= 0.5);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new();
    let [orc, elf, troll] = [(); 3].map(|()| world.spawn(Anger(0.0)));
    world.insert(orc, Remembers { grudge: 2.0 }.of(elf))?;
    world.insert(orc, Remembers { grudge: 4.0 }.of(troll))?;
    world.insert(troll, Remembers { grudge: 8.0 }.of(troll))?;
    let spell = world.spawn(Targets::from([(elf, Binds), (troll, Binds)]));

    world.run(anger);
    assert_eq!(world.get::<Anger>(orc)?.0, 6.0);
    world.run(move |memory: Pairs<Remembers>, mut all: Query<&mut Anger>| {
        calm(troll, &memory, &mut all);
    });
    assert_eq!((world.get::<Anger>(orc)?.0, world.get::<Anger>(troll)?.0), (3.0, 4.0));

    // One value is written and one pair removed. A pair with a dead target is refused.
    world.get_mut::<Remembers>(orc)?.get_mut(elf).ok_or("it remembers")?.grudge += 1.0;
    world.get_mut::<Remembers>(orc)?.remove(troll);
    assert_eq!(world.relation::<Remembers>().sources(troll), [troll]);
    println!("{}", world.insert(elf, Binds.of(Entity::NULL)).expect_err("no entity"));

    world.despawn(elf)?;
    assert!(!world.contains(spell) && !world.has::<Remembers>(orc));
    println!("{} pair is left", world.relation::<Remembers>().len());
    Ok(())
}
