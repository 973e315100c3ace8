//! The targets of the roots of copied trees.

use crate::entity::Entity;

/// The targets of copied roots, one for each copy:
/// [`World::instantiate_tree`](crate::World::instantiate_tree).
///
/// ```text
///  None, Some(parent), parent       one copy
///  [None; 1000], vec![None; n]      a copy without a target for each
///  [a, b], &parents                 a copy below each
///  [Some(a), None], vec![…]         both in one call
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of parents of copies",
    note = "one copy: `None`, `Some(parent)` or `parent`; many: `[None; 100]`, a slice or a `Vec` of entities or of `Option<Entity>`; collect an iterator into a `Vec`"
)]
pub trait CopyParents: sealed::Sealed {
    /// The target of each copy.
    #[doc(hidden)]
    fn list(&self) -> Vec<Option<Entity>>;
}

mod sealed {
    use crate::entity::Entity;

    /// The target of one copy, or none.
    pub trait Parent: Copy {
        fn parent(self) -> Option<Entity>;
    }

    /// Seals `CopyParents`.
    pub trait Sealed {}

    impl Sealed for Entity {}
    impl Sealed for Option<Entity> {}
    impl<P: Parent> Sealed for [P] {}
    impl<P: Parent, const N: usize> Sealed for [P; N] {}
    impl<P: Parent> Sealed for Vec<P> {}
    impl<C: Sealed + ?Sized> Sealed for &C {}
}

use sealed::Parent;

impl Parent for Entity {
    fn parent(self) -> Option<Entity> {
        Some(self)
    }
}

impl Parent for Option<Entity> {
    fn parent(self) -> Option<Entity> {
        self
    }
}

impl CopyParents for Entity {
    fn list(&self) -> Vec<Option<Entity>> {
        vec![Some(*self)]
    }
}

impl CopyParents for Option<Entity> {
    fn list(&self) -> Vec<Option<Entity>> {
        vec![*self]
    }
}

impl<P: Parent> CopyParents for [P] {
    fn list(&self) -> Vec<Option<Entity>> {
        self.iter().map(|one| one.parent()).collect()
    }
}

impl<P: Parent, const N: usize> CopyParents for [P; N] {
    fn list(&self) -> Vec<Option<Entity>> {
        self.as_slice().list()
    }
}

impl<P: Parent> CopyParents for Vec<P> {
    fn list(&self) -> Vec<Option<Entity>> {
        self.as_slice().list()
    }
}

impl<C: CopyParents + ?Sized> CopyParents for &C {
    fn list(&self) -> Vec<Option<Entity>> {
        (**self).list()
    }
}
