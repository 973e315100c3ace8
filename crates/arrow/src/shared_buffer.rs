//! A buffer of Arrow that is a column of a snapshot: the one place with `unsafe`.

#![expect(unsafe_code, reason = "Arrow takes memory that it has not allocated by address")]

use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_buffer::Buffer;
use phalanx::snapshot::{Snapshot, SnapshotArchetype};

/// The column of this number, in the order of [`SnapshotArchetype::columns`], of an archetype of
/// the snapshot, without a copy. The buffer keeps the snapshot alive.
pub(crate) fn shared_buffer(snapshot: &Arc<Snapshot>, archetype: usize, column: usize) -> Buffer {
    // Looked up here, so that only bytes of this snapshot can be used.
    let mut archetypes = snapshot.archetypes();
    let archetype: SnapshotArchetype<'_> = archetypes.nth(archetype).expect("it has the archetype");
    let bytes = archetype.columns().nth(column).expect("the archetype has the column").bytes();
    let start = NonNull::from(bytes).cast::<u8>();
    // A snapshot has no lock and no cell, so a panic elsewhere cannot leave it inconsistent.
    let owner = Arc::new(AssertUnwindSafe(Arc::clone(snapshot)));
    // SAFETY: `bytes` are `bytes.len()` initialised bytes, borrowed from the snapshot. They are
    // neither moved nor changed nor freed while the buffer exists: every change or drop of a
    // snapshot takes it by value or by `&mut`, and an `Arc` gives out neither while another handle
    // exists: `owner` is one, kept until the last clone or slice of the buffer is dropped. Arrow
    // writes only to memory that it has allocated; it has not allocated this memory.
    unsafe { Buffer::from_custom_allocation(start, bytes.len(), owner) }
}

#[cfg(test)]
mod tests {
    use phalanx::prelude::*;

    use super::*;

    #[component(name = "shared_buffer::weight")]
    struct Weight(u32);

    fn snapshot(rows: u32) -> Arc<Snapshot> {
        let mut world = World::new();
        world.spawn_batch((0..rows).map(Weight));
        Arc::new(world.snapshot().unwrap())
    }

    fn place(snapshot: &Snapshot) -> usize {
        snapshot.archetypes().position(|archetype| !archetype.is_empty()).unwrap()
    }

    #[test]
    fn a_buffer_has_the_address_of_the_column_and_its_alignment() {
        let snapshot = snapshot(10_000);
        let number = place(&snapshot);
        let buffer = shared_buffer(&snapshot, number, 0);
        let archetype = snapshot.archetypes().nth(number).unwrap();
        let bytes = archetype.column("shared_buffer::weight").unwrap().bytes();
        assert_eq!(buffer.as_ptr(), bytes.as_ptr());
        assert_eq!((buffer.len(), buffer.as_ptr() as usize % 64), (40_000, 0));
    }

    #[test]
    fn a_buffer_outlives_every_other_handle() {
        let snapshot = snapshot(10_000);
        let weak = Arc::downgrade(&snapshot);
        let buffer = shared_buffer(&snapshot, place(&snapshot), 0);
        drop(snapshot);
        let slice = buffer.slice_with_length(4 * 9_000, 8);
        drop(buffer);
        assert!(weak.upgrade().is_some(), "the slice keeps the snapshot alive");
        assert_eq!(slice.typed_data::<u32>(), [9_000, 9_001]);
        drop(slice);
        assert!(weak.upgrade().is_none(), "nothing else does");
    }

    #[test]
    fn a_snapshot_with_a_buffer_cannot_be_changed_and_the_buffer_not_written() {
        let mut snapshot = snapshot(100);
        let buffer = shared_buffer(&snapshot, place(&snapshot), 0);
        assert!(Arc::get_mut(&mut snapshot).is_none(), "the buffer is a handle");
        let buffer = buffer.into_mutable().expect_err("the memory is the snapshot's");
        let buffer = buffer.into_vec::<u32>().expect_err("the memory is the snapshot's");
        drop(buffer);
        assert!(Arc::get_mut(&mut snapshot).is_some(), "it was the last");
    }

    #[test]
    fn a_buffer_is_read_and_dropped_on_another_thread() {
        let snapshot = snapshot(1000);
        let buffer = shared_buffer(&snapshot, place(&snapshot), 0);
        drop(snapshot);
        let sum = std::thread::spawn(move || buffer.typed_data::<u32>().iter().sum::<u32>());
        assert_eq!(sum.join().unwrap(), 499_500);
    }
}
