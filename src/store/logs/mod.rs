//! The logs of a world: events that were sent, and rows that came, changed or went.
//!
//! A log is a list of numbered entries, and [`Kept`] is such a list as its readers see it. The
//! [`readers`] have positions in it, and one rule by which entries are forgotten: an entry stays
//! until every reader that exists has read it, and beyond it only a bound on bytes drops entries.
//!
//! * [`logs`] has [`Logs`], all logs of a world.
//! * [`event_queues`] has an [`event_queue`] for each type of event. Systems send while others
//!   read, so a queue has locks.
//! * [`row_logs`] has a [`row_log`] for each component that rows have gained, or lost, and one for
//!   the rows themselves. Rows change only while the world is borrowed exclusively, so these logs
//!   need no lock. [`log_subject`] tells which changes a log records, and [`record_rows`] has the
//!   calls of the changes. A sparse component changes while systems run as well, so its set notes
//!   the changes, and its logs record the notes afterwards.
//!
//! Another kind of rows is another [`LogSubject`], with its clause in [`LogSubject::records`], and
//! another [`RowKind`], with its values, in [`row_kind`].

mod event_queue;
mod event_queues;
mod log_subject;
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod logs;
mod readers;
mod record_rows;
mod row_kind;
mod row_log;
mod row_logs;

pub(crate) use event_queue::KeptEvents;
pub(crate) use event_queues::{EventQueueInfo, EventQueues};
pub(crate) use log_subject::LogSubject;
pub(crate) use logs::Logs;
pub(crate) use readers::{Kept, ReaderPosition};
pub(crate) use row_kind::{EntityRows, RowKind};
pub(crate) use row_log::RowLog;
pub(super) use row_logs::RowLogs;
