//! What a query asks of a world: which columns it cuts, of which archetypes.
//!
//! Terms and filters describe themselves once, into a [`Demand`]. A plan is a demand met by the
//! archetypes that exist; two demands that do not clash may be met at the same time.

use crate::archetype::Archetype;
use crate::component::{Component, ComponentId, ComponentSet, Registry};

use super::filter::Filter;
use super::rule::{Conditions, Named, Rule};
use super::tuple::Terms;

/// Where component types get their numbers from: a world that may learn new ones, or one that is
/// only looked at.
#[derive(Debug)]
pub(super) enum Types<'r> {
    Known(&'r Registry),
    Learned(&'r mut Registry),
}

/// What terms and filters say of themselves.
#[derive(Debug)]
pub struct Spec<'r> {
    types: Types<'r>,
    demand: Demand,
}

/// The conditions on an archetype, and the columns to cut from it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demand {
    /// Terms first, then watched columns. With each, whether it is written.
    columns: Vec<(Named, bool)>,
    /// How many of the columns are terms.
    terms: usize,
    /// Whether chunks are chosen by when rows arrived in them.
    arrivals: bool,
    rules: Vec<Rule>,
    /// The rules once more, to test archetypes.
    conditions: Conditions,
    /// A type has no number yet. No archetype that exists can have it.
    unknown: bool,
}

impl Spec<'_> {
    fn named<C: Component>(&mut self) -> Named {
        let id = match &mut self.types {
            Types::Known(registry) => registry.id::<C>(),
            Types::Learned(registry) => registry.register::<C>(),
        };
        let named = Named { id, name: C::NAME };
        self.demand.unknown |= named.is_unknown();
        named
    }

    /// Adds a rule, unless it is there: a term and a filter may ask for the same.
    fn rule(&mut self, rule: Rule) {
        if !self.demand.rules.contains(&rule) {
            self.demand.rules.push(rule);
        }
    }

    /// A term's column.
    pub(super) fn column<C: Component>(&mut self, write: bool, optional: bool) {
        let named = self.named::<C>();
        self.demand.columns.push((named, write));
        if !optional {
            self.rule(Rule::Has(named));
        }
    }

    /// A column whose stamps are looked at.
    pub(super) fn watch<C: Component>(&mut self) {
        let named = self.named::<C>();
        self.rule(Rule::Has(named));
        self.demand.columns.push((named, false));
    }

    /// The stamp of arrivals is looked at.
    pub(super) const fn watch_arrivals(&mut self) {
        self.demand.arrivals = true;
    }

    pub(super) fn with<C: Component>(&mut self) {
        let named = self.named::<C>();
        self.rule(Rule::Has(named));
    }

    pub(super) fn without<C: Component>(&mut self) {
        let named = self.named::<C>();
        self.rule(Rule::Lacks(named));
    }

    /// Begins a set of alternatives.
    pub(super) fn open_any(&mut self) {
        self.demand.rules.push(Rule::HasAny(Vec::new()));
    }

    /// Adds an alternative to the set that was opened last.
    pub(super) fn any<C: Component>(&mut self) {
        let named = self.named::<C>();
        let Some(Rule::HasAny(set)) = self.demand.rules.last_mut() else {
            unreachable!("a set was opened")
        };
        set.push(named);
    }
}

impl Demand {
    /// What the terms and filters of a query ask for.
    pub(super) fn describe<Q: Terms, F: Filter>(types: Types<'_>) -> Self {
        let mut spec = Spec { types, demand: Self::default() };
        Q::describe(&mut spec);
        debug_assert_eq!(spec.demand.columns.len(), Q::COLUMNS, "a column a term");
        spec.demand.terms = Q::COLUMNS;
        F::describe(&mut spec);
        let mut demand = spec.demand;
        demand.conditions = Conditions::new(&demand.rules);
        demand
    }

    /// What a query asks of a world that learns its components now.
    pub(crate) fn of_query<Q: Terms, F: Filter>(registry: &mut Registry) -> Self {
        Self::describe::<Q, F>(Types::Learned(registry))
    }

    /// The columns, and whether each is written: of the terms, then those whose stamps are looked at.
    pub(super) fn columns(&self) -> impl ExactSizeIterator<Item = (ComponentId, bool)> {
        self.columns.iter().map(|&(named, write)| (named.id, write))
    }

    /// Whether a type that it names has no number yet.
    pub(super) const fn is_unknown(&self) -> bool {
        self.unknown
    }

