//! A file that is written at the end of a run.

use crate::program::cannot;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf, is_separator};
use std::process;

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

    /// Whether a state can be saved later, which takes the place of a former one: a file is created
    /// beside the path, as a save does it, and removed. The path itself is not touched.
    ///
    /// # Errors
    ///
    /// A message for the user if the state cannot be saved.
    pub fn ensure_replaceable(path: &Path) -> Result<(), String> {
        replaceable(path).map_err(|error| format!("{}; {ADVICE}", cannot("write", path, error)))
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// A message for the user if `write` fails.
    pub fn write<E: std::fmt::Display + From<io::Error>>(
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

fn replaceable(path: &Path) -> io::Result<()> {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|about| about.is_dir());
    if is_folder || path.to_string_lossy().ends_with(is_separator) {
        return Err(ErrorKind::IsADirectory.into());
    }
    let name = path.file_name().ok_or(ErrorKind::InvalidFilename)?;
    // A save opens the folder as well, to wait for the disk.
    #[cfg(unix)]
    drop(File::open(
        path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")),
    )?);
    for number in 0..=u32::MAX {
        // As long as the name that a save uses, and with the number of the process.
        let mut beside = name.to_owned();
        beside.push(format!(".{:08x}.new", process::id().wrapping_add(number)));
        let beside = path.with_file_name(beside);
        match File::create_new(&beside) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(_) => return fs::remove_file(&beside),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}
