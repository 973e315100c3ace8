//! Bytes that lie about shared values, functions that panic, and names that are taken.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use phalanx::prelude::*;
use phalanx::snapshot::ReadError;
use phalanx::snapshot::{Snapshot, SnapshotReader};

use crate::common::components::{Four, Serial, Tag, small_world, sound};
use crate::snapshot_hostile::{flipped, flipped_in, sign};
use crate::snapshot_shared::{Label, bytes_of, number_of, tell};
use crate::snapshot_steps::{Chance, Team};

/// A world with values, free numbers, and empty archetypes.
fn world() -> World {
    let mut world = small_world();
    tell(&mut world);
    let all = world.spawn_batch((0..6).map(Serial)).to_vec();
    for (i, &entity) in (0_u32..).zip(&all) {
        world.insert_shared(entity, Team(i % 3)).expect("alive");
        if i % 4 == 0 {
            world.insert_shared(entity, Label(format!("{i}"))).expect("alive");
        }
    }
    for i in 0..17 {
        world.insert_shared(all[1], Team(100 + i)).expect("alive");
        world.insert_shared(all[2], Label(format!("gone {i}"))).expect("alive");
    }
    world.memory_mut().retire_archetypes();
    world.remove_shared::<Label>(all[2]).expect("it has one");
    world
}

/// Uses values, which finds tags that contradict each other.
fn use_up(world: &mut World) {
    sound(world);
    let before: Vec<_> = world.shared::<Team>().iter().map(|team| team.0).collect();
    let all: Vec<Entity> = world.query::<Entity>().rows().collect();
    for (i, &entity) in (0..).zip(&all) {
        assert!(
            world.shared::<Label>().get(entity).is_ok() == world.shared::<Label>().contains(entity)
        );
        world.insert_shared(entity, Label(format!("gone {i}"))).expect("alive");
        let team = before.get(i as usize % before.len().max(1)).copied().unwrap_or(1);
        world.insert_shared(entity, Team(team)).expect("alive");
        world.insert(entity, Tag).expect("alive");
        world.insert_shared(entity, Team(100 + i)).expect("alive");
        if i % 3 == 0 {
            world.despawn(entity).expect("alive");
        }
    }
    for team in before {
        assert!(world.query::<()>().where_shared(&Team(team)).count_rows() <= world.len());
    }
    sound(world);
}

fn is_read(mirror: &mut World, bytes: &[u8], whats: &mut BTreeSet<String>) -> bool {
    match mirror.read_snapshot(bytes) {
        Err(error) => {
            drop(error.to_string());
            whats.insert(match error {
                ReadError::Invalid { what, .. } => what.to_owned(),
                ReadError::RefusedValue { .. } => "refused".to_owned(),
                ReadError::UnknownShared { .. } => "unknown".to_owned(),
                _ => "other".to_owned(),
            });
            false
        }
        Ok(state) => {
            mirror.restore(&state).expect("it was read here");
            sound(mirror);
            assert_eq!(state.to_bytes().map(|bytes| bytes.is_empty()), Ok(false));
            use_up(mirror);
            true
        }
    }
}

#[test]
fn states_with_values_are_refused_or_sound() {
    let (mut world, mut mirror) = (world(), world());
    let bytes = bytes_of(&mut world);
    let mut whats = BTreeSet::new();
    assert!(is_read(&mut mirror, &bytes, &mut whats));
    let step = if cfg!(miri) { 1_499 } else { 1 };
    // In fewer ways not all that is refused is met.
    for hostile in flipped_in(3, &bytes, step) {
        is_read(&mut mirror, &hostile, &mut whats);
    }
    let mut chance = Chance(1);
    for _ in 0..if cfg!(miri) { 8 } else { 9_000 } {
        let mut hostile = bytes.clone();
        let len = 1 + chance.below(40);
        let (at, from) = (chance.below(bytes.len() - len), chance.below(bytes.len() - len));
        match chance.below(3) {
            0 => hostile[at..at + len].copy_from_slice(&bytes[from..from + len]),
            1 => drop(hostile.splice(at..at, bytes[from..from + len].iter().copied())),
            _ => {
                let (at, from) = (at / 4 * 4, from / 4 * 4);
                hostile.copy_within(from..from + 4, at);
            }
        }
        sign(&mut hostile);
        is_read(&mut mirror, &hostile, &mut whats);
    }
    for what in [
        "a shared type without a value",
        "a shared value that no entity has, or the number of one without an archetype",
        "a shared value without its type, or two of one type",
        "a number of a shared value that is not above the last one",
        "a number of a shared value above those of any type",
        "refused",
        "rows of a shared value that there is not",
        "a shared type without numbers of values",
        "two shared values are equal",
        "unknown",
    ] {
        assert!(whats.contains(what) || cfg!(miri), "`{what}` is not among {whats:#?}");
    }
}

