//! The access of a system's parameters, and conflicts between two accesses.

use core::any::{TypeId, type_name};
use core::fmt;

use crate::component::{ComponentId, Registry, SparseComponent};
use crate::storage::AccessKind;
use crate::store::{AccessRequest, RowRule, Rule};

use super::name::short;
use super::schedule_error::{AliasingParameters, Parameter, Subject};

/// The access of one parameter of a system.
#[derive(Clone, Debug)]
pub(super) struct ParamAccess(pub(super) ParamKind);

/// The kinds of [`ParamAccess`].
#[derive(Clone, Debug)]
pub(super) enum ParamKind {
    /// Columns of the matching archetypes.
    Columns(AccessRequest),
    /// A component of any entity.
    Lookup(AccessRequest),
    /// A resource.
    Resource { id: TypeId, name: &'static str, write: bool },
    /// A sparse component.
    Sparse { id: ComponentId, name: &'static str, write: bool },
    /// The events of a type.
    Events { id: TypeId, name: &'static str, write: bool },
    /// Recording commands, which are applied later.
    Commands,
    /// Recorded rows: a phrase, and the name of their component.
    Rows { phrase: &'static str, name: &'static str },
    /// State of the system itself, which no other system can access.
    Own,
}

/// The access of a parameter, with its name and position for errors.
#[derive(Clone, Debug)]
pub struct NamedAccess {
    pub(super) access: ParamAccess,
    /// The type of the parameter, as the compiler names it.
    pub(super) name: &'static str,
    /// The position in the outermost tuple, from 1: the position among the parameters of the
    /// system.
    pub(super) position: usize,
}

impl NamedAccess {
    /// The only access of a parameter of type `P`.
    pub(super) fn of<P>(kind: ParamKind) -> Vec<Self> {
        vec![Self { access: ParamAccess(kind), name: type_name::<P>(), position: 1 }]
    }
}

impl ParamKind {
    /// The resource of type `R`.
    pub(super) fn resource<R: 'static>(access: AccessKind) -> Self {
        let write = access.is_write();
        Self::Resource { id: TypeId::of::<R>(), name: type_name::<R>(), write }
    }

    /// The sparse component `T`, which is registered if it is new.
    ///
    /// # Panics
    ///
    /// If another component has its name.
    pub(super) fn sparse<T: SparseComponent>(registry: &mut Registry, access: AccessKind) -> Self {
        let id = registry.register_sparse::<T>().and_then(|()| registry.known_sparse::<T>());
        let id = id.unwrap_or_else(|taken| taken.refuse());
        Self::Sparse { id, name: T::NAME, write: access.is_write() }
    }

    /// The events of type `E`.
    pub(super) fn events<E: 'static>(access: AccessKind) -> Self {
        let write = access.is_write();
        Self::Events { id: TypeId::of::<E>(), name: type_name::<E>(), write }
    }
}

impl ParamAccess {
    /// Whether other systems see changes by the parameter after the next sync point only: commands,
    /// and for queries the sparse components that are inserted.
    pub(super) const fn needs_sync(&self) -> bool {
        self.records_commands() || self.inserts_sparse()
    }

    pub(super) const fn records_commands(&self) -> bool {
        matches!(self.0, ParamKind::Commands)
    }

    /// Whether it may insert sparse components, and remove them, without a command.
    pub(super) const fn inserts_sparse(&self) -> bool {
        matches!(self.0, ParamKind::Sparse { write: true, .. })
    }

    /// A subject that both access and at least one writes, in some possible world.
    pub(super) fn clash(&self, other: &Self) -> Option<Subject> {
        if let (Some(mine), Some(theirs)) = (self.request(), other.request()) {
            let (mine, theirs) = (mine.requirements(), theirs.requirements());
            let set = mine.conflicting_set(theirs).map(Subject::Sparse);
            return set.or_else(|| mine.clash(theirs).map(Subject::Component));
        }
        for (one, query) in [(self, other.request()), (other, self.request())] {
            // A query that chooses rows by the component reads which entities have it.
            if let (ParamKind::Sparse { id, name, write }, Some(query)) = (&one.0, query)
                && (*write && query.requirements().names(*id)
                    || query.requirements().writes_set(*id))
            {
                return Some(Subject::Sparse(name));
            }
        }
        match (&self.0, &other.0) {
            (
                ParamKind::Resource { id, name, write },
                ParamKind::Resource { id: other, write: writes, .. },
            ) => (id == other && (*write || *writes)).then_some(Subject::Resource(name)),
            (
                ParamKind::Sparse { id, name, write },
                ParamKind::Sparse { id: other, write: writes, .. },
            ) => (id == other && (*write || *writes)).then_some(Subject::Sparse(name)),
            // Several systems may write, each into its own buffer, or read. Readers wait for
            // writers.
            (
                ParamKind::Events { id, name, write },
                ParamKind::Events { id: other, write: writes, .. },
            ) => (id == other && write != writes).then_some(Subject::Events(name)),
            _ => None,
        }
    }

