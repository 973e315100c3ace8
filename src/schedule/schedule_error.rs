//! The errors of a schedule, with texts that tell how to fix them.

use core::error::Error;
use core::fmt;

use crate::nearest::nearest;
use crate::world::MissingResource;

use super::report::FailedCommands;
use super::system_output::SystemError;

/// A parameter of a system: its position and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its position among the parameters, from 1.
    pub position: usize,
    /// Its type as the compiler names it, without paths.
    pub name: String,
}

impl Parameter {
    fn is_query(&self) -> bool {
        self.name.starts_with("Query<")
    }

    fn is_lookup(&self) -> bool {
        self.name.starts_with("Lookup<") || self.name.starts_with("LookupMut<")
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.position, self.name)
    }
}

/// Two parameters of a system access the same value, and one of them writes it.
#[derive(Clone, PartialEq, Eq)]
pub struct AliasingParameters {
    /// The system, or the set if the condition of a set has the parameters.
    pub system: String,
    /// Whether they are parameters of a condition.
    pub of_condition: bool,
    /// The first of the two parameters.
    pub first: Parameter,
    /// The second of the two parameters.
    pub second: Parameter,
    /// The value that both access.
    pub subject: Subject,
    /// Whether a query of the two chooses rows by a sparse component or relation, which does not
    /// make queries disjoint.
    pub by_sparse: bool,
}

/// A component, a resource, or a type of events that two systems or parameters both
/// access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subject {
    /// A component, by its name.
    Component(&'static str),
    /// A resource, by its type's name.
    Resource(&'static str),
    /// A sparse component, by its name.
    Sparse(&'static str),
    /// The events of a type, by its name: one sends them, the other reads them.
    Events(&'static str),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Component(name) => write!(f, "component `{name}`"),
            Self::Resource(name) => write!(f, "resource `{name}`"),
            Self::Sparse(name) => write!(f, "the sparse component `{name}`"),
            Self::Events(name) => write!(f, "the events of type `{name}`"),
        }
    }
}

impl fmt::Display for AliasingParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { system, of_condition, first, second, subject, by_sparse } = self;
        let whose = if *of_condition { "the condition of" } else { "system" };
        write!(
            f,
            "{whose} `{system}`: parameters {first} and {second} both name {subject}, and one \
             writes it: "
        )?;
        match subject {
            Subject::Component(_) if [first, second].iter().any(|p| p.is_lookup()) => f.write_str(
                "a `Lookup` covers every entity: move one of the two into a separate system",
            ),
            Subject::Component(_) => {
                if *by_sparse {
                    f.write_str(
                        "a filter by a sparse component or a relation does not make queries \
                         disjoint, because rows with and without it share chunks: ",
                    )?;
                }
                let of = if *by_sparse { " in columns" } else { "" };
                write!(
                    f,
                    "make them disjoint with a `Without<…>` of a component{of} that the other has, \
                     or merge them into one query, or read a copy made by `Copies::gather` before"
                )
            }
            Subject::Sparse(_) if [first, second].iter().any(|p| p.is_query()) => f.write_str(
                "leave it out of the query and ask the other parameter for each entity, or make \
                 insertions and removals commands",
            ),
            Subject::Resource(_) | Subject::Sparse(_) | Subject::Events(_) => {
                f.write_str("remove one of the two")
            }
        }
    }
}

impl Error for AliasingParameters {}

