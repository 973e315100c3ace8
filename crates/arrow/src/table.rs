//! All entities of a snapshot as batches of one schema, and files of the batches.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::SchemaRef;

use crate::error::ExportError;

/// The most rows of a batch in a file: readers take a batch as a whole, and divide a file among
/// threads by its batches. A multiple of 512, so that bits start at a line as well.
pub const BATCH_ROWS: usize = 1 << 16;

/// All entities as record batches of one schema, as engines expect a table: made by
/// [`Export::table`](crate::Export::table).
///
/// ```
/// use std::sync::Arc;
/// use phalanx::prelude::*;
///
/// #[component(name = "health")]
/// struct Health(f32);
/// #[component(name = "frozen")]
/// struct Frozen;
/// let mut world = World::new();
/// world.spawn_batch([Health(1.0); 100]);
/// world.spawn(Frozen);
/// let table = phalanx_arrow::table(&Arc::new(world.snapshot()?))?;
/// assert_eq!((table.batches.len(), table.rows()), (2, 101));
/// assert_eq!(table.batches[1].column_by_name("health").unwrap().null_count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Table {
    /// The schema of all batches.
    pub schema: SchemaRef,
    /// One for each archetype that has entities, or smaller ones.
    pub batches: Vec<RecordBatch>,
}

impl Table {
    /// The number of rows of all batches.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// world.spawn_batch([(); 9]);
    /// assert_eq!(phalanx_arrow::table(&Arc::new(world.snapshot()?))?.rows(), 9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The same rows in batches of up to `rows_max` rows. Batches are windows: no row is copied.
    ///
    /// # Panics
    ///
    /// If `rows_max` is 0.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// world.spawn_batch([(); 9]);
    /// let table = phalanx_arrow::table(&Arc::new(world.snapshot()?))?.sliced(4);
    /// let lens: Vec<_> = table.batches.iter().map(|batch| batch.num_rows()).collect();
    /// assert_eq!(lens, [4, 4, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sliced(&self, rows_max: usize) -> Self {
        assert!(rows_max > 0, "a batch has one row at least");
        let slices = |batch: &RecordBatch| -> Vec<_> {
            let starts = (0..batch.num_rows()).step_by(rows_max);
            let slice = |start| batch.slice(start, rows_max.min(batch.num_rows() - start));
            starts.map(slice).collect()
        };
        let batches = self.batches.iter().flat_map(slices).collect();
        Self { schema: self.schema.clone(), batches }
    }

    /// Writes all rows as one file of Arrow's IPC format (`.arrow`, also known as Feather), in
    /// batches of up to [`BATCH_ROWS`] rows. Buffers in it begin at multiples of 64 bytes, so that
    /// a reader can map the file instead of reading it. The writer should be buffered.
    ///
    /// # Errors
    ///
    /// If the writer fails.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use phalanx::prelude::*;
    /// use arrow_ipc::reader::FileReader;
    ///
    /// let mut world = World::new();
    /// world.spawn_batch([(); 9]);
    /// let mut file = Vec::new();
    /// phalanx_arrow::table(&Arc::new(world.snapshot()?))?.write_ipc(&mut file)?;
    /// let read = FileReader::try_new(std::io::Cursor::new(file), None)?;
    /// assert_eq!(read.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_ipc(&self, to: impl Write) -> Result<(), ExportError> {
        let mut writer = FileWriter::try_new(to, &self.schema)?;
        for batch in &self.sliced(BATCH_ROWS).batches {
            writer.write(batch)?;
        }
        writer.finish()?;
        Ok(writer.flush()?)
    }

    /// Writes files of up to `rows_max` rows each to a folder, which is created if it is missing:
    /// `part-00000.arrow` and so on. A file has rows of one archetype, so that an engine can leave
    /// out whole files. Older parts in the folder are removed; other files stay. Returns the paths.
    ///
    /// # Errors
    ///
    /// If the folder or a file cannot be written. Some of the files exist afterwards.
    ///
    /// # Panics
    ///
    /// If `rows_max` is 0.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// world.spawn_batch([(); 9]);
    /// let folder = std::env::temp_dir().join(format!("phalanx-parts-{}", std::process::id()));
    /// let files = phalanx_arrow::table(&Arc::new(world.snapshot()?))?.write_files(&folder, 5)?;
    /// assert!(files.len() == 2 && files[1].ends_with("part-00001.arrow"));
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_files(
        &self,
        folder: impl AsRef<Path>,
        rows_max: usize,
    ) -> Result<Vec<PathBuf>, ExportError> {
        let batches = self.sliced(rows_max).batches;
        let folder = folder.as_ref();
        fs::create_dir_all(folder).map_err(ExportError::at(folder))?;
        for entry in fs::read_dir(folder).map_err(ExportError::at(folder))? {
            let path = entry?.path();
            if is_part(&path) {
                fs::remove_file(&path).map_err(ExportError::at(&path))?;
            }
        }
        let mut paths = Vec::new();
        for (number, batch) in batches.into_iter().enumerate() {
            let path = folder.join(format!("part-{number:05}.arrow"));
            let part = Self { schema: self.schema.clone(), batches: vec![batch] };
            let file = File::create(&path).map_err(ExportError::at(&path))?;
            part.write_ipc(BufWriter::new(file))?;
            paths.push(path);
        }
        Ok(paths)
    }
}

/// Whether a file has a name that [`Table::write_files`] gives.
fn is_part(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let number = name.strip_prefix("part-").and_then(|rest| rest.strip_suffix(".arrow"));
    number.is_some_and(|number| number.len() >= 5 && number.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_names_of_parts_are_parts() {
        assert!(is_part(Path::new("a/part-00000.arrow")));
        assert!(is_part(Path::new("part-123456.arrow")));
        for other in ["part-1.arrow", "part-0000x.arrow", "part-00000.csv", "world.arrow", ".."] {
            assert!(!is_part(Path::new(other)), "{other}");
        }
    }
}