    /// [`ParamAccess::clash`] of two parameters of one system. A system may both read and write
    /// events of a type: its own events reach the queue when it has ended.
    pub(super) fn clash_in_system(&self, other: &Self) -> Option<Subject> {
        self.clash(other).filter(|subject| !matches!(subject, Subject::Events(_)))
    }

    /// The access to columns, if it is one.
    pub(super) const fn request(&self) -> Option<&AccessRequest> {
        match &self.0 {
            ParamKind::Columns(request) | ParamKind::Lookup(request) => Some(request),
            _ => None,
        }
    }
}

/// The first clash between two access lists.
pub(super) fn clash(mine: &[ParamAccess], theirs: &[ParamAccess]) -> Option<Subject> {
    mine.iter().find_map(|access| theirs.iter().find_map(|other| access.clash(other)))
}

/// Checks that no two parameters of a system clash.
///
/// # Errors
///
/// If two parameters access the same value, and one of them writes it.
pub(super) fn ensure_apart(
    parameters: &[NamedAccess],
    system: &str,
) -> Result<(), AliasingParameters> {
    for (at, second) in parameters.iter().enumerate() {
        for first in &parameters[..at] {
            if let Some(subject) = first.access.clash_in_system(&second.access) {
                let parameter =
                    |of: &NamedAccess| Parameter { position: of.position, name: short(of.name) };
                let requests = [first, second].map(|of| of.access.request());
                let mut requests = requests.into_iter().flatten();
                return Err(AliasingParameters {
                    system: system.to_owned(),
                    of_condition: false,
                    first: parameter(first),
                    second: parameter(second),
                    subject,
                    by_sparse: requests.any(|one| one.requirements().has_sparse_row_rule()),
                });
            }
        }
    }
    Ok(())
}

/// The access as a schedule prints it: the columns read and written, with their archetypes and
/// chunks.
impl fmt::Display for ParamAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ParamKind::Columns(request) => f.write_str(&short(&query_phrases(request).join("; "))),
            ParamKind::Lookup(request) => {
                let mut terms = request.requirements().terms();
                terms.try_for_each(|(name, write)| {
                    let name = short(name);
                    write!(f, "looks up {name}{}", if write { " to write it" } else { "" })
                })
            }
            ParamKind::Resource { name, write, .. } | ParamKind::Sparse { name, write, .. } => {
                write!(f, "{} {}", verb(*write), short(name))
            }
            ParamKind::Events { name, write, .. } => {
                let verb = if *write { "sends" } else { "reads" };
                write!(f, "{verb} events {}", short(name))
            }
            ParamKind::Rows { phrase, name } => write!(f, "reads {phrase}{name}"),
            ParamKind::Commands => f.write_str("records commands"),
            ParamKind::Own => f.write_str("keeps its own state"),
        }
    }
}

const fn verb(write: bool) -> &'static str {
    if write { "writes" } else { "reads" }
}

/// The access of a query: terms, rules, and versions, in this order.
fn query_phrases(request: &AccessRequest) -> Vec<String> {
    let requirements = request.requirements();
    let mut phrases = Vec::new();
    for write in [true, false] {
        let of_this = requirements.terms().filter(|&(_, writes)| writes == write);
        let names: Vec<_> = of_this.map(|(name, _)| name).collect();
        if !names.is_empty() {
            phrases.push(format!("{} {}", verb(write), names.join(", ")));
        }
    }
    if phrases.is_empty() {
        phrases.push("reads entities".to_owned());
    }
    let is_named = |name| {
        requirements.terms().any(|(term, _)| term == name)
            || requirements.watched().any(|one| one == name)
    };
    for rule in requirements.rules() {
        match rule {
            Rule::Lacks(one) => phrases.push(format!("without {}", one.name)),
            Rule::Has(one) if !is_named(one.name) => phrases.push(format!("with {}", one.name)),
            Rule::HasAny(some) => {
                let names: Vec<_> = some.iter().map(|one| one.name).collect();
                phrases.push(format!("with any of {}", names.join(", ")));
            }
            Rule::Meets(expression) => {
                phrases.push(format!("with {}", expression.text(|name| name)))
            }
            Rule::Has(_) => {}
        }
    }
    for rule in requirements.row_rules() {
        let phrase = match rule {
            RowRule::Lacks(one) => format!("without {}", one.name),
            RowRule::Disabled(one) => format!("{} disabled", one.name),
            RowRule::Meets(expression) => format!("with {}", expression.text(|name| name)),
            // Printed as rules of archetypes.
            RowRule::Enabled(_) | RowRule::AnyEnabled(_) => continue,
        };
        if !phrases.contains(&phrase) {
            phrases.push(phrase);
        }
    }
    if requirements.see_all_hidden() {
        phrases.push("hidden ones too".to_owned());
    }
    let watched: Vec<_> = requirements.watched().collect();
    if !watched.is_empty() {
        phrases.push(format!("changed {}", watched.join(", ")));
    }
    if requirements.watches_arrivals() {
        phrases.push("rows arrived".to_owned());
    }
    if requirements.watches_order() {
        phrases.push("rows came or went".to_owned());
    }
    phrases
}
