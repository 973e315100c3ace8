//! The supply of a buffer's ids: on loan in advance, or taken from an id share.
//!
//! A buffer that a program makes has the requested number of ids on loan. While systems run on
//! several threads, they must not take ids from the world: which id a system gets would depend on
//! which one asks first. So between the start and the end of a stage each buffer has an [`IdShare`]
//! of ids that only it may take. The ids that it took are on loan to it when the stage ends.

use std::sync::Arc;

use crate::entity::{Entity, IdQueue, IdShare, OutOfIds, ReturnedIds};
use crate::spare::vec_bytes;
use crate::world::World;

/// The ids of one buffer.
#[derive(Debug)]
pub(super) struct IdSupply {
    /// Ids on loan. The first `used` were handed out.
    ids: Vec<Entity>,
    used: usize,
    /// The source of more ids, until the stage ends.
    pub(super) share: Option<IdShare>,
    /// The number of ids on loan in advance.
    quota: u32,
    returned: Arc<ReturnedIds>,
}

impl IdSupply {
    pub(super) fn new(world: &mut World, quota: u32) -> Self {
        let returned = world.store.returned_ids();
        Self { ids: Vec::new(), used: 0, share: None, quota, returned }
    }

    /// Takes ids on loan up to the quota.
    pub(super) fn fill(&mut self, world: &mut World) -> Result<(), OutOfIds> {
        let missing = self.missing();
        world.store.loan_ids(missing, &mut self.ids)
    }

    /// The allocated memory.
    pub(super) const fn bytes(&self) -> usize {
        vec_bytes(&self.ids)
    }

    /// Frees unused memory.
    pub(super) fn shrink(&mut self) {
        self.ids.shrink_to_fit();
    }

    /// The number of ids that were not handed out.
    pub(super) const fn left(&self) -> usize {
        self.ids.len() - self.used
    }

    fn missing(&self) -> u32 {
        let left = u32::try_from(self.left()).expect("a buffer has more ids than indices exist");
        self.quota.saturating_sub(left)
    }

    #[inline]
    pub(super) fn next(&mut self) -> Result<Entity, OutOfIds> {
        match self.ids.get(self.used) {
            Some(&entity) => {
                self.used += 1;
                Ok(entity)
            }
            None => self.next_of_share(),
        }
    }

    /// The next id, after taking more from the share.
    #[cold]
    fn next_of_share(&mut self) -> Result<Entity, OutOfIds> {
        let taken = self.share.as_mut().map_or(Ok(false), |share| share.take(&mut self.ids));
        if !taken? {
            // Its stage has ended.
            self.share = None;
            return Err(OutOfIds::InBuffer { ids: self.ids.len() });
        }
        self.used += 1;
        Ok(self.ids[self.used - 1])
    }

    /// Drops the share, if it is one of `queue`, and keeps only its ids that were handed out.
    pub(super) fn close_share(&mut self, queue: &Arc<IdQueue>) {
        // Ids of the share are handed out after all others, so the last ones left are its own.
        let left = self.left();
        let closed = self.share.as_mut().and_then(|share| share.close(queue, left));
        if let Some(withdrawn) = closed {
            self.ids.truncate(self.ids.len() - withdrawn);
            self.share = None;
        }
    }

    /// After playback: ends the loans of ids that were handed out but never spawned, and takes new
    /// ids on loan. `loans_ended` is the number of loans that playback has ended.
    pub(super) fn renew(&mut self, world: &mut World, loans_ended: usize) {
        self.share = None;
        if loans_ended < self.used {
            for &entity in &self.ids[..self.used] {
                world.store.end_loan(entity);
            }
        }
        self.ids.drain(..self.used);
        self.used = 0;
        world.store.loan_ids_at_most(self.missing(), &mut self.ids);
    }

    /// Returns all ids to the world that they are of, and those of `left`, which have left this
    /// supply or never were in it, but not those of `ended`. The next change of that world ends
    /// their loans.
    pub(super) fn give_back(&mut self, left: Vec<Entity>, mut ended: Vec<Entity>) {
        let (used, unused) = self.ids.split_at(self.used);
        ended.sort_unstable();
        let mut seen = left;
        seen.extend_from_slice(used);
        seen.retain(|entity| ended.binary_search(entity).is_err());
        seen.sort_unstable();
        seen.dedup();
        self.returned.give_back(unused, &seen);
        self.ids.clear();
        self.used = 0;
        self.share = None;
    }
}

impl Drop for IdSupply {
    fn drop(&mut self) {
        let (used, unused) = self.ids.split_at(self.used);
        self.returned.give_back(unused, used);
    }
}