#[test]
fn deltas_with_values_are_refused_or_sound() {
    let (mut world, mut mirror) = (world(), world());
    let base = world.snapshot().expect("no buffers");
    let whole = base.to_bytes().expect("they have a name");
    let all: Vec<Entity> = world.query::<Entity>().rows().collect();
    world.insert_shared(all[0], Team(500)).expect("alive");
    world.insert_shared(all[3], Label("0".into())).expect("alive");
    world.insert_shared(all[4], Label("new".into())).expect("alive");
    world.despawn(all[5]).expect("alive");
    let delta = base.delta(&mut world).expect("no buffers");
    let mut state = mirror.read_snapshot(&whole).expect("it was written");
    state.read_delta(&mut mirror, &delta).expect("it is the next");
    mirror.restore(&state).expect("it was read here");
    assert_eq!(mirror.hash(), world.hash());
    let step = if cfg!(miri) { 2_999 } else { 1 };
    let start = mirror.read_snapshot(&whole).expect("it was written");
    for hostile in flipped(&delta, step) {
        let mut state = start.clone();
        if state.read_delta(&mut mirror, &hostile).is_err() {
            assert!(state.to_bytes().expect("it has a state") == whole, "nothing has changed");
            continue;
        }
        mirror.restore(&state).expect("it was read here");
        use_up(&mut mirror);
    }
}

#[test]
fn a_state_that_is_refused_takes_no_tags() {
    // Each tag has a chunk of its own, so in the largest ones this would take a minute.
    let small = || World::builder().chunk_size(ChunkSize::KIB_4).build();
    let mut world = small();
    tell(&mut world);
    let values = if cfg!(miri) { 20 } else { 2_500 };
    let all = world.spawn_batch((0..values).map(Four)).to_vec();
    for (i, &entity) in (0..).zip(&all) {
        world.insert_shared(entity, Team(i)).expect("alive");
    }
    let bytes = bytes_of(&mut world);
    // The last cells contradict each other, or something follows them.
    let mut longer = [&bytes[..bytes.len() - 8], &[0; 12]].concat();
    sign(&mut longer);
    let mut mirror = small();
    tell(&mut mirror);
    mirror.register::<Four>();
    for _ in 0..if cfg!(miri) { 2 } else { 30 } {
        assert!(matches!(mirror.read_snapshot(&longer), Err(ReadError::Invalid { .. })));
    }
    // 75,000 tags would not fit.
    let state = mirror.read_snapshot(&bytes).expect("it was written");
    mirror.restore(&state).expect("it was read here");
    assert_eq!(mirror.hash(), world.hash());
    // The same tags each time, not more of them.
    for _ in 0..if cfg!(miri) { 1 } else { 3 } {
        mirror.read_snapshot(&bytes).expect("it was written");
    }
    mirror.restore(&state).expect("it was read here");
    assert_eq!(mirror.hash(), world.hash());
}

#[test]
fn what_is_left_out_is_chosen_by_name() {
    let bytes = bytes_of(&mut world());
    let unknown = |bytes: &[u8], known: &str| {
        let (mut mirror, mut asked) = (small_world(), Vec::new());
        let skip = |name: &str| {
            asked.push(name.to_owned());
            name != known
        };
        let read = SnapshotReader::new(&mut mirror).skip_unknown_if(skip).read(bytes);
        (read.map(|state| state.len()).map_err(|error| error.to_string()), asked)
    };
    let (read, names) = unknown(&bytes, "");
    assert_eq!(read, Ok(6));
    assert_eq!(names.len(), 3, "components, and then shared types: {names:?}");
    for (i, name) in names.iter().enumerate() {
        let (read, asked) = unknown(&bytes, name);
        assert!(read.is_err_and(|message| message.contains(&**name)), "{name}");
        assert_eq!(asked, names[..=i], "the first one that is refused ends it");
    }
    let mut mirror = small_world();
    let hash = mirror.hash();
    let stopped = catch_unwind(AssertUnwindSafe(|| {
        SnapshotReader::new(&mut mirror).skip_unknown_if(|_| panic!("stop here")).read(&bytes)
    }));
    assert!(stopped.is_err());
    assert_eq!(mirror.hash(), hash);
    sound(&mirror);
}

thread_local! {
    static ARMED: Cell<&'static str> = const { Cell::new("") };
}

/// Panics if it is armed for this.
fn explode(what: &str) {
    assert!(ARMED.get() != what, "a bomb");
}

/// A value that counts its copies. All have one hash, and their functions panic.
struct Counted(u32, #[expect(dead_code, reason = "it counts")] Arc<()>);

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        explode("eq");
        self.0 == other.0
    }
}

impl Eq for Counted {}

impl Hash for Counted {
    fn hash<H: Hasher>(&self, _: &mut H) {
        explode("hash");
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        explode("drop");
    }
}

