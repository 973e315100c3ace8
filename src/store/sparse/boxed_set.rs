//! A sparse set without its type, in a box that knows it.
//!
//! A cast of `dyn Any` asks the value for its type: a call by the table, which returns the type as
//! two halves in memory that are read as one number at once. The processor waits until both are
//! written, at each look-up of a set: a fourth of the time of an insert and a remove of one value,
//! though few of their instructions. So the type is asked for once, and kept beside the pointer.

#![expect(unsafe_code, reason = "a cast to the type that was asked for before")]

use core::any::{Any, TypeId};
use core::ops::{Deref, DerefMut};

use crate::component::SparseComponent;

use super::erased_set::ErasedSet;
use super::set_lock::SetLock;

/// The lock of a sparse set of any type. `of` is the type of the value in `set`, which is never
/// assigned; safe code may exchange two values only if they have one type.
pub(in crate::store) struct BoxedSet {
    set: Box<dyn ErasedSet>,
    /// The type of the value in the box.
    of: TypeId,
    /// The number in the world, by which the members are known.
    number: u16,
}

impl BoxedSet {
    pub(super) fn new(set: Box<dyn ErasedSet>, number: u16) -> Self {
        let of = <dyn Any>::type_id(&*set);
        Self { set, of, number }
    }

    #[inline]
    pub(super) const fn number(&self) -> u16 {
        self.number
    }

    /// Whether it is the set of `T`.
    #[inline]
    pub(super) fn is_of<T: SparseComponent>(&self) -> bool {
        self.of == TypeId::of::<SetLock<T>>()
    }

    pub(super) fn into_box(self) -> Box<dyn ErasedSet> {
        self.set
    }

    /// # Panics
    ///
    /// If it is the set of another type.
    #[inline]
    fn assert_of<T: SparseComponent>(&self) {
        assert!(self.is_of::<T>(), "a sparse set is filed under another type");
    }

    /// The lock of the set of `T`.
    ///
    /// # Panics
    ///
    /// If it is the set of another type.
    #[inline]
    pub(super) fn get<T: SparseComponent>(&self) -> &SetLock<T> {
        self.assert_of::<T>();
        let set = &raw const *self.set;
        // SAFETY: `of` is the type of the value in the box: `new` has asked the value, and only a
        // value of the same type comes to its place, because `Deref` lends it as a type without a
        // size, and a downcast of it knows its type. So this is a pointer to a `SetLock<T>`, of a
        // borrow that lasts as long as the borrow of `self`.
        unsafe { &*set.cast::<SetLock<T>>() }
    }

    /// The lock of the set of `T`, for writing.
    ///
    /// # Panics
    ///
    /// If it is the set of another type.
    #[inline]
    pub(super) fn get_mut<T: SparseComponent>(&mut self) -> &mut SetLock<T> {
        self.assert_of::<T>();
        let set = &raw mut *self.set;
        // SAFETY: as in `get`, and the borrow is exclusive.
        unsafe { &mut *set.cast::<SetLock<T>>() }
    }
}

impl Deref for BoxedSet {
    type Target = dyn ErasedSet;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &*self.set
    }
}

impl DerefMut for BoxedSet {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.set
    }
}

#[cfg(test)]
mod tests {
    use crate::component;
    use crate::entity::Entity;
    use crate::version::Version;

    use super::*;

    #[component(sparse)]
    #[derive(Debug, PartialEq)]
    struct Name(String);
    #[component(sparse)]
    struct Other(String);

    #[test]
    fn a_set_is_lent_as_its_type() {
        let mut set = BoxedSet::new(Box::<SetLock<Name>>::default(), 0);
        let (entity, now) = (Entity::new(3, 1), Version::NEVER.next());
        let name = || Name("Ada".to_owned());
        assert_eq!(set.get_mut::<Name>().get_mut().insert(entity, name(), now), None);
        set.release();
        assert_eq!(set.get::<Name>().read().get(entity), Some(&name()));
        let mut again = BoxedSet::new(set.into_box(), 0);
        assert_eq!(again.get_mut::<Name>().get_mut().remove(entity, now), Some(name()));
    }

    #[test]
    #[should_panic(expected = "filed under another type")]
    fn a_set_is_not_lent_as_another_type_of_the_same_layout() {
        BoxedSet::new(Box::<SetLock<Name>>::default(), 0).get::<Other>();
    }
}
