//! Relations to many in states: deltas, bytes that lie, copies of trees, and other worlds.

use phalanx::prelude::*;
use phalanx::snapshot::{ReadError, Snapshot, SnapshotReader};
use phalanx::testing::{Difference, compare};

use crate::common::components::{Four, sound};
use crate::common::world;

use super::pairs::{Follows, Likes};
use super::relations::ChildOf;
use super::snapshot_hostile::{flipped, sign};

/// Sparse components whose bytes do not accept every value.
#[relation(many, name = "known")]
#[derive(Debug, PartialEq)]
enum Known {
    Well,
    Badly,
}

fn knowing(mut world: World) -> World {
    world.register::<(Four, ChildOf, Targets<Likes>, Targets<Known>)>();
    world
}

/// Four entities: the first likes all four, the second the first; the third knows two.
fn filled() -> (World, Vec<Entity>) {
    filled_in(knowing(world()))
}

fn filled_in(mut world: World) -> (World, Vec<Entity>) {
    let all = world.spawn_batch((0..4).map(Four)).to_vec();
    let list = |from: u32| all.iter().zip(from..).map(|(&to, weight)| (to, Likes { weight }));
    world.insert(all[0], list(7).collect::<Targets<_>>()).expect("alive");
    world.insert(all[1], Likes { weight: 0xbeef }.of(all[0])).expect("alive");
    let known = Targets::from([(all[0], Known::Well), (all[3], Known::Badly)]);
    world.insert(all[2], known).expect("alive");
    sound(&world);
    (world, all)
}

fn bytes_of(world: &mut World) -> Vec<u8> {
    world.snapshot().expect("no buffers").to_bytes().expect("nothing is shared")
}

fn read(bytes: &[u8]) -> Result<World, ReadError> {
    let mut mirror = knowing(world());
    let state = mirror.read_snapshot(bytes)?;
    mirror.restore(&state).expect("it was read here");
    sound(&mirror);
    Ok(mirror)
}

#[test]
fn deltas_have_the_pairs_that_changed() {
    let (mut world, all) = filled();
    let mut mirror = knowing(self::world());
    let mut base = world.snapshot().expect("no buffers");
    let mut state = mirror.read_snapshot(&base.to_bytes().expect("plain")).expect("written");
    let unchanged = base.delta(&mut world).expect("no buffers").len();
    let steps: [fn(&mut World, &[Entity]); 7] = [
        |_, _| {},
        |world, all| world.get_mut::<Likes>(all[0]).expect("some").values_mut()[2].weight = 99,
        |world, all| _ = world.get_mut::<Likes>(all[0]).expect("some").remove(all[1]),
        |world, all| world.insert(all[3], Likes { weight: 1 }.of(all[1])).expect("alive"),
        |world, all| world.despawn(all[0]).expect("no one refuses"),
        |world, all| drop(world.remove::<Targets<Known>>(all[2])),
        |world, all| world.insert(all[1], Known::Badly.of(all[1])).expect("alive"),
    ];
    for step in steps {
        step(&mut world, &all);
        let delta = base.delta(&mut world).expect("no buffers");
        assert!(delta.len() < unchanged + 400, "{} bytes", delta.len());
        state.read_delta(&mut mirror, &delta).expect("it is from this state");
        base = world.snapshot().expect("no buffers");
        mirror.restore(&state).expect("of this world");
        sound(&mirror);
        assert_eq!(mirror.hash(), world.hash());
        compare(&world, &mirror).expect("equal");
    }
    assert_eq!(world.relation::<Known>().sources(all[1]), [all[1]]);
}

#[test]
fn the_hash_sees_values_targets_and_orders() {
    let (mut a, all) = filled();
    let (mut b, _) = filled();
    assert_eq!(a.hash(), b.hash());
    compare(&a, &b).expect("built alike");
    // Both spend a version.
    for (world, added) in [(&mut a, 0), (&mut b, 1)] {
        world.get_mut::<Likes>(all[0]).expect("some").values_mut()[3].weight += added;
    }
    assert!(a.hash() != b.hash());
    let difference = compare(&a, &b).unwrap_err();
    let Difference::Sparse { expected, .. } = &difference else { panic!("{difference}") };
    assert_eq!(*expected, Some(all[0]));
    // The same pairs in another order.
    for world in [&mut a, &mut b] {
        drop(world.remove::<Targets<Likes>>(all[0]));
    }
    assert_eq!(a.hash(), b.hash());
    let one = |world: &mut World, at: usize| {
        world.insert(all[2], Likes { weight: 1 }.of(all[at])).expect("alive");
    };
    [1, 3].into_iter().for_each(|at| one(&mut a, at));
    [3, 1].into_iter().for_each(|at| one(&mut b, at));
    assert!(a.hash() != b.hash());
    assert!(compare(&a, &b).is_err());
}

/// A world of small chunks, which is restored in little time.
fn small() -> World {
    World::builder().chunk_size(ChunkSize::KIB_4).build()
}

