//! A call that is refused, for any reason, leaves the version and the hash of the world unchanged.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::LookupMut;
use phalanx::chunks::PerChunk;
use phalanx::prelude::*;
use phalanx::snapshot::Snapshot;

use crate::common::components::{Four, Link, Number, Tag, Text, Twelve, sound};

#[component(name = "taken")]
#[derive(Debug, PartialEq)]
struct Owner(u32);
#[component(enableable, name = "taken switch")]
struct OwnerSwitch;
#[component(enableable)]
struct Awake;
#[component(cleanup)]
struct Sound(u32);
#[component]
struct Fresh(u32);
#[component]
struct FreshTag;
/// A row with two of them does not fit a chunk of 4 KiB.
#[component]
struct Wide([u8; 3000]);
#[component]
struct Wider([u8; 3000]);
#[component]
struct Bounds(u32);

/// Second types with names that a world has already.
mod impostor {
    use phalanx::prelude::*;

    #[component(name = "taken")]
    #[derive(Debug, PartialEq)]
    pub(super) struct Owner(pub(super) u32);
    #[component(enableable, name = "taken switch")]
    pub(super) struct Switch;
}

use impostor::{Owner as Impostor, Switch as ImpostorSwitch};

/// A world with entities of each state.
struct Scene {
    world: World,
    /// Has `Four`, `Owner`, a shared and a sparse value.
    one: Entity,
    other: Entity,
    /// Despawned.
    dead: Entity,
    /// Despawned, with a cleanup component left.
    gone: Entity,
    prototype: Entity,
    wide: Entity,
}

fn scene() -> Scene {
    scene_of(World::builder().chunk_size(ChunkSize::KIB_4))
}

fn scene_of(builder: phalanx::WorldBuilder) -> Scene {
    let mut world = builder.build();
    let one = world.spawn((Four(1), Owner(1), OwnerSwitch));
    let other = world.spawn((Four(2), Twelve([1; 3])));
    world.insert_shared(one, 7_u64).unwrap();
    world.insert(one, Text::from("one")).unwrap();
    let [dead, gone] = [world.spawn(Four(3)), world.spawn((Four(4), Sound(1)))];
    let prototype = world.spawn((Tag, Sound(2)));
    let wide = world.spawn(Wide([0; 3000]));
    assert_eq!(world.despawn_batch(&[dead, gone]), 2);
    Scene { world, one, other, dead, gone, prototype, wide }
}

/// Whether a call was refused: it returned an error, or panicked.
trait Refusal {
    fn is_refusal(&self) -> bool;
}

macro_rules! never {
    ($($type:ty),*) => { $(impl Refusal for $type {
        fn is_refusal(&self) -> bool {
            false
        }
    })* };
}

never!((), usize, Entity);

impl<T, E> Refusal for Result<T, E> {
    fn is_refusal(&self) -> bool {
        self.is_err()
    }
}

#[track_caller]
fn assert_refused<R: Refusal>(name: &str, scene: &mut Scene, call: impl FnOnce(&mut Scene) -> R) {
    let before = (scene.world.version(), scene.world.hash());
    let result = catch_unwind(AssertUnwindSafe(|| call(scene).is_refusal()));
    assert!(result.unwrap_or(true), "{name} is not refused");
    assert_eq!(scene.world.version(), before.0, "{name} advances the clock");
    assert_eq!(scene.world.hash(), before.1, "{name} changes the hash");
    sound(&scene.world);
}

/// Makes each call in a world of its own, and again in the same world.
macro_rules! refused {
    ($scene:expr; $($name:literal => |$s:ident| $call:expr;)*) => { $({
        let mut scene: Scene = $scene;
        for _ in 0..2 {
            assert_refused($name, &mut scene, |$s| $call);
        }
    })* };
}

