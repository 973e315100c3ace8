//! The entity id.

use core::cell::Cell;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};

use bytemuck::{Pod, Zeroable};

/// The id of an entity: an index, and a generation that distinguishes the users of that index.
///
/// An id is a plain value. It is valid until its entity is despawned, for any number of moves
/// between archetypes, and does not become valid again afterwards, even when its index is used by
/// another entity; unless a program asks for it: [`World::spawn_at`](crate::World::spawn_at)
/// spawns an entity with an old id, and [`World::restore`](crate::World::restore) puts back the
/// entities of a snapshot. Invalid ids are harmless: every method that takes an id reports one.
///
/// # Layout
///
/// ```text
///   0         4          8
///   +---------+----------+
///   |  index  |generation|    aligned to 4 bytes
///   +---------+----------+
/// ```
///
/// `Entity` is [`Pod`], so a component may hold ids and still be stored, copied and saved as bytes.
/// The alignment of 4 lets it follow an `f32` without padding, which `Pod` forbids.
///
/// # No entity
///
/// Every bit pattern is a valid value of a `Pod` type, so none is left for `None`: `Option<Entity>`
/// takes 12 bytes, some of them uninitialised, and cannot be in a component. The optional id of 8
/// bytes is `Entity` itself: generation 0 belongs to no entity, and zeroed memory is
/// [`Entity::NULL`]. Convert an option with `Entity::from`, and back with [`Entity::some`].
///
/// ```
/// use phalanx::Entity;
///
/// let target: Option<Entity> = None;
/// let stored = Entity::from(target);
/// assert!(stored.is_null());
/// assert_eq!(stored.some(), None);
/// ```
///
/// # Order
///
/// Ids are ordered by index and, for equal indices, by generation: sorted ids access the directory
/// in order. The integers of [`to_bits`](Entity::to_bits) have the same order.
///
/// # Text
///
/// Both `Display` and `Debug` write `7v2` for generation 2 of index 7.
#[derive(Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Entity {
    index: u32,
    generation: u32,
}

// The layout is promised in the documentation above.
const _: () = assert!(size_of::<Entity>() == 8, "an entity is 8 bytes");
const _: () = assert!(align_of::<Entity>() == 4, "an entity is aligned to 4 bytes");

impl Entity {
    /// No entity: index 0, generation 0, the value of zeroed memory.
    ///
    /// # Example
    ///
    /// ```
    /// use phalanx::Entity;
    ///
    /// assert_eq!(Entity::default(), Entity::NULL);
    /// assert_eq!(Entity::NULL.to_bits(), 0);
    /// ```
    pub const NULL: Self = Self::new(0, 0);

    #[inline]
    pub(crate) const fn new(index: u32, generation: u32) -> Self {
        Self { index, generation }
    }

    /// The index in the directory. Entities that are alive have distinct indices. An index is used
    /// again after a despawn, so indices stay below the peak number of entities, except for ids
    /// that were requested by number, are on loan to a command buffer, were taken by systems that
    /// ran at the same time, or came with a restored state of another world. An index that has used
    /// up its generations is not used again, and raises the bound by one.
    ///
    /// # Example
    ///
    /// ```
    /// use phalanx::Entity;
    ///
    /// assert_eq!(Entity::from_bits(0x0000_0007_0000_0002).index(), 7);
    /// ```
    #[inline]
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// The number of this user of the index, counted from 1; 0 belongs to no entity.
    ///
    /// # Example
    ///
    /// ```
    /// use phalanx::Entity;
    ///
    /// assert_eq!(Entity::from_bits(0x0000_0007_0000_0002).generation(), 2);
    /// ```
    #[inline]
    #[must_use]
    pub const fn generation(self) -> u32 {
        self.generation
    }

