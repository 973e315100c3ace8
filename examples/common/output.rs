//! A file that is written at the end of a run.

use crate::program::cannot;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that was created before the run, so that an unwritable path is an error before it.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    file: BufWriter<File>,
}

const ADVICE: &str = "choose a file that can be written, in a folder that exists";

impl Output {
    /// Creates a file. An existing file is overwritten.
    ///
    /// # Errors
    ///
    /// A message for the user if the file cannot be written.
    pub fn create(path: &Path) -> Result<Self, String> {
        let file = File::create(path);
        let file = file.map_err(|error| format!("{}; {ADVICE}", cannot("write", path, error)))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file) })
    }

    /// [`Output::create`], if the user named a file.
    ///
    /// # Errors
    ///
    /// A message for the user if the file cannot be written.
    pub fn create_if(path: Option<&Path>) -> Result<Option<Self>, String> {
        path.map(Self::create).transpose()
    }

    /// Whether a file can be written later. An existing file keeps its bytes.
    ///
    /// # Errors
    ///
    /// A message for the user if the file cannot be written.
    pub fn ensure_writable(path: &Path) -> Result<(), String> {
        let is_new = !path.exists();
        let file = OpenOptions::new().append(true).create(true).open(path);
        drop(file.map_err(|error| format!("{}; {ADVICE}", cannot("write", path, error)))?);
        if is_new {
            fs::remove_file(path).map_err(|error| cannot("write", path, error))?;
        }
        Ok(())
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// A message for the user if `write` fails.
    pub fn write<E: std::fmt::Display + From<std::io::Error>>(
        mut self,
        write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
    ) -> Result<(), String> {
        let written = write(&mut self.file).and_then(|()| Ok(self.file.flush()?));
        written.map_err(|error| cannot("write", &self.path, error))
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}
