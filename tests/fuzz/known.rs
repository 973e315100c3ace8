//! What is known to be wrong. Each switch leaves something out of the fuzz until it is mended.

/// A command buffer that is dropped gives its ids back at once. Without it, they come back at the
/// next `command_buffer` or `apply`, so the fuzz asks for an empty buffer after each drop.
pub(crate) const DROPPED_BUFFERS_GIVE_BACK_AT_ONCE: bool = false;

/// To look at a world leaves its hash alone. Without it, the order in which queries first named
/// components is part of the hash, so each world begins with the same look at all of them.
pub(crate) const LOOKS_LEAVE_HASHES_ALONE: bool = true;

/// Systems can spawn as long as the world has ids. Without it, they do so in worlds without a limit
/// of ids only.
pub(crate) const SYSTEMS_SPAWN_UP_TO_THE_LIMIT: bool = false;
