//! A folder whose files are watched.

use phalanx_examples::program::cannot;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

/// The contents of a file that is gone.
const NO_TYPES: &[u8] = b"{}";

/// The files of types in a folder: `*.json`. They are asked for their times and lengths, so that
/// no thread or service is needed.
#[derive(Debug)]
pub(crate) struct Watch {
    folder: PathBuf,
    seen: BTreeMap<PathBuf, (Option<SystemTime>, u64)>,
}

impl Watch {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), seen: BTreeMap::new() }
    }

    /// The files that have come, gone or changed since the last call, with their contents; at first
    /// all of them. A file that is gone has no types.
    ///
    /// # Errors
    ///
    /// If the folder or one of its files cannot be read.
    pub(crate) fn changes(&mut self) -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
        let files = self.files().map_err(|error| cannot("read", &self.folder, error))?;
        let is_same = |(path, stamp): &(&PathBuf, &_)| self.seen.get(*path) == Some(*stamp);
        let gone = self.seen.keys().filter(|path| !files.contains_key(*path));
        let gone = gone.map(|path| (path.clone(), NO_TYPES.to_vec()));
        let mut changes: Vec<_> = gone.collect();
        for (path, _) in files.iter().filter(|file| !is_same(file)) {
            let bytes = match fs::read(path) {
                Err(error) if error.kind() == ErrorKind::NotFound => NO_TYPES.to_vec(),
                bytes => bytes.map_err(|error| cannot("read", path, error))?,
            };
            changes.push((path.clone(), bytes));
        }
        self.seen = files;
        Ok(changes)
    }

    fn files(&self) -> io::Result<BTreeMap<PathBuf, (Option<SystemTime>, u64)>> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                // Editors replace files: one of the list may be gone.
                match fs::metadata(&path) {
                    Err(error) if error.kind() == ErrorKind::NotFound => {}
                    about => {
                        let about = about?;
                        files.insert(path, (about.modified().ok(), about.len()));
                    }
                }
            }
        }
        Ok(files)
    }
}
