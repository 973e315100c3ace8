//! The shared values of an archetype: one for all its chunks, by tag.
//!
//! An archetype owns its shared values while it has chunks. Their tags are components of its set,
//! so all its rows have the same values.

use std::sync::Arc;

use crate::component::{
    AnyValue, ComponentId, HeldValue, Registry, SharedSlot, SharedValue, downcast,
};
use crate::payload::Payload;

/// The tags of an archetype's shared values, and the values while there are chunks.
#[derive(Debug)]
pub(crate) struct SharedTags(Box<[SharedCell]>);

impl SharedTags {
    /// The tags of an archetype without chunks.
    pub(super) fn new(tags: impl Iterator<Item = (ComponentId, Arc<SharedSlot>)>) -> Self {
        Self(tags.map(|(tag, slot)| SharedCell { tag, slot, value: None }).collect())
    }

    /// The shared value of type `T`, if the entities have one.
    #[inline]
    pub(crate) fn get<T: SharedValue>(&self) -> Option<&T> {
        self.tagged().map(|(_, value)| value)
    }

    /// The shared value of type `T` and its tag, if the entities have one.
    #[inline]
    pub(crate) fn tagged<T: SharedValue>(&self) -> Option<(ComponentId, &T)> {
        let mut cells = self.0.iter();
        cells.find_map(|cell| Some((cell.tag, downcast(cell.value.as_deref()?)?)))
    }

    /// Whether a tag belongs to one of the shared values.
    pub(crate) fn has(&self, tag: ComponentId) -> bool {
        self.0.iter().any(|cell| cell.tag == tag)
    }

    /// The tags of the shared values.
    pub(crate) fn tags(&self) -> impl Iterator<Item = ComponentId> {
        self.0.iter().map(|cell| cell.tag)
    }

    /// The hash of the value of a tag, if it is one with a value.
    pub(crate) fn hash(&self, tag: ComponentId) -> Option<u64> {
        let cell = self.0.iter().find(|cell| cell.tag == tag)?;
        cell.value.as_ref().map(|value| value.hash())
    }

    /// The shared values, to be kept by a copy of the rows.
    pub(crate) fn owned_values(&self) -> impl Iterator<Item = OwnedSharedValue> {
        self.0.iter().filter_map(|SharedCell { tag, value, .. }| {
            let value = value.as_ref()?;
            Some(OwnedSharedValue { tag: *tag, value: Some(value.keep()), hash: value.hash() })
        })
    }

    /// Makes this an archetype without shared values, whatever its tags are.
    pub(super) fn forget(&mut self) {
        self.0 = Box::default();
    }

    /// Owns the values, which rows of a new chunk have.
    ///
    /// # Panics
    ///
    /// If a value has no owner: rows come from an archetype that has it, or with the value.
    pub(super) fn own(&mut self) {
        for SharedCell { slot, value, .. } in &mut self.0 {
            if value.is_none() {
                *value = Some(slot.get().expect("a row of a shared value came without it"));
            }
        }
    }

    /// Owns the values again, after another owner has given the tags their values.
    ///
    /// # Panics
    ///
    /// If a tag has no value.
    pub(super) fn own_again(&mut self) {
        for SharedCell { slot, value, .. } in &mut self.0 {
            *value = Some(slot.get().expect("a tag of a shared value has none"));
        }
    }

    /// Releases all values: the last chunk is removed, or [`SharedTags::own_again`] follows.
    pub(super) fn release(&mut self) {
        self.0.iter_mut().for_each(SharedCell::release);
    }

    /// Whether the values are owned while there are chunks.
    pub(crate) fn is_consistent(&self, chunk_len: u32) -> bool {
        self.0.iter().all(|cell| cell.value.is_some() == (chunk_len > 0))
    }
}

/// A value that all chunks share.
#[derive(Debug)]
struct SharedCell {
    tag: ComponentId,
    slot: Arc<SharedSlot>,
    /// The value, while there are chunks.
    value: Option<Arc<HeldValue>>,
}

impl SharedCell {
    /// Drops the value, if this is its only owner. A panic of its destructor ends here, after its
    /// message: rows are being moved.
    fn release(&mut self) {
        let value = self.value.take();
        drop(Payload::catch(|| drop(value)));
    }
}

impl Drop for SharedCell {
    /// The destructor of a slice would end the process at the second panic.
    fn drop(&mut self) {
        self.release();
    }
}

/// Keeps the shared value of a tag alive for an owner that is not an archetype, such as a snapshot.
#[derive(Clone, Debug)]
pub(crate) struct OwnedSharedValue {
    tag: ComponentId,
    /// Taken by the destructor.
    value: Option<Arc<AnyValue>>,
    hash: u64,
}

impl OwnedSharedValue {
    /// A value with this hash, to be kept for a tag.
    pub(crate) const fn new(tag: ComponentId, value: Arc<AnyValue>, hash: u64) -> Self {
        Self { tag, value: Some(value), hash }
    }

    pub(crate) const fn tag(&self) -> ComponentId {
        self.tag
    }

    /// The same value for another tag.
    pub(crate) fn with_tag(mut self, tag: ComponentId) -> Self {
        self.tag = tag;
        self
    }

    /// Whether both are one value, and not only equal.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.held(), other.held())
    }

    pub(crate) fn value(&self) -> &AnyValue {
        self.held()
    }

    fn held(&self) -> &Arc<AnyValue> {
        self.value.as_ref().expect("a value is dropped already")
    }

    /// Gives the tag its value back. The caller owns it until an archetype does.
    pub(crate) fn own(&self, registry: &mut Registry) -> Arc<HeldValue> {
        registry.own_shared(self.tag, (self.held(), self.hash))
    }
}

impl Drop for OwnedSharedValue {
    /// Catches a panic of the value's destructor: other values must still be dropped. The panic
    /// message has been printed.
    fn drop(&mut self) {
        let value = self.value.take();
        drop(Payload::catch(|| drop(value)));
    }
}
