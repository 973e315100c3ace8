//! The registration of sparse components by their names.

use core::any::{TypeId, type_name};

use super::component_id::ComponentId;
use super::component_info::ComponentInfo;
use super::hidden::{Gone, HasSparseCleanup};
use super::name_taken::NameTaken;
use super::registry::Registry;
use super::sparse_component::SparseComponent;
use super::sparse_names::SparseName;

/// The name of `S`, before it has a number.
fn name_of<S: SparseComponent>() -> SparseName {
    let of_one = || S::RELATION.map(|_| ComponentInfo::of_relation::<S>(S::NAME));
    SparseName {
        type_id: TypeId::of::<S>(),
        path: type_name::<S>(),
        number: 0,
        is_cleanup: S::CLEANUP,
        pair: S::PAIRS.map(|rules| (rules.info)()).or_else(of_one),
    }
}

impl Registry {
    /// The number of component types, with sparse ones.
    pub(crate) fn names_len(&self) -> usize {
        self.infos.len() + self.sparse.0.len()
    }

    /// The path of the component type that has a name in this world.
    pub(super) fn owner_of(&self, name: &str) -> Option<&'static str> {
        let of_chunks = self.by_name.get(name).map(|&id| self.info(id).path());
        of_chunks.or_else(|| self.sparse.0.get(name).map(|one| one.path))
    }

    /// Whether a sparse component has a name.
    pub(crate) fn is_sparse(&self, name: &str) -> bool {
        self.sparse.0.contains_key(name)
    }

    /// The names of the sparse components, in no order.
    pub(crate) fn sparse_names(&self) -> impl Iterator<Item = &'static str> {
        self.sparse.0.keys().copied()
    }

    /// Checks that the name of `S` is free or its own.
    ///
    /// # Errors
    ///
    /// If another type has the name of `S`.
    pub(crate) fn check_sparse<S: SparseComponent>(&self) -> Result<(), NameTaken> {
        match self.sparse.0.get(S::NAME) {
            Some(known) if known.type_id == TypeId::of::<S>() => Ok(()),
            _ => self.check_name(S::NAME, type_name::<S>()),
        }
    }

    /// Checks that [`Registry::register_sparse`] can give `S` its name.
    ///
    /// # Errors
    ///
    /// If another type has the name of `S`, or of a component that the library adds for it.
    pub(crate) fn check_new_sparse<S: SparseComponent>(&self) -> Result<(), NameTaken> {
        self.check_sparse::<S>()?;
        if S::CLEANUP {
            self.known::<HasSparseCleanup>()?;
            self.known::<Gone>()?;
        }
        Ok(())
    }

    /// Gives `S` its name.
    ///
    /// # Errors
    ///
    /// Those of [`Registry::check_new_sparse`].
    pub(crate) fn register_sparse<S: SparseComponent>(&mut self) -> Result<(), NameTaken> {
        self.check_new_sparse::<S>()?;
        if S::CLEANUP {
            self.register::<HasSparseCleanup>()?;
        }
        if !self.is_sparse(S::NAME) {
            self.sparse.add(S::NAME, name_of::<S>());
        }
        Ok(())
    }

    /// The value of a pair of the relation that has a name, without data if it is one to one
    /// target. `None` if the name is none of a relation.
    pub(crate) fn pair_info(&self, name: &str) -> Option<&ComponentInfo> {
        self.sparse.0.get(name)?.pair.as_ref()
    }

    /// The number of the sparse component that has a name, if there is one.
    pub(crate) fn sparse_number(&self, name: &str) -> Option<u16> {
        self.sparse.0.get(name).map(|one| one.number)
    }

    /// The id in the requirements of queries of the sparse component that has a name, and the name.
    pub(crate) fn sparse_of_name(&self, name: &str) -> Option<(ComponentId, &'static str)> {
        let (&name, one) = self.sparse.0.get_key_value(name)?;
        Some((ComponentId::of_sparse(one.number), name))
    }

    /// The id of a sparse component in the requirements of queries.
    ///
    /// # Errors
    ///
    /// If another type has the name of `S`.
    pub(crate) fn known_sparse<S: SparseComponent>(&self) -> Result<ComponentId, NameTaken> {
        self.check_sparse::<S>()?;
        Ok(self.sparse_number(S::NAME).map_or(ComponentId::UNKNOWN, ComponentId::of_sparse))
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
                Some(ours) if ours.type_id == theirs.type_id => Ok(()),
                _ => self.check_name(name, theirs.path),
            }
        })
    }

    /// Adds the names of some sparse components of another world.
    pub(super) fn adopt_sparse(&mut self, other: &Self, names: &[&'static str]) {
        for &name in names {
            self.sparse.add(name, other.sparse.0[name]);
        }
    }

    fn check_name(&self, name: &'static str, refused: &'static str) -> Result<(), NameTaken> {
        match self.owner_of(name) {
            None => Ok(()),
            Some(owner) => Err(NameTaken { name, owner, refused }),
        }
    }
}