    /// The names of the components of its terms, and whether each is written.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (&'static str, bool)> {
        self.columns[..self.terms].iter().map(|&(named, write)| (named.name, write))
    }

    /// The names of the components by whose changes it chooses chunks.
    pub(crate) fn watched(&self) -> impl Iterator<Item = &'static str> {
        self.columns[self.terms..].iter().map(|&(named, _)| named.name)
    }

    /// Whether it chooses chunks by when rows arrived in them.
    pub(crate) const fn watches_arrivals(&self) -> bool {
        self.arrivals
    }

    /// The rules that an archetype must obey.
    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The rules that keep an archetype out.
    pub(super) fn broken(&self, set: &ComponentSet) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| !rule.admits(set))
    }

    pub(super) fn matches(&self, set: &ComponentSet) -> bool {
        self.conditions.admit(set)
    }

    /// A component that both touch and one of them writes, unless no archetype at all can match
    /// both: one requires a component that the other excludes.
    pub(crate) fn clash(&self, other: &Self) -> Option<&'static str> {
        let apart = || self.excludes(other) || other.excludes(self);
        self.shared(other).next().filter(|_| !apart()).map(|named| named.name)
    }

    /// [`Demand::clash`] in the archetypes that exist: a component that both touch in one of them.
    /// O(archetypes), if they clash at all.
    pub(crate) fn clash_in(&self, other: &Self, archetypes: &[Archetype]) -> Option<&'static str> {
        self.clash(other)?;
        let in_one = |named: &Named| {
            archetypes
                .iter()
                .map(Archetype::set)
                .any(|set| set.contains(named.id) && self.matches(set) && other.matches(set))
        };
        self.shared(other).find(in_one).map(|named| named.name)
    }

    /// Whether every archetype that obeys the other lacks something that this one requires.
    fn excludes(&self, other: &Self) -> bool {
        let lacks = |named: &Named| other.rules.contains(&Rule::Lacks(*named));
        self.rules.iter().any(|rule| match rule {
            Rule::Has(one) => lacks(one),
            Rule::HasAny(some) => some.iter().all(lacks),
            Rule::Lacks(_) => false,
        })
    }

    /// The components that both name and one of them writes.
    fn shared(&self, other: &Self) -> impl Iterator<Item = Named> {
        self.columns.iter().filter_map(|&(mine, write)| {
            let clashes =
                |&(theirs, writes): &(Named, bool)| mine.id == theirs.id && (write || writes);
            other.columns.iter().any(clashes).then_some(mine)
        })
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::{Pod, Zeroable};

    use super::super::filter::{AnyOf, With, Without};
    use super::*;
    use crate::component;

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct A(f32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct B(f32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct C(f32);
    component!(A as "A", B as "B", C as "C");

    /// Whether two queries clash; checked in both directions.
    fn clash<Q: Terms, F: Filter, R: Terms, G: Filter>() -> Option<&'static str> {
        let mut registry = Registry::default();
        let a = Demand::of_query::<Q, F>(&mut registry);
        let b = Demand::of_query::<R, G>(&mut registry);
        assert_eq!(a.clash(&b).is_some(), b.clash(&a).is_some(), "a clash has no direction");
        a.clash(&b)
    }

    #[test]
    fn readers_go_together_and_writers_do_not() {
        assert_eq!(clash::<&A, (), &A, ()>(), None);
        assert_eq!(clash::<&A, (), &mut A, ()>(), Some("A"));
        assert_eq!(clash::<&mut A, (), &mut A, ()>(), Some("A"));
        assert_eq!(clash::<&mut A, (), &mut B, ()>(), None);
        assert_eq!(clash::<(&A, &mut B), (), (&A, &B), ()>(), Some("B"));
        assert_eq!(clash::<Option<&mut A>, (), &A, ()>(), Some("A"));
    }

    #[test]
    fn a_filter_that_looks_at_stamps_reads() {
        use super::super::filter::Changed;
        assert_eq!(clash::<&B, (Changed<A>,), &mut A, ()>(), Some("A"));
        assert_eq!(clash::<&B, (With<A>,), &mut A, ()>(), None);
    }

    #[test]
    fn what_one_requires_and_the_other_excludes_keeps_them_apart() {
        assert_eq!(clash::<&mut A, (With<B>,), &mut A, (Without<B>,)>(), None);
        assert_eq!(clash::<(&mut A, &B), (), &mut A, (Without<B>,)>(), None);
        assert_eq!(clash::<(&mut A, Option<&B>), (), &mut A, (Without<B>,)>(), Some("A"));
        assert_eq!(clash::<&mut A, (AnyOf<(B, C)>,), &mut A, (Without<B>,)>(), Some("A"));
        assert_eq!(clash::<&mut A, (AnyOf<(B, C)>,), &mut A, (Without<B>, Without<C>)>(), None);
        assert_eq!(clash::<&mut A, (AnyOf<(B,)>,), &mut A, (Without<B>,)>(), None);
    }
}
