//! Files that are replaced as a whole, or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// Writes a file beside another one, and puts it in its place once it is whole on the disk. It has
/// the permissions of the other one.
pub(super) fn replace_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let new = File::create(&beside)?;
    let mut beside = Beside { path: beside.into(), is_whole: false };
    if let Ok(old) = fs::metadata(path) {
        new.set_permissions(old.permissions())?;
    }
    let mut file = BufWriter::new(new);
    write(&mut file)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    fs::rename(&beside.path, path)?;
    beside.is_whole = true;
    Ok(())
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
