//! What a parameter asks for, and what two of them cannot share.

use core::any::TypeId;
use core::fmt;

use crate::archetype::Archetype;
use crate::query::{AccessRequest, Rule};

use super::error::Subject;
use super::name::short;

/// What a parameter of a system asks for.
#[derive(Clone, Debug)]
pub struct ParamAccess(pub(super) ParamKind);

/// The kinds of [`ParamAccess`].
#[derive(Clone, Debug)]
pub(super) enum ParamKind {
    /// Columns of the archetypes that match.
    Columns(AccessRequest),
    /// A component of any entity.
    Lookup(AccessRequest),
    /// A resource.
    Resource { id: TypeId, name: &'static str, write: bool },
    /// To record commands, which are applied later.
    Commands,
    /// Nothing that another system has.
    Own,
}

impl ParamAccess {
    pub(super) const fn is_commands(&self) -> bool {
        matches!(self.0, ParamKind::Commands)
    }

    /// What both name and one of them writes, if there can be a world in which they meet.
    pub(super) fn clash(&self, other: &Self) -> Option<Subject> {
        if let (Some(mine), Some(theirs)) = (self.request(), other.request()) {
            return mine.requirements().clash(theirs.requirements()).map(Subject::Component);
        }
        match (&self.0, &other.0) {
            (
                ParamKind::Resource { id, name, write },
                ParamKind::Resource { id: other, write: writes, .. },
            ) => (id == other && (*write || *writes)).then_some(Subject::Resource(name)),
            _ => None,
        }
    }

    /// What it claims of the columns.
    const fn request(&self) -> Option<&AccessRequest> {
        match &self.0 {
            ParamKind::Columns(request) | ParamKind::Lookup(request) => Some(request),
            _ => None,
        }
    }

    /// Whether they clash in a world of these archetypes.
    pub(super) fn clash_in(&self, other: &Self, archetypes: &[Archetype]) -> bool {
        match (self.request(), other.request()) {
            (Some(mine), Some(theirs)) => {
                mine.requirements().clash_in(theirs.requirements(), archetypes).is_some()
            }
            _ => self.clash(other).is_some(),
        }
    }
}

/// The first clash between two lists.
pub(super) fn clash(mine: &[ParamAccess], theirs: &[ParamAccess]) -> Option<Subject> {
    mine.iter().find_map(|want| theirs.iter().find_map(|other| want.clash(other)))
}

/// Whether two lists clash in a world of these archetypes.
pub(super) fn clash_in(
    mine: &[ParamAccess],
    theirs: &[ParamAccess],
    archetypes: &[Archetype],
) -> bool {
    mine.iter().any(|want| theirs.iter().any(|other| want.clash_in(other, archetypes)))
}

/// As a schedule prints it: what is read and written, of which archetypes, and of which chunks.
impl fmt::Display for ParamAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ParamKind::Columns(request) => f.write_str(&query_words(request).join("; ")),
            ParamKind::Lookup(request) => {
                let mut terms = request.requirements().terms();
                terms.try_for_each(|(name, write)| {
                    write!(f, "looks up {name}{}", if write { " to write it" } else { "" })
                })
            }
            ParamKind::Resource { name, write, .. } => {
                write!(f, "{} {}", verb(*write), short(name))
            }
            ParamKind::Commands => f.write_str("records commands"),
            ParamKind::Own => f.write_str("keeps its own state"),
        }
    }
}

const fn verb(write: bool) -> &'static str {
    if write { "writes" } else { "reads" }
}

/// What a query asks for: terms, then rules, then versions.
fn query_words(request: &AccessRequest) -> Vec<String> {
    let requirements = request.requirements();
    let mut words = Vec::new();
    for write in [true, false] {
        let of_this = requirements.terms().filter(|&(_, writes)| writes == write);
        let names: Vec<_> = of_this.map(|(name, _)| name).collect();
        if !names.is_empty() {
            words.push(format!("{} {}", verb(write), names.join(", ")));
        }
    }
    if words.is_empty() {
        words.push("reads entities".to_owned());
    }
    let is_named = |name| {
        requirements.terms().any(|(term, _)| term == name)
            || requirements.watched().any(|one| one == name)
    };
    for rule in requirements.rules() {
        match rule {
            Rule::Lacks(one) => words.push(format!("without {}", one.name)),
            Rule::Has(one) if !is_named(one.name) => words.push(format!("with {}", one.name)),
            Rule::HasAny(some) => {
                let names: Vec<_> = some.iter().map(|one| one.name).collect();
                words.push(format!("with any of {}", names.join(", ")));
            }
            Rule::Has(_) => {}
        }
    }
    let watched: Vec<_> = requirements.watched().collect();
    if !watched.is_empty() {
        words.push(format!("changed {}", watched.join(", ")));
    }
    if requirements.watches_arrivals() {
        words.push("rows arrived".to_owned());
    }
    words
}
