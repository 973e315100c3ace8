//! Files that are replaced as a whole, or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;

/// Writes a file beside another one, and puts it in its place once it is whole on the disk.
pub(super) fn replace_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let replace = || {
        let mut file = BufWriter::new(File::create(&beside)?);
        write(&mut file)?;
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&beside, path)
    };
    replace().inspect_err(|_| {
        // What is not whole is of no use, and what fails here has failed before.
        let _ = fs::remove_file(&beside);
    })
}
