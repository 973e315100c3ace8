//! The rows of a set's members, sorted.
//!
//! ```text
//!  the set         4v1   9v2   7v1   2v3
//!  rows            310    17   842    55       found in the directory
//!  sorted           17    55   310   842       beside the positions of the values in the set
//! ```

use crate::entity::{DirectoryView, Entity, RowIndex};
use crate::storage::{FewRows, RowMask};
use crate::store::SetMembers;

use super::known_positions::KnownPositions;

/// Members from which on their rows are sorted digit by digit.
const DIGITS_MIN: usize = 256;
/// Bits of a digit, at most.
const DIGIT_BITS_MAX: u32 = 11;
/// A member is close to the one before it if their rows are fewer than this apart.
const CLOSE_ROWS: u64 = 8;
/// Members that are found before their order is checked.
const SOME: usize = 64;
/// Chunks that are taken together, at most.
const RUN_CHUNKS_MAX: u32 = 64;
/// Chunks are taken together if the chunks of the first two members are fewer than this apart.
const RUN_GAP_MAX: u32 = 16;

/// A member of the set. The parts of the key are in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
struct Member {
    row: RowIndex,
    archetype: u32,
    /// The position of its value in the set.
    position: u32,
}

impl Member {
    const NONE: Self = Self { row: RowIndex(0), archetype: 0, position: 0 };

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
    /// The members of the chunks that were begun have keys less than this.
    end: u64,
    chunks: BegunChunks,
    known: KnownPositions,
}

/// Chunks that follow each other in memory. Their rows are listed together.
#[derive(Clone, Copy, Debug)]
pub(super) struct BegunChunks {
    /// The number of the first one.
    pub(super) first: u32,
    /// Rows of a full chunk.
    pub(super) capacity: u32,
    /// Bits of a position for the row in its chunk.
    pub(super) shift: u32,
}

impl BegunChunks {
    const NONE: Self = Self { first: 0, capacity: 0, shift: 0 };
}

impl MemberWalk {
    /// The rows of the members of a set. O(members).
    pub(super) fn new(set: SetMembers<'_>, directory: &DirectoryView<'_>) -> Self {
        let mut members = Vec::with_capacity(set.entities.len());
        find((0, set.entities), directory, &mut members);
        sort(&mut members);
        Self::of(members, set.number)
    }

    /// The rows of the members of a set that lie in the order of their rows, and mostly apart.
    /// `None` for another set, after a look at 64 of its members, or at a quarter of them. If a
    /// later member is out of order, as after a removal, the members are sorted.
    pub(super) fn of_spread(set: SetMembers<'_>, directory: &DirectoryView<'_>) -> Option<Self> {
        let mut members = Vec::with_capacity(set.entities.len());
        let (mut checked, mut close, mut is_sorted) = (0, 0, true);
        for (first, some) in (0..).step_by(SOME).zip(set.entities.chunks(SOME)) {
            find((first, some), directory, &mut members);
            for pair in members[checked..].windows(2) {
                let [one, other] = [pair[0].key(), pair[1].key()];
                is_sorted &= one <= other;
                close += usize::from(other.wrapping_sub(one) < CLOSE_ROWS);
            }
            checked = members.len().saturating_sub(1);
            let is_early = members.len() <= SOME.max(set.entities.len() / 4);
            if is_early && (!is_sorted || close > members.len() / 4) {
                return None;
            }
        }
        if !is_sorted {
            sort(&mut members);
        }
        Some(Self::of(members, set.number))
    }

