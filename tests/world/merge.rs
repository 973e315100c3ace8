//! `World::merge`: the entities of another world, with everything that belongs to them.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use phalanx::error::{MergeErrorKind, OutOfIds};
use phalanx::prelude::*;
use phalanx::{MapEntities, Merged, Previous};

use crate::common::components::{Byte, Four, Hundred, Link, Serial, Tag, Third, sound};
use crate::common::components::{Number, Owned, small_world};
use crate::common::world;
use crate::sparse::Drops;

/// Ids among other fields; not all of its bytes are a value.
#[component(lines)]
#[derive(Debug, PartialEq)]
pub(crate) struct Group {
    pub(crate) members: [Entity; 3],
    pub(crate) leader: Link,
    pub(crate) is_open: bool,
    pub(crate) pad: [u8; 7],
}
#[component(enableable)]
#[derive(Debug, PartialEq)]
pub(crate) struct Awake(pub(crate) u32);

#[component(hidden)]
pub(crate) struct Pooled;
#[component(cleanup)]
#[derive(Debug, PartialEq)]
pub(crate) struct Handle(pub(crate) u32);

#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Nearest {
    pub(crate) entity: Entity,
}
#[component(split)]
#[derive(Debug, PartialEq)]
pub(crate) struct Edge {
    pub(crate) from: Entity,
    pub(crate) to: Entity,
    pub(crate) length: f32,
}

/// Everything that a world reports of an entity, without its ids.
#[derive(Debug, PartialEq)]
pub(crate) struct Told {
    components: BTreeMap<&'static str, (Vec<u8>, bool)>,
    pub(crate) links: Vec<Entity>,
    shared: Option<String>,
    side: Option<u32>,
}

pub(crate) fn told(world: &World, entity: Entity, map: &dyn Fn(Entity) -> Entity) -> Told {
    let mut links = Vec::new();
    if let Ok(link) = world.get::<Link>(entity) {
        links.push(map(link.0));
    }
    if let Ok(group) = world.get::<Group>(entity) {
        links.extend(group.members.iter().map(|&member| map(member)));
        links.push(map(group.leader.0));
    }
    if let Ok(edge) = world.get::<Edge>(entity) {
        links.extend([map(edge.from), map(edge.to)]);
    }
    let view = world.entity(entity).expect("it is alive");
    let has_ids =
        |name: &str| name.ends_with("Link") || name.contains("Edge.") || name.ends_with("Group");
    // Tags of shared values have names without a meaning.
    let components = view.components().filter(|c| !c.info().name().contains("Shared<"));
    let of = |c: phalanx::reflect::ComponentView<'_>| {
        let bytes = if has_ids(c.info().name()) { &[][..] } else { c.bytes() };
        (c.info().name(), (bytes.to_vec(), c.is_enabled()))
    };
    Told {
        components: components.map(of).collect(),
        links,
        shared: world.shared::<String>().get(entity).ok().cloned(),
        side: world.sparse::<Owned>().get(entity).map(|value| *value.0),
    }
}

/// Every entity of a world, hidden ones too.
pub(crate) fn all(world: &World) -> BTreeSet<Entity> {
    world.query::<Entity>().filter::<IncludeHidden>().rows().collect()
}

/// Merges, and compares every entity with its former state.
#[track_caller]
pub(crate) fn merge_checked(world: &mut World, other: World) -> Merged {
    sound(&other);
    let (ours, theirs) = (all(world), all(&other));
    // Miri looks at a part of them.
    let some = if cfg!(miri) { 1 + (ours.len() + theirs.len()) / 40 } else { 1 };
    let same = |entity| entity;
    let before: Vec<_> = ours.iter().step_by(some).map(|&e| (e, told(world, e, &same))).collect();
    let version = world.version();
    let alive = |entity: Entity| theirs.contains(&entity);
    let was: Vec<_> = theirs.iter().step_by(some).map(|&e| (e, told(&other, e, &same))).collect();
    let len = world.len() + other.len();
    let merged = world.merge(other).expect("they fit");
    sound(world);
    assert_eq!((world.len(), merged.len()), (len, merged.iter().count()));
    for (entity, was) in before {
        assert_eq!(told(world, entity, &same), was, "{entity} was here before");
    }
    let mut new = BTreeSet::new();
    for (old, mut was) in was {
        let entity = merged.get(old).expect("it was alive");
        assert!(new.insert(entity) && !ours.contains(&entity), "{entity} is new");
        let target = |link| if alive(link) { merged.get(link).unwrap() } else { Entity::NULL };
        was.links = was.links.into_iter().map(target).collect();
        assert_eq!(told(world, entity, &same), was, "{old} is {entity}");
    }
    let arrived = |since| -> BTreeSet<_> {
        world.query::<Entity>().filter_since::<(IncludeHidden, Arrived)>(since).rows().collect()
    };
    assert!(new.is_subset(&arrived(version)), "all that comes is new");
    assert!(arrived(world.version()).is_empty(), "once");
    merged
}

