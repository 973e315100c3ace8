//! Errors of exporting a snapshot.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use arrow_schema::ArrowError;

/// The reason why no record batches or files were made. The text gives advice.
///
/// ```
/// use std::sync::Arc;
/// use phalanx::prelude::*;
///
/// #[component(name = "entity")]
/// struct Owner(u32);
/// let mut world = World::new();
/// world.spawn(Owner(1));
/// let snapshot = Arc::new(world.snapshot()?);
/// let error = phalanx_arrow::record_batches(&snapshot).unwrap_err();
/// assert!(error.to_string().contains("give the component another name"), "{error}");
/// # Ok::<(), phalanx::snapshot::SnapshotError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ExportError {
    /// A component is named `entity`, which is the name of the column of ids.
    NameTaken,
    /// A row of a component is larger than a row of Arrow can be.
    RowTooLarge {
        /// The bytes or the elements of a row.
        size: usize,
    },
    /// A file or the folder of files cannot be written.
    Path {
        /// The file or the folder.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// Arrow refuses an array, or a writer fails.
    Arrow(ArrowError),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameTaken => write!(
                f,
                "a component is named `entity`, as the column of ids is: give the component \
                 another name: `#[component(name = \"…\")]`"
            ),
            Self::RowTooLarge { size } => write!(
                f,
                "a row has {size} bytes or elements, and Arrow counts up to {}: split the \
                 component into several",
                i32::MAX
            ),
            Self::Path { path, error } => write!(
                f,
                "cannot write {}: {error}; choose a folder that can be written",
                path.display()
            ),
            Self::Arrow(error) => write!(f, "Arrow cannot hold or write the columns: {error}"),
        }
    }
}

impl Error for ExportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Path { error, .. } => Some(error),
            Self::Arrow(error) => Some(error),
            _ => None,
        }
    }
}

impl ExportError {
    /// Adds the path to an error of the system.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Path { path: path.to_owned(), error }
    }
}

impl From<ArrowError> for ExportError {
    fn from(error: ArrowError) -> Self {
        Self::Arrow(error)
    }
}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> Self {
        Self::Arrow(error.into())
    }
}