#[test]
fn passes_that_name_a_second_type_of_one_name() {
    refused! { scene();
        "query_mut().iter_mut()" => |s| s.world.query_mut::<&mut Impostor>().iter_mut().for_each(drop);
        "query_mut().rows()" => |s| s.world.query_mut::<(&mut Four, &mut Impostor)>().rows().for_each(drop);
        "an optional one" => |s| s.world.query_mut::<(&mut Four, Option<&Impostor>)>().rows().for_each(drop);
        "a filter" => |s| s.world.query_mut::<&mut Four>().with::<Impostor>().rows().for_each(drop);
        "without" => |s| s.world.query_mut::<&mut Four>().without::<Impostor>().rows().for_each(drop);
        "chunks()" => |s| s.world.query_mut::<&mut Impostor>().chunks().for_each(drop);
        "contiguous_chunks()" => |s| s.world.query_mut::<&mut Impostor>().contiguous_chunks().for_each(drop);
        "masked()" => |s| s.world.query_mut::<&mut Impostor>().masked().for_each(drop);
        "padded()" => |s| s.world.query_mut::<&mut Impostor>().padded().iter_mut().for_each(drop);
        "for_each_chunk()" => |s| s.world.query_mut::<&mut Impostor>().for_each_chunk(|_| ());
        "par_for_each_chunk()" => |s| s.world.query_mut::<&mut Impostor>().par().for_each_chunk(|_| ());
        "par_chunks()" => |s| drop(s.world.query_mut::<&mut Impostor>().par().chunks());
        "single()" => |s| s.world.query_mut::<&mut Impostor>().single().map(drop);
        "scatter()" => |s| s.world.query_mut::<&mut Impostor>().scatter(&[Impostor(1)]);
        "query_mut().get_mut()" => |s| s.world.query_mut::<&mut Impostor>().get_mut(s.one).map(drop);
        "lookup_mut()" => |s| s.world.query_mut::<&mut Impostor>().lookup_mut().get_mut(s.one).map(|_| ());
        "World::lookup_mut" => |s| drop(s.world.lookup_mut::<Impostor>());
        "World::get_mut" => |s| s.world.get_mut::<Impostor>(s.one).map(drop);
        "World::get_disjoint_mut" => |s| s.world.get_disjoint_mut::<Impostor, 1>([s.one]).map(drop);
        "retain" => |s| s.world.matching::<&mut Impostor>().retain(|_, _| ());
        "flip" => |s| s.world.flip::<Impostor>();
        "set_enabled" => |s| s.world.set_enabled::<ImpostorSwitch>(s.one, false);
        "matching().disable()" => |s| s.world.matching::<&Four>().disable::<ImpostorSwitch>();
        "LookupMut in a system" => |s| {
            let mut schedule = Schedule::new();
            schedule.add(|_: LookupMut<Impostor>| ());
            schedule.run(&mut s.world)
        };
        "Query in a system" => |s| {
            let mut schedule = Schedule::new();
            schedule.add((|q: Query<&mut Four>| drop(q), |q: Query<&mut Impostor>| drop(q)));
            schedule.run(&mut s.world)
        };
    }
}

#[test]
fn structural_changes_with_a_second_type_of_one_name() {
    refused! { scene();
        "spawn" => |s| s.world.spawn(Impostor(1));
        "try_spawn" => |s| s.world.try_spawn((Fresh(1), Impostor(1))).map(drop);
        "spawn_at" => |s| s.world.spawn_at(s.dead, Impostor(1));
        "spawn_batch" => |s| s.world.spawn_batch([Impostor(1)]).len();
        "spawn_columns" => |s| s.world.spawn_columns(&[Impostor(1)][..]).map(drop);
        "reserve" => |s| s.world.reserve::<(Fresh, Impostor)>(1);
        "insert" => |s| s.world.insert(s.one, Impostor(1));
        "remove" => |s| s.world.remove::<Impostor>(s.one).map(drop);
        "exchange" => |s| s.world.exchange::<Four, _>(s.one, Impostor(1)).map(drop);
        "exchange of one" => |s| s.world.exchange::<Impostor, _>(s.one, Fresh(1)).map(drop);
        "matching().insert()" => |s| s.world.matching::<&Four>().insert(Impostor(1)).map(drop);
        "matching().remove()" => |s| s.world.matching::<&Four>().remove::<Impostor>();
        "matching a second type" => |s| s.world.matching::<&Impostor>().despawn();
        "register" => |s| s.world.register::<(Fresh, Impostor)>();
        "merge" => |s| {
            let mut other = World::builder().chunk_size(ChunkSize::KIB_4).build();
            other.spawn(Impostor(1));
            s.world.merge(other).map(drop)
        };
        "move_from" => |s| {
            let mut other = World::builder().chunk_size(ChunkSize::KIB_4).build();
            other.spawn(Impostor(1));
            s.world.move_from(other.matching::<Entity>()).map(drop)
        };
    }
}

