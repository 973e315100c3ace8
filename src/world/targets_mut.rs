//! The targets of one source of a relation to many, for writing.

use core::fmt;

use crate::component::{ManyRelation, Targets};
use crate::entity::Entity;
use crate::store::{MemberRows, SparseSet};
use crate::version::Version;

/// The targets of one source of a [relation to many](crate::sparse::relation#many-targets), for
/// writing: the result of [`World::get_mut`](crate::World::get_mut). Values are written in place
/// and pairs removed; pairs are added by an insertion into the source, which tests their targets.
///
/// ```
/// # use phalanx::prelude::*;
/// #[relation(many)]
/// struct Likes { weight: f32 }
///
/// let mut world = World::new();
/// let [a, b, c] = [(); 3].map(|()| world.spawn(()));
/// world.insert(a, Targets::from([b, c].map(|one| (one, Likes { weight: 0.5 }))))?;
///
/// let mut liked = world.get_mut::<Likes>(a)?;
/// liked.get_mut(b).unwrap().weight = 1.0;
/// assert_eq!(liked.remove(c).unwrap().weight, 0.5);
/// assert_eq!(world.relation::<Likes>().targets(a), [b]);
///
/// world.get_mut::<Likes>(a)?.remove(b);
/// assert!(!world.has::<Likes>(a), "it was the last one");
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
pub struct TargetsMut<'w, R: ManyRelation> {
    set: &'w mut SparseSet<Targets<R>>,
    /// The number of the component in the world.
    number: u16,
    rows: MemberRows<'w>,
    /// The version of changes.
    now: Version,
    source: Entity,
}

impl<'w, R: ManyRelation> TargetsMut<'w, R> {
    pub(super) const fn new(
        (set, number): (&'w mut SparseSet<Targets<R>>, u16),
        (rows, now): (MemberRows<'w>, Version),
        source: Entity,
    ) -> Self {
        Self { set, number, rows, now, source }
    }

    /// The targets. O(1).
    #[must_use]
    pub fn entities(&self) -> &[Entity] {
        self.set.get(self.source).map_or(&[], Targets::entities)
    }

    /// The values, one for each of the [`entities`](Self::entities). O(1).
    #[must_use]
    pub fn values(&self) -> &[R] {
        self.set.get(self.source).map_or(&[], Targets::values)
    }

    /// The values, for writing, one for each of the [`entities`](Self::entities). O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(many)] struct Likes { weight: f32 }
    /// # let mut world = World::new();
    /// # let [a, b] = [(); 2].map(|()| world.spawn(()));
    /// # world.insert(a, Likes { weight: 1.0 }.of(b))?;
    /// world.get_mut::<Likes>(a)?.values_mut().iter_mut().for_each(|one| one.weight *= 0.5);
    /// # assert_eq!(world.get::<Likes>(a)?.values()[0].weight, 0.5);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[must_use]
    pub fn values_mut(&mut self) -> &mut [R] {
        self.set.get_mut(self.source, self.now).map_or(&mut [], Targets::values_mut)
    }

    /// The value of a target. As [`Pairs::get`](crate::sparse::Pairs::get).
    #[must_use]
    pub fn get(&self, target: Entity) -> Option<&R> {
        let (at, entry) = self.set.find_pair(self.source, target)?;
        Some(&self.set.at(at).values()[entry])
    }

    /// The value of a target, for writing. As [`Pairs::get`](crate::sparse::Pairs::get).
    #[must_use]
    pub fn get_mut(&mut self, target: Entity) -> Option<&mut R> {
        let (_, entry) = self.set.find_pair(self.source, target)?;
        Some(&mut self.set.get_mut(self.source, self.now)?.values_mut()[entry])
    }

    /// Removes a pair, and returns its value: the last target takes its place. With its last target
    /// the entity loses the component. As [`Pairs::get`](crate::sparse::Pairs::get).
    pub fn remove(&mut self, target: Entity) -> Option<R> {
        let (at, entry) = self.set.find_pair(self.source, target)?;
        let removed = self.set.at(at).values()[entry];
        if self.set.remove_pair(at, entry, self.now) {
            self.rows.set(self.source, self.number, false);
            self.rows.record_notes(self.set);
        }
        Some(removed)
    }
}

impl<R: ManyRelation + fmt::Debug> fmt::Debug for TargetsMut<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = self.entities().iter().zip(self.values());
        f.debug_map().entries(pairs).finish()
    }
}
