#![doc = include_str!("../README.md")]

mod array;
mod error;
mod export;
mod footprint;
mod kind;
mod shared_buffer;
mod table;

pub use error::ExportError;
pub use export::{Export, record_batches, table, write_ipc};
pub use footprint::Footprint;
pub use table::{BATCH_ROWS, Table};
