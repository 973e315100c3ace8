//! The report of a schedule: the commands of its systems that failed.

use core::fmt;

use crate::command::CommandError;

/// Commands of one system that had no effect, or were applied without a refused
/// [relation](crate::sparse::relation): all of one kind that were recorded at one place in the
/// source and failed for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCommands {
    /// The system that recorded them.
    pub system: String,
    /// The first of them: its kind, its entity, the place of its recording, and the reason.
    pub first: CommandError,
    /// Their number, including the first.
    pub count: u64,
}

impl FailedCommands {
    /// Whether failures of another run belong to the same entry.
    fn is_same_entry(&self, other: &Self) -> bool {
        let (one, two) = (&self.first, &other.first);
        one.place == two.place
            && one.verb == two.verb
            && one.fault.is_like(&two.fault)
            && one.components == two.components
            && self.system == other.system
    }
}

impl fmt::Display for FailedCommands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { system, first, count } = self;
        match count {
            1 => f.write_str("a command")?,
            count => write!(f, "the first of {count} commands")?,
        }
        write!(f, " of system `{system}`: {first}")
    }
}

/// The commands of a schedule's systems that had no effect, or made no relation, mostly because
/// another system had despawned their entity; see [`Schedule::report`](crate::Schedule::report).
///
/// All of them are counted, but only one of each [place](FailedCommands) is kept, so a report that
/// is never taken stays small. Its entries are in the order of the runs, the systems and the
/// recording, independent of threads.
///
/// It is displayed with a line for each entry:
///
/// ```text
/// the first of 5 commands of system `ignite`: insert of `Burning`, recorded at src/fire.rs:12:9,
/// had no effect on 17v1: entity 17v1 is not alive, …
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandReport {
    failed: Vec<FailedCommands>,
}

impl CommandReport {
    /// Whether every command had an effect.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Burning;
    /// let mut world = World::new();
    /// let dead = world.spawn(());
    /// world.despawn(dead)?;
    /// let mut schedule = Schedule::new();
    /// schedule.add(move |mut commands: Commands| commands.insert(dead, Burning)).named("ignite");
    /// schedule.run(&mut world)?;
    /// let report = schedule.report();
    /// assert!(!report.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.failed.is_empty()
    }

    /// The number of commands that had no effect, and of refused relations. O(places).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Burning;
    /// let mut world = World::new();
    /// let dead = world.spawn(());
    /// world.despawn(dead)?;
    /// let mut schedule = Schedule::new();
    /// schedule.add(move |mut commands: Commands| commands.insert(dead, Burning)).named("ignite");
    /// schedule.run(&mut world)?;
    /// let report = schedule.report();
    /// assert_eq!(report.count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn count(&self) -> u64 {
        self.failed.iter().map(|failed| failed.count).sum()
    }

    /// An entry for each place in the source, in the order of their first failures.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Burning;
    /// let mut world = World::new();
    /// let dead = world.spawn(());
    /// world.despawn(dead)?;
    /// let mut schedule = Schedule::new();
    /// schedule.add(move |mut commands: Commands| commands.insert(dead, Burning)).named("ignite");
    /// schedule.run(&mut world)?;
    /// let report = schedule.report();
    /// assert!(report.as_slice()[0].to_string().starts_with("a command of system `ignite`: "));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn as_slice(&self) -> &[FailedCommands] {
        self.failed.as_slice()
    }

    pub(super) fn add(&mut self, failed: &FailedCommands) {
        match self.failed.iter_mut().find(|known| known.is_same_entry(failed)) {
            Some(known) => known.count = known.count.saturating_add(failed.count),
            None => self.failed.push(failed.clone()),
        }
    }
}

impl fmt::Display for CommandReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, others)) = self.failed.split_first() else {
            return f.write_str("every command had an effect");
        };
        write!(f, "{first}")?;
        others.iter().try_for_each(|failed| write!(f, "\n{failed}"))
    }
}