/// A world of many chunks. `reversed` chooses the order of its components' ids.
pub(crate) fn filled(rows: u32, reversed: bool) -> (World, Vec<Entity>) {
    let mut world = small_world();
    if reversed {
        world.register::<(Hundred, Link, Four)>();
    }
    let mut all = world.spawn_batch((0..rows).map(|i| (Four(i), Link(Entity::NULL)))).to_vec();
    for i in 0..all.len() {
        world.get_mut::<Link>(all[i]).unwrap().0 = all[all.len() - 1 - i];
    }
    all.extend(world.spawn_batch((0..rows / 3).map(|i| (Four(i), Hundred([i; 25]), Tag))));
    (world, all)
}

/// The addresses of the chunks of a column.
pub(crate) fn addresses<C: Component>(world: &World) -> BTreeSet<usize> {
    world.query::<&C>().iter().map(|column| column.as_ptr().addr()).collect()
}

#[test]
fn chunks_change_owner_and_no_cell_is_copied() {
    let rows = if cfg!(miri) { 340 } else { 12_000 };
    for reversed in [false, true] {
        let ((mut world, _), (other, old)) = (filled(0, false), filled(rows, reversed));
        let theirs = addresses::<Four>(&other);
        // No archetype of this world has rows, but its archetypes have their layouts already.
        let merged = merge_checked(&mut world, other);
        assert_eq!(addresses::<Four>(&world) == theirs, !reversed);
        assert_eq!(merged.get(old[0]).map(|new| world.get::<Four>(new)), Some(Ok(&Four(0))));
        if cfg!(miri) && reversed {
            continue;
        }
        let (mut world, (other, _)) = (small_world(), filled(rows, reversed));
        let theirs = addresses::<Four>(&other);
        world.register::<(Four, Link, Hundred)>();
        merge_checked(&mut world, other);
        assert_eq!(addresses::<Four>(&world), theirs, "it has no archetype of the set");
        // The next one has the same order, and all but its last chunk change owner as they are.
        let (other, _) = filled(rows, reversed);
        let theirs = addresses::<Four>(&other);
        merge_checked(&mut world, other);
        let ours = addresses::<Four>(&world);
        assert!(theirs.difference(&ours).count() <= 2, "only last chunks are copied");
        // Archetypes that differ in tags have the same places, also new archetypes.
        world.matching::<&Four>().insert(Third).unwrap();
        assert_eq!(addresses::<Four>(&world), ours, "only a tag came");
        sound(&world);
    }
}

#[test]
fn ids_are_those_of_as_many_spawns() {
    let (mut world, mut model) = (world(), world());
    for world in [&mut world, &mut model] {
        let all = world.spawn_batch([Byte(0); 20]).to_vec();
        all[3..9].iter().for_each(|&entity| world.despawn(entity).unwrap());
    }
    let mut other = crate::common::world();
    let first = other.spawn_batch((0..9).map(Serial)).to_vec();
    let second = other.spawn_batch((0..9).map(|i| (Serial(i), Tag))).to_vec();
    other.despawn(first[2]).unwrap();
    let order: Vec<_> = other.query::<Entity>().rows().collect();
    let merged = merge_checked(&mut world, other);
    for old in order {
        let new = model.spawn(());
        assert_eq!(merged.get(old), Some(new), "{old}");
    }
    assert_eq!(merged.get(first[2]), None);
    assert_eq!(merged.get(Entity::NULL), None);
    assert!(merged.get(second[8]).is_some());
    assert_eq!(world.spawn(()), model.spawn(()));
}

#[test]
fn references_that_lead_nowhere_are_null() {
    let mut other = world();
    let [dead, alive] = [other.spawn(Serial(0)), other.spawn(Serial(1))];
    let reused = {
        other.despawn(dead).unwrap();
        other.spawn(Serial(2))
    };
    assert_eq!(reused.index(), dead.index());
    let links = [dead, alive, reused, Entity::NULL].map(|to| other.spawn(Link(to)));
    let mut world = world();
    world.spawn_batch([Byte(0); 100]);
    let merged = merge_checked(&mut world, other);
    let to = links.map(|link| world.get::<Link>(merged.get(link).unwrap()).unwrap().0);
    let new = |old| merged.get(old).unwrap();
    assert_eq!(to, [Entity::NULL, new(alive), new(reused), Entity::NULL]);
}

