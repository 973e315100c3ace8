//! A folder for the time of a run.

use phalanx_examples::program::cannot;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// A new folder among the temporary files, removed in the end with all its files.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// # Errors
    ///
    /// If it cannot be made, or is there.
    pub(crate) fn new() -> Result<Self, String> {
        let path = env::temp_dir().join(format!("phalanx-templates-{}", process::id()));
        match fs::create_dir(&path) {
            Ok(()) => Ok(Self(path)),
            Err(error) => Err(format!("{}; remove it", cannot("make", &path, error))),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let path = self.0.join(name);
        fs::write(&path, bytes).map_err(|error| cannot("write", &path, error))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The files are of no use any more: a failure has no one to be told to.
        let _ = fs::remove_dir_all(&self.0);
    }
}
