//! Sets of values with and without memory of their own, and copies that follow them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::component::SparseComponent;
use crate::entity::Entity;
use crate::version::Version;

use super::super::first_panic::FirstPanic;
use super::sparse_set::SparseSet;

const NOW: Version = Version::from_bits(1);

/// A value of any type.
#[derive(Debug, PartialEq)]
struct Value<T>(T);

impl<T: Send + Sync + 'static> SparseComponent for Value<T> {
    const NAME: &'static str = "value";
    type Logged = ();
    fn logged(&self) {}
}

fn id(index: u32, generation: u32) -> Entity {
    Entity::new(index, generation)
}

#[test]
fn a_removed_value_leaves_no_gap() {
    let mut set = SparseSet::default();
    for (index, text) in (0..).zip(["a", "b", "c", "d"]) {
        assert_eq!(set.insert(id(index, 1), Value(text), NOW), None);
    }
    assert_eq!(set.remove(id(1, 1), NOW), Some(Value("b")));
    assert_eq!(set.remove(id(1, 1), NOW), None);
    let rows: Vec<_> = set.iter().map(|(entity, value)| (entity.index(), value.0)).collect();
    assert_eq!(rows, [(0, "a"), (3, "d"), (2, "c")]);
    assert_eq!(set.get(id(3, 1)), Some(&Value("d")));
    assert_eq!(set.insert(id(3, 1), Value("e"), NOW), Some(Value("d")));
    assert!(set.is_consistent(NOW));
}

#[test]
fn an_id_of_another_generation_finds_nothing() {
    let mut set = SparseSet::default();
    set.insert(id(7, 2), Value(5u8), NOW);
    for stale in [id(7, 1), id(7, 3), id(6, 2)] {
        assert!(!set.contains(stale) && set.get_mut(stale, NOW).is_none());
        assert_eq!(set.remove(stale, NOW), None);
    }
    assert_eq!(set.get(id(7, 2)), Some(&Value(5)));
}

#[test]
fn a_far_index_takes_a_page() {
    let (mut near, mut far) = (SparseSet::default(), SparseSet::default());
    for i in 0..10 {
        near.insert(id(i, 1), Value(i), NOW);
        far.insert(id(u32::MAX - 1000 * i, u32::MAX), Value(i), NOW);
    }
    // A page each, two branches, and a root.
    assert!(near.bytes() < 8_000, "{} bytes", near.bytes());
    assert!(far.bytes() < 180_000, "{} bytes", far.bytes());
    assert_eq!(far.get(id(u32::MAX - 3000, u32::MAX)), Some(&Value(3)));
}

#[test]
fn copies_follow_what_changed() {
    /// A value that counts how often it was cloned.
    #[derive(Debug)]
    struct Counted(u32, Arc<AtomicU32>);

    impl SparseComponent for Counted {
        const NAME: &'static str = "counted";
        type Logged = ();
        fn logged(&self) {}
    }

    impl Clone for Counted {
        fn clone(&self) -> Self {
            self.1.fetch_add(1, Ordering::Relaxed);
            Self(self.0, Arc::clone(&self.1))
        }
    }

    let counter = Arc::new(AtomicU32::new(0));
    let counted = |n| Counted(n, Arc::clone(&counter));
    let clones = || counter.load(Ordering::Relaxed);
    let (mut set, mut copy) = (SparseSet::default(), SparseSet::default());
    set.insert(id(1, 1), counted(10), NOW);
    set.copy_to(&mut copy);
    assert!(copy.len() == 0 && !set.is_kept(), "no one asked for copies");

    set.keep();
    set.insert(id(2, 1), counted(20), NOW);
    set.copy_to(&mut copy);
    set.copy_to(&mut copy);
    assert_eq!((copy.len(), clones()), (2, 2), "nothing changed in between");

    set.get_mut(id(2, 1), NOW).expect("it has a value").0 = 21;
    set.remove(id(1, 1), NOW);
    let mut later = SparseSet::default();
    copy.copy_to(&mut later);
    set.swap_restored(&mut later, NOW);
    assert_eq!((set.len(), set.get(id(2, 1)).map(|value| value.0)), (2, Some(20)));
    assert_eq!((later.len(), later.get(id(2, 1)).map(|value| value.0)), (1, Some(21)));

    // The set is as old as the copy again, and the next change gives it a new version.
    let before = clones();
    set.copy_to(&mut copy);
    assert_eq!(clones(), before);
    set.iter_mut(NOW).for_each(|(_, value)| value.0 += 1);
    assert_ne!(set.version(), later.version());
    set.copy_to(&mut copy);
    assert!(set.is_consistent(NOW) && copy.get(id(1, 1)).is_some_and(|value| value.0 == 11));
}

#[test]
fn values_without_a_size_have_no_bytes() {
    let mut set = SparseSet::default();
    for i in 0..100 {
        assert_eq!(set.insert(id(i, 1), Value(()), NOW), None);
    }
    assert!(set.is_consistent(NOW) && set.len() == 100);
    assert!(set.bytes() < 8_400, "{} bytes", set.bytes());
    set.clear(&mut FirstPanic::default());
    set.shrink();
    assert_eq!((set.len(), set.bytes()), (0, 0));
}

#[test]
fn a_change_gives_its_blocks_a_version() {
    /// Two in a block.
    type Half = Value<[u8; 8192]>;
    let at = |n| Version::from_bits(n);
    let half = || Value([0; 8192]);
    let versions = |set: &SparseSet<Half>| -> Vec<u64> {
        (0..set.len()).step_by(2).map(|at| set.blocks().version(at).to_bits()).collect()
    };
    let mut set = SparseSet::default();
    (0..5).for_each(|i| assert!(set.insert(id(i, 1), half(), at(1)).is_none()));
    assert_eq!(versions(&set), [1, 1, 1]);
    set.insert(id(5, 1), half(), at(2));
    assert_eq!(versions(&set), [1, 1, 2], "a new value");
    set.insert(id(2, 1), half(), at(3));
    assert_eq!(versions(&set), [1, 3, 2], "a new value in place of another");
    set.get_mut(id(0, 1), at(4));
    set.get_mut(id(9, 1), at(9));
    assert_eq!(versions(&set), [4, 3, 2]);
    set.remove(id(2, 1), at(5));
    assert_eq!(versions(&set), [4, 5, 5], "the last value takes the place");
    set.remove(id(4, 1), at(6));
    assert_eq!(versions(&set), [4, 5], "no other value moves");
    let _ = set.each_mut(at(7));
    assert_eq!(versions(&set), [4, 5], "no value was taken");
    let position = set.position(id(5, 1)).and_then(|at| u32::try_from(at).ok());
    let each = set.each_mut(at(8));
    assert!(position.is_some_and(|position| each.at(position).is_some()));
    assert_eq!(versions(&set), [4, 8]);
    let _ = set.iter_mut(at(9));
    assert_eq!(versions(&set), [9, 9]);
    let mut other = SparseSet::default();
    other.insert(id(7, 1), half(), at(1));
    set.append(&mut other, at(10));
    assert_eq!(versions(&set), [9, 9, 10]);
    set.rename(&|entity| id(entity.index() + 1, 1), at(11));
    assert_eq!(versions(&set), [11, 11, 11]);
    assert!(set.is_consistent(at(11)) && !set.is_consistent(at(10)));
}