/// A world with values that `count` counts.
fn counted(count: &Arc<()>) -> World {
    let mut world = small_world();
    let count = Arc::clone(count);
    world.shared_mut().encode(
        "counted",
        |value: &Counted, to| {
            if value.0 == 2 {
                explode("encode");
            }
            to.extend_from_slice(&value.0.to_ne_bytes());
        },
        move |bytes| {
            let number = number_of(bytes)?;
            if number == 2 {
                explode("decode");
            }
            Some(Counted(number, Arc::clone(&count)))
        },
    );
    world
}

#[test]
fn functions_that_panic_change_nothing_and_values_are_dropped_once() {
    let [sent, read] = [(); 2].map(|()| Arc::new(()));
    let alive = |count: &Arc<()>| Arc::strong_count(count) - 2;
    let (mut world, mut mirror) = (counted(&sent), counted(&read));
    let all = world.spawn_batch((0..4).map(Four)).to_vec();
    mirror.register::<Four>();
    let start = world.snapshot().expect("no buffers");
    for (i, &entity) in (0..).zip(&all) {
        world.insert_shared(entity, Counted(i, Arc::clone(&sent))).expect("alive");
    }
    let state = world.snapshot().expect("no buffers");
    let bytes = state.to_bytes().expect("they have a name");
    ARMED.set("encode");
    assert!(catch_unwind(AssertUnwindSafe(|| state.to_bytes())).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| start.delta(&mut world))).is_err());
    ARMED.set("");
    assert!(state.to_bytes().expect("they have a name") == bytes);
    let delta = start.delta(&mut world).expect("no buffers");

    let first = start.to_bytes().expect("nothing is shared");
    let mut kept = mirror.read_snapshot(&first).expect("it was written");
    mirror.restore(&kept).expect("it was read here");
    let hash = mirror.hash();
    for what in ["decode", "hash", "eq"] {
        ARMED.set(what);
        let whole = catch_unwind(AssertUnwindSafe(|| mirror.read_snapshot(&bytes)));
        let change = catch_unwind(AssertUnwindSafe(|| kept.read_delta(&mut mirror, &delta)));
        let reader = catch_unwind(AssertUnwindSafe(|| {
            SnapshotReader::new(&mut mirror).skip_unknown().read(&bytes).map(|state| state.len())
        }));
        ARMED.set("");
        assert!(whole.is_err() && change.is_err() && reader.is_err(), "{what}");
        assert_eq!(alive(&read), 0, "{what}");
        assert!(kept.to_bytes().expect("it has a state") == first, "{what}");
        assert_eq!(mirror.hash(), hash);
        sound(&mirror);
    }
    let state = mirror.read_snapshot(&bytes).expect("it was written");
    kept.read_delta(&mut mirror, &delta).expect("it is the next");
    assert_eq!(alive(&read), 8, "of each state");
    mirror.restore(&state).expect("it was read here");
    assert_eq!((mirror.hash(), alive(&read)), (world.hash(), 8), "the world has those of one");
    drop(state);
    assert_eq!(alive(&read), 8);
    mirror.restore(&kept).expect("it was read here");
    assert_eq!(alive(&read), 4);
    mirror.clear();
    assert_eq!(alive(&read), 4, "the state keeps them");
    mirror.restore(&kept).expect("it was read here");
    drop(kept);
    assert_eq!(alive(&read), 4);
    ARMED.set("drop");
    mirror.clear();
    // The fields of a value with a panicking destructor are dropped nevertheless.
    assert_eq!(alive(&read), 0);
    let cut = &mut bytes.clone()[..bytes.len() - 4];
    sign(cut);
    assert!(mirror.read_snapshot(cut).is_err(), "four values are dropped on the way");
    ARMED.set("");
    assert_eq!(alive(&read), 0);
    drop((world, start));
}

#[test]
fn a_name_is_that_of_one_type_and_a_type_has_one() {
    fn text(run: impl FnOnce()) -> String {
        let payload = catch_unwind(AssertUnwindSafe(run)).expect_err("it is taken");
        *payload.downcast::<String>().expect("a text")
    }
    fn encode(_: &u64, _: &mut Vec<u8>) {}
    let mut world = small_world();
    tell(&mut world);
    let taken = text(|| world.shared_mut().encode("team", encode, |_| Some(0)));
    assert!(taken.contains("two shared types are named `team`"), "{taken}");
    assert!(taken.contains("Team`") && taken.contains("`u64`"), "{taken}");
    let named = text(|| {
        world.shared_mut().encode("crew", |_: &Team, _| (), |bytes| number_of(bytes).map(Team))
    });
    assert!(named.contains("is named `team` in this world"), "{named}");
    // Later functions replace earlier ones.
    let entity = world.spawn(());
    world.insert_shared(entity, Team(5)).expect("alive");
    let bytes = bytes_of(&mut world);
    world.shared_mut().encode("team", |_: &Team, _| (), |_| Some(Team(9)));
    let state: Snapshot = world.read_snapshot(&bytes).expect("it was written");
    world.restore(&state).expect("it was read here");
    assert_eq!(world.shared::<Team>().get(entity), Ok(&Team(9)));
}
