//! The parameter that reads a log.

use crate::component::Registry;
use crate::logs::{Log, LogAccess, LogGrant, LogReader};
use crate::store::ReaderPosition;
use crate::version::Version;
use crate::world::{MissingResource, World};

use super::param::{SystemParam, SystemRun, sealed};
use super::param_access::{NamedAccess, ParamKind};

impl<L: Log> sealed::Sealed for LogReader<'_, L> {}
impl<L: Log> SystemParam for LogReader<'_, L> {
    type Item<'a> = LogReader<'a, L>;
    const CONTINUES: bool = L::BEGINS_LATER;
    type State = ReaderPosition;
    type Borrowed<'r> = LogGrant<'r, L>;

    fn access(_: &mut Registry) -> Vec<NamedAccess> {
        NamedAccess::of::<Self>(match L::access() {
            LogAccess::Events { id, name } => ParamKind::Events { id, name, write: false },
            LogAccess::Rows { phrase, name } => ParamKind::Rows { phrase, name },
        })
    }

    fn bind(world: &mut World) -> ReaderPosition {
        L::add_reader(world)
    }

    fn borrow<'r>(
        state: &'r mut ReaderPosition,
        run: &SystemRun<'r>,
    ) -> Result<LogGrant<'r, L>, MissingResource> {
        Ok(LogGrant::new(run.split.logs(), state))
    }

    fn item<'a>(borrowed: &'a mut LogGrant<'_, L>, _: Version) -> LogReader<'a, L> {
        borrowed.reader()
    }
}
