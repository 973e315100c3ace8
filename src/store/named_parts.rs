//! The parts of a query that is data.

use crate::storage::AccessKind;

/// The way in which a term uses a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TermUse {
    pub(crate) access: AccessKind,
    /// Whether archetypes may lack the column.
    pub(crate) is_optional: bool,
}

/// The components of a query that is data: as keys, or as a world knows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedParts<C> {
    pub(crate) terms: Vec<(C, TermUse)>,
    pub(crate) with: Vec<C>,
    pub(crate) without: Vec<C>,
    /// Of each list at least one.
    pub(crate) any_of: Vec<Vec<C>>,
}

impl<C> Default for NamedParts<C> {
    fn default() -> Self {
        let (terms, with, without, any_of) = Default::default();
        Self { terms, with, without, any_of }
    }
}

impl<C> NamedParts<C> {
    /// The same parts of other components. Terms are passed with their use, and come first.
    ///
    /// # Errors
    ///
    /// The first error of `find`.
    pub(crate) fn try_map<D, E>(
        &self,
        mut find: impl FnMut(&C, Option<TermUse>) -> Result<D, E>,
    ) -> Result<NamedParts<D>, E> {
        let mut terms = Vec::new();
        for (one, term) in &self.terms {
            terms.push((find(one, Some(*term))?, *term));
        }
        let mut each = |list: &Vec<C>| list.iter().map(|one| find(one, None)).collect();
        let (with, without) = (each(&self.with)?, each(&self.without)?);
        let any_of = self.any_of.iter().map(each).collect::<Result<_, E>>()?;
        Ok(NamedParts { terms, with, without, any_of })
    }
}
