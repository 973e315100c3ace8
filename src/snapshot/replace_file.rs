//! Files that are replaced as a whole, or not at all.
//!
//! The new state is written to a new file in the folder of the file that it replaces. A program or
//! a machine that stops during a save leaves:
//!
//! | after | under the path | in the new file |
//! | --- | --- | --- |
//! | the new file is created | the old state | a part of the new one |
//! | it has the permissions of the old file, and is synced | the old state | the new one |
//! | it is renamed to the path | the new state; the old one if the machine lost power | |
//! | the folder is synced | the new state | |
//!
//! A save uses a name that no file has, and deletes only its own file. So saves to one path cannot
//! harm each other, and a file left by a stopped save does not block another save.

use std::fs::{self, File, Permissions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, BufWriter, ErrorKind};
use std::iter;
use std::path::{Path, PathBuf};
use std::process;

/// Writes a new file in the folder of another file, and replaces that file once the new one is
/// whole on the disk. The new file gets the permissions of the other one.
///
/// # Errors
///
/// If a step fails. The path is unchanged, or has the new state if only the folder cannot be
/// synced.
pub(super) fn replace_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    replace_by(path, write, |step| step.perform())
}

/// A step after the writing. Tests stop before each step, and make it fail.
enum Step<'a> {
    Permit(&'a File, Permissions),
    Sync(&'a File),
    Rename(&'a Path, &'a Path),
    SyncFolder(&'a File),
}

impl Step<'_> {
    fn perform(self) -> io::Result<()> {
        match self {
            Self::Permit(file, permissions) => file.set_permissions(permissions),
            Self::Sync(file) => file.sync_all(),
            Self::Rename(from, to) => fs::rename(from, to),
            Self::SyncFolder(folder) => match folder.sync_all() {
                // Some file systems refuse to sync folders.
                Err(error)
                    if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) =>
                {
                    Ok(())
                }
                result => result,
            },
        }
    }
}

/// [`replace_file`] with a function that performs the steps.
fn replace_by(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    mut perform: impl FnMut(Step<'_>) -> io::Result<()>,
) -> io::Result<()> {
    // The folder is opened first, so that a failure leaves the old state.
    let folder = open_folder(path)?;
    let old = fs::metadata(path).ok().map(|old| old.permissions());
    let (mut beside, new) = PartFile::create(names_beside(path)?, old.as_ref())?;
    let mut file = BufWriter::new(new);
    write(&mut file)?;
    let new = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Some(old) = old.filter(|old| new.metadata().is_ok_and(|new| new.permissions() != *old)) {
        perform(Step::Permit(&new, old))?;
    }
    perform(Step::Sync(&new))?;
    drop(new);
    perform(Step::Rename(&beside.path, path))?;
    beside.is_renamed = true;
    let Some(folder) = folder else { return Ok(()) };
    perform(Step::SyncFolder(&folder)).map_err(|error| {
        let text = "the file is saved, but its folder cannot be synced, so the old file may come \
                    back if the machine loses power";
        io::Error::new(error.kind(), format!("{text}: {error}"))
    })
}

/// Opens the folder of a file. On Unix, syncing the folder makes renames last. Elsewhere the
/// standard library cannot sync folders.
fn open_folder(path: &Path) -> io::Result<Option<File>> {
    if !cfg!(unix) {
        return Ok(None);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new("."))).map(Some)
}

/// Names in the folder of the path, each with eight random digits: `game.state.1c9d02be.new`.
fn names_beside(path: &Path) -> io::Result<impl Iterator<Item = PathBuf>> {
    let no_name = || io::Error::new(ErrorKind::InvalidInput, "the path has no name of a file");
    let name = path.file_name().ok_or_else(no_name)?;
    Ok(iter::repeat_with(move || {
        // The keys are random, but a forked process has the keys of its parent.
        let random = RandomState::new().hash_one(process::id()) >> 32;
        let mut name = name.to_owned();
        name.push(format!(".{random:08x}.new"));
        path.with_file_name(name)
    }))
}

/// Creates a file with these permissions or fewer, so that it is never more open than the old one.
fn create_like(path: &Path, old: Option<&Permissions>) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if let Some(old) = old {
        use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
        options.mode(old.mode() & 0o666);
    }
    #[cfg(not(unix))]
    let _ = old;
    options.open(path)
}

/// A new file that is removed unless it is renamed, also after a panic.
struct PartFile {
    path: PathBuf,
    is_renamed: bool,
}