/// The reason why a schedule cannot run, or a failure during its run.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The requested order has a cycle. No system has run.
    Cycle {
        /// Its members, each before the next, and the last before the first. A single member is
        /// ordered before or after itself.
        members: Vec<String>,
        /// For each member, the order of a set that puts it before the next; `None` where one of
        /// the two names the other.
        through: Vec<Option<String>>,
    },
    /// A system or set is ordered relative to a name that no system and no set has. No system has
    /// run.
    UnknownName {
        /// The system or set that is ordered.
        asker: String,
        /// Whether it must run before that name; otherwise after it.
        before: bool,
        /// The unknown name.
        name: String,
        /// All other names of systems and sets.
        known: Vec<String>,
    },
    /// A system or set is ordered relative to a function that was not added. No system has run.
    NotAdded {
        /// The system or set that is ordered.
        asker: String,
        /// Whether it must run before that function; otherwise after it.
        before: bool,
        /// The path of the function.
        function: String,
    },
    /// The schedule has run with another world. No system has run; or, if a command replaced the
    /// world during the run, no command after it, and no system after that sync point.
    OtherWorld,
    /// A system did not run because a resource is missing. All other systems did.
    MissingResource {
        /// The system.
        system: String,
        /// Whether the resource is a parameter of one of its conditions.
        of_condition: bool,
        /// The resource.
        missing: MissingResource,
    },
    /// A system, or one of its conditions, returned an error. All other systems ran.
    Failed {
        /// The system.
        system: String,
        /// Whether a condition of it returned the error, so that the system did not run.
        of_condition: bool,
        /// The returned error.
        error: SystemError,
    },
    /// Some commands of a system had no effect: a row was too wide, all ids were used, a relation
    /// refused the despawn, or, in a [strict](crate::Schedule::strict) schedule, their entity was
    /// not alive. Or they were applied without a relation: a tree would get a cycle, or, in a
    /// strict schedule, the target was not alive. All others were applied.
    Commands(Box<FailedCommands>),
    /// There was more than one error, in the order of the systems.
    Several(Vec<ScheduleError>),
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycle { members, through } => write_cycle(f, members, through),
            Self::UnknownName { asker, before, name, known } => {
                let side = if *before { "before" } else { "after" };
                write!(f, "`{asker}` must run {side} `{name}`, but no system or set has that name")?;
                let names: Vec<_> = known.iter().map(String::as_str).collect();
                match nearest(name, &names) {
                    Some(meant) => write!(f, "; did you mean `{meant}`? ")?,
                    None => f.write_str("; ")?,
                }
                match known.is_empty() {
                    true => f.write_str("there are no other names"),
                    false => write!(f, "known names: {}", known.join(", ")),
                }
            }
            Self::NotAdded { asker, before, function } => {
                let side = if *before { "before" } else { "after" };
                write!(
                    f,
                    "`{asker}` must run {side} the function `{function}`, which is no system of \
                     this schedule: add it, or remove the `{side}`"
                )
            }
            Self::OtherWorld => f.write_str(
                "this schedule has run with another world: call `Schedule::reset` first, or use one \
                 schedule per world",
            ),
            Self::MissingResource { system, of_condition, missing } => {
                write!(f, "system `{system}` did not run: ")?;
                if *of_condition {
                    write!(f, "the condition of `{system}` cannot be evaluated: ")?;
                }
                fmt::Display::fmt(missing, f)
            }
            Self::Failed { system, of_condition: false, error } => {
                write!(f, "system `{system}` failed: {error}")
            }
            Self::Failed { system, of_condition: true, error } => {
                write!(f, "system `{system}` did not run: its condition failed: {error}")
            }
            Self::Several(errors) => {
                for (i, error) in errors.iter().enumerate() {
                    write!(f, "{}{error}", if i == 0 { "" } else { "; " })?;
                }
                Ok(())
            }
            Self::Commands(failed) => fmt::Display::fmt(failed, f),
        }
    }
}

/// Writes `a` before `b` (because of a set) before `a`.
fn write_cycle(
    f: &mut fmt::Formatter<'_>,
    members: &[String],
    through: &[Option<String>],
) -> fmt::Result {
    let Some((first, others)) = members.split_first() else { return Ok(()) };
    if others.is_empty() && through.iter().all(Option::is_none) {
        return write!(f, "`{first}` is ordered relative to itself: remove that constraint");
    }
    write!(f, "systems wait for each other in a cycle: `{first}`")?;
    for (next, through) in others.iter().chain([first]).zip(through) {
        write!(f, " before `{next}`")?;
        if let Some(through) = through {
            write!(f, " ({through})")?;
        }
    }
    f.write_str(": remove one `before` or `after`")
}

impl Error for ScheduleError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Failed { error, .. } => Some(error),
            _ => None,
        }
    }
}
