//! DataFusion with one table, `herd`.

use crate::answer::Answer;
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion::execution::options::ArrowReadOptions;
use datafusion::prelude::SessionContext;
use phalanx_arrow::{BATCH_ROWS, Table};
use std::path::Path;
use std::sync::Arc;

/// Answers SQL.
pub(crate) struct Engine(SessionContext);

impl Engine {
    /// The table is the memory of a snapshot.
    pub(crate) fn on_memory(table: &Table) -> Result<Self> {
        let context = SessionContext::new();
        // A partition for each thread, of batches that are windows into the columns.
        let threads = context.copied_config().target_partitions();
        let mut partitions = vec![Vec::new(); threads];
        for (number, batch) in table.sliced(BATCH_ROWS).batches.into_iter().enumerate() {
            partitions[number % threads].push(batch);
        }
        let table = MemTable::try_new(Arc::clone(&table.schema), partitions)?;
        context.register_table("herd", Arc::new(table))?;
        Ok(Self(context))
    }

    /// The table is a folder of Arrow files.
    pub(crate) async fn on_files(folder: &Path) -> Result<Self> {
        let context = SessionContext::new();
        let folder = format!("{}/", folder.display());
        context.register_arrow("herd", folder, ArrowReadOptions::default()).await?;
        Ok(Self(context))
    }

    pub(crate) async fn ask(&self, sql: &str) -> Result<Answer> {
        Answer::of_batches(&self.0.sql(sql).await?.collect().await?)
    }
}
