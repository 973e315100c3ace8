//! The blocks of a sparse set, one after the other.

use core::iter::FusedIterator;

use crate::storage::SetBlocks;
use crate::store::EntityStates;
use crate::version::Version;

use super::value_part::{ValuePart, ValueSlice};

/// Cuts a set into its blocks, leaves out those that are not newer than a version, and cuts the
/// others at the values of hidden entities.
#[derive(Debug)]
pub(super) struct BlockCut<'s, V> {
    rest: ValuePart<'s, V>,
    /// `None` if no value is of a hidden entity.
    states: Option<EntityStates<'s>>,
    /// The rest of the block that is cut.
    block: ValuePart<'s, V>,
    /// `None` if the world has no set.
    blocks: Option<&'s SetBlocks>,
    /// `None` if blocks of any version are taken.
    since: Option<Version>,
}

impl<'s, V: ValueSlice> BlockCut<'s, V> {
    pub(super) fn new(
        blocks: Option<&'s SetBlocks>,
        rest: ValuePart<'s, V>,
        states: Option<EntityStates<'s>>,
    ) -> Self {
        Self { rest, states, block: ValuePart::default(), blocks, since: None }
    }

    /// Leaves out blocks that are not newer than a version. Of several versions the latest counts.
    pub(super) fn leave_out_until(&mut self, since: Version) {
        self.since = self.since.max(Some(since));
    }

    #[inline]
    fn next_block(&mut self) -> Option<ValuePart<'s, V>> {
        let blocks = self.blocks?;
        while !self.rest.entities.is_empty() {
            let len = blocks.block_len().min(self.rest.entities.len());
            let block = self.rest.take_first(len);
            if self.since.is_none_or(|since| blocks.version(block.position) > since) {
                return Some(block);
            }
        }
        None
    }

    /// The next values of a block between hidden ones.
    #[cold]
    #[inline(never)]
    fn next_visible(&mut self, states: EntityStates<'_>) -> Option<ValuePart<'s, V>> {
        loop {
            let entities = self.block.entities.iter();
            let skipped = entities.take_while(|&&entity| states.is_hidden(entity)).count();
            self.block.take_first(skipped);
            let entities = self.block.entities.iter();
            match entities.take_while(|&&entity| !states.is_hidden(entity)).count() {
                0 => self.block = self.next_block()?,
                seen => return Some(self.block.take_first(seen)),
            }
        }
    }
}

impl<'s, V: ValueSlice> Iterator for BlockCut<'s, V> {
    type Item = ValuePart<'s, V>;

    #[inline]
    fn next(&mut self) -> Option<ValuePart<'s, V>> {
        match self.states {
            None => self.next_block(),
            Some(states) => self.next_visible(states),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        if self.states.is_some() {
            return (0, Some(self.block.entities.len() + self.rest.entities.len()));
        }
        let block_len = self.blocks.map_or(1, SetBlocks::block_len);
        let blocks = self.rest.entities.len().div_ceil(block_len);
        (if self.since.is_none() { blocks } else { 0 }, Some(blocks))
    }
}

impl<V: ValueSlice> FusedIterator for BlockCut<'_, V> {}
