//! `World::move_from`: the entities of another world that a query matches, with everything that
//! belongs to them.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use phalanx::error::{MergeErrorKind, OutOfIds};
use phalanx::prelude::*;
use phalanx::{Merged, Previous};

use crate::common::components::{Byte, Four, Hundred, Link, Serial, Tag, sound};
use crate::common::components::{Number, small_world};
use crate::common::world;
use crate::merge::{Awake, Bomb, Handle, Nearest, Pooled, addresses, all, filled, told};
use crate::sparse::Drops;

type Moving = Result<Merged, MergeErrorKind>;

/// Moves the matches of a query, and compares every entity of both worlds with its former state.
#[track_caller]
pub(crate) fn move_checked(
    world: &mut World,
    other: &mut World,
    which: &BTreeSet<Entity>,
    go: impl FnOnce(&mut World, &mut World) -> Moving,
) -> Merged {
    let (ours, theirs) = (all(world), all(other));
    assert!(which.is_subset(&theirs), "they are there");
    let some = if cfg!(miri) { 1 + (ours.len() + theirs.len()) / 40 } else { 1 };
    let same = |entity| entity;
    let before: Vec<_> = ours.iter().step_by(some).map(|&e| (e, told(world, e, &same))).collect();
    let was: Vec<_> = theirs.iter().step_by(some).map(|&e| (e, told(other, e, &same))).collect();
    let (stay, ended): (Vec<Entity>, Vec<Entity>) = theirs.iter().partition(|e| !which.contains(e));
    let ended: BTreeSet<_> = ended.into_iter().filter(|&e| other.contains(e)).collect();
    let versions = [world.version(), other.version()];
    let lens = [world.len() + which.len(), other.len() - which.len()];
    let mut despawned = other.cursor::<Despawns>();
    let moved = go(world, other).expect("they fit");
    sound(world);
    sound(other);
    assert_eq!([world.len(), other.len()], lens);
    assert_eq!((moved.len(), moved.iter().count()), (which.len(), which.len()));
    assert!(all(other).into_iter().eq(stay.iter().copied()));
    assert_eq!(despawned.read(other).iter().copied().collect::<BTreeSet<_>>(), ended);
    for (entity, was) in before {
        assert_eq!(told(world, entity, &same), was, "{entity} was here before");
    }
    let mut new = BTreeSet::new();
    for (old, mut was) in was {
        let Some(entity) = moved.get(old) else {
            assert!(!which.contains(&old));
            assert_eq!(told(other, old, &same), was, "{old} has stayed");
            continue;
        };
        assert!(which.contains(&old) && !other.contains(old), "{old} has left");
        assert!(new.insert(entity) && !ours.contains(&entity), "{entity} is new");
        was.links.iter_mut().for_each(|link| *link = moved.get(*link).unwrap_or(Entity::NULL));
        assert_eq!(told(world, entity, &same), was, "{old} is {entity}");
    }
    let arrived = |world: &World, since| -> BTreeSet<_> {
        world.query::<Entity>().filter_since::<(IncludeHidden, Arrived)>(since).rows().collect()
    };
    assert!(new.is_subset(&arrived(world, versions[0])), "all that comes is new");
    assert!(arrived(world, world.version()).is_empty(), "once");
    let changed =
        other.query::<&Four>().filter::<IncludeHidden>().changed_since::<Four>(versions[1]);
    assert_eq!(changed.count_rows(), 0, "what stays does not change");
    moved
}

/// The entities that a query sees in a world, and the call that moves them.
macro_rules! moved {
    ($world:expr, $other:expr, $terms:ty $(, $filter:ident $(<$($t:ty),+>)? ($($arg:expr)?))*) => {{
        let seen = $other.query::<(Entity, $terms)>()$(.$filter$(::<$($t),+>)?($($arg)?))*;
        let which = seen.rows().map(|(entity, _)| entity).collect();
        $crate::move_from::move_checked($world, $other, &which, |world, other| {
            world.move_from(other.matching::<$terms>()$(.$filter$(::<$($t),+>)?($($arg)?))*)
        })
    }};
}
pub(crate) use moved;

