//! Random matches of a query, found without a walk over the others.

use rustc_hash::FxHashMap;

use crate::archetype::Archetype;
use crate::entity::Entity;
use crate::storage::RowMask;

use super::filter::Filter;
use super::gather::Copies;
use super::matched_chunks::{entries, masks};
use super::query_type::{is_by_row, query_type};
use super::terms::Terms;

/// # Random matches
impl<Q: Terms, F: Filter> Copies<'_, '_, Q, F> {
    /// Up to `len` different matches in random order: over all seeds, each match is as likely as
    /// any other at each place. All matches, shuffled, if there are fewer.
    ///
    /// The same seed chooses the same rows of equal worlds. Stamps no chunk and copies no other
    /// entities. O(`len` · log(archetypes) + archetypes); with filters that choose chunks or rows,
    /// O(chunks) instead of archetypes, and bits are counted by words.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Sheep;
    /// # #[component] struct Shorn;
    /// # let mut world = World::new();
    /// let flock = world.spawn_batch([Sheep; 10_000]).to_vec();
    /// world.insert(flock[7], Shorn)?;
    /// let grown = world.query::<&Sheep>().without::<Shorn>();
    /// let chosen = grown.copies().sample(100, 42);
    /// assert_eq!(chosen.len(), 100);
    /// assert!(chosen.iter().all(|&sheep| grown.contains(sheep)));
    /// assert_eq!(grown.copies().sample(20_000, 42).len(), 9_999, "all of them");
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[must_use]
    pub fn sample(&self, len: usize, seed: u64) -> Vec<Entity> {
        let matches = Ranked::new(self);
        let (count, mut random) = (matches.len(), SplitMix(seed));
        // The first steps of a shuffle of all ranks: only the ranks that moved are kept.
        let mut moved: FxHashMap<usize, usize> = FxHashMap::default();
        let choose = |next: usize| {
            let chosen = next + random.below(count - next);
            let rank = moved.get(&chosen).copied().unwrap_or(chosen);
            let displaced = moved.get(&next).copied().unwrap_or(next);
            moved.insert(chosen, displaced);
            matches.entity(rank)
        };
        (0..len.min(count)).map(choose).collect()
    }
}

/// The matches of a query, numbered in its order.
struct Ranked<'q> {
    parts: Vec<SamplePart<'q>>,
}

/// Matches that follow each other: an archetype, or the visible rows of a chunk.
struct SamplePart<'q> {
    /// The number of the row after the last.
    end: usize,
    archetype: &'q Archetype,
    mask: Option<RowMask<'q>>,
}

impl<'q> Ranked<'q> {
    fn new<Q: Terms, F: Filter>(copies: &'q Copies<'_, '_, Q, F>) -> Self {
        let query = copies.query();
        let view = query.view();
        let (archetypes, plan) = (view.store().archetypes(), view.plan(query_type::<Q, F>()));
        let (mut parts, mut end) = (Vec::new(), 0);
        for (entry, _, archetype) in entries(plan, archetypes.as_slice(), query.viewed_filter()) {
            if F::BY_CHUNK || is_by_row::<Q, F>() {
                for mask in masks::<Q, F>(plan, entry, archetype, query.viewed_filter()) {
                    end += mask.count();
                    parts.push(SamplePart { end, archetype, mask: Some(mask) });
                }
            } else {
                end += archetype.len();
                parts.push(SamplePart { end, archetype, mask: None });
            }
        }
        Self { parts }
    }

    fn len(&self) -> usize {
        self.parts.last().map_or(0, |part| part.end)
    }

    /// The match of this number.
    fn entity(&self, rank: usize) -> Entity {
        let at = self.parts.partition_point(|part| part.end <= rank);
        let start = at.checked_sub(1).map_or(0, |before| self.parts[before].end);
        let SamplePart { archetype, mask, .. } = &self.parts[at];
        match mask {
            Some(mask) => archetype.entities_of_chunk(mask.chunk())[seen_row(*mask, rank - start)],
            None => archetype.entities()[rank - start],
        }
    }
}

/// The place of a visible row, which is the one after `before` others.
fn seen_row(mask: RowMask<'_>, before: usize) -> usize {
    let (mut before, mut start) = (before, 0);
    for mut word in mask.words() {
        let seen = word.count_ones() as usize;
        if before < seen {
            (0..before).for_each(|_| word &= word - 1);
            return start + word.trailing_zeros() as usize;
        }
        before -= seen;
        start += u64::BITS as usize;
    }
    unreachable!("a chunk has fewer visible rows than it was counted for")
}

/// The generator SplitMix64: a counter that is mixed.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, each as likely as any other: products of the few numbers that would
    /// be chosen too often are rejected.
    #[expect(clippy::cast_possible_truncation, reason = "the high half of a product of `end`")]
    fn below(&mut self, end: usize) -> usize {
        let end = end as u64;
        let rejected = end.wrapping_neg() % end;
        loop {
            let product = u128::from(self.next()) * u128::from(end);
            if product as u64 >= rejected {
                return (product >> 64) as usize;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_range_are_equally_likely() {
        let mut random = SplitMix(1);
        for end in [1, 2, 3, 7, 10] {
            let mut counts = vec![0_u32; end];
            let draws = if cfg!(miri) { 50 } else { 5_000 };
            (0..draws * end).for_each(|_| counts[random.below(end)] += 1);
            let expected = u32::try_from(draws).expect("a small number");
            let is_near = |&count: &u32| count.abs_diff(expected) < expected / 10;
            assert!(cfg!(miri) || counts.iter().all(is_near), "{counts:?}");
        }
    }

    #[test]
    fn numbers_of_half_the_range_are_rejected_if_they_are_too_many() {
        // Three quarters of 2^64: without rejection every other number would come twice.
        let end = (usize::MAX / 4) * 3;
        let mut random = SplitMix(2);
        let thirds = (0..9_000).fold([0_u32; 3], |mut thirds, _| {
            thirds[random.below(end) % 3] += 1;
            thirds
        });
        assert!(thirds.iter().all(|&count| (2_800..3_200).contains(&count)), "{thirds:?}");
    }
}
