//! The rules that a query sets for an archetype's components.
//!
//! A list of [`Rule`]s names the rule that excludes an archetype. [`RuleSets`] are the same rules
//! as sets: every cached query tests every new archetype with them.

use crate::component::ComponentSet;

use super::component_ref::ComponentRef;
use super::expression::Expression;

/// A condition on the components of an archetype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The archetype has this component.
    Has(ComponentRef),
    /// The archetype lacks this component.
    Lacks(ComponentRef),
    /// The archetype has at least one of these components.
    HasAny(Vec<ComponentRef>),
    /// A row of the archetype can meet this condition.
    Meets(Expression),
}

impl Rule {
    pub(crate) fn admits(&self, set: &ComponentSet) -> bool {
        match self {
            Self::Has(one) => set.contains(one.id),
            Self::Lacks(one) => !set.contains(one.id),
            Self::HasAny(some) => some.iter().any(|one| set.contains(one.id)),
            Self::Meets(expression) => expression.admits(set),
        }
    }
}

/// Rules as sets of components, which are compared word by word.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleSets {
    has: ComponentSet,
    lacks: ComponentSet,
    has_any: Vec<ComponentSet>,
    meets: Vec<Expression>,
    /// Whether a required component is unknown, so that no archetype matches.
    never: bool,
}

impl RuleSets {
    pub(crate) fn new(rules: &[Rule]) -> Self {
        let mut sets = Self::default();
        for rule in rules {
            match rule {
                Rule::Has(one) if one.is_unknown() => sets.never = true,
                Rule::Has(one) => drop(sets.has.insert(one.id)),
                Rule::Lacks(one) if one.is_unknown() => {}
                Rule::Lacks(one) => drop(sets.lacks.insert(one.id)),
                Rule::HasAny(some) => {
                    let known = some.iter().filter(|one| !one.is_unknown());
                    sets.has_any.push(known.map(|one| one.id).collect());
                }
                Rule::Meets(expression) => sets.meets.push(expression.clone()),
            }
        }
        sets
    }

    /// Whether all rules admit an archetype of this set.
    pub(crate) fn admit(&self, set: &ComponentSet) -> bool {
        !self.never
            && set.contains_all(&self.has)
            && !set.contains_any(&self.lacks)
            && self.has_any.iter().all(|any| set.contains_any(any))
            && self.meets.iter().all(|expression| expression.admits(set))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::component::ComponentId;

    fn component_ref() -> impl Strategy<Value = ComponentRef> {
        // Ids of three words, and one in four unknown.
        let id =
            prop_oneof![3 => (0u32..130).prop_map(ComponentId), 1 => Just(ComponentId::UNKNOWN)];
        id.prop_map(|id| ComponentRef { id, name: "named", is_hidden: false })
    }

    fn rule() -> impl Strategy<Value = Rule> {
        prop_oneof![
            component_ref().prop_map(Rule::Has),
            component_ref().prop_map(Rule::Lacks),
            proptest::collection::vec(component_ref(), 1..9).prop_map(Rule::HasAny),
        ]
    }

    proptest! {
        #[test]
        fn rule_sets_admit_what_every_rule_admits(
            rules in proptest::collection::vec(rule(), 0..4),
            ids in proptest::collection::btree_set(0u32..130, 0..130),
        ) {
            let set: ComponentSet = ids.into_iter().map(ComponentId).collect();
            let by_rule = rules.iter().all(|rule| rule.admits(&set));
            prop_assert_eq!(RuleSets::new(&rules).admit(&set), by_rule, "{:?}", rules);
        }
    }
}