#[test]
fn references_within_follow_and_those_that_leave_are_null() {
    let (mut world, mut other) = (world(), world());
    world.spawn_batch([Byte(0); 100]);
    let [stays, comes] = [other.spawn(Serial(0)), other.spawn((Serial(1), Tag))];
    let dead = other.spawn(());
    other.despawn(dead).unwrap();
    let links = [stays, comes, dead, Entity::NULL].map(|to| other.spawn((Link(to), Tag)));
    let [back, none] = [comes, stays].map(|to| other.spawn(Link(to)));
    let moved = moved!(&mut world, &mut other, Entity, with<Tag>());
    let to = links.map(|link| world.get::<Link>(moved.get(link).unwrap()).unwrap().0);
    assert_eq!(to, [Entity::NULL, moved.get(comes).unwrap(), Entity::NULL, Entity::NULL]);
    // Remaining entities keep their ids; one has the id of an entity that has left.
    assert_eq!(other.get::<Link>(none), Ok(&Link(stays)));
    assert_eq!(other.get::<Link>(back), Ok(&Link(comes)));
    assert!(!other.contains(comes) && moved.get(stays).is_none());
    let reused: Vec<_> = other.spawn_batch([(); 6]).to_vec();
    assert!(reused.iter().any(|new| new.index() == comes.index()) && !reused.contains(&comes));
}

#[test]
fn everything_is_a_merge() {
    let rows = if cfg!(miri) { 300 } else { 10_000 };
    for reversed in [false, true] {
        let [mut moving, mut merging] = [(); 2].map(|()| filled(500, false).0);
        let [(mut other, _), (whole, _)] = [(); 2].map(|()| filled(rows, reversed));
        let theirs = addresses::<Four>(&other);
        let merged = merging.merge(whole).unwrap();
        let moved = moved!(&mut moving, &mut other, Entity);
        assert!(moved.iter().eq(merged.iter()));
        assert_eq!(moving.hash(), merging.hash());
        assert_eq!(format!("{moved:?}"), format!("{merged:?}"));
        let same = addresses::<Four>(&moving).intersection(&theirs).count();
        if theirs.len() > 8 {
            assert_eq!(same + 4 > theirs.len(), !reversed, "chunks change owner");
        }
        assert!(other.is_empty() && other.memory().slab_bytes == 0);
        // The other world remains usable, and so does a world that receives no entity.
        other.spawn_batch((0..rows).map(Serial));
        assert_eq!(moved!(&mut moving, &mut other, &Tag).len(), 0);
        assert_eq!(moving.hash(), merging.hash());
        sound(&other);
    }
}

#[test]
fn whole_chunks_and_single_rows_leave_gaps_that_are_filled() {
    // Under Miri, `chunks_come_to_extents_of_the_sizes_of_their_new_world` has many chunks.
    let rows = if cfg!(miri) { 60 } else { 6_000 };
    for reversed in [false, true] {
        let (mut world, (mut other, _)) = (small_world(), filled(rows, reversed));
        let awake = other.spawn_batch((0..rows / 2).map(|i| (Awake(i), Four(i)))).to_vec();
        for (i, &entity) in awake.iter().enumerate().filter(|(i, _)| i % 3 == 0 || i % 50 < 20) {
            other.set_enabled::<Awake>(entity, i % 150 == 0).unwrap();
        }
        // The rows of a chunk with a written column, for every chunk size.
        let version = other.version();
        for i in [0, awake.len() / 2] {
            other.get_mut::<Awake>(awake[i]).unwrap().0 = 5;
        }
        moved!(&mut world, &mut other, &Awake, changed_since<Awake>(version), filter<IgnoreEnabled>());
        moved!(&mut world, &mut other, &Awake);
        let disabled = other.query::<Entity>().filter::<WithDisabled<Awake>>().count_rows();
        assert_eq!(disabled, other.query::<&Awake>().filter::<IgnoreEnabled>().count_rows());
        moved!(&mut world, &mut other, Entity, filter<WithDisabled<Awake>>());
        moved!(&mut world, &mut other, &Hundred);
        let left = moved!(&mut world, &mut other, &Link);
        assert!(other.is_empty() && !left.is_empty());
        // And back, in two steps.
        moved!(&mut other, &mut world, &Four, without<Awake>());
        moved!(&mut other, &mut world, &Awake, filter<IgnoreEnabled>());
        assert!(world.is_empty());
    }
}