#[test]
fn values_of_chunks_come_with_their_chunks_and_their_references() {
    let (mut world, mut other) = (world(), world());
    let target = other.spawn(());
    other.spawn_batch((0..9).map(|i| (PerChunk::<Nearest>::TAG, Serial(i))));
    for mut nearest in other.query_mut::<PerChunkMut<Nearest>>() {
        nearest.entity = target;
    }
    world.spawn_batch([(); 50]);
    let merged = merge_checked(&mut world, other);
    let nearest = world.query::<PerChunk<Nearest>>().iter().next().unwrap();
    assert_eq!(Some(nearest.entity), merged.get(target));
}

#[test]
fn both_buffers_and_columns_that_were_exchanged_are_mapped() {
    let mut other = world();
    let a = other.spawn(Serial(1));
    let linked = other.spawn(Link(a));
    other.flip::<Link>().unwrap();
    other.get_mut::<Link>(linked).unwrap().0 = linked;
    let mut world = world();
    world.spawn((Link(Entity::NULL), Previous(Link(Entity::NULL))));
    let merged = world.merge(other).unwrap();
    let [a, linked] = [a, linked].map(|old| merged.get(old).unwrap());
    assert_eq!(world.get::<Link>(linked).unwrap().0, linked);
    assert_eq!(world.get::<Previous<Link>>(linked).unwrap().0.0, a);
    world.flip::<Link>().unwrap();
    assert_eq!(world.get::<Link>(linked).unwrap().0, a);
    sound(&world);
}

#[test]
fn lines_and_columns_are_as_new_as_the_merge() {
    let rows = if cfg!(miri) { 100 } else { 5000 };
    let (mut world, mut other) = (world(), world());
    world.spawn_batch((0..40).map(Four));
    let old = other.spawn_batch((0..rows).map(Four)).to_vec();
    // The other clock is ahead, also in versions of lines.
    (0..100).for_each(|i| other.get_mut::<Four>(old[i % 7]).unwrap().0 += 1);
    assert!(other.version() > world.version());
    let before = world.version();
    merge_checked(&mut world, other);
    let lines = |world: &World, since| {
        world.query::<&Four>().filter_since::<ChangedLines<Four>>(since).count_rows()
    };
    assert_eq!(lines(&world, before), rows as usize);
    assert_eq!(lines(&world, world.version()), 0);
    let first = world.query::<Entity>().with::<Four>().rows().next().unwrap();
    let before = world.version();
    world.get_mut::<Four>(first).unwrap().0 = 9;
    assert_eq!(lines(&world, before), 1);
    sound(&world);
}

#[test]
fn readers_of_insertions_are_told_of_what_comes() {
    let (mut world, mut other) = (world(), world());
    let (mut links, mut handles) =
        (world.cursor::<Insertions<Link>>(), world.cursor::<Insertions<Handle>>());
    world.spawn(Link(Entity::NULL));
    let old = other.spawn_batch((0..5).map(|_| (Link(Entity::NULL), Handle(1)))).to_vec();
    other.get_mut::<Link>(old[0]).unwrap().0 = old[4];
    let merged = merge_checked(&mut world, other);
    let new: Vec<_> = old.iter().map(|&old| merged.get(old).unwrap()).collect();
    let (entities, values) = links.read(&world);
    assert_eq!((&entities[1..], values[1].0), (&new[..], new[4]));
    assert_eq!(handles.read(&world).0, new);
}

#[test]
fn entities_that_are_gone_can_be_cleaned_up_here() {
    let mut other = world();
    let old = other.spawn_batch((0..4).map(|i| (Handle(i), Serial(i)))).to_vec();
    old[..2].iter().for_each(|&entity| other.despawn(entity).unwrap());
    let mut world = world();
    let merged = world.merge(other).unwrap();
    sound(&world);
    let new: Vec<_> = old.iter().map(|&old| merged.get(old).unwrap()).collect();
    assert!(!world.contains(new[0]) && world.contains(new[2]));
    assert_eq!((merged.len(), world.len()), (4, 4), "gone ones are counted");
    assert_eq!(world.query::<&Handle>().with::<Gone>().count_rows(), 2);
    assert_eq!(world.remove::<Handle>(new[0]), Ok(Handle(0)));
    world.despawn(new[3]).unwrap();
    assert_eq!(world.query::<&Handle>().with::<Gone>().count_rows(), 2);
    world.matching::<&Handle>().with::<Gone>().remove::<Handle>();
    assert_eq!(world.len(), 1);
    sound(&world);
}

