//! The part of a world's hash about sparse components.

use bytemuck::cast_slice;
use xxhash_rust::xxh3::Xxh3;

use crate::store::{SetArrays, SparseSets};

use super::digests::Digests;

/// Adds the sparse components with values: of each its name, its entities and the values that have
/// a form as bytes, all in the order of the set, and the order of the sources of a relation. Adds
/// nothing without values. O(values), without those of sets with known digests.
pub(super) fn hash_sets(sets: &SparseSets, hash: &mut Xxh3, digests: &mut impl Digests) {
    for set in sets.views() {
        let (name, (key, version)) = (set.name(), set.identity());
        hash.update(&(name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
        let digest = digests.digest(key, 0, [version, 1], || set.with_arrays(digest_of));
        hash.update(&digest.to_le_bytes());
    }
}

fn digest_of(arrays: SetArrays<'_>) -> u64 {
    let mut hash = Xxh3::new();
    let SetArrays { entities, values, places, heads, counts, targets } = arrays;
    let mut add = |part: &[u8]| {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    for part in [cast_slice(&entities), &values, cast_slice(&places), cast_slice(&heads)] {
        add(part);
    }
    if !counts.is_empty() {
        add(cast_slice(&counts));
        add(cast_slice(&targets));
    }
    hash.digest()
}