#[test]
fn enabled_rows_come_alone_and_stay_enabled() {
    let (mut world, mut other) = (world(), world());
    let old = other.spawn_batch((0..40).map(Awake)).to_vec();
    for &entity in &old[..30] {
        other.set_enabled::<Awake>(entity, false).unwrap();
    }
    let moved = moved!(&mut world, &mut other, &Awake);
    assert_eq!((moved.len(), other.len()), (10, 30));
    assert_eq!(world.query::<&Awake>().rows().map(|awake| awake.0).sum::<u32>(), (30..40).sum());
    moved!(&mut world, &mut other, Entity, filter<WithDisabled<Awake>>());
    assert_eq!(world.query::<&Awake>().count_rows(), 10);
    assert_eq!(world.query::<&Awake>().filter::<IgnoreEnabled>().count_rows(), 40);
}

#[test]
fn hidden_and_gone_entities_come_if_the_query_sees_them() {
    let (mut world, mut other) = (world(), world());
    let hidden = other.spawn((Serial(1), Pooled));
    let [gone, tracked] = [2, 3].map(|i| other.spawn((Handle(i), Serial(i))));
    other.despawn(gone).unwrap();
    let mut removed = other.cursor::<Removals<Handle>>();
    let moved = moved!(&mut world, &mut other, &Serial);
    assert!(moved.get(hidden).is_none() && moved.get(gone).is_none());
    assert_eq!(removed.read(&other).0, [tracked], "no cleanup component stays");
    let moved = moved!(&mut world, &mut other, Entity, filter<IncludeHidden>());
    let [hidden, gone] = [hidden, gone].map(|old| moved.get(old).unwrap());
    assert!(world.contains(hidden) && !world.contains(gone));
    assert_eq!(world.query::<&Handle>().with::<Gone>().count_rows(), 1);
    assert_eq!(world.remove::<Handle>(gone), Ok(Handle(2)));
    assert_eq!((world.len(), other.len()), (2, 0));
    sound(&world);
}

#[test]
fn removed_values_are_read_as_they_were_and_arrivals_as_they_are() {
    let (mut world, mut other) = (world(), world());
    let (mut removed, mut inserted) =
        (other.cursor::<Removals<Link>>(), world.cursor::<Insertions<Link>>());
    let old = other.spawn_batch((0..5).map(|_| (Link(Entity::NULL), Tag))).to_vec();
    other.get_mut::<Link>(old[0]).unwrap().0 = old[4];
    other.spawn(Link(old[1]));
    let moved = moved!(&mut world, &mut other, &Link, with<Tag>());
    let new: Vec<_> = old.iter().map(|&old| moved.get(old).unwrap()).collect();
    let (entities, values) = removed.read(&other);
    assert_eq!((entities, values[0].0), (&old[..], old[4]));
    let (entities, values) = inserted.read(&world);
    assert_eq!((entities, values[0].0), (&new[..], new[4]));
    assert!(removed.read(&other).0.is_empty() && inserted.read(&world).0.is_empty());
}

