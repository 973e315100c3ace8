//! What can be wrong with a schedule, as values that say what to do.

use core::error::Error;
use core::fmt;

use crate::world::MissingResource;

use super::name::nearest;
use super::report::FailedCommands;

/// A parameter of a system: where it stands, and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its place among the parameters, from 1.
    pub position: usize,
    /// Its type as the compiler names it, without the paths.
    pub name: String,
}

impl Parameter {
    fn is_lookup(&self) -> bool {
        self.name.starts_with("Lookup<") || self.name.starts_with("LookupMut<")
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.position, self.name)
    }
}

/// Two parameters of a system would give out the same value twice, once to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AliasingParameters {
    /// The system; the set, if it is a condition of a set.
    pub system: String,
    /// Whether they are parameters of one of its conditions.
    pub of_condition: bool,
    /// The parameter that comes first.
    pub first: Parameter,
    /// The one that it cannot stand beside.
    pub second: Parameter,
    /// What both of them name.
    pub subject: Subject,
}

/// What two systems or parameters have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subject {
    /// A component, by its name.
    Component(&'static str),
    /// A resource, by its type's name.
    Resource(&'static str),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Component(name) => write!(f, "component `{name}`"),
            Self::Resource(name) => write!(f, "resource `{name}`"),
        }
    }
}

impl fmt::Display for AliasingParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { system, of_condition, first, second, subject } = self;
        let whose = if *of_condition { "the condition of" } else { "system" };
        write!(
            f,
            "{whose} `{system}`: parameters {first} and {second} both name {subject}, and one \
             writes it: "
        )?;
        match subject {
            Subject::Component(_) if [first, second].iter().any(|p| p.is_lookup()) => f.write_str(
                "a lookup has it of every entity: do what one of the two is for in a system of its own",
            ),
            Subject::Component(_) => f.write_str(
                "part them with a `Without<…>` of a component that the other one has, or make them one query",
            ),
            Subject::Resource(_) => f.write_str("drop one of the two"),
        }
    }
}

impl Error for AliasingParameters {}

/// Why a schedule cannot run, or what went wrong while it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The order that was asked for goes in a circle. Nothing has run.
    Cycle {
        /// Its members, each before the next, and the last before the first. A single one was put
        /// before or after itself.
        members: Vec<String>,
        /// Of each member, what was said of a set that puts it before the next; none where one of
        /// the two names the other.
        through: Vec<Option<String>>,
    },
    /// A system or a set is to run before or after a name that is nobody's. Nothing has run.
    UnknownName {
        /// The system or set.
        asker: String,
        /// Whether it is to run before it, and not after.
        before: bool,
        /// The name.
        name: String,
        /// All other names of systems and sets.
        known: Vec<String>,
    },
    /// The schedule has run with another world. Nothing has run; or, if a command put another world
    /// in the place of this one during the run, nothing behind that sync point.
    OtherWorld,
    /// A system did not run because a resource is missing. All others did.
    MissingResource {
        /// The system.
        system: String,
        /// Whether it is one of its conditions that asks for the resource.
        of_condition: bool,
        /// The resource.
        missing: MissingResource,
    },
    /// Some of a system's commands had no effect, since a row was too wide or no id was left, or,
    /// in a [strict](crate::Schedule::strict) schedule, since their entity was not alive. Everything
    /// else was applied.
    Commands(Box<FailedCommands>),
    /// There was more than one error, in the order of the systems.
    Several(Vec<ScheduleError>),
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycle { members, through } => write_circle(f, members, through),
            Self::UnknownName { asker, before, name, known } => {
                let side = if *before { "before" } else { "after" };
                write!(f, "`{asker}` is to run {side} `{name}`, but no system or set has that name")?;
                match nearest(name, known) {
                    Some(meant) => write!(f, "; did you mean `{meant}`? ")?,
                    None => f.write_str("; ")?,
                }
                match known.is_empty() {
                    true => f.write_str("there is no other"),
                    false => write!(f, "there are: {}", known.join(", ")),
                }
            }
            Self::OtherWorld => f.write_str(
                "this schedule remembers the versions of another world: call `Schedule::reset` to move it, or make one schedule a world",
            ),
            Self::MissingResource { system, of_condition, missing } => {
                write!(f, "system `{system}` did not run: ")?;
                if *of_condition {
                    write!(f, "the condition of `{system}` cannot be asked: ")?;
                }
                fmt::Display::fmt(missing, f)
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

/// `a` before `b` (said of a set) before `a`.
fn write_circle(
    f: &mut fmt::Formatter<'_>,
    members: &[String],
    through: &[Option<String>],
) -> fmt::Result {
    let Some((first, others)) = members.split_first() else { return Ok(()) };
    if others.is_empty() && through.iter().all(Option::is_none) {
        return write!(f, "`{first}` is put before or after itself: take that away");
    }
    write!(f, "systems wait for each other in a circle: `{first}`")?;
    for (next, through) in others.iter().chain([first]).zip(through) {
        write!(f, " before `{next}`")?;
        if let Some(through) = through {
            write!(f, " ({through})")?;
        }
    }
    f.write_str(": take one `before` or `after` away")
}

impl Error for ScheduleError {}
