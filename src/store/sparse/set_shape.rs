//! The form of the values of a sparse set as bytes.

use xxhash_rust::xxh3::xxh3_64;

use crate::component::SparseComponent;

/// The kind of a sparse set as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetKind {
    /// Plain values.
    Values,
    /// A relation, of which the values are its targets.
    Relation,
    /// A relation to many: lists of targets, each with a plain value.
    Pairs,
}

/// The facts that two programs must agree on to read each other's sparse component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SetShape {
    /// The bytes of a value; of a relation to many the value of a pair.
    pub(crate) size: usize,
    /// A hash of the definition. Neither the name nor the rules of a relation are in it.
    pub(crate) fingerprint: u64,
    pub(crate) kind: SetKind,
}

impl SetShape {
    /// `None` if the values have no form as bytes.
    pub(super) fn of<S: SparseComponent>() -> Option<Self> {
        if S::RELATION.is_some() {
            let fingerprint = xxh3_64(b"relation");
            return Some(Self { size: size_of::<u64>(), fingerprint, kind: SetKind::Relation });
        }
        if let Some(rules) = S::PAIRS {
            let size = rules.value_size;
            let fingerprint = xxh3_64(format!("pairs {size} {}", rules.definition).as_bytes());
            return Some(Self { size, fingerprint, kind: SetKind::Pairs });
        }
        S::VALUES?;
        let size = size_of::<S>();
        let cleanup = if S::CLEANUP { " cleanup" } else { "" };
        let fingerprint = xxh3_64(format!("{size} {}{cleanup}", S::DEFINITION).as_bytes());
        Some(Self { size, fingerprint, kind: SetKind::Values })
    }
}