    const fn of(members: Vec<Member>, number: u16) -> Self {
        let known = KnownPositions::none_of(number);
        Self { members, next: 0, end: 0, chunks: BegunChunks::NONE, known }
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

    /// Whether the next member is in the chunks that were begun.
    #[inline]
    pub(super) fn is_in_chunks(&self) -> bool {
        self.members.get(self.next).is_some_and(|member| member.key() < self.end)
    }

    /// The number of chunks to take, from the next member's on: one if the member after it is far
    /// away.
    #[inline]
    pub(super) fn chunks_max(&self, shift: u32) -> u32 {
        let key = |place: usize| self.members.get(self.next + place).map(|one| one.key());
        match (key(0), key(1)) {
            (Some(one), Some(other)) if (other >> shift) - (one >> shift) < RUN_GAP_MAX.into() => {
                RUN_CHUNKS_MAX
            }
            _ => 1,
        }
    }

    /// Begins with chunks up to number `end`. The first of them has the next member.
    #[inline]
    pub(super) fn begin_chunks(&mut self, chunks: BegunChunks, end: u32) {
        if let Some(member) = self.members.get(self.next) {
            self.chunks = chunks;
            self.end = u64::from(member.archetype) << u32::BITS;
            self.end += u64::from(end) << chunks.shift;
        }
    }

    /// Skips the members of the next one's archetype.
    pub(super) fn skip_archetype(&mut self) {
        let rest = &self.members[self.next..];
        if let Some(first) = rest.first() {
            self.next += rest.partition_point(|member| member.archetype == first.archetype);
        }
    }

    /// Lists the next members of the chunks that were begun, if the query sees their rows: the
    /// members of one chunk, or of several (`ACROSS`). Rows are counted from the first of the
    /// chunks. `seen` returns the rows of a chunk that the query sees, and `visit` is called for
    /// each chunk with a listed row.
    #[inline(always)]
    pub(super) fn list_rows<'w, const ACROSS: bool>(
        &mut self,
        list: &mut FewRows,
        seen: impl Fn(u32) -> RowMask<'w>,
        visit: impl Fn(RowMask<'w>),
    ) {
        let Self { members, next, end: chunks_end, chunks, known } = self;
        let (BegunChunks { first, capacity, shift }, positions) = (*chunks, known.all_mut());
        let row_mask = (1u32 << shift) - 1;
        list.fill(|rows| {
            let mut len = 0;
            while let Some(member) = members.get(*next)
                && member.key() < *chunks_end
                && (ACROSS || len == 0)
                && len < FewRows::ROWS_MAX
            {
                let chunk = member.row.0.wrapping_shr(shift);
                let (mask, start) = (seen(chunk), (chunk - first) * capacity);
                let (end, before) = ((member.key() | u64::from(row_mask)) + 1, len);
                let of_chunk = members[*next..].iter().take_while(|member| member.key() < end);
                for member in of_chunk {
                    if len == FewRows::ROWS_MAX {
                        break;
                    }
                    *next += 1;
                    let row = member.row.0 & row_mask;
                    (rows[len], positions[len]) = (start + row, member.position);
                    len += usize::from(row < mask.rows() && mask.contains(row));
                }
                if len > before {
                    visit(mask);
                }
            }
            len
        });
    }

    /// The positions of the values of the rows that were listed last.
    #[inline]
    pub(super) const fn known(&self) -> &KnownPositions {
        &self.known
    }
}

/// Adds the members of a set that have a row, from some of its entities. `first` is the position of
/// the first entity.
#[inline(always)]
fn find(
    (first, entities): (u32, &[Entity]),
    directory: &DirectoryView<'_>,
    members: &mut Vec<Member>,
) {
    // A copy for far slots, so that this view stays in registers.
    let (far, mut len) = (*directory, members.len());
    members.resize(len + entities.len(), Member::NONE);
    for (position, &entity) in (first..).zip(entities) {
        let place = directory.get_by(entity, &far);
        if let Some(place) = place.filter(|place| place.is_somewhere()) {
            members[len] = Member { row: place.row(), archetype: place.archetype().0, position };
            len += 1;
        }
    }
    members.truncate(len);
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
    let width = u64::BITS - differing.leading_zeros() - shift;
    // Digits of one width: fewer counters than with a last digit that is short.
    let bits = width.div_ceil(width.div_ceil(DIGIT_BITS_MAX));
    while shift < u64::BITS && differing >> shift != 0 {
        if differing >> shift & ((1 << bits) - 1) != 0 {
            sort_by_digit(members, &mut other, (shift, bits));
            core::mem::swap(members, &mut other);
        }
        shift += bits;
    }
}

/// Copies members in the order of one digit of their keys.
fn sort_by_digit(members: &[Member], sorted: &mut [Member], (shift, bits): (u32, u32)) {
    let mut starts = [0u32; 1 << DIGIT_BITS_MAX];
    let starts = &mut starts[..1 << bits];
    let mask = (1u64 << bits) - 1;
    let digit = |member: &Member| {
        usize::try_from(member.key() >> shift & mask).expect("a digit has few bits")
    };
    members.iter().for_each(|member| starts[digit(member)] += 1);
    let mut next = 0;
    for start in &mut *starts {
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
    use core::cell::RefCell;

    use super::*;
    use crate::storage::RowMask;

    fn member(archetype: u32, row: u32, position: u32) -> Member {
        Member { archetype, row: RowIndex(row), position }
    }

    /// The places of a list, the positions of their values, and the chunks that were visited.
    type Listed = (Vec<u32>, Vec<u32>, Vec<u32>);

    fn list<const ACROSS: bool>(
        walk: &mut MemberWalk,
        seen: impl Fn(u32) -> RowMask<'static>,
    ) -> Listed {
        let (mut list, visited) = (FewRows::NONE, RefCell::new(Vec::new()));
        let visit = |mask: RowMask<'_>| visited.borrow_mut().push(mask.chunk());
        walk.list_rows::<ACROSS>(&mut list, seen, visit);
        let known = walk.known().of(0).expect("the set")[..list.len()].to_vec();
        let first = list.begin().0;
        let narrow = |row| u32::try_from(row).expect("a list has few rows");
        let rows = list.rows().map(|row| first + narrow(row)).collect();
        (rows, known, visited.into_inner())
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
        let all = [&all[..], &[member(1, 0, 4), member(last, last, 5)]].concat();
        let mut walk = MemberWalk::of(all, 0);
        for (row, len) in [((0, 6), 2), ((0, 8), 1), ((0, last), 1), ((1, 0), 1)] {
            assert_eq!(walk.place(), Some((row.0, RowIndex(row.1))));
            assert!(!walk.is_in_chunks(), "another chunk was begun");
            let first = row.1 >> 3;
            walk.begin_chunks(BegunChunks { first, capacity: 8, shift: 3 }, first + 1);
            assert!(walk.is_in_chunks());
            let (rows, _, visited) = list::<true>(&mut walk, |chunk| RowMask::all_of(chunk, 8));
            assert_eq!((rows.len(), visited), (len, vec![first]), "{row:?}");
        }
        walk.skip_archetype();
        assert_eq!(walk.place(), None);
        assert!(!walk.is_in_chunks());
    }

    #[test]
    fn rows_of_chunks_that_were_begun_are_counted_from_the_first() {
        // Each chunk has five rows, in positions of three bits. No row of chunk 4 is seen.
        let rows = [2 << 3 | 1, 2 << 3 | 4, 3 << 3, 4 << 3 | 2, 5 << 3 | 3, 6 << 3];
        let members: Vec<_> = (0..).zip(rows).map(|(at, row)| member(7, row, 10 + at)).collect();
        let seen = |chunk| RowMask::all_of(chunk, if chunk == 4 { 0 } else { 5 });
        let begun = || {
            let mut walk = MemberWalk::of(members.clone(), 0);
            walk.begin_chunks(BegunChunks { first: 2, capacity: 5, shift: 3 }, 6);
            walk
        };
        let mut walk = begun();
        let wanted = (vec![1, 4, 5, 18], vec![10, 11, 12, 14], vec![2, 3, 5]);
        assert_eq!(list::<true>(&mut walk, seen), wanted);
        assert_eq!(walk.place(), Some((7, RowIndex(6 << 3))), "it is in no chunk that was begun");
        let mut walk = begun();
        let mut one_by_one = || list::<false>(&mut walk, seen);
        assert_eq!(one_by_one(), (vec![1, 4], vec![10, 11], vec![2]));
        assert_eq!(one_by_one(), (vec![5], vec![12], vec![3]));
        assert_eq!(one_by_one(), (vec![18], vec![14], vec![5]));
        assert!(!walk.is_in_chunks());
    }

    #[test]
    fn rows_that_are_not_seen_are_passed() {
        let mut walk = MemberWalk::of((0..100).map(|row| member(0, row, row)).collect(), 0);
        walk.begin_chunks(BegunChunks { first: 0, capacity: 100, shift: 7 }, 1);
        let mut lists = Vec::new();
        while walk.is_in_chunks() {
            let (rows, known, visited) = list::<true>(&mut walk, |_| RowMask::run(0, 40..90));
            assert_eq!((&rows, visited), (&known, vec![0]));
            lists.push((rows[0], rows[rows.len() - 1]));
        }
        // A mask counts from its own first row.
        assert_eq!(lists, [(0, 31), (32, 49)]);
        assert!(walk.known().of(1).is_none(), "another set");
    }

    #[test]
    fn chunks_are_taken_together_if_members_are_near() {
        let chunks_max = |other| MemberWalk::of(vec![member(0, 5, 0), other], 0).chunks_max(3);
        assert_eq!(chunks_max(member(0, 6, 0)), RUN_CHUNKS_MAX);
        assert_eq!(chunks_max(member(0, RUN_GAP_MAX << 3, 0)), 1);
        assert_eq!(chunks_max(member(0, (RUN_GAP_MAX << 3) - 1, 0)), RUN_CHUNKS_MAX);
        assert_eq!(chunks_max(member(1, 0, 0)), 1, "in another archetype");
        assert_eq!(MemberWalk::of(vec![member(0, 5, 0)], 0).chunks_max(3), 1, "the last one");
    }
}
