//! States that are saved while a failure happens: the disk is full, the program is killed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use std::{env, fs, io, thread};

use phalanx::prelude::*;
use phalanx::snapshot::Snapshot;

use crate::common::components::{Four, small_world};

/// Accepts some bytes and fails afterwards, like a full disk.
struct Full(usize);

impl io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        if taken == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let mut world = small_world();
    world.spawn_batch((0..100).map(Four));
    let state = world.snapshot().expect("no buffers");
    let len = state.to_bytes().expect("nothing is shared").len();
    assert!(state.write_to(Full(len)).is_ok());
    for room in [0, 1, 20, len / 2, len - 1] {
        let error = state.write_to(Full(room)).expect_err("there is no room");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}

/// The names of the files in a folder.
fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file"));
    let mut names: Vec<_> =
        files.map(|file| file.file_name().into_string().expect("text")).collect();
    names.sort();
    names
}

#[test]
#[cfg_attr(miri, ignore = "Miri does not bring files to a disk")]
fn a_file_is_replaced_as_a_whole() {
    let folder = env::temp_dir().join(format!("phalanx-save-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for files");
    let path = folder.join("game.state");
    let mut world = small_world();
    for round in 0..3 {
        world.spawn_batch((0..100).map(Four));
        world.snapshot().expect("no buffers").save(&path).expect("room on the disk");
        let state = world.read_snapshot(&fs::read(&path).expect("it was saved"));
        assert_eq!(state.expect("it was saved").len(), 100 * (round + 1));
    }
    let saved = fs::read(&path).expect("it was saved");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let permissions = fs::Permissions::from_mode(0o600);
        fs::set_permissions(&path, permissions).expect("it is ours");
        world.snapshot().expect("no buffers").save(&path).expect("room on the disk");
        let mode = fs::metadata(&path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "what was private stays so");
    }
    // The user's function panics.
    let mut panicking = small_world();
    panicking.shared_mut::<u32>().encode("number", |_, _| panic!("stop here"), |_| None);
    let entity = panicking.spawn(());
    panicking.insert_shared(entity, 1_u32).expect("alive");
    let state = panicking.snapshot().expect("no buffers");
    assert!(catch_unwind(AssertUnwindSafe(|| state.save(&path))).is_err());
    assert_eq!(names(&folder), ["game.state"]);
    assert_eq!(fs::read(&path).expect("it is there"), saved);
    // A file of the user, and the file that a killed program has left.
    let others = ["game.state.new", "game.state.01234567.new"].map(|name| folder.join(name));
    for other in &others {
        fs::write(other, "the beginning of").expect("room on the disk");
    }
    let state = world.snapshot().expect("no buffers");
    state.save(&path).expect("room on the disk");
    assert_eq!(fs::read(&path).expect("it is there"), saved);
    for other in &others {
        assert_eq!(fs::read(other).expect("it stays"), b"the beginning of");
        fs::remove_file(other).expect("it is there");
    }
    // An empty snapshot, and paths that accept no file.
    assert!(Snapshot::new().save(&path).is_err());
    fs::create_dir(folder.join("folder")).expect("room on the disk");
    for refused in ["none/game.state", "folder", "folder/..", "game.state/more"] {
        assert!(state.save(folder.join(refused)).is_err(), "{refused}");
    }
    assert_eq!(fs::read(&path).expect("it is there"), saved);
    assert_eq!(names(&folder), ["folder", "game.state"]);
    assert_eq!(names(&folder.join("folder")), [""; 0]);
    fs::remove_dir_all(&folder).expect("the folder is there");
}

#[test]
#[cfg_attr(miri, ignore = "Miri does not bring files to a disk")]
fn saves_to_one_path_at_once_each_succeed() {
    let folder = env::temp_dir().join(format!("phalanx-at-once-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for files");
    let path = folder.join("game.state");
    let states = [1, 2, 3, 4].map(|thousands| {
        let mut world = small_world();
        world.spawn_batch((0..thousands * 1000).map(Four));
        world.snapshot().expect("no buffers")
    });
    states[0].save(&path).expect("room on the disk");
    thread::scope(|scope| {
        for state in &states {
            scope.spawn(|| (0..50).for_each(|_| state.save(&path).expect("room on the disk")));
        }
        let mut reader = small_world();
        reader.register::<Four>();
        for _ in 0..50 {
            let state = reader.read_snapshot(&fs::read(&path).expect("a file"));
            let len = state.expect("one of the states, whole").len();
            assert!([1000, 2000, 3000, 4000].contains(&len), "{len}");
        }
    });
    assert_eq!(names(&folder), ["game.state"]);
    fs::remove_dir_all(&folder).expect("the folder is there");
}

/// The variable with the path to which the program saves until it is killed.
const PATH: &str = "PHALANX_TEST_SAVE";

/// A program of its own, started by the test below; otherwise it has no effect.
#[test]
fn saves_until_it_is_killed() {
    let Some(path) = env::var_os(PATH) else { return };
    let mut world = World::new();
    loop {
        world.spawn_batch((0..10_000).map(Four));
        world.snapshot().expect("no buffers").save(&path).expect("room on the disk");
        if world.len() > 1_000_000 {
            world.clear();
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no programs")]
fn a_program_that_is_killed_leaves_a_whole_file() {
    let folder = env::temp_dir().join(format!("phalanx-kill-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for files");
    let path = folder.join("game.state");
    let mut world = World::new();
    world.register::<Four>();
    let mut states = 0;
    for round in 0..12 {
        let mut program = Command::new(env::current_exe().expect("this program"))
            .args(["--exact", "snapshot_save::saves_until_it_is_killed"])
            .env(PATH, &path)
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("it starts");
        // Until the file exists, and after that at some moment while the next ones are written.
        while !path.exists() && program.try_wait().is_ok_and(|ended| ended.is_none()) {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(round * 7));
        program.kill().expect("it runs");
        program.wait().expect("it ends");
        let state = world.read_snapshot(&fs::read(&path).expect("it is there"));
        states += state.expect("it is whole").len() / 10_000;
    }
    assert!(states >= 12, "each round has saved a state, or left the one before");
    fs::remove_dir_all(&folder).expect("the folder is there");
}