#[test]
fn bytes_that_lie_are_refused_or_make_a_sound_world() {
    let (mut world, _) = filled();
    let bytes = bytes_of(&mut world);
    assert_eq!(read(&bytes).expect("as it was written").hash(), world.hash());
    let (mut refused, mut all) = (0, 0);
    let mut mirror = knowing(small());
    let bytes = bytes_of(&mut filled_in(knowing(small())).0);
    for hostile in flipped(&bytes, if cfg!(miri) { 50 } else { 2 }) {
        all += 1;
        match mirror.read_snapshot(&hostile) {
            Err(_) => refused += 1,
            Ok(state) => {
                mirror.restore(&state).expect("it was read here");
                sound(&mirror);
            }
        }
    }
    assert!(refused > all / 4 && refused < all, "{refused} of {all}");
}

/// The place of a part in some bytes, which has it once.
#[track_caller]
fn place_of(bytes: &[u8], part: &[u8]) -> usize {
    let mut places = (0..bytes.len() - part.len()).filter(|&at| bytes[at..].starts_with(part));
    let place = places.next().expect("it is written");
    assert!(places.next().is_none(), "it is written twice");
    place
}

#[track_caller]
fn defect(former: &[u8], new: &[u8]) -> &'static str {
    let (mut world, _) = filled();
    let mut bytes = bytes_of(&mut world);
    let at = place_of(&bytes, former);
    bytes[at..at + new.len()].copy_from_slice(new);
    sign(&mut bytes);
    match read(&bytes) {
        Err(ReadError::Invalid { what, .. } | ReadError::Truncated { what, .. }) => what,
        other => panic!("{:?}", other.map(|_| ())),
    }
}

#[test]
fn each_lie_about_pairs_has_its_name() {
    let (_, all) = filled();
    // The relation `Known` has one source with two targets.
    let head = |pairs: u32, count: u32| -> Vec<u8> {
        let numbers = [pairs, 1, 0, 1, count, 1, 0, 2];
        bytemuck::cast_slice(&numbers).to_vec()
    };
    let with =
        |targets: [Entity; 2]| [head(2, 2), bytemuck::cast_slice(&targets).to_vec()].concat();
    let good = with([all[0], all[3]]);
    let dead = Entity::from_bits(all[0].to_bits() + 1);
    assert_eq!(defect(&good, &with([all[0], dead])), "a target without a list of sources");
    assert_eq!(defect(&good, &with([all[0], all[0]])), "a list of sources without a source");
    assert_eq!(defect(&good, &head(1 << 30, 2)), "the targets of pairs");
    let what = "the targets or places of a relation to many are not those of its sources";
    assert_eq!(defect(&good, &head(2, u32::MAX)), what);
    assert_eq!(defect(&good, &head(2, 0)), what);
    assert_eq!(defect(&good, &head(2, 1)), what);
    // The values, of one byte each, and the places.
    let rest = |values: [u8; 2], places: [u32; 2]| -> Vec<u8> {
        let ranges: [u32; 3] = [1, 0, 2];
        let ranges = bytemuck::bytes_of(&ranges);
        let heads = [2u32, 1, 0, 2];
        [ranges, &values, ranges, bytemuck::bytes_of(&places), bytemuck::bytes_of(&heads)].concat()
    };
    let good = rest([0, 1], [0, 0]);
    let what = "a value that the type of a relation to many does not have";
    assert_eq!(defect(&good, &rest([0, 2], [0, 0])), what);
    assert_eq!(defect(&good, &rest([0, 1], [0, 7])), "a place beyond the sources of a target");
}

#[test]
fn a_pair_that_comes_twice_is_refused() {
    let mut world = knowing(world());
    let [a, b] = [1, 2].map(|number| world.spawn(Four(number)));
    world.insert(a, Known::Badly.of(a)).expect("alive");
    world.insert(b, Known::Badly.of(a)).expect("alive");
    let mut bytes = bytes_of(&mut world);
    // Both pairs become pairs of the first source, which leaves the second one without a target.
    let counts = bytemuck::cast_slice::<u32, u8>(&[2, 1, 0, 2, 1, 1, 1, 0, 2]).to_vec();
    let at = place_of(&bytes, &counts);
    let mut refuse = |new: [u32; 2]| {
        bytes[at + 16..at + 24].copy_from_slice(bytemuck::bytes_of(&new));
        sign(&mut bytes);
        let Err(ReadError::Invalid { what, .. }) = read(&bytes) else { panic!("it is read") };
        what
    };
    let empty = "the targets or places of a relation to many are not those of its sources";
    assert_eq!(refuse([2, 0]), empty);
    let mut world = knowing(self::world());
    let [a, b] = [1, 2].map(|number| world.spawn(Four(number)));
    world.insert(a, Targets::from([(a, Known::Badly), (b, Known::Badly)])).expect("alive");
    world.insert(b, Known::Badly.of(a)).expect("alive");
    let mut bytes = bytes_of(&mut world);
    let good: Vec<u8> = bytemuck::cast_slice(&[a, b, a]).to_vec();
    let at = place_of(&bytes, &good);
    bytes[at..at + 24].copy_from_slice(bytemuck::cast_slice(&[a, a, b]));
    sign(&mut bytes);
    let Err(ReadError::Invalid { what, .. }) = read(&bytes) else { panic!("it is read") };
    assert_eq!(what, "a source has a target twice");
}