#[test]
fn equal_shared_values_are_one_and_dropped_with_their_last_entity() {
    let (mut world, mut other) = (world(), world());
    let (ours, theirs) = (Arc::new(7), Arc::new(7));
    let (oak, birch) = (world.spawn(Serial(0)), Arc::new(8));
    world.insert_shared(oak, Arc::clone(&ours)).unwrap();
    let old = [other.spawn(Serial(1)), other.spawn(Serial(2))];
    other.insert_shared(old[0], Arc::clone(&theirs)).unwrap();
    other.insert_shared(old[1], Arc::clone(&birch)).unwrap();
    let merged = merge_checked(&mut world, other);
    assert_eq!([&ours, &theirs, &birch].map(Arc::strong_count), [2, 1, 2]);
    assert_eq!(world.query::<&Serial>().where_shared(&Arc::new(7)).count_rows(), 2);
    assert_eq!(world.shared::<Arc<i32>>().iter().count(), 2);
    world.despawn(merged.get(old[1]).unwrap()).unwrap();
    assert_eq!(Arc::strong_count(&birch), 1);
    drop(world);
    assert_eq!(Arc::strong_count(&ours), 1);
}

#[test]
fn sparse_components_are_dropped_once_and_with_their_entities() {
    let (drops, mut world, mut other) = (Drops::default(), world(), world());
    let ours = world.spawn(());
    world.sparse_mut().insert(ours, drops.value(0)).unwrap();
    let old = [1, 2].map(|i| {
        let entity = other.spawn(Serial(i));
        other.sparse_mut().insert(entity, drops.value(i)).unwrap();
        other.insert(entity, Number(i)).unwrap();
        entity
    });
    other.insert_resource(drops.value(9));
    let merged = merge_checked(&mut world, other);
    assert_eq!(drops.take(), [9], "resources do not come along");
    let new = old.map(|old| merged.get(old).unwrap());
    assert_eq!(world.sparse().get(new[1]), Some(&Number(2)));
    world.despawn(new[0]).unwrap();
    assert_eq!(drops.take(), [1]);
    drop(world);
    assert_eq!(drops.take(), [0, 2]);
}

#[test]
fn reserved_ids_are_spawned_first_and_buffers_are_refused() {
    let (mut world, mut other) = (world(), world());
    let reserved = other.reserve_entity().unwrap();
    let mut buffer = other.command_buffer(4).unwrap();
    let spawned = buffer.spawn(Serial(1));
    let ours = world.reserve_entity().unwrap();
    let merged = world.merge(other).unwrap();
    sound(&world);
    assert!(merged.get(reserved).is_some() && merged.get(spawned).is_none());
    assert_eq!((merged.len(), world.len()), (1, 2));
    assert!(world.contains(ours) && world.apply(&mut buffer).is_err());
    drop(buffer);
    world.spawn(());
    sound(&world);
}

#[test]
fn worlds_without_entities_merge() {
    let mut world = world();
    assert!(world.merge(crate::common::world()).unwrap().is_empty());
    let mut other = crate::common::world();
    other.reserve::<Hundred>(1000).unwrap();
    other.spawn(Serial(1));
    other.clear();
    let merged = world.merge(other).unwrap();
    assert!(merged.is_empty() && world.is_empty());
    world.memory_mut().compact(0);
    assert_eq!((world.memory().slab_bytes, world.reflect().archetypes().len()), (0, 0));
    sound(&world);
}

