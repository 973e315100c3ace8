//! The rules that a query sets for rows, by their enable bits.

use crate::archetype::Archetype;
use crate::storage::EnableRule;

use super::component_ref::ComponentRef;
use super::expression::Expression;
use super::rule::Rule;

/// A condition on a row of an archetype that the query's [`Rule`]s admit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowRule {
    /// The component is enabled.
    Enabled(ComponentRef),
    /// The component is disabled.
    Disabled(ComponentRef),
    /// The component is absent or disabled.
    Lacks(ComponentRef),
    /// At least one of the components is enabled; a component with `true` is enableable.
    AnyEnabled(Vec<(ComponentRef, bool)>),
    /// The row meets this condition.
    Meets(Expression),
}

impl RowRule {
    /// The components with bits that are read.
    pub(crate) fn components(&self) -> impl Iterator<Item = ComponentRef> {
        let mut components = Vec::new();
        match self {
            Self::Enabled(one) | Self::Disabled(one) | Self::Lacks(one) => components.push(*one),
            Self::AnyEnabled(some) => {
                let enableable = some.iter().filter(|(_, enableable)| *enableable);
                components.extend(enableable.map(|&(one, _)| one));
            }
            Self::Meets(expression) => expression.add_bits_to(&mut components),
        }
        components.into_iter()
    }

    /// The rule for archetypes that remains if bits are ignored.
    pub(super) fn of_archetypes(self) -> Option<Rule> {
        match self {
            Self::Lacks(one) => Some(Rule::Lacks(one)),
            Self::Enabled(_) | Self::Disabled(_) | Self::AnyEnabled(_) | Self::Meets(_) => None,
        }
    }

    /// The rules for the rows of an archetype: none if all of them comply.
    pub(super) fn resolve(&self, archetype: &Archetype) -> Vec<EnableRule> {
        match self {
            Self::Meets(expression) => expression.resolve(archetype).collect(),
            other => other.resolve_one(archetype).into_iter().collect(),
        }
    }

    fn resolve_one(&self, archetype: &Archetype) -> Option<EnableRule> {
        let array = |one: &ComponentRef| {
            let column = archetype.column(one.id)?;
            archetype.attachments()?.bits_number(column)
        };
        let required = |one| array(one).expect("a matched archetype lacks a required component");
        Some(match self {
            Self::Enabled(one) => EnableRule::any_of([(required(one), true)]),
            Self::Disabled(one) => EnableRule::any_of([(required(one), false)]),
            Self::Lacks(one) => EnableRule::any_of([(array(one)?, false)]),
            Self::AnyEnabled(some) => {
                let has = |one: &ComponentRef| archetype.column(one.id).is_some();
                if some.iter().any(|(one, enableable)| !enableable && has(one)) {
                    return None;
                }
                EnableRule::any_of(some.iter().filter_map(|(one, _)| Some((array(one)?, true))))
            }
            Self::Meets(_) => unreachable!("an expression has any number of rules"),
        })
    }
}