#[test]
fn a_shared_value_may_be_in_both_worlds_and_ends_with_its_last_entity() {
    let (mut world, mut other) = (world(), world());
    let (oak, birch) = (Arc::new(7), Arc::new(8));
    let ours = world.spawn(Serial(0));
    world.insert_shared(ours, Arc::new(8)).unwrap();
    let old = [0, 1, 2, 3].map(|i| other.spawn(Serial(i)));
    for (i, value) in [&oak, &oak, &birch].into_iter().enumerate() {
        other.insert_shared(old[i], Arc::clone(value)).unwrap();
    }
    other.insert(old[0], Tag).unwrap();
    other.insert(old[2], Tag).unwrap();
    let moved = moved!(&mut world, &mut other, &Serial, with<Tag>());
    assert_eq!([&oak, &birch].map(Arc::strong_count), [2, 1], "one is in both, one was here");
    assert_eq!(world.query::<&Serial>().where_shared(&birch).count_rows(), 2);
    assert_eq!(other.shared::<Arc<i32>>().iter().count(), 1);
    world.despawn(moved.get(old[0]).unwrap()).unwrap();
    assert_eq!(other.shared::<Arc<i32>>().get(old[1]), Ok(&oak));
    moved!(&mut world, &mut other, &Serial, where_shared<_>(&oak));
    assert_eq!(other.shared::<Arc<i32>>().iter().count(), 0);
    drop(other);
    assert_eq!(Arc::strong_count(&oak), 2);
    drop(world);
    assert_eq!(Arc::strong_count(&oak), 1);
}

#[test]
fn sparse_components_follow_their_entities_and_others_stay() {
    let (drops, mut world, mut other) = (Drops::default(), world(), world());
    let old = [1, 2, 3].map(|i| {
        let entity = other.spawn(Serial(i));
        other.sparse_mut().insert(entity, drops.value(i)).unwrap();
        other.insert(entity, Number(i)).unwrap();
        entity
    });
    other.insert(old[1], Tag).unwrap();
    let moved = moved!(&mut world, &mut other, Entity, with<Tag>());
    let new = moved.get(old[1]).unwrap();
    assert_eq!(
        (world.sparse().get(new), other.sparse::<Number>().get(old[1])),
        (Some(&Number(2)), None)
    );
    assert_eq!(other.sparse().get(old[2]), Some(&Number(3)));
    assert_eq!(drops.take(), []);
    world.despawn(new).unwrap();
    assert_eq!(drops.take(), [2]);
    drop(other);
    assert_eq!(drops.take(), [1, 3]);
}

#[test]
fn values_of_chunks_come_with_their_chunks() {
    let (mut world, mut other) = (world(), world());
    let [near, far] = [other.spawn(Tag), other.spawn(())];
    other.spawn_batch((0..9).map(|i| (PerChunk::<Nearest>::TAG, Serial(i), Tag)));
    other.spawn_batch((0..9).map(|i| (PerChunk::<Nearest>::TAG, Byte(i), Tag)));
    for (mut nearest, serial) in other.query_mut::<(PerChunkMut<Nearest>, Option<&Serial>)>() {
        nearest.entity = if serial.is_some() { near } else { far };
    }
    let moved = moved!(&mut world, &mut other, Entity, with<Tag>());
    let of = |world: &World| -> BTreeSet<_> {
        world.query::<PerChunk<Nearest>>().iter().map(|nearest| nearest.entity).collect()
    };
    assert_eq!(of(&world), [moved.get(near).unwrap(), Entity::NULL].into());
    assert!(of(&other).is_empty() && other.contains(far));
}

#[test]
fn both_buffers_and_columns_that_were_exchanged_are_moved() {
    let (mut world, mut other) = (world(), world());
    let [a, linked] = [other.spawn((Serial(1), Tag)), other.spawn((Serial(2), Tag))];
    other.insert(linked, Link(a)).unwrap();
    other.flip::<Link>().unwrap();
    other.get_mut::<Link>(linked).unwrap().0 = linked;
    other.spawn(Serial(3));
    let moved = moved!(&mut world, &mut other, &Serial, with<Tag>());
    let [a, linked] = [a, linked].map(|old| moved.get(old).unwrap());
    assert_eq!(world.get::<Link>(linked).unwrap().0, linked);
    assert_eq!(world.get::<Previous<Link>>(linked).unwrap().0.0, a);
}

