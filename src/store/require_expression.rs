//! The rules that an expression of filters sets for a query.
//!
//! An expression that says the same as other filters gets the same rules, so that `Not<With<A>>`
//! excludes the same queries as `Without<A>` and has the same messages.

use crate::component::{
    ColumnVisitor, Component, Shape, SharedValue, SparseComponent, SparseVisitor,
};

use super::filter_expression::FilterExpression;
use super::requirements::RequirementsBuilder;
use super::row_rule::RowRule;
use super::rule::Rule;

/// Takes the first column of a component, which represents it.
struct First<'a, 'r>(&'a mut RequirementsBuilder<'r>, Option<FilterExpression>);

impl ColumnVisitor for First<'_, '_> {
    fn visit<C: Component>(&mut self) {
        if self.1.is_none() {
            let component = self.0.component_ref::<C>();
            self.1 = Some(match C::ENABLEABLE {
                true => FilterExpression::Enabled(component),
                false => FilterExpression::Has(component),
            });
        }
    }
}

impl SparseVisitor for First<'_, '_> {
    fn visit_sparse<S: SparseComponent>(&mut self) {
        self.1 = Some(FilterExpression::Enabled(self.0.sparse_ref::<S>()));
    }
}

impl RequirementsBuilder<'_> {
    /// The condition that a row has a component, and that it is enabled.
    pub(crate) fn presence<S: Shape>(&mut self) -> FilterExpression {
        let mut first = First(self, None);
        S::visit_all(&mut first);
        first.1.expect("a component has no column")
    }

    /// The condition that a row has a component, and that it is disabled.
    pub(crate) fn disablement<C: Component>(&mut self) -> FilterExpression {
        FilterExpression::Disabled(self.component_ref::<C>())
    }

    /// The condition that a row has a shared value of type `T`.
    pub(crate) fn shared_presence<T: SharedValue>(&mut self) -> FilterExpression {
        FilterExpression::Has(self.shared_marker::<T>())
    }

    /// Requires rows that meet an expression.
    pub(crate) fn expression(&mut self, expression: FilterExpression) {
        self.expressions.push(expression);
    }

    /// Makes rules of all expressions.
    pub(super) fn require_expressions(&mut self, ignore_bits: bool) {
        for expression in core::mem::take(&mut self.expressions) {
            let expression = if ignore_bits { expression.ignoring_bits() } else { expression };
            self.require_if(expression, true);
        }
    }

    /// Requires rows that meet an expression, or for `false` the others.
    fn require_if(&mut self, expression: FilterExpression, is_met: bool) {
        match (expression, is_met) {
            (FilterExpression::Not(one), _) => self.require_if(*one, !is_met),
            (FilterExpression::All(all), true) | (FilterExpression::Any(all), false) => {
                all.into_iter().for_each(|one| self.require_if(one, is_met));
            }
            (FilterExpression::All(one) | FilterExpression::Any(one), _) if one.len() == 1 => {
                one.into_iter().for_each(|one| self.require_if(one, is_met));
            }
            (FilterExpression::Any(any), true) => self.require_any(any),
            (FilterExpression::Has(one), true) => self.add_rule(Rule::Has(one)),
            (FilterExpression::Has(one), false) => self.add_rule(Rule::Lacks(one)),
            (FilterExpression::Enabled(one), true) => {
                self.add_rule(Rule::Has(one));
                self.add_row_rule(RowRule::Enabled(one));
            }
            (FilterExpression::Enabled(one), false) => self.add_row_rule(RowRule::Lacks(one)),
            (FilterExpression::Disabled(one), true) => {
                self.add_rule(Rule::Has(one));
                self.add_row_rule(RowRule::Disabled(one));
            }
            (other, _) => self.require_general(if is_met { other } else { other.not() }),
        }
    }

    /// Requires rows that meet at least one condition.
    fn require_any(&mut self, any: Vec<FilterExpression>) {
        let Some(components) = FilterExpression::components_of_any(&any) else {
            return self.require_general(FilterExpression::Any(any));
        };
        self.add_rule(Rule::HasAny(components.iter().map(|&(one, _)| one).collect()));
        if components.iter().any(|&(_, enableable)| enableable) {
            self.add_row_rule(RowRule::AnyEnabled(components));
        }
    }

    fn require_general(&mut self, expression: FilterExpression) {
        let rule = RowRule::Meets(expression.clone());
        if rule.components().next().is_some() {
            self.add_row_rule(rule);
        }
        self.add_rule(Rule::Meets(expression));
    }
}
