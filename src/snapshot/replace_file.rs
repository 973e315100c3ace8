//! Files that are replaced as a whole, or not at all.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// Writes a file beside another one, and puts it in its place once it is whole on the disk. It has
/// the permissions of the other one.
pub(super) fn replace_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let old = fs::metadata(path).ok().map(|old| old.permissions());
    // What a save has left that was killed may not be ours to write.
    let _ = fs::remove_file(&name);
    let new = create_like(Path::new(&name), old.as_ref())?;
    let mut beside = Beside { path: name.into(), is_whole: false };
    let mut file = BufWriter::new(new);
    write(&mut file)?;
    let new = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Some(old) = old.filter(|old| new.metadata().is_ok_and(|new| new.permissions() != *old)) {
        new.set_permissions(old)?;
    }
    new.sync_all()?;
    drop(new);
    fs::rename(&beside.path, path)?;
    beside.is_whole = true;
    Ok(())
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

/// A file that is removed unless it is whole, also after a panic.
struct Beside {
    path: PathBuf,
    is_whole: bool,
}

impl Drop for Beside {
    fn drop(&mut self) {
        if !self.is_whole {
            // What fails here has failed before.
            let _ = fs::remove_file(&self.path);
        }
    }
}
