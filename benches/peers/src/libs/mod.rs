//! The libraries: each runs the workloads through its fastest documented way.

pub(crate) mod bevy_ecs;
pub(crate) mod evenio;
pub(crate) mod flecs_ecs;
pub(crate) mod gecs;
pub(crate) mod hecs;
pub(crate) mod legion;
pub(crate) mod phalanx;
pub(crate) mod raw;
pub(crate) mod shipyard;
pub(crate) mod specs;

use crate::harness::Harness;

/// Runs the variants of a workload at a size.
pub(crate) type Run = fn(&mut Harness, usize);

/// A library that takes part.
pub(crate) struct Library {
    pub(crate) name: &'static str,
}

/// Loops over plain `Vec`s, the base of comparison.
pub(crate) const LIMIT: &str = "raw";

/// The library that this package belongs to.
pub(crate) const OURS: &str = "phalanx";

/// All libraries, in the order in which they take turns.
pub(crate) const LIBRARIES: &[Library] = &[
    Library { name: LIMIT },
    Library { name: OURS },
    Library { name: "hecs" },
    Library { name: "bevy_ecs" },
    Library { name: "flecs_ecs" },
    Library { name: "shipyard" },
    Library { name: "legion" },
    Library { name: "specs" },
    Library { name: "evenio" },
    Library { name: "gecs" },
];

impl Library {
    /// By its name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        LIBRARIES.iter().find(|library| library.name == name)
    }
}

/// The libraries that can run a workload, each with its function: `(module::function) [libraries]`
/// names a function of each folder of these libraries, and a second argument is handed to it.
macro_rules! ways {
    ($call:tt [all]) => {
        ways!($call [raw phalanx hecs bevy_ecs flecs_ecs shipyard legion specs evenio])
    };
    ($call:tt [all and gecs]) => {
        ways!($call [raw phalanx hecs bevy_ecs flecs_ecs shipyard legion specs evenio gecs])
    };
    ($call:tt [all but raw]) => {
        ways!($call [phalanx hecs bevy_ecs flecs_ecs shipyard legion specs evenio])
    };
    ($($call:tt [$($library:ident)*])*) => {
        &[$($((stringify!($library), $crate::libs::way!($library $call))),*),*]
    };
}
macro_rules! way {
    ($library:ident ($module:ident::$function:ident)) => {
        $crate::libs::$library::$module::$function
    };
    ($library:ident ($module:ident::$function:ident, $what:expr)) => {
        |h, n| $crate::libs::$library::$module::$function(h, n, $what)
    };
}
pub(crate) use {way, ways};
