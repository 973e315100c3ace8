//! The rows of a set's members, sorted.
//!
//! ```text
//!  the set         4v1   9v2   7v1   2v3
//!  rows            310    17   842    55       found in the directory
//!  sorted           17    55   310   842       beside the positions of the values in the set
//! ```

use crate::entity::{DirectoryView, RowIndex};
use crate::storage::{FewRows, RowRuns};
use crate::store::SetMembers;

use super::known_positions::KnownPositions;

/// Members from which on their rows are sorted digit by digit.
const DIGITS_MIN: usize = 256;
/// Bits of a digit.
const DIGIT_BITS: u32 = 11;

/// A member of the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Member {
    archetype: u32,
    row: RowIndex,
    /// The position of its value in the set.
    position: u32,
}

impl Member {
    /// A number by which rows are sorted.
    #[inline(always)]
    const fn key(self) -> u64 {
        (self.archetype as u64) << u32::BITS | self.row.0 as u64
    }
}

/// The members of a set that a pass has not visited, in the order of their rows.
#[derive(Debug)]
pub(super) struct MemberWalk {
    members: Vec<Member>,
    /// The member that is next.
    next: usize,
    /// The members of the chunk that was begun have smaller keys.
    end: u64,
    /// Selects the row's number in its chunk.
    row_mask: u32,
    known: KnownPositions,
}

impl MemberWalk {
    /// The rows of the members of a set. O(members).
    pub(super) fn new(set: SetMembers<'_>, directory: &DirectoryView<'_>) -> Self {
        let mut members = Vec::with_capacity(set.entities.len());
        for (position, &entity) in (0..).zip(set.entities) {
            if let Ok(Some(place)) = directory.resolve(entity) {
                let (archetype, row) = (place.archetype().0, place.row());
                members.push(Member { archetype, row, position });
            }
        }
        sort(&mut members);
        let known = KnownPositions::none_of(set.number);
        Self { members, next: 0, end: 0, row_mask: 0, known }
    }

    #[cfg(test)]
    pub(super) const fn len(&self) -> usize {
        self.members.len()
    }

    /// The next member: its archetype, and its row there.
    #[inline]
    pub(super) fn place(&self) -> Option<(u32, RowIndex)> {
        self.members.get(self.next).map(|member| (member.archetype, member.row))
    }

    /// Whether the next member is in the chunk that was begun.
    #[inline]
    pub(super) fn is_in_chunk(&self) -> bool {
        self.members.get(self.next).is_some_and(|member| member.key() < self.end)
    }

    /// Begins with the chunk of the next member, in an archetype of which positions have `shift`
    /// bits for the row in a chunk.
    #[inline]
    pub(super) fn begin_chunk(&mut self, shift: u32) {
        if let Some(member) = self.members.get(self.next) {
            self.row_mask = (1 << shift) - 1;
            self.end = (member.key() | u64::from(self.row_mask)) + 1;
        }
    }

    /// Skips the members of the chunk that was begun.
    pub(super) fn skip_chunk(&mut self) {
        let rest = &self.members[self.next..];
        self.next += rest.partition_point(|member| member.key() < self.end);
    }

    /// Skips the members of the next one's archetype.
    pub(super) fn skip_archetype(&mut self) {
        let rest = &self.members[self.next..];
        if let Some(first) = rest.first() {
            self.next += rest.partition_point(|member| member.archetype == first.archetype);
        }
    }

    /// Lists the next rows of the chunk that was begun, as far as the query sees them. False if it
    /// sees none.
    #[inline]
    pub(super) fn list_rows(&mut self, seen: &RowRuns<'_>, list: &mut FewRows) -> bool {
        let mut taken = 0;
        for &member in &self.members[self.next..] {
            if member.key() >= self.end || list.len() == FewRows::ROWS_MAX {
                break;
            }
            taken += 1;
            let row = member.row.0 & self.row_mask;
            if seen.sees(row) {
                self.known.set(list.len(), member.position);
                list.push(row);
            }
        }
        self.next += taken;
        list.len() > 0
    }

    /// The positions of the values of the rows that were listed last.
    #[inline]
    pub(super) const fn known(&self) -> &KnownPositions {
        &self.known
    }
}