impl PartFile {
    /// Creates a file under the first of the names that is free.
    fn create(
        names: impl Iterator<Item = PathBuf>,
        old: Option<&Permissions>,
    ) -> io::Result<(Self, File)> {
        for path in names.take(1000) {
            match create_like(&path, old) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                result => return result.map(|file| (Self { path, is_renamed: false }, file)),
            }
        }
        Err(io::Error::new(ErrorKind::AlreadyExists, "no name beside the file is free"))
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if !self.is_renamed {
            // A failure here follows an earlier failure, which is reported.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
#[cfg(not(miri))] // Files that are brought to a disk, and programs that are killed.
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::env;
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::process::{Command, Stdio};
    use std::thread;

    /// States that are larger than a buffer.
    static OLD: [u8; 20_000] = [1; 20_000];
    static NEW: [u8; 30_000] = [2; 30_000];

    /// Replaces the file by [`NEW`], and calls the function before each step and after the last.
    fn replace_with(
        path: &Path,
        reached: impl Fn(&'static str) -> io::Result<()>,
    ) -> io::Result<()> {
        let write = |file: &mut BufWriter<File>| {
            reached("write")?;
            file.write_all(&NEW[..NEW.len() / 2])?;
            reached("write more")?;
            file.write_all(&NEW[NEW.len() / 2..])?;
            reached("flush")
        };
        replace_by(path, write, |step| {
            reached(match &step {
                Step::Permit(..) => "permit",
                Step::Sync(file) => {
                    let len = file.metadata().expect("it is open").len();
                    assert_eq!(len, NEW.len() as u64, "all of it is synced");
                    "sync"
                }
                Step::Rename(from, _) => {
                    assert_eq!(fs::read(from).expect("it is there"), NEW, "it is whole");
                    "rename"
                }
                Step::SyncFolder(_) => {
                    assert_eq!(fs::read(path).expect("it is there"), NEW, "it has its place");
                    "sync folder"
                }
            })?;
            step.perform()
        })?;
        reached("end")
    }

    /// The places at which a save may stop.
    fn places() -> Vec<&'static str> {
        let mut places = vec!["write", "write more", "flush"];
        // Elsewhere the permission is the default, and folders are not synced.
        places.extend(cfg!(unix).then_some("permit"));
        places.extend(["sync", "rename"]);
        places.extend(cfg!(unix).then_some("sync folder"));
        places.push("end");
        places
    }

    /// Returns `true` if a save that stops at this place has replaced the file.
    fn is_replaced(place: &str) -> bool {
        ["sync folder", "end"].contains(&place)
    }

    /// A folder with [`OLD`] in a file that others may read and execute.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("phalanx-replace-{}-{name}", process::id());
            let folder = Self(env::temp_dir().join(name));
            fs::create_dir_all(&folder.0).expect("a folder for files");
            folder.restore();
            folder
        }

        fn path(&self) -> PathBuf {
            self.0.join("game.state")
        }

