//! Commands that had no effect, as playback collects them.

use core::fmt;
use core::mem::discriminant;

use crate::entity::Entity;

use super::bundle_kinds::{BundleKinds, KindId};
use super::error::{CommandError, CommandFault, CommandVerb};
use super::record::CallSite;

/// The commands of a playback that had no effect.
///
/// A program that applies a buffer itself gets a list of all of them. A schedule runs again and
/// again: it asks for [one entry a place](Failures::by_place), so that their memory is bounded by
/// the program's text and not by what happens.
#[derive(Debug)]
pub(crate) struct Failures {
    list: Vec<Failure>,
    by_place: bool,
}

/// A command that had no effect, and how many others failed like it.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The number of records before it.
    at: usize,
    kind: KindId,
    pub(crate) first: CommandError,
    /// With the first.
    pub(crate) count: u64,
}

impl Failures {
    /// Every command on its own.
    pub(super) const fn listed() -> Self {
        Self { list: Vec::new(), by_place: false }
    }

    /// One entry for the commands of one kind that were recorded at one place in the source and
    /// failed for one reason.
    pub(crate) const fn by_place() -> Self {
        Self { list: Vec::new(), by_place: true }
    }

    /// Adds a command that follows `at` records.
    #[cold]
    pub(super) fn add(
        &mut self,
        at: usize,
        (verb, kind, kinds): (CommandVerb, KindId, &BundleKinds),
        (entity, place): (Entity, CallSite),
        fault: CommandFault,
    ) {
        let fails_alike = |failure: &&mut Failure| {
            let CommandError { verb: first_verb, place: first_place, fault: first_fault, .. } =
                failure.first;
            (failure.kind, first_verb) == (kind, verb)
                && first_place == place
                && discriminant(&first_fault) == discriminant(&fault)
        };
        let known = if self.by_place { self.list.iter_mut().find(fails_alike) } else { None };
        let Some(known) = known else {
            let components = kinds.get(kind).names();
            let first = CommandError { verb, entity, components, place, fault };
            self.list.push(Failure { at, kind, first, count: 1 });
            return;
        };
        known.count += 1;
        // Playback goes from entity to entity, so the first one recorded may be met later.
        if at < known.at {
            known.at = at;
            (known.first.entity, known.first.fault) = (entity, fault);
        }
    }

    /// Puts them in the order of recording.
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

/// The first, and the number of the others.
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
