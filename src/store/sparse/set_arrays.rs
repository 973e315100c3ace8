//! A sparse set as arrays: of a state as bytes, and of the hash of a world.
//!
//! ```text
//!  entities   │ 4v1 │ 7v1 │ 9v2 │   in the order of the set
//!  values     │  a  │  b  │  c  │   the bytes; of a relation the targets
//!  places     │  0  │  1  │  0  │   of a relation: the place of each source in its list
//!  heads      │ 2v1 │ 5v1 │       of a relation: the targets, in the order of their lists
//! ```
//!
//! A relation to many has a value and a place for each pair, and two arrays more:
//!
//! ```text
//!  entities   │ 4v1     │ 7v1 │   the sources, in the order of the set
//!  counts     │  2      │  1  │   of targets of each
//!  targets    │ 2v1 5v1 │ 2v1 │   in the order of the lists
//!  values     │  a   b  │  c  │
//!  places     │  0   0  │  1  │
//! ```
//!
//! Each order can be seen in the answers of a set, so it is part of the state. The positions of the
//! entities and the lists of sources follow from the arrays.

use std::borrow::Cow;

use bytemuck::cast_slice;

use crate::component::{Links, PairRules, SparseComponent};
use crate::entity::Entity;

use super::super::relations::Sources;
use super::super::relations::is_tree;
use super::sparse_set::SparseSet;

/// The parts of a sparse set that the others follow from.
#[derive(Clone, Debug, Default)]
pub(crate) struct SetArrays<'a> {
    pub(crate) entities: Cow<'a, [Entity]>,
    /// Empty if the values have no form as bytes.
    pub(crate) values: Cow<'a, [u8]>,
    pub(crate) places: Cow<'a, [u32]>,
    pub(crate) heads: Cow<'a, [Entity]>,
    /// Of a relation to many, as `targets`.
    pub(crate) counts: Cow<'a, [u32]>,
    pub(crate) targets: Cow<'a, [Entity]>,
}

impl<T: SparseComponent> SparseSet<T> {
    /// The arrays of the set. O(1), or O(values) for a relation.
    pub(super) fn arrays(&self) -> SetArrays<'_> {
        let mut arrays = SetArrays { entities: self.entities().into(), ..SetArrays::default() };
        if T::RELATION.is_some() {
            let targets: Vec<_> = self.relations().map(|(_, target)| target).collect();
            arrays.values = cast_slice(&targets).to_vec().into();
            arrays.places = (&self.sources.places[..]).into();
            arrays.heads = self.targets().collect();
        } else if let Some(rules) = T::PAIRS {
            let all = || self.values().iter().map(|value| (rules.links)(value));
            let count = |links: &Links| u32::try_from(links.len()).expect("targets are entities");
            arrays.counts = all().map(count).collect();
            arrays.targets = all().flat_map(|links| &links.targets).copied().collect();
            arrays.places = all().flat_map(|links| &links.places).copied().collect();
            arrays.values = (rules.bytes)(self.values()).into();
            arrays.heads = self.targets().collect();
        } else if let Some(plain) = T::VALUES {
            arrays.values = (plain.bytes)(self.values()).into();
        }
        arrays
    }

    /// The set with these arrays, of which all entities are alive.
    ///
    /// # Errors
    ///
    /// The defect, if no set has such arrays.
    pub(super) fn of_arrays(arrays: SetArrays<'_>) -> Result<Self, &'static str> {
        if let Some(rules) = T::PAIRS {
            return Self::of_pair_arrays(&rules, arrays);
        }
        let SetArrays { entities, values, places, heads, .. } = arrays;
        let (values, sources) = match T::RELATION {
            None => {
                let read = T::VALUES.and_then(|plain| (plain.read)(&values, entities.len()));
                let values =
                    read.ok_or("a value that the type of a sparse component does not have");
                (values?, Sources::default())
            }
            Some(rules) => {
                let targets = targets_of(&values);
                if targets.len() != entities.len() || places.len() != entities.len() {
                    return Err("the targets or places of a relation are not one for each source");
                }
                let sources = Sources::of_places(&entities, &targets, places.into(), &heads)?;
                (targets.into_iter().map(rules.of).collect(), sources)
            }
        };
        let set = Self::of_parts(entities.into_owned(), values, sources).ok_or(TWICE)?;
        match T::RELATION.is_some_and(|rules| rules.is_tree) && !is_tree(&set) {
            true => Err("an entity is above itself in a tree"),
            false => Ok(set),
        }
    }

    fn of_pair_arrays(rules: &PairRules<T>, arrays: SetArrays<'_>) -> Result<Self, &'static str> {
        let SetArrays { entities, values, places, heads, counts, targets } = arrays;
        let len: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let are_whole = counts.len() == entities.len()
            && (len, targets.len()) == (targets.len() as u64, places.len());
        if !are_whole || counts.contains(&0) {
            return Err("the targets or places of a relation to many are not those of its sources");
        }
        let sources = Sources::of_pairs((&entities, &counts), (&targets, &places), &heads)?;
        let mut rest = (&targets[..], &places[..]);
        let links = counts.iter().map(|&count| {
            let ((targets, more), (places, others)) =
                (rest.0.split_at(count as usize), rest.1.split_at(count as usize));
            rest = (more, others);
            Links { targets: targets.to_vec(), places: places.to_vec() }
        });
        let values = (rules.read)(&values, links.collect())
            .ok_or("a value that the type of a relation to many does not have")?;
        Self::of_parts(entities.into_owned(), values, sources).ok_or(TWICE)
    }
}

const TWICE: &str = "an entity has two values of a sparse component";

fn targets_of(bytes: &[u8]) -> Vec<Entity> {
    bytes.chunks_exact(size_of::<Entity>()).map(bytemuck::pod_read_unaligned).collect()
}
