//! Failures: the commands of a playback that had no effect or made no relation, listed or counted
//! by call site.

use core::fmt;

use crate::entity::Entity;

use super::bundle_kinds::BundleKindId;
use super::command_errors::{CommandError, CommandErrorKind, CommandVerb};
use super::record::CallSite;

/// The commands of a playback that had no effect or made no relation.
///
/// A program that applies a buffer itself gets a list of all of them. A schedule, which runs
/// repeatedly, collects [one entry per call site](Failures::by_call_site), so that their memory is
/// bounded by the program's text.
#[derive(Debug)]
pub(crate) struct Failures {
    list: Vec<Failure>,
    by_call_site: bool,
}

/// A command that had no effect or made no relation, and the number of others that failed like it.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The number of records before it, itself included.
    at: usize,
    /// None of a change without types of components.
    bundle_kind: Option<BundleKindId>,
    pub(crate) first: CommandError,
    /// Including the first.
    pub(crate) count: u64,
}

impl Failures {
    /// One entry per command.
    pub(super) const fn listed() -> Self {
        Self { list: Vec::new(), by_call_site: false }
    }

    /// One entry for all commands of one kind that were recorded at one call site and failed for
    /// one reason.
    pub(crate) const fn by_call_site() -> Self {
        Self { list: Vec::new(), by_call_site: true }
    }

    /// Adds a command that was recorded after `at` records. `names` are those of its components.
    #[cold]
    pub(super) fn add(
        &mut self,
        at: usize,
        (verb, bundle_kind): (CommandVerb, Option<BundleKindId>),
        (entity, call_site): (Entity, CallSite),
        fault: CommandErrorKind,
        names: impl FnOnce() -> Vec<&'static str>,
    ) {
        let fails_alike = |failure: &&mut Failure| {
            let first = &failure.first;
            (failure.bundle_kind, first.verb) == (bundle_kind, verb)
                && first.place == call_site
                && first.fault.is_like(&fault)
        };
        let known = if self.by_call_site { self.list.iter_mut().find(fails_alike) } else { None };
        let Some(known) = known else {
            let components = names();
            let first = CommandError { verb, entity, components, place: call_site, fault };
            self.list.push(Failure { at, bundle_kind, first, count: 1 });
            return;
        };
        known.count += 1;
        // Playback goes from entity to entity, so the first command recorded may fail later.
        if at < known.at {
            known.at = at;
            known.first.components = names();
            (known.first.entity, known.first.fault) = (entity, fault);
        }
    }

    /// Sorts them by the order of recording.
    pub(super) fn sort(&mut self) {
        self.list.sort_by_key(|failure| failure.at);
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn into_errors(self) -> Vec<CommandError> {
        self.list.into_iter().map(|failure| failure.first).collect()
    }
}

impl IntoIterator for Failures {
    type Item = Failure;
    type IntoIter = std::vec::IntoIter<Failure>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

/// Writes the first failure, and the number of the others.
impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.list.first() else { return Ok(()) };
        fmt::Display::fmt(&first.first, f)?;
        match self.list.iter().map(|failure| failure.count).sum::<u64>() {
            1 => Ok(()),
            count => write!(f, " (and {} more)", count - 1),
        }
    }
}