#[test]
fn a_move_that_is_refused_changes_neither_world() {
    mod taken {
        #[phalanx::component(name = "move_from::mine")]
        #[derive(Debug, PartialEq)]
        pub(super) struct Mine(pub u64);
    }
    #[component(name = "move_from::mine")]
    struct Mine(u32);
    let refuse = |mut world: World, mut other: World| {
        world.spawn_batch((0..3).map(Mine));
        let serial = |i| (Link(Entity::NULL), Serial(i));
        other.spawn_batch((0..30).map(serial));
        let (mut despawned, before) = (other.cursor::<Despawns>(), [world.hash(), other.hash()]);
        let kind = world.move_from(other.matching::<Entity>()).expect_err("it is refused");
        assert_eq!([world.hash(), other.hash()], before);
        assert!(despawned.read(&other).is_empty());
        sound(&world);
        sound(&other);
        // A part may be taken.
        let some = world.move_from(other.matching::<&Serial>()).map(|moved| moved.len());
        (kind, some.ok())
    };
    let small = || World::builder().chunk_size(ChunkSize::KIB_4);
    let (kind, some) = refuse(small().entities_max(20).build(), small().build());
    assert_eq!((kind, some), (MergeErrorKind::Exhausted(OutOfIds::InWorld { limit: 20 }), None));
    let (kind, some) = refuse(small().request_bytes_max(100).build(), small().build());
    assert!(matches!(kind, MergeErrorKind::Memory(_)) && some.is_none(), "{kind}");
    let other = World::builder().chunk_size(ChunkSize::KIB_8).build();
    let (kind, some) = refuse(small().build(), other);
    let sizes = MergeErrorKind::ChunkSize { target: ChunkSize::KIB_4, source: ChunkSize::KIB_8 };
    assert_eq!((kind, some), (sizes, None));
    let mut other = small().build();
    other.spawn(taken::Mine(1));
    let (kind, some) = refuse(small().build(), other);
    let MergeErrorKind::NameTaken(taken) = kind else { panic!("{kind}") };
    assert_eq!((taken.name, some), ("move_from::mine", Some(30)));
}

#[test]
fn a_panic_of_a_mapping_goes_on_when_all_is_done() {
    let (mut world, mut other) = (world(), world());
    let target = other.spawn(Tag);
    other.spawn_batch((0..9).map(|i| (Bomb(target, i), Link(target), Tag)));
    other.insert(target, Number(3)).unwrap();
    other.spawn(Link(target));
    let panic = catch_unwind(AssertUnwindSafe(|| {
        world.move_from(other.matching::<Entity>().with::<Tag>())
    }));
    assert_eq!(panic.unwrap_err().downcast_ref::<&str>(), Some(&"the fifth"));
    sound(&world);
    sound(&other);
    assert_eq!((world.len(), other.len()), (10, 1));
    let target = world.query::<Entity>().without::<Bomb>().rows().next().unwrap();
    assert!(world.query::<&Link>().rows().all(|link| link.0 == target), "other columns are mapped");
    assert_eq!(world.query::<&Bomb>().rows().filter(|bomb| bomb.0 == target).count(), 9);
    assert_eq!((world.sparse().get(target), other.sparse::<Number>().len()), (Some(&Number(3)), 0));
}

#[test]
fn comparisons_that_panic_change_neither_world() {
    struct Never(u32);
    impl std::hash::Hash for Never {
        fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }
    impl PartialEq for Never {
        fn eq(&self, _: &Self) -> bool {
            panic!("never")
        }
    }
    impl Eq for Never {}
    let (mut world, mut other) = (world(), world());
    for world in [&mut world, &mut other] {
        let entity = world.spawn(Serial(1));
        world.insert_shared(entity, Never(1)).unwrap();
    }
    let before = [world.hash(), other.hash()];
    let panic = catch_unwind(AssertUnwindSafe(|| world.move_from(other.matching::<&Serial>())));
    assert!(panic.is_err());
    assert_eq!([world.hash(), other.hash()], before);
    sound(&world);
    sound(&other);
}

