//! Rows by the hash of a value: chains of rows with hashes that end alike.

/// The end of a chain, or no row.
const NONE: u32 = u32::MAX;

/// The rows of an archetype, each in the chain of its hash.
///
/// Chains are linked both ways, so that a row changes its hash in O(1), however many rows have the
/// same one:
///
/// ```text
///  heads   ┌───┬───┬───┬───┬───┬───┬───┬───┐   a power of two, at least one for each row
///          │ 5 │   │   │ 2 │   │   │   │   │
///          └─┼─┴───┴───┴─┼─┴───┴───┴───┴───┘
///            ▼           ▼
///  links     5 ⇄ 3       2 ⇄ 1 ⇄ 0             row 4 is in no chain
/// ```
#[derive(Debug, Default)]
pub(super) struct HashChains {
    heads: Vec<u32>,
    links: Vec<Link>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    hash: u32,
    next: u32,
    /// The row before, or [`NONE`] for the head of a chain.
    previous: u32,
    is_linked: bool,
}

impl HashChains {
    /// Makes room for rows below `len`. O(rows) if there are more than before.
    pub(super) fn grow(&mut self, len: usize) {
        if len > self.links.len() {
            let (hash, is_linked) = (0, false);
            self.links.resize(len, Link { hash, next: NONE, previous: NONE, is_linked });
        }
        if len <= self.heads.len() {
            return;
        }
        self.heads = vec![NONE; len.next_power_of_two()];
        for row in 0..self.links.len() {
            if self.links[row].is_linked {
                self.link(row, self.links[row].hash);
            }
        }
    }

    /// Puts a row into the chain of a hash.
    pub(super) fn set(&mut self, row: usize, hash: u32) {
        let Link { hash: old, is_linked, .. } = self.links[row];
        if is_linked && old == hash {
            return;
        }
        self.remove(row);
        self.link(row, hash);
    }

    /// The allocated memory.
    pub(super) fn bytes(&self) -> usize {
        self.heads.capacity() * size_of::<u32>() + self.links.capacity() * size_of::<Link>()
    }

    /// Takes a row out of its chain.
    pub(super) fn remove(&mut self, row: usize) {
        let Link { hash, next, previous, is_linked } = self.links[row];
        if !is_linked {
            return;
        }
        self.links[row].is_linked = false;
        match previous {
            NONE => {
                let head = self.head(hash);
                self.heads[head] = next;
            }
            previous => self.links[previous as usize].next = next,
        }
        if next != NONE {
            self.links[next as usize].previous = previous;
        }
    }

    /// The rows with a hash, in any order.
    pub(super) fn of(&self, hash: u32) -> impl Iterator<Item = u32> {
        let first = self.heads.get(self.head(hash)).copied().unwrap_or(NONE);
        let link = |row: u32| (row != NONE).then(|| (row, self.links[row as usize]));
        let chain = core::iter::successors(link(first), move |(_, at)| link(at.next));
        chain.filter(move |(_, at)| at.hash == hash).map(|(row, _)| row)
    }

    /// The number of rows in chains.
    #[cfg(test)]
    fn linked_len(&self) -> usize {
        self.links.iter().filter(|link| link.is_linked).count()
    }

    const fn head(&self, hash: u32) -> usize {
        hash as usize & self.heads.len().wrapping_sub(1)
    }

    fn link(&mut self, row: usize, hash: u32) {
        let head = self.head(hash);
        let next = self.heads[head];
        let number = u32::try_from(row).expect("a world has 2^32 rows or more");
        if next != NONE {
            self.links[next as usize].previous = number;
        }
        self.links[row] = Link { hash, next, previous: NONE, is_linked: true };
        self.heads[head] = number;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn chains_have_the_rows_that_were_set(
            steps in proptest::collection::vec((0usize..40, 0u32..12, any::<bool>()), 0..200),
        ) {
            let mut chains = HashChains::default();
            let mut model = [None; 40];
            let mut len = 0;
            for (row, hash, is_set) in steps {
                len = len.max(row + 1);
                chains.grow(len);
                model[row] = is_set.then_some(hash * 0x1001);
                match is_set {
                    true => chains.set(row, hash * 0x1001),
                    false => chains.remove(row),
                }
            }
            for hash in (0..12).map(|hash| hash * 0x1001) {
                let mut rows: Vec<_> = chains.of(hash).collect();
                rows.sort_unstable();
                let expected: Vec<_> =
                    (0u32..).zip(model).filter(|one| one.1 == Some(hash)).map(|one| one.0).collect();
                prop_assert_eq!(rows, expected);
            }
            prop_assert_eq!(chains.linked_len(), model.iter().flatten().count());
        }
    }
}
