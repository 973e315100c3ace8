//! The targets of one source of a relation to many, each with its value.

use core::fmt;

use rustc_hash::FxHashMap;

use crate::entity::Entity;

use super::component_info::ComponentInfo;
use super::links::Links;
use super::pair_rules::PairRules;
use super::plain::Plain;
use super::plain_values::PlainValues;
use super::relation_rules::OnDelete;

/// The targets of a source, each once, and a value of type `R` for each: the component of a source
/// of a [relation to many](crate::sparse::relation#many-targets).
///
/// A list that is inserted into an entity adds its pairs to those that the entity has. A pair with
/// the same target gets the new value. An empty list adds no pair and no component.
///
/// ```
/// # use phalanx::prelude::*;
/// #[relation(many)]
/// struct Likes { weight: f32 }
///
/// let mut world = World::new();
/// let [a, b, c] = [(); 3].map(|()| world.spawn(()));
/// let both: Targets<Likes> = [(b, Likes { weight: 0.5 }), (c, Likes { weight: 0.25 })].into();
/// world.insert(a, both)?;
/// world.insert(a, Likes { weight: 1.0 }.of(b))?; // overwrites
/// let liked = world.get::<Likes>(a)?;
/// assert_eq!(liked.entities(), [b, c]);
/// assert_eq!(liked.get(b).unwrap().weight, 1.0);
/// assert_eq!(liked.values().iter().map(|likes| likes.weight).sum::<f32>(), 1.25);
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
pub struct Targets<R> {
    links: Links,
    values: Vec<R>,
}

/// With more pairs than this, a collected list finds targets by a map.
const SCANNED_MAX: usize = 32;

impl<R> Targets<R> {
    /// A list without a target.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(many)] struct Member;
    /// assert!(Targets::<Member>::new().is_empty());
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self { links: Links { targets: Vec::new(), places: Vec::new() }, values: Vec::new() }
    }

    /// Adds a target, or replaces the value of one that the list has. Returns the former value.
    /// O(targets).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(many)] struct Member;
    /// # let mut world = World::new();
    /// let team = world.spawn(());
    /// let mut teams = Targets::new();
    /// assert!(teams.insert(team, Member).is_none());
    /// assert!(teams.insert(team, Member).is_some());
    /// let player = world.spawn(teams);
    /// assert!(world.get::<Member>(player).unwrap().contains(team));
    /// ```
    pub fn insert(&mut self, target: Entity, value: R) -> Option<R> {
        match self.links.find(target) {
            Some(entry) => Some(core::mem::replace(&mut self.values[entry], value)),
            None => {
                self.push(target, value);
                None
            }
        }
    }

    fn push(&mut self, target: Entity, value: R) {
        self.links.push(target, 0);
        self.values.push(value);
    }

    /// The targets, in the order in which they came until one leaves: the last one takes the place
    /// of a target that leaves. O(1).
    #[must_use]
    pub fn entities(&self) -> &[Entity] {
        &self.links.targets
    }

    /// The values, one for each of the [`entities`](Self::entities). O(1).
    #[must_use]
    pub fn values(&self) -> &[R] {
        &self.values
    }

    pub(crate) fn values_mut(&mut self) -> &mut [R] {
        &mut self.values
    }

    /// The targets with their values. O(1) for each.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Entity, &R)> + DoubleEndedIterator {
        self.links.targets.iter().copied().zip(&self.values)
    }

    /// The value of a target. O(targets).
    ///
    /// [`Pairs::get`](crate::sparse::Pairs::get) looks at the shorter of two lists.
    #[must_use]
    pub fn get(&self, target: Entity) -> Option<&R> {
        self.links.find(target).map(|entry| &self.values[entry])
    }

    /// Returns `true` if an entity is a target. O(targets).
    #[must_use]
    pub fn contains(&self, target: Entity) -> bool {
        self.links.find(target).is_some()
    }

    /// The number of targets. O(1).
    #[must_use]
    pub const fn len(&self) -> usize {
        self.links.len()
    }

    /// Returns `true` if the list has no target, as no list in a world is. O(1).
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.links.is_empty()
    }
}

impl<R> Default for Targets<R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R: Clone> Clone for Targets<R> {
    fn clone(&self) -> Self {
        Self { links: self.links.clone(), values: self.values.clone() }
    }

    /// Uses the memory that it has.
    fn clone_from(&mut self, source: &Self) {
        self.links.clone_from(&source.links);
        self.values.clone_from(&source.values);
    }
}

impl<R: fmt::Debug> fmt::Debug for Targets<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// A target that comes twice has the last value. O(pairs).
impl<R> FromIterator<(Entity, R)> for Targets<R> {
    fn from_iter<I: IntoIterator<Item = (Entity, R)>>(pairs: I) -> Self {
        let mut list = Self::new();
        let mut entries = FxHashMap::default();
        for (target, value) in pairs {
            if list.len() < SCANNED_MAX {
                list.insert(target, value);
                continue;
            }
            if entries.is_empty() {
                entries.extend(list.links.targets.iter().copied().zip(0..));
            }
            let next = list.len();
            match *entries.entry(target).or_insert(next) {
                entry if entry < next => list.values[entry] = value,
                _ => list.push(target, value),
            }
        }
        list
    }
}

impl<R, const N: usize> From<[(Entity, R); N]> for Targets<R> {
    fn from(pairs: [(Entity, R); N]) -> Self {
        pairs.into_iter().collect()
    }
}

impl<R: Plain> Targets<R> {
    /// The rules of a relation with values of type `R`.
    pub(super) const fn rules(
        on_delete: OnDelete,
        definition: &'static str,
        info: fn() -> ComponentInfo,
    ) -> PairRules<Self> {
        PairRules {
            on_delete,
            definition,
            info,
            value_size: size_of::<R>(),
            links: |list| &list.links,
            links_mut: |list| &mut list.links,
            values_len: |list| list.values.len(),
            remove_value: |list, entry| {
                list.values.swap_remove(entry);
            },
            push_value: |list, other, entry| list.values.push(other.values[entry]),
            put_value: |list, at, other, entry| list.values[at] = other.values[entry],
            copy: |from, to| to.copy_from(from),
            value: |list, entry| bytemuck::bytes_of(&list.values[entry]),
            bytes: |lists| {
                let bytes = (PlainValues::<R>::new()).bytes;
                lists.iter().flat_map(|list| bytes(&list.values)).copied().collect()
            },
            read,
            shrink: |list| {
                list.links.shrink();
                list.values.shrink_to_fit();
            },
            list_bytes: |list| {
                let size = size_of::<R>();
                // The capacity of a vector of values without a size has no limit.
                let values = if size == 0 { 0 } else { list.values.capacity() * size };
                list.links.bytes() + values
            },
        }
    }
}

fn read<R: Plain>(bytes: &[u8], all: Vec<Links>) -> Option<Vec<Targets<R>>> {
    let len = all.iter().map(Links::len).sum();
    let values = (PlainValues::<R>::new().read)(bytes, len)?;
    let mut rest = &values[..];
    let lists = all.into_iter().map(|links| {
        let (own, others) = rest.split_at(links.len());
        rest = others;
        Targets { links, values: own.to_vec() }
    });
    Some(lists.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_each_target_once_with_its_last_value() {
        for len in [3, 31, 32, 33, 100] {
            let pairs = (0..2 * len).map(|i| (Entity::new(i % len, 1), i));
            let list: Targets<u32> = pairs.collect();
            assert!(list.entities().iter().map(|entity| entity.index()).eq(0..len));
            assert!(list.values().iter().copied().eq(len..2 * len), "{len}");
        }
    }
}