#[test]
fn reserved_ids_are_spawned_first_and_loans_stay() {
    let (mut world, mut other) = (world(), world());
    let reserved = other.reserve_entity().unwrap();
    let mut buffer = other.command_buffer(4).unwrap();
    let loaned = buffer.spawn(Serial(1));
    let ours = world.reserve_entity().unwrap();
    let moved = world.move_from(other.matching::<Entity>()).unwrap();
    sound(&world);
    assert!(moved.get(reserved).is_some() && moved.get(loaned).is_none());
    assert!(world.contains(ours) && world.len() == 2);
    other.apply(&mut buffer).unwrap();
    assert_eq!(other.get::<Serial>(loaned), Ok(&Serial(1)));
    sound(&other);
}

#[test]
fn both_worlds_go_back_to_before_a_move() {
    let rows = if cfg!(miri) { 40 } else { 3_000 };
    for tagged in [rows / 2, 0] {
        let [mut world, mut other] = [(); 2].map(|()| small_world());
        world.spawn_batch((0..rows).map(Four));
        other.spawn_batch((0..rows).map(|i| (Four(i), Byte(1))));
        let shared = other.spawn_batch((0..tagged).map(|i| (Serial(i), Tag))).to_vec();
        shared.iter().for_each(|&e| other.insert_shared(e, String::from("oak")).unwrap());
        let states = [&mut world, &mut other].map(|world| world.snapshot().expect("no buffers"));
        let hashes = [world.hash(), other.hash()];
        let mut after = None;
        for _ in 0..3 {
            moved!(&mut world, &mut other, &Four);
            let now = [world.hash(), other.hash()];
            assert_eq!(*after.get_or_insert(now), now, "the same move is the same");
            for (world, state) in [&mut world, &mut other].into_iter().zip(&states) {
                world.restore(state).expect("it is of this world");
                sound(world);
            }
            assert_eq!([world.hash(), other.hash()], hashes);
            moved!(&mut world, &mut other, &Serial);
            for (world, state) in [&mut world, &mut other].into_iter().zip(&states) {
                world.restore(state).expect("it is of this world");
                sound(world);
            }
        }
    }
}

#[test]
fn chunks_come_to_extents_of_the_sizes_of_their_new_world() {
    let (rows, sizes): (u32, &[[u32; 2]]) = match cfg!(miri) {
        true => (110, &[[4, 16]]),
        false => (3000, &[[1, 64], [64, 1], [4, 16]]),
    };
    for &sizes in sizes {
        let hundred = |i| Hundred([i; 25]);
        let [mut world, mut other] = sizes.map(|chunks| {
            let world = World::builder().chunk_size(ChunkSize::KIB_4);
            let mut world = world.extent_chunks_max(chunks).build();
            world.reserve::<Hundred>(rows as usize).unwrap();
            world.spawn_batch((0..rows).map(hundred));
            world.spawn_batch((0..rows).map(|i| (hundred(i), Tag)));
            world
        });
        moved!(&mut world, &mut other, &Hundred, with<Tag>());
        let every: Vec<_> = other.query::<Entity>().rows().step_by(2).collect();
        other.despawn_batch(&every);
        moved!(&mut other, &mut world, &Hundred, without<Tag>());
        for mut world in [world, other] {
            while !world.memory_mut().compact(rows as usize / 4).finished {
                sound(&world);
            }
            world.spawn_batch((0..rows).map(hundred));
            sound(&world);
            world.clear();
            world.memory_mut().compact(0);
            assert_eq!(world.memory().slab_bytes, 0);
        }
    }
}