#[test]
fn a_world_without_the_relation_refuses_its_bytes() {
    let (mut world, _) = filled();
    let bytes = bytes_of(&mut world);
    let mut other = self::world();
    other.register::<Four>();
    let refused = other.read_snapshot(&bytes).map(|_| ());
    assert!(matches!(refused, Err(ReadError::UnknownComponent { .. })), "{refused:?}");
    // A relation to one target is another thing, whatever its name.
    mod elsewhere {
        #[phalanx::prelude::relation(name = "known")]
        pub(super) struct Known;
    }
    let mut other = self::world();
    other.register::<(Four, elsewhere::Known, Targets<Likes>)>();
    let refused = other.read_snapshot(&bytes).map(|_| ());
    assert!(matches!(refused, Err(ReadError::OtherSparse { .. })), "{refused:?}");
    let mut skipping = self::world();
    skipping.register::<Four>();
    let state = SnapshotReader::new(&mut skipping).skip_unknown().read(&bytes);
    skipping.restore(&state.expect("the rest is known")).expect("it was read here");
    assert_eq!(skipping.len(), 4);
    sound(&skipping);
}

#[test]
fn a_copied_tree_has_its_own_pairs() {
    let mut world = knowing(world());
    let [root, outside] = [1, 2].map(|number| world.spawn(Four(number)));
    let child = world.spawn((Four(3), ChildOf::of(root)));
    let list = [root, child, outside].map(|to| (to, Likes { weight: 5 }));
    world.insert(child, Targets::from(list)).expect("alive");
    world.insert(outside, Likes { weight: 6 }.of(child)).expect("alive");
    let copies = world.instantiate_tree::<ChildOf>(root, None).expect("alive");
    let pairs = world.relation::<Likes>();
    assert_eq!(pairs.targets(copies[1]), [copies[0], copies[1], outside]);
    assert_eq!(pairs.sources(copies[1]), [copies[1]], "what is outside keeps its targets");
    assert_eq!(pairs.sources(outside), [child, copies[1]]);
    assert_eq!(pairs.get(copies[1], outside), Some(&Likes { weight: 5 }));
    drop(pairs);
    sound(&world);
}

#[test]
fn pairs_whose_other_end_stays_are_removed() {
    let mut world = knowing(world());
    let [a, b, c, d] = [1, 2, 3, 4].map(|number| world.spawn(Four(number)));
    for (source, targets) in [(a, vec![b, c, a]), (b, vec![a, c]), (c, vec![a]), (d, vec![a])] {
        let list = targets.into_iter().map(|to| (to, Likes { weight: 1 }));
        world.insert(source, list.collect::<Targets<_>>()).expect("alive");
    }
    world.insert(d, Follows.of(a)).expect("alive");
    let mut other = knowing(self::world());
    other.spawn(Four(9));
    #[component]
    struct Leaves;
    for entity in [a, b] {
        world.insert(entity, Leaves).expect("alive");
    }
    let moved = other.move_from(world.matching::<Entity>().with::<Leaves>()).expect("built alike");
    let [there, also] = [a, b].map(|old| moved.get(old).expect("it came"));
    sound(&world);
    sound(&other);
    assert!(world.relation::<Likes>().is_empty() && world.relation::<Follows>().is_empty());
    assert_eq!((world.len(), other.len()), (2, 3), "no rule despawns");
    assert_eq!(world.query::<Entity>().with::<Likes>().count_rows(), 0);
    let pairs = other.relation::<Likes>();
    assert_eq!(pairs.targets(there), [also, there]);
    assert_eq!(pairs.targets(also), [there]);
    drop(pairs);
    let merged = world.merge(other).expect("built alike");
    let there = merged.get(there).expect("it came");
    assert_eq!(world.relation::<Likes>().targets(there).len(), 2);
    sound(&world);
}

#[test]
fn a_restored_state_has_its_pairs_and_an_older_one_none() {
    let mut world = world();
    let [a, b] = [1, 2].map(|number| world.spawn(Four(number)));
    let before: Snapshot = world.snapshot().expect("no buffers");
    world.insert(a, Likes { weight: 1 }.of(b)).expect("alive");
    let with = world.snapshot().expect("no buffers");
    world.despawn(b).expect("alive");
    assert!(world.relation::<Likes>().is_empty());
    world.restore(&with).expect("of this world");
    assert_eq!(world.relation::<Likes>().get(a, b), Some(&Likes { weight: 1 }));
    sound(&world);
    world.restore(&before).expect("of this world");
    assert!(world.relation::<Likes>().is_empty() && !world.has::<Likes>(a));
    sound(&world);
}
