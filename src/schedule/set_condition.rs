//! A condition of a set.

use std::sync::Mutex;

use crate::component::Registry;

use super::error::AliasingParameters;
use super::system::DynSystem;

/// Clones a condition of a set for the member of this name.
type CloneCondition =
    dyn Fn(&str, &mut Registry) -> Result<Box<dyn DynSystem<bool>>, AliasingParameters> + Send;

/// A condition of a set, to be cloned for each member. The mutex makes the schedule `Sync`.
pub(super) type SetCondition = Mutex<Box<CloneCondition>>;