#[test]
fn calls_on_an_entity_that_is_not_alive_or_lacks_what_is_asked_for() {
    for entity in
        [|s: &Scene| s.dead, |s: &Scene| s.gone, |_: &Scene| Entity::NULL, |s: &Scene| s.other]
    {
        let is_other = entity(&scene()) == scene().other;
        refused! { scene();
            "remove" => |s| s.world.remove::<Owner>(entity(s)).map(drop);
            "exchange" => |s| s.world.exchange::<Owner, _>(entity(s), Fresh(1)).map(drop);
            "get_mut" => |s| s.world.get_mut::<Owner>(entity(s)).map(drop);
            "get_disjoint_mut" => |s| s.world.get_disjoint_mut::<Owner, 2>([s.one, entity(s)]).map(drop);
            "set_enabled" => |s| s.world.set_enabled::<Awake>(entity(s), false);
            "remove_shared" => |s| s.world.remove_shared::<u64>(entity(s));
            "query_mut().get_mut()" => |s| {
                let entity = entity(s);
                s.world.query_mut::<&mut Owner>().get_mut(entity).map(drop)
            };
            "reflect_mut().insert()" => |s| {
                let entity = entity(s);
                s.world.reflect_mut().insert(entity, [("taken", &[1][..])])
            };
            "reflect_mut().remove()" => |s| {
                let entity = entity(s);
                s.world.reflect_mut().remove(entity, ["no such component"])
            };
        }
        if is_other {
            continue;
        }
        refused! { scene();
            "despawn" => |s| s.world.despawn(entity(s));
            "insert" => |s| s.world.insert(entity(s), (Four(1), Fresh(1)));
            "insert_shared" => |s| s.world.insert_shared(entity(s), 8_u64);
            "insert sparse" => |s| s.world.insert(entity(s), Number(8));
            "reflect_mut().insert() of a value" => |s| {
                let entity = entity(s);
                s.world.reflect_mut().insert(entity, [("taken", &[1; 4][..])])
            };
            "instantiate" => |s| s.world.instantiate(entity(s), 3).map(drop);
        }
    }
    refused! { scene();
        "an entity twice" => |s| s.world.get_disjoint_mut::<Owner, 2>([s.one; 2]).map(drop);
        "an id that is taken" => |s| s.world.spawn_at(s.one, (Fresh(1), Four(1)));
        "the null id" => |s| s.world.spawn_at(Entity::NULL, Fresh(1));
        "an id that is far" => |s| s.world.spawn_at(Entity::from_bits(4_000_000_000 << 32 | 1), Fresh(1));
        "single() of two" => |s| s.world.query_mut::<&mut Four>().single().map(drop);
        "scatter() of one to two" => |s| s.world.query_mut::<&mut Four>().scatter(&[Four(1)]);
        "columns of two lengths" => |s| {
            s.world.spawn_columns((&[Fresh(1)][..], &[Four(1); 2][..])).map(drop)
        };
    }
}

#[test]
fn rows_that_fit_no_chunk() {
    let pair = || (Wide([0; 3000]), Wider([0; 3000]));
    refused! { scene();
        "spawn" => |s| s.world.spawn(pair());
        "try_spawn" => |s| s.world.try_spawn(pair()).map(drop);
        "spawn_at" => |s| s.world.spawn_at(s.dead, pair());
        "try_spawn_batch" => |s| s.world.try_spawn_batch([pair()]).map(drop);
        "reserve" => |s| s.world.reserve::<(Wide, Wider)>(1);
        "insert" => |s| s.world.insert(s.wide, Wider([0; 3000]));
        "exchange" => |s| s.world.exchange::<Four, _>(s.one, pair()).map(drop);
        "matching().insert()" => |s| s.world.matching::<Entity>().insert(Wider([0; 3000])).map(drop);
        "flip" => |s| s.world.flip::<Wide>();
    }
}

#[test]
fn ids_and_memory_that_are_used_up() {
    let few = || scene_of(World::builder().chunk_size(ChunkSize::KIB_4).entities_max(6));
    let full = || {
        let mut scene = few();
        while scene.world.try_spawn(Four(9)).is_ok() {}
        scene
    };
    refused! { full();
        "spawn" => |s| s.world.spawn(Fresh(1));
        "try_spawn" => |s| s.world.try_spawn((Fresh(1), Four(1))).map(drop);
        "try_spawn_batch" => |s| s.world.try_spawn_batch([FreshTag; 3]).map(drop);
        "spawn_columns" => |s| s.world.spawn_columns(&[Fresh(1); 3][..]).map(drop);
        "spawn_at above the limit" => |s| s.world.spawn_at(Entity::from_bits(7 << 32 | 1), Fresh(1));
        "instantiate" => |s| s.world.instantiate(s.one, 1).map(drop);
        "instantiate of a part" => |s| s.world.instantiate(s.prototype, 1).map(drop);
        "reserve" => |s| s.world.reserve::<Fresh>(1);
        "merge" => |s| {
            let mut other = World::builder().chunk_size(ChunkSize::KIB_4).build();
            other.spawn(FreshTag);
            s.world.merge(other).map(drop)
        };
    }
    let poor =
        || scene_of(World::builder().chunk_size(ChunkSize::KIB_4).request_bytes_max(1 << 16));
    refused! { poor();
        "spawn_batch without an end" => |s| s.world.spawn_batch((0..).map(Fresh)).len();
        "spawn_columns" => |s| s.world.spawn_columns(&vec![Fresh(1); 100_000][..]).map(drop);
        "instantiate" => |s| s.world.instantiate(s.one, 100_000).map(drop);
        "instantiate of a part" => |s| s.world.instantiate(s.prototype, 100_000).map(drop);
        "reserve" => |s| s.world.reserve::<Fresh>(100_000);
    }
}