#[test]
fn a_merge_that_is_refused_changes_neither_world() {
    mod taken {
        #[phalanx::component(name = "merge::mine")]
        #[derive(Debug, PartialEq)]
        pub(super) struct Mine(pub u64);
    }
    #[component(name = "merge::mine")]
    struct Mine(u32);
    let refuse = |mut world: World, mut other: World| {
        world.spawn_batch((0..3).map(Mine));
        let old = other.spawn_batch((0..30).map(|i| (Link(Entity::NULL), Serial(i)))).to_vec();
        let before = (world.hash(), other.hash());
        let error = world.merge(other).expect_err("it is refused");
        let kind = error.kind();
        assert_eq!(error.to_string(), kind.to_string());
        let other = error.into_world();
        assert_eq!((world.hash(), other.hash()), before);
        assert!(other.contains(old[7]));
        sound(&world);
        sound(&other);
        kind
    };
    let small = || World::builder().chunk_size(ChunkSize::KIB_4);
    let kind = refuse(small().entities_max(20).build(), small().build());
    assert_eq!(kind, MergeErrorKind::Exhausted(OutOfIds::InWorld { limit: 20 }));
    let kind = refuse(small().request_bytes_max(100).build(), small().build());
    assert!(matches!(kind, MergeErrorKind::Memory(_)), "{kind}");
    let other = World::builder().chunk_size(ChunkSize::KIB_8).build();
    let kind = refuse(small().build(), other);
    assert_eq!(
        kind,
        MergeErrorKind::ChunkSize { target: ChunkSize::KIB_4, source: ChunkSize::KIB_8 }
    );
    let mut other = small().build();
    other.spawn(taken::Mine(1));
    let kind = refuse(small().build(), other);
    let MergeErrorKind::NameTaken(taken) = kind else { panic!("{kind}") };
    assert_eq!(taken.name, "merge::mine");
}

/// Refers to an entity, and panics when told to.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Bomb(pub(crate) Entity, pub(crate) u64);
impl_component!(Bomb);

impl MapEntities for Bomb {
    fn map_entities(&mut self, map: &mut dyn FnMut(Entity) -> Entity) {
        self.0 = map(self.0);
        assert!(self.1 != 5, "the fifth");
    }
}

#[test]
fn types_that_are_named_are_asked_and_a_panic_goes_on_when_all_is_done() {
    let (mut world, mut other) = (world(), world());
    let target = other.spawn(());
    other.spawn_batch((0..9).map(|i| (Bomb(target, i), Link(target))));
    other.insert(target, Number(3)).unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| world.merge(other)));
    assert_eq!(panic.unwrap_err().downcast_ref::<&str>(), Some(&"the fifth"));
    sound(&world);
    assert_eq!(world.len(), 10);
    let target = world.query::<Entity>().without::<Bomb>().rows().next().unwrap();
    assert!(world.query::<&Link>().rows().all(|link| link.0 == target), "other columns are mapped");
    assert_eq!(world.query::<&Bomb>().rows().filter(|bomb| bomb.0 == target).count(), 9);
    assert_eq!(world.sparse().get(target), Some(&Number(3)));
}

#[test]
fn extents_of_other_sizes_are_freed_where_they_have_come() {
    let rows = if cfg!(miri) { 900 } else { 50_000 };
    for sizes in [[1, 64], [64, 1], [4, 16]] {
        let [mut world, other] = sizes.map(|chunks| {
            let size = if cfg!(miri) { ChunkSize::KIB_4 } else { ChunkSize::KIB_16 };
            let mut world = World::builder().chunk_size(size).extent_chunks_max(chunks).build();
            world.reserve::<Serial>(rows as usize).unwrap();
            world.spawn_batch((0..rows).map(Serial));
            world
        });
        merge_checked(&mut world, other);
        let all: Vec<_> = world.query::<Entity>().rows().collect();
        all.iter().step_by(3).for_each(|&entity| world.despawn(entity).unwrap());
        while !world.memory_mut().compact(rows as usize / 4).finished {
            sound(&world);
        }
        world.spawn_batch((0..rows).map(Serial));
        sound(&world);
        world.clear();
        world.memory_mut().compact(0);
        assert_eq!(world.memory().slab_bytes, 0);
    }
}

#[test]
fn caches_of_queries_and_hashes_follow() {
    let (mut world, mut other) = (small_world(), small_world());
    let mut cache = phalanx::HashCache::new();
    let count = |world: &mut World| {
        let read = world.query::<&Serial>().rows().filter(|serial| serial.0 == 7).count();
        world.query_mut::<&mut Serial>().rows().for_each(|serial| serial.0 = 7);
        read
    };
    world.spawn(Serial(1));
    assert_eq!((count(&mut world), cache.hash(&world)), (0, world.hash()));
    other.spawn_batch((0..50).map(|_| (Serial(7), Tag)));
    other.spawn_batch((0..50).map(|_| Serial(7)));
    world.merge(other).unwrap();
    assert_eq!((count(&mut world), cache.hash(&world)), (101, world.hash()));
    // An archetype without rows and one that was retired are found as well.
    world.clear();
    world.memory_mut().retire_archetypes();
    let mut other = small_world();
    other.spawn_batch((0..5).map(|_| (Tag, Serial(7))));
    world.merge(other).unwrap();
    assert_eq!((count(&mut world), cache.hash(&world)), (5, world.hash()));
    sound(&world);
}
