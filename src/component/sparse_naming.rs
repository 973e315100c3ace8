//! The registration of sparse components by their names.

use core::any::{TypeId, type_name};

use super::name_taken::NameTaken;
use super::registry::Registry;
use super::sparse::SparseComponent;

impl Registry {
    /// The path of the component type that has a name in this world.
    pub(super) fn owner_of(&self, name: &str) -> Option<&'static str> {
        let of_chunks = self.by_name.get(name).map(|&id| self.info(id).path());
        of_chunks.or_else(|| self.sparse.0.get(name).map(|&(_, path)| path))
    }

    /// Whether a sparse component has a name.
    pub(crate) fn is_sparse(&self, name: &str) -> bool {
        self.sparse.0.contains_key(name)
    }

    /// Checks that the name of `S` is free or its own.
    ///
    /// # Errors
    ///
    /// If another type has the name of `S`.
    pub(crate) fn check_sparse<S: SparseComponent>(&self) -> Result<(), NameTaken> {
        match self.sparse.0.get(S::NAME) {
            Some(&(known, _)) if known == TypeId::of::<S>() => Ok(()),
            _ => self.check_name(S::NAME, type_name::<S>()),
        }
    }

    /// Gives `S` its name.
    ///
    /// # Errors
    ///
    /// If another type has the name of `S`.
    pub(crate) fn register_sparse<S: SparseComponent>(&mut self) -> Result<(), NameTaken> {
        self.check_sparse::<S>()?;
        self.sparse.0.insert(S::NAME, (TypeId::of::<S>(), type_name::<S>()));
        Ok(())
    }

    /// Checks that some sparse components of another world can be those of this one.
    pub(super) fn plan_sparse(
        &self,
        other: &Self,
        names: &[&'static str],
    ) -> Result<(), NameTaken> {
        names.iter().try_for_each(|&name| {
            let theirs = other.sparse.0[name];
            match self.sparse.0.get(name) {
                Some(ours) if ours.0 == theirs.0 => Ok(()),
                _ => self.check_name(name, theirs.1),
            }
        })
    }

    /// Adds the names of some sparse components of another world.
    pub(super) fn adopt_sparse(&mut self, other: &Self, names: &[&'static str]) {
        self.sparse.0.extend(names.iter().map(|&name| (name, other.sparse.0[name])));
    }

    fn check_name(&self, name: &'static str, refused: &'static str) -> Result<(), NameTaken> {
        match self.owner_of(name) {
            None => Ok(()),
            Some(owner) => Err(NameTaken { name, owner, refused }),
        }
    }
}
