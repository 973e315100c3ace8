//! The rules that a query sets for rows, by their enable bits and sparse components.

use crate::archetype::Archetype;
use crate::storage::EnableRule;

use super::component_ref::ComponentRef;
use super::filter_expression::FilterExpression;
use super::rule::Rule;

/// A condition on a row of an archetype that the query's [`Rule`]s admit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowRule {
    /// The component is enabled, or the row is a member of a sparse one.
    Enabled(ComponentRef),
    /// The component is disabled.
    Disabled(ComponentRef),
    /// The component is absent or disabled.
    Lacks(ComponentRef),
    /// At least one of the components is present and enabled; a component with `true` is enableable
    /// or sparse.
    AnyEnabled(Vec<(ComponentRef, bool)>),
    /// The row meets this condition.
    Meets(FilterExpression),
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

    /// The rules for rows and for archetypes that remain if enable bits are ignored.
    pub(super) fn without_enable_bits(self) -> (Option<Self>, Option<Rule>) {
        match self {
            Self::Enabled(one) | Self::Lacks(one) if one.is_sparse => (Some(self), None),
            Self::Lacks(one) => (None, Some(Rule::Lacks(one))),
            Self::Enabled(_) | Self::Disabled(_) => (None, None),
            Self::Meets(expression) => {
                let remaining = Self::Meets(expression.ignoring_bits());
                let is_by_row = remaining.components().next().is_some();
                (is_by_row.then_some(remaining), None)
            }
            Self::AnyEnabled(mut some) => {
                some.iter_mut().for_each(|(one, by_row)| *by_row = one.is_sparse);
                let is_by_row = some.iter().any(|&(_, by_row)| by_row);
                (is_by_row.then_some(Self::AnyEnabled(some)), None)
            }
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
        // The array, and whether a row has the component where its bit is zero.
        let array = |one: &ComponentRef| {
            let attachments = archetype.attachments()?;
            if one.is_sparse {
                return Some((attachments.members_number(one.member()?)?, false));
            }
            Some((attachments.bits_number(archetype.column(one.id)?)?, true))
        };
        let required = |one| array(one).expect("a matched archetype lacks a required component");
        let not = |(array, zero): (usize, bool)| (array, !zero);
        Some(match self {
            Self::Enabled(one) => EnableRule::any_of([required(one)]),
            Self::Disabled(one) => EnableRule::any_of([not(required(one))]),
            Self::Lacks(one) => EnableRule::any_of([not(array(one)?)]),
            Self::AnyEnabled(some) => {
                if some.iter().any(|(one, by_row)| !by_row && one.is_had_by(archetype)) {
                    return None;
                }
                EnableRule::any_of(some.iter().filter_map(|(one, _)| array(one)))
            }
            Self::Meets(_) => unreachable!("an expression has any number of rules"),
        })
    }
}