#[test]
fn code_of_the_caller_that_panics_before_anything_has_changed() {
    fn stop(_: &Bounds) -> bool {
        panic!("stop")
    }
    let with_value = || {
        let mut scene = scene();
        scene.world.insert(scene.one, PerChunk::<Bounds>::default()).unwrap();
        scene
    };
    refused! { with_value();
        "an iterator, at once" => |s| {
            let never = core::iter::from_fn(|| -> Option<Fresh> { panic!("stop") });
            s.world.spawn_batch(never).len()
        };
        "an iterator, later" => |s| s.world.spawn_batch((0..3000).map(|n| {
            assert!(n < 2000, "stop");
            (Fresh(n), FreshTag)
        })).len();
        "where_chunk() of a change" => |s| s.world.matching::<&Four>().where_chunk::<Bounds, _>(stop).insert(Fresh(1)).map(drop);
        "where_chunk() of a removal" => |s| s.world.matching::<&Four>().where_chunk::<Bounds, _>(stop).remove::<Four>();
        "where_chunk() of a despawn" => |s| s.world.matching::<&Four>().where_chunk::<Bounds, _>(stop).despawn();
        "where_chunk() of a switch" => |s| s.world.matching::<&Four>().where_chunk::<Bounds, _>(stop).disable::<OwnerSwitch>();
        "where_chunk() of a row" => |s| s.world.query_mut::<&mut Four>().where_chunk::<Bounds, _>(stop).get_mut(s.one).map(drop);
        "where_chunk() of single()" => |s| s.world.query_mut::<&mut Four>().where_chunk::<Bounds, _>(stop).single().map(drop);
        "where_chunk() of scatter()" => |s| s.world.query_mut::<&mut Four>().where_chunk::<Bounds, _>(stop).scatter(&[Four(1)]);
    }
}

#[test]
fn what_belongs_to_another_world() {
    let foreign = || {
        let mut other = World::new();
        let entity = other.spawn(Four(1));
        (other, entity)
    };
    refused! { scene();
        "a snapshot" => |s| s.world.restore(&foreign().0.snapshot().unwrap());
        "a snapshot that was never taken" => |s| s.world.restore(&Snapshot::new());
        "a command buffer" => |s| {
            let (mut other, _) = foreign();
            let mut buffer = other.command_buffer(1).unwrap();
            buffer.spawn(Fresh(1));
            s.world.apply(&mut buffer)
        };
        "a schedule" => |s| {
            let mut schedule = Schedule::new();
            schedule.add(|q: Query<&mut Four>| q.rows().for_each(drop));
            schedule.run(&mut foreign().0).unwrap();
            schedule.run(&mut s.world)
        };
        "a schedule in a circle" => |s| {
            let mut schedule = Schedule::new();
            schedule.add(|q: Query<&mut Four>| q.rows().for_each(drop)).named("a").after("b");
            schedule.add(|q: Query<&mut Four>| q.rows().for_each(drop)).named("b").after("a");
            schedule.run(&mut s.world)
        };
        "a schedule with an unknown name" => |s| {
            let mut schedule = Schedule::new();
            schedule.add(|q: Query<&mut Four>| q.rows().for_each(drop)).after("nothing");
            schedule.run(&mut s.world)
        };
        "a world with other chunks" => |s| s.world.merge(foreign().0).map(drop);
        "entities of one" => |s| s.world.move_from(foreign().0.matching::<Entity>()).map(drop);
    }
}

#[test]
fn commands_that_are_refused() {
    refused! { scene();
        "insert" => |s| {
            let mut buffer = s.world.command_buffer(0).unwrap();
            buffer.insert(s.dead, Fresh(1));
            buffer.insert(s.gone, Link(s.one));
            buffer.remove::<Owner>(s.dead);
            buffer.insert(s.one, Impostor(1));
            buffer.insert(s.wide, Wider([0; 3000]));
            s.world.apply(&mut buffer)
        };
    }
}
