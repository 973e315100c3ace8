//! The hidden components that a query sees.

use crate::component::{ComponentId, ComponentSet};

use super::component_ref::ComponentRef;

/// The hidden components that a query names, or all. The query skips archetypes with other ones.
#[derive(Clone, Debug, Default)]
pub(super) struct HiddenFilter {
    named: Vec<ComponentRef>,
    /// The ids in `named`, without unknown ones.
    set: ComponentSet,
    all: bool,
}

impl HiddenFilter {
    /// Adds a component that the query names, if it is hidden.
    pub(super) fn name(&mut self, one: ComponentRef) {
        if !one.is_hidden || self.named.contains(&one) {
            return;
        }
        self.named.push(one);
        if !one.is_unknown() {
            self.set.insert(one.id);
        }
    }

    /// Adds all hidden components, including unknown ones.
    pub(super) const fn name_all(&mut self) {
        self.all = true;
    }

    /// Whether all hidden components are seen.
    pub(super) const fn sees_all(&self) -> bool {
        self.all
    }

    /// Whether archetypes with this component may be visited.
    pub(super) fn sees(&self, one: &ComponentRef) -> bool {
        !one.is_hidden || self.all || self.named.contains(one)
    }

    /// Whether an archetype with these hidden components is visited.
    pub(super) fn admits(&self, hidden: &ComponentSet) -> bool {
        self.all || self.set.contains_all(hidden)
    }

    /// The hidden components of an archetype that are not seen.
    pub(super) fn unseen(&self, hidden: &ComponentSet) -> impl Iterator<Item = ComponentId> {
        hidden.iter().filter(|&id| !self.all && !self.set.contains(id))
    }

    /// The hidden components that are named.
    pub(super) fn named(&self) -> &[ComponentRef] {
        &self.named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(id: ComponentId) -> ComponentRef {
        ComponentRef { id, name: "hidden", is_hidden: true, is_sparse: false, is_by_row: false }
    }

    #[test]
    fn an_archetype_is_seen_if_all_its_hidden_components_are_named() {
        let set = |ids: &[u32]| ids.iter().map(|&id| ComponentId(id)).collect::<ComponentSet>();
        let mut sight = HiddenFilter::default();
        assert!(sight.admits(&set(&[])) && !sight.admits(&set(&[3])));
        sight.name(hidden(ComponentId(3)));
        sight.name(hidden(ComponentId::UNKNOWN));
        sight.name(ComponentRef { is_hidden: false, ..hidden(ComponentId(5)) });
        assert!(sight.admits(&set(&[])) && sight.admits(&set(&[3])));
        assert!(!sight.admits(&set(&[3, 5])));
        assert!(sight.unseen(&set(&[3, 5])).eq([ComponentId(5)]));
        assert!(sight.sees(&hidden(ComponentId::UNKNOWN)) && !sight.sees(&hidden(ComponentId(5))));
        sight.name_all();
        assert!(sight.admits(&set(&[3, 5])) && sight.unseen(&set(&[3, 5])).next().is_none());
    }
}
