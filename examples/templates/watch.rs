//! A folder with files that are watched.

use phalanx_examples::program::cannot;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The bytes of a file, or why they cannot be read.
pub(crate) type Contents = Result<Vec<u8>, String>;

/// The time, the length and the number of a file, or why it cannot be read.
type Stamp = Result<(Option<SystemTime>, u64, u64), String>;

/// The contents of a file that is gone.
const NO_TYPES: &[u8] = b"{}";

/// The files of types in a folder: `*.json`. They are asked for their times, lengths and numbers,
/// so that no thread or service is needed. A file that takes the place of another one within the
/// same tick of the system's clock, and has its length, has another number.
#[derive(Debug)]
pub(crate) struct Watch {
    folder: PathBuf,
    seen: BTreeMap<PathBuf, Stamp>,
}

impl Watch {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), seen: BTreeMap::new() }
    }

    /// The files that have come, gone or changed since the last call, with their contents; at first
    /// all of them. A file that is gone has no types. One that cannot be read is tried again in
    /// each call, and told once.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub(crate) fn changes(&mut self) -> Result<Vec<(PathBuf, Contents)>, String> {
        let mut files = self.files().map_err(|error| cannot("read", &self.folder, error))?;
        let mut changes = Vec::new();
        files.retain(|path, stamp| {
            let seen = self.seen.get(path);
            if stamp.is_ok() && seen == Some(stamp) {
                return true;
            }
            let contents = match read(path) {
                // Editors replace files: one of the list may be gone.
                Err(error) if error.kind() == ErrorKind::NotFound => return false,
                contents => contents.map_err(|error| error.to_string()),
            };
            if let Err(error) = &contents {
                *stamp = Err(error.clone());
            }
            if stamp.is_ok() || seen != Some(stamp) {
                changes.push((path.clone(), contents));
            }
            true
        });
        let gone = self.seen.keys().filter(|path| !files.contains_key(*path));
        changes.extend(gone.map(|path| (path.clone(), Ok(NO_TYPES.to_vec()))));
        self.seen = files;
        Ok(changes)
    }

    /// All files of types. Directories are none.
    fn files(&self) -> io::Result<BTreeMap<PathBuf, Stamp>> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                match fs::metadata(&path) {
                    Err(error) if error.kind() == ErrorKind::NotFound => {}
                    Ok(about) if !about.is_file() => {}
                    about => {
                        let stamp = about
                            .map(|about| (about.modified().ok(), about.len(), number_of(&about)));
                        files.insert(path, stamp.map_err(|error| error.to_string()));
                    }
                }
            }
        }
        Ok(files)
    }
}

/// Reads a file of types. Its name is a part of faults and reports, so it must be text.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    match path.file_name().and_then(OsStr::to_str) {
        Some(_) => fs::read(path),
        None => Err(io::Error::other("its name is not UTF-8")),
    }
}

/// The number by which the file system knows a file, where it tells.
#[cfg(unix)]
fn number_of(about: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(about)
}

#[cfg(not(unix))]
const fn number_of(_: &fs::Metadata) -> u64 {
    0
}