/// Sorts members by their rows. O(members).
fn sort(members: &mut Vec<Member>) {
    if members.is_sorted_by_key(|member| member.key()) {
        return;
    }
    if members.len() < DIGITS_MIN {
        members.sort_unstable_by_key(|member| member.key());
        return;
    }
    let first = members[0].key();
    let differing = members.iter().fold(0, |bits, member| bits | (member.key() ^ first));
    let mut other = members.clone();
    let mut shift = differing.trailing_zeros();
    while shift < u64::BITS && differing >> shift != 0 {
        sort_by_digit(members, &mut other, shift);
        core::mem::swap(members, &mut other);
        shift += DIGIT_BITS;
    }
}

/// Copies members in the order of one digit of their keys.
fn sort_by_digit(members: &[Member], sorted: &mut [Member], shift: u32) {
    const DIGITS: usize = 1 << DIGIT_BITS;
    let digit = |member: &Member| {
        let low = member.key() >> shift & (DIGITS as u64 - 1);
        usize::try_from(low).expect("a digit has few bits")
    };
    let mut starts = [0u32; DIGITS];
    members.iter().for_each(|member| starts[digit(member)] += 1);
    let mut next = 0;
    for start in &mut starts {
        (*start, next) = (next, next + *start);
    }
    for member in members {
        let start = &mut starts[digit(member)];
        sorted[*start as usize] = *member;
        *start += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::RowMask;

    fn member(archetype: u32, row: u32, position: u32) -> Member {
        Member { archetype, row: RowIndex(row), position }
    }

    fn walk(members: Vec<Member>) -> MemberWalk {
        let known = KnownPositions::none_of(0);
        MemberWalk { members, next: 0, end: 0, row_mask: 0, known }
    }

    #[test]
    fn members_are_sorted_by_archetype_and_row() {
        let lens: &[u32] = if cfg!(miri) { &[5, 260] } else { &[0, 1, 2, 255, 256, 1000, 5000] };
        for &len in lens {
            for bits in [3, 11, 12, 22, 32] {
                let hash = |i: u32| i.wrapping_mul(0x9E37_79B9).rotate_left(16) ^ i;
                let row = |i| hash(i) >> (u32::BITS - bits);
                let mut members: Vec<_> =
                    (0..len).map(|i| member(hash(i) % 7 * (bits % 2), row(i), i)).collect();
                let mut wanted = members.clone();
                wanted.sort_by_key(|one| (one.archetype, one.row));
                sort(&mut members);
                let keys = |all: &[Member]| all.iter().map(|one| one.key()).collect::<Vec<_>>();
                assert_eq!(keys(&members), keys(&wanted), "{len} of {bits} bits");
                members.sort_by_key(|one| one.position);
                assert!(members.iter().map(|one| one.position).eq(0..len), "one is lost");
            }
        }
    }

    #[test]
    fn chunks_end_where_the_next_begins() {
        let last = u32::MAX;
        let all = [member(0, 6, 0), member(0, 7, 1), member(0, 8, 2), member(0, last, 3)];
        let mut walk = walk([&all[..], &[member(1, 0, 4), member(last, last, 5)]].concat());
        for (row, len) in [((0, 6), 2), ((0, 8), 1), ((0, last), 1), ((1, 0), 1)] {
            assert_eq!(walk.place(), Some((row.0, RowIndex(row.1))));
            assert!(!walk.is_in_chunk(), "another chunk was begun");
            walk.begin_chunk(3);
            let mut list = FewRows::NONE;
            assert!(walk.is_in_chunk());
            assert!(walk.list_rows(&RowMask::all_of(0, 8).runs(), &mut list), "it has members");
            assert_eq!(list.len(), len, "{row:?}");
        }
        walk.skip_archetype();
        assert_eq!(walk.place(), None);
        assert!(!walk.is_in_chunk());
    }

    #[test]
    fn rows_that_are_not_seen_are_passed() {
        let mut walk = walk((0..100).map(|row| member(0, row, row)).collect());
        walk.begin_chunk(7);
        let seen = RowMask::run(0, 40..90).runs();
        let mut lists = Vec::new();
        while walk.is_in_chunk() {
            let mut list = FewRows::NONE;
            if walk.list_rows(&seen, &mut list) {
                let (first, last) = list.begin();
                lists.push((first, last, walk.known().of(0).expect("the set")[0]));
            }
        }
        assert_eq!(lists, [(40, 71, 40), (72, 89, 72)]);
        assert!(walk.known().of(1).is_none(), "another set");
    }
}