        /// Puts the old state back.
        fn restore(&self) {
            fs::write(self.path(), OLD).expect("room on the disk");
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                let permissions = Permissions::from_mode(0o754);
                fs::set_permissions(self.path(), permissions).expect("it is ours");
            }
        }

        /// The other files in the folder.
        fn beside(&self) -> Vec<PathBuf> {
            let files = fs::read_dir(&self.0).expect("a folder").map(|file| file.expect("a file"));
            files.map(|file| file.path()).filter(|path| *path != self.path()).collect()
        }

        #[track_caller]
        fn assert_has(&self, is_new: bool) {
            let expected = if is_new { &NEW[..] } else { &OLD[..] };
            assert!(fs::read(self.path()).expect("it is there") == expected, "is new: {is_new}");
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                let mode = fs::metadata(self.path()).expect("it is there").permissions().mode();
                assert_eq!(mode & 0o777, 0o754, "the permissions are kept");
            }
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_steps_have_an_order() {
        let folder = Folder::new("order");
        let reached = RefCell::new(Vec::new());
        let log = |place| {
            reached.borrow_mut().push(place);
            Ok(())
        };
        replace_with(&folder.path(), log).expect("room on the disk");
        assert_eq!(reached.into_inner(), places());
        folder.assert_has(true);
        assert_eq!(folder.beside(), [] as [PathBuf; 0]);
    }

    #[test]
    fn an_error_or_a_panic_at_any_step_leaves_one_state_and_nothing_beside() {
        let folder = Folder::new("fail");
        for place in places() {
            for panics in [false, true] {
                let stop = |reached| match reached == place {
                    true if panics => panic!("stopped"),
                    true => Err(ErrorKind::StorageFull.into()),
                    false => Ok(()),
                };
                let save = || replace_with(&folder.path(), stop);
                match catch_unwind(AssertUnwindSafe(save)) {
                    Ok(result) => {
                        let error = result.expect_err("a step has failed");
                        assert_eq!((panics, error.kind()), (false, ErrorKind::StorageFull));
                        let says = error.to_string().contains("the file is saved");
                        assert_eq!(says, place == "sync folder", "{error}");
                    }
                    Err(_) => assert!(panics, "at {place}"),
                }
                folder.assert_has(is_replaced(place));
                assert_eq!(folder.beside(), [] as [PathBuf; 0], "at {place}");
                folder.restore();
            }
        }
    }

    /// The variable with the path and the place for a program that is to be killed during a save.
    const STOP: &str = "PHALANX_TEST_REPLACE";

    /// The program that the test below starts. Without the variable it returns at once.
    #[test]
    fn replaces_until_it_is_stopped() {
        let Ok(stop) = env::var(STOP) else { return };
        let (place, path) = stop.split_once(':').expect("a place and a path");
        let wait = |reached| {
            if reached == place {
                writeln!(io::stdout(), "\nstopped").expect("the other test listens");
                loop {
                    thread::park();
                }
            }
            Ok(())
        };
        replace_with(Path::new(path), wait).expect("room on the disk");
    }

    #[test]
    fn a_program_that_is_killed_at_any_step_leaves_one_state_and_hinders_no_save() {
        let folder = Folder::new("kill");
        let mut left = 0;
        for place in places() {
            let name = "snapshot::replace_file::tests::replaces_until_it_is_stopped";
            let mut program = Command::new(env::current_exe().expect("this program"))
                .args(["--exact", name, "--nocapture"])
                .env(STOP, format!("{place}:{}", folder.path().display()))
                .stdout(Stdio::piped())
                .spawn()
                .expect("it starts");
            let output = BufReader::new(program.stdout.take().expect("a pipe"));
            let stopped = output.lines().any(|line| line.is_ok_and(|line| line == "stopped"));
            program.kill().expect("it waits");
            program.wait().expect("it ends");
            assert!(stopped, "it does not reach {place}");
            folder.assert_has(is_replaced(place));
            left += usize::from(!is_replaced(place));
            let beside = folder.beside();
            assert_eq!(beside.len(), left, "at {place}");

            replace_with(&folder.path(), |_| Ok(())).expect("room on the disk");
            folder.assert_has(true);
            assert_eq!(folder.beside(), beside, "what is left is not ours to delete");
            folder.restore();
        }
    }

    #[test]
    fn saves_to_one_path_do_not_harm_each_other() {
        let folder = Folder::new("two");
        let path = folder.path();
        for place in places() {
            // Another save begins and ends during this one.
            let other = |reached| match reached == place {
                true => replace_file(&path, |file| file.write_all(b"another")),
                false => Ok(()),
            };
            replace_with(&path, other).expect("room on the disk");
            match place {
                "sync folder" | "end" => assert_eq!(fs::read(&path).expect("a file"), b"another"),
                _ => folder.assert_has(true),
            }
            assert_eq!(folder.beside(), [] as [PathBuf; 0], "at {place}");
            folder.restore();
        }
    }

    #[test]
    fn what_has_such_a_name_stays() {
        let folder = Folder::new("names");
        let [file, other, free] = ["a", "b", "c"].map(|name| folder.0.join(name));
        fs::write(&file, "not ours").expect("room on the disk");
        fs::create_dir(&other).expect("room on the disk");
        let names = [&file, &other, &free, &free].into_iter().cloned();
        let (beside, _) = PartFile::create(names, None).expect("the third name is free");
        assert_eq!(beside.path, free);
        drop(beside);
        assert_eq!(fs::read(&file).expect("it is there"), b"not ours");
        assert!(other.is_dir() && !free.exists());

        let none = PartFile::create([file.clone(), other].into_iter(), None);
        assert_eq!(none.err().expect("no name is free").kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&file).expect("it is there"), b"not ours");
    }

    #[test]
    fn names_are_beside_the_path_and_differ() {
        let names = |path| names_beside(Path::new(path)).map(|names| names.take(100));
        for (path, start) in [("game.state", "game.state."), ("a/game.state", "a/game.state.")] {
            let mut all: Vec<_> = names(path).expect("a name").collect();
            assert!(all.iter().all(|name| {
                name.to_str().is_some_and(|name| name.starts_with(start) && name.ends_with(".new"))
            }));
            all.sort();
            all.dedup();
            assert!(all.len() > 90, "{path}: {}", all.len());
        }
        for path in ["", "..", "/", "a/.."] {
            assert_eq!(names(path).err().expect(path).kind(), ErrorKind::InvalidInput);
        }
    }
}
