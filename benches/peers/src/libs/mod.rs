//! The libraries: each runs the workloads through its fastest documented way.

pub(crate) mod bevy_ecs;
pub(crate) mod evenio;
pub(crate) mod flecs_ecs;
pub(crate) mod hecs;
pub(crate) mod legion;
pub(crate) mod phalanx;
pub(crate) mod raw;
pub(crate) mod shipyard;
pub(crate) mod specs;

use crate::harness::Harness;

/// A workload by its name, and the function that runs its variants at a size.
pub(crate) type Row = (&'static str, fn(&mut Harness, usize));

/// A library and the workloads that it can run.
pub(crate) struct Library {
    pub(crate) name: &'static str,
    pub(crate) rows: &'static [Row],
}

/// Loops over plain `Vec`s, the base of comparison.
pub(crate) const LIMIT: &str = "raw";

/// The library that this package belongs to.
pub(crate) const OURS: &str = "phalanx";

/// All libraries, in the order in which they take turns.
pub(crate) const LIBRARIES: &[Library] = &[
    Library { name: LIMIT, rows: raw::ROWS },
    Library { name: OURS, rows: phalanx::ROWS },
    Library { name: "hecs", rows: hecs::ROWS },
    Library { name: "bevy_ecs", rows: bevy_ecs::ROWS },
    Library { name: "flecs_ecs", rows: flecs_ecs::ROWS },
    Library { name: "shipyard", rows: shipyard::ROWS },
    Library { name: "legion", rows: legion::ROWS },
    Library { name: "specs", rows: specs::ROWS },
    Library { name: "evenio", rows: evenio::ROWS },
];

impl Library {
    /// By its name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        LIBRARIES.iter().find(|library| library.name == name)
    }

    /// The function for a workload; none if the library cannot do it.
    pub(crate) fn row(&self, workload: &str) -> Option<fn(&mut Harness, usize)> {
        self.rows.iter().find(|(name, _)| *name == workload).map(|&(_, run)| run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::Workload;

    #[test]
    fn every_row_names_a_workload_once() {
        for library in LIBRARIES {
            for (name, _) in library.rows {
                assert!(Workload::find(name).is_some(), "{}: {name}", library.name);
                let count = library.rows.iter().filter(|(other, _)| other == name).count();
                assert_eq!(count, 1, "{}: {name}", library.name);
            }
        }
    }
}
