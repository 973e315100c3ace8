//! A recorded change that names components by text.

use crate::world::World;

/// The components of a command, each with the bytes of its value if it is put.
#[derive(Debug)]
pub(super) struct NamedChange {
    pub(super) verb: NamedVerb,
    values: Box<[NamedValue]>,
}

#[derive(Debug)]
struct NamedValue {
    name: Box<str>,
    bytes: Box<[u8]>,
}

/// The action of a command that names components by text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedVerb {
    Spawn,
    Insert,
    Remove,
    Enable,
    Disable,
}

impl NamedChange {
    pub(super) fn new<'b>(
        verb: NamedVerb,
        values: impl IntoIterator<Item = (&'b str, &'b [u8])>,
    ) -> Self {
        let copied = |(name, bytes): (&str, &[u8])| {
            let (name, bytes) = (name.into(), bytes.into());
            NamedValue { name, bytes }
        };
        Self { verb, values: values.into_iter().map(copied).collect() }
    }

    pub(super) fn values(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.values.iter().map(|value| (&*value.name, &*value.bytes))
    }

    /// The names that a world knows.
    pub(super) fn known_names(&self, world: &World) -> Vec<&'static str> {
        let known = |(name, _): (&str, _)| world.reflect().component(name).map(|info| info.name());
        self.values().filter_map(known).collect()
    }

    /// The memory of the names and the bytes.
    pub(super) fn bytes(&self) -> usize {
        let texts = self.values().map(|(name, bytes)| name.len() + bytes.len());
        size_of_val(&*self.values) + texts.sum::<usize>()
    }
}
