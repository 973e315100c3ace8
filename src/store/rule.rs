//! The rules that a query sets for an archetype's components.
//!
//! A list of [`Rule`]s names the rule that excludes an archetype. [`RuleSets`] are the same rules
//! as sets. In a world of many archetypes their first words refuse most for each cached query.

use crate::component::ComponentSet;

use super::component_ref::ComponentRef;
use super::filter_expression::FilterExpression;

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
    Meets(FilterExpression),
}

impl Rule {
    /// The rule that an expression is.
    pub(super) fn of(expression: FilterExpression) -> Self {
        match expression {
            FilterExpression::Has(one) => Self::Has(one),
            FilterExpression::Not(one) => match *one {
                FilterExpression::Has(one) => Self::Lacks(one),
                other => Self::Meets(other.not()),
            },
            FilterExpression::Any(any) => match FilterExpression::components_of_any(&any) {
                Some(some) => Self::HasAny(some.into_iter().map(|(one, _)| one).collect()),
                None => Self::Meets(FilterExpression::Any(any)),
            },
            other => Self::Meets(other),
        }
    }

    /// Whether the rule names a sparse component.
    fn names_sparse(&self) -> bool {
        match self {
            Self::Has(one) | Self::Lacks(one) => one.is_sparse,
            Self::HasAny(some) => some.iter().any(|one| one.is_sparse),
            Self::Meets(expression) => expression.names_sparse(),
        }
    }

    /// Whether the rule admits an archetype that has these components.
    pub(crate) fn admits(&self, has: impl Fn(&ComponentRef) -> bool) -> bool {
        match self {
            Self::Has(one) => has(one),
            Self::Lacks(one) => !has(one),
            Self::HasAny(some) => some.iter().any(has),
            Self::Meets(expression) => expression.admits(&has),
        }
    }
}

/// Rules as sets of components, which are compared word by word.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleSets {
    has: ComponentSet,
    lacks: ComponentSet,
    has_any: Vec<ComponentSet>,
    meets: Vec<FilterExpression>,
    /// Whether a rule names a sparse component, so that the sets do not tell enough.
    sparse: bool,
    /// Whether a required component is unknown, so that no archetype matches.
    never: bool,
    first: FirstWords,
    /// Whether the first words decide alone: all required types are known, no rule names an id of
    /// 64 or more, and none is `HasAny` or `Meets`.
    first_is_all: bool,
}

/// The first words of the sets that an archetype must have and must lack. They refuse most
/// archetypes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct FirstWords {
    has: u64,
    lacks: u64,
}

impl FirstWords {
    /// Whether they admit the archetype of a set with this first word.
    #[inline]
    pub(super) const fn admit(self, first: u64) -> bool {
        first & self.has == self.has && first & self.lacks == 0
    }
}

impl RuleSets {
    pub(crate) fn new(rules: &[Rule]) -> Self {
        let sparse = rules.iter().any(Rule::names_sparse);
        let mut sets = Self { sparse, ..Self::default() };
        for rule in rules {
            match rule {
                Rule::Has(one) if one.is_unknown() => sets.never = true,
                Rule::Has(one) if one.is_sparse => {}
                Rule::Has(one) => drop(sets.has.insert(one.id)),
                Rule::Lacks(one) if one.is_unknown() => {}
                Rule::Lacks(one) => drop(sets.lacks.insert(one.id)),
                Rule::HasAny(some) if some.iter().any(|one| one.is_sparse) => {}
                Rule::HasAny(some) => {
                    let known = some.iter().filter(|one| !one.is_unknown());
                    sets.has_any.push(known.map(|one| one.id).collect());
                }
                Rule::Meets(expression) if expression.names_sparse() => {}
                Rule::Meets(expression) => sets.meets.push(expression.clone()),
            }
        }
        sets.first = FirstWords { has: sets.has.first_word(), lacks: sets.lacks.first_word() };
        sets.first_is_all = !sets.never
            && sets.has.is_one_word()
            && sets.lacks.is_one_word()
            && sets.has_any.is_empty()
            && sets.meets.is_empty();
        sets
    }

    /// Whether a rule names a sparse component.
    pub(crate) const fn has_sparse_rule(&self) -> bool {
        self.sparse
    }

    /// Whether all rules without sparse components admit an archetype of this set.
    #[inline]
    pub(crate) fn admit(&self, set: &ComponentSet) -> bool {
        self.first.admit(set.first_word()) && (self.first_is_all || self.admit_all_words(set))
    }

    /// The words that exclude most archetypes.
    pub(super) const fn first_words(&self) -> FirstWords {
        self.first
    }

    fn admit_all_words(&self, set: &ComponentSet) -> bool {
        !self.never
            && set.contains_all(&self.has)
            && !set.contains_any(&self.lacks)
            && self.has_any.iter().all(|any| set.contains_any(any))
            && self.meets.iter().all(|one| one.admits(&|component| set.contains(component.id)))
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
        id.prop_map(|id| ComponentRef {
            id,
            name: "named",
            is_hidden: false,
            is_sparse: false,
            is_by_row: false,
        })
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
            let by_rule = rules.iter().all(|rule| rule.admits(|one| set.contains(one.id)));
            prop_assert_eq!(RuleSets::new(&rules).admit(&set), by_rule, "{:?}", rules);
        }
    }
}
