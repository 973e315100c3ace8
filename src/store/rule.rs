//! What a query asks of an archetype's components, rule by rule.
//!
//! A list of [`Rule`]s says which of them keep an archetype out. Whether an archetype matches is asked
//! of each new one by each cached query: that is decided by [`RuleSets`], the same rules as sets.

use crate::component::{ComponentId, ComponentSet};

/// A component that a rule names. One that the world has not seen has no number, and no archetype
/// has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ComponentRef {
    pub(crate) id: ComponentId,
    pub(crate) name: &'static str,
}

impl ComponentRef {
    /// Whether the world has not seen it.
    pub(crate) fn is_unknown(&self) -> bool {
        self.id == ComponentId::UNKNOWN
    }
}

/// A condition on the components of an archetype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// It has this one.
    Has(ComponentRef),
    /// It lacks this one.
    Lacks(ComponentRef),
    /// It has at least one of these.
    HasAny(Vec<ComponentRef>),
}

impl Rule {
    pub(crate) fn admits(&self, set: &ComponentSet) -> bool {
        match self {
            Self::Has(one) => set.contains(one.id),
            Self::Lacks(one) => !set.contains(one.id),
            Self::HasAny(some) => some.iter().any(|one| set.contains(one.id)),
        }
    }
}

/// Rules as sets of components, which are compared by the word.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleSets {
    has: ComponentSet,
    lacks: ComponentSet,
    has_any: Vec<ComponentSet>,
    /// It has a component that no archetype has.
    never: bool,
}

impl RuleSets {
    pub(crate) fn new(rules: &[Rule]) -> Self {
        let mut conditions = Self::default();
        for rule in rules {
            match rule {
                Rule::Has(one) if one.is_unknown() => conditions.never = true,
                Rule::Has(one) => drop(conditions.has.insert(one.id)),
                Rule::Lacks(one) if one.is_unknown() => {}
                Rule::Lacks(one) => drop(conditions.lacks.insert(one.id)),
                Rule::HasAny(some) => {
                    let known = some.iter().filter(|one| !one.is_unknown());
                    conditions.has_any.push(known.map(|one| one.id).collect());
                }
            }
        }
        conditions
    }

    /// Whether an archetype of this set obeys all rules.
    pub(crate) fn admit(&self, set: &ComponentSet) -> bool {
        !self.never
            && set.contains_all(&self.has)
            && !set.contains_any(&self.lacks)
            && self.has_any.iter().all(|any| set.contains_any(any))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named() -> impl Strategy<Value = ComponentRef> {
        // Three words, and one in four unknown.
        let id =
            prop_oneof![3 => (0u32..130).prop_map(ComponentId), 1 => Just(ComponentId::UNKNOWN)];
        id.prop_map(|id| ComponentRef { id, name: "named" })
    }

    fn rule() -> impl Strategy<Value = Rule> {
        prop_oneof![
            named().prop_map(Rule::Has),
            named().prop_map(Rule::Lacks),
            proptest::collection::vec(named(), 1..9).prop_map(Rule::HasAny),
        ]
    }

    proptest! {
        #[test]
        fn conditions_admit_what_every_rule_admits(
            rules in proptest::collection::vec(rule(), 0..4),
            ids in proptest::collection::btree_set(0u32..130, 0..130),
        ) {
            let set: ComponentSet = ids.into_iter().map(ComponentId).collect();
            let by_rule = rules.iter().all(|rule| rule.admits(&set));
            prop_assert_eq!(RuleSets::new(&rules).admit(&set), by_rule, "{:?}", rules);
        }
    }
}