    /// Returns the id as one integer: the index in the high half and the generation in the low
    /// half, on every machine (unlike a cast of the bytes).
    ///
    /// # Example
    ///
    /// ```
    /// use phalanx::Entity;
    ///
    /// let id = Entity::from_bits(0x0000_0007_0000_0002);
    /// assert_eq!(id.to_string(), "7v2");
    /// assert_eq!(id.to_bits(), 0x0000_0007_0000_0002);
    /// ```
    #[inline]
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        ((self.index as u64) << 32) | self.generation as u64
    }

    /// Converts an integer made by [`to_bits`](Entity::to_bits) back to an id. Any integer is
    /// accepted; most are the id of no entity.
    ///
    /// # Example
    ///
    /// ```
    /// use phalanx::Entity;
    ///
    /// assert_eq!(Entity::from_bits(u64::MAX).to_bits(), u64::MAX);
    /// ```
    #[inline]
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "each cast keeps one half of the bits")]
    pub const fn from_bits(bits: u64) -> Self {
        Self::new((bits >> 32) as u32, bits as u32)
    }

    /// Returns `true` if the id means "no entity": generation 0, with any index.
    ///
    /// `false` does not imply that the entity is alive: use `World::contains` for that.
    ///
    /// # Example
    ///
    /// ```
    /// use phalanx::Entity;
    ///
    /// assert!(Entity::NULL.is_null());
    /// assert!(!Entity::from_bits(1).is_null());
    /// ```
    #[inline]
    #[must_use]
    pub const fn is_null(self) -> bool {
        self.generation == 0
    }

    /// Returns the id, or `None` if it means "no entity".
    ///
    /// # Example
    ///
    /// ```
    /// use phalanx::Entity;
    ///
    /// assert_eq!(Entity::NULL.some(), None);
    /// let id = Entity::from_bits(1);
    /// assert_eq!(id.some(), Some(id));
    /// ```
    #[inline]
    #[must_use]
    pub const fn some(self) -> Option<Self> {
        if self.is_null() { None } else { Some(self) }
    }
}

/// Converts `None` to [`Entity::NULL`].
impl From<Option<Entity>> for Entity {
    #[inline]
    fn from(entity: Option<Entity>) -> Self {
        entity.unwrap_or(Self::NULL)
    }
}

impl Ord for Entity {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.to_bits().cmp(&other.to_bits())
    }
}

impl PartialOrd for Entity {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

thread_local! {
    /// The number of ids that this thread has hashed. Counting takes two of the 39 instructions of
    /// a look-up with a fast hash (3.1 instead of 2.9 ns, 10,000 ids, Zen 4), and four of 183 with
    /// the hash of the standard library. Testing a flag first would cost the same.
    static HASHED: Cell<u64> = const { Cell::new(0) };
}

// Hashes once instead of twice.
impl Hash for Entity {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        HASHED.set(HASHED.get().wrapping_add(1));
        state.write_u64(self.to_bits());
    }
}

impl Entity {
    /// Whether a closure hashes any id on this thread. A value of an unknown type is tested in this
    /// way for ids in any part of it, with any hasher.
    pub(crate) fn is_hashed_by(f: impl FnOnce()) -> bool {
        let before = HASHED.get();
        f();
        HASHED.get() != before
    }
}

impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}v{}", self.index, self.generation)
    }
}

impl fmt::Debug for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn null_is_zeroed_memory_and_every_generation_zero_is_null() {
        assert_eq!(Entity::zeroed(), Entity::NULL);
        assert_eq!(Entity::default(), Entity::NULL);
        assert!(Entity::new(u32::MAX, 0).is_null());
        assert_eq!(Entity::new(7, 0).some(), None);
    }

    #[test]
    fn options_convert_both_ways() {
        let entity = Entity::new(7, 2);
        assert_eq!(Entity::from(Some(entity)).some(), Some(entity));
        assert_eq!(Entity::from(None), Entity::NULL);
    }

    #[test]
    fn text_is_index_v_generation() {
        assert_eq!(format!("{} {0:?}", Entity::new(7, 2)), "7v2 7v2");
    }

    #[test]
    fn bytes_cast_to_ids_and_back() {
        let ids = [Entity::new(7, 2), Entity::new(u32::MAX, 1)];
        let words: &[u32] = bytemuck::cast_slice(&ids);
        assert_eq!(words, [7, 2, u32::MAX, 1]);
    }

    #[test]
    fn equal_ids_have_equal_hashes() {
        let ids = [Entity::new(1, 2), Entity::new(2, 1), Entity::new(1, 2)];
        assert_eq!(ids.into_iter().collect::<HashSet<_>>().len(), 2);
    }

    fn part() -> impl Strategy<Value = u32> {
        prop_oneof![any::<u32>(), Just(0), Just(1), Just(u32::MAX)]
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 8 } else { crate::effort::effort(128) },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn bits_round_trip_and_keep_the_order(
            index in part(), generation in part(), other in part(), other_generation in part(),
        ) {
            let (a, b) = (Entity::new(index, generation), Entity::new(other, other_generation));
            prop_assert_eq!(Entity::from_bits(a.to_bits()), a);
            prop_assert_eq!((a.index(), a.generation()), (index, generation));
            prop_assert_eq!(a.cmp(&b), (index, generation).cmp(&(other, other_generation)));
            prop_assert_eq!(a.cmp(&b), a.to_bits().cmp(&b.to_bits()));
        }
    }
}
