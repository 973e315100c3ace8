//! The requirements of a query: which columns it takes, from which archetypes.
//!
//! The terms and filters of a query type build its [`Requirements`] once. A plan lists the
//! archetypes that meet them. Two queries whose requirements do not clash may run at the same time.

use core::any::{TypeId, type_name};

use crate::archetype::Archetype;
use crate::component::{Component, ComponentId, ComponentSet, NameTaken, Registry};

use super::rule::{ComponentRef, Rule, RuleSets};

/// How the ids of component types are found.
#[derive(Debug)]
pub(crate) enum ComponentIds<'r> {
    /// A type that the world does not know has none.
    Known(&'r Registry),
    /// A type that the world does not know is registered.
    Register(&'r mut Registry),
}

/// Builds the [`Requirements`] of a query from its terms and filters.
#[derive(Debug)]
pub struct RequirementsBuilder<'r> {
    ids: ComponentIds<'r>,
    requirements: Requirements,
    /// Types without an id: their names, paths and type ids.
    unknown: Vec<(&'static str, &'static str, TypeId)>,
}

/// The conditions on an archetype, and the columns to cut from it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requirements {
    /// The columns of the terms, then the watched columns, and whether each is written.
    columns: Vec<(ComponentRef, bool)>,
    /// The number of columns of the terms.
    terms_len: usize,
    /// Whether a filter chooses chunks by the version at which rows arrived in them.
    arrivals: bool,
    rules: Vec<Rule>,
    /// The rules as sets, to test archetypes.
    rule_sets: RuleSets,
    /// Whether a type has no id yet. No archetype has its component.
    unknown: bool,
    /// The first type that gets no id, because the world has another type of its name.
    name_taken: Option<NameTaken>,
}

impl<'r> RequirementsBuilder<'r> {
    pub(crate) fn new(ids: ComponentIds<'r>) -> Self {
        Self { ids, requirements: Requirements::default(), unknown: Vec::new() }
    }

    /// Ends the columns of the terms. Those that follow are watched by filters.
    pub(crate) fn end_terms(&mut self) {
        self.requirements.terms_len = self.requirements.columns.len();
    }

    pub(crate) fn build(self) -> Requirements {
        let mut requirements = self.requirements;
        requirements.rule_sets = RuleSets::new(&requirements.rules);
        requirements
    }

    fn component_ref<C: Component>(&mut self) -> ComponentRef {
        let id = match &mut self.ids {
            ComponentIds::Known(registry) => registry.known::<C>(),
            ComponentIds::Register(registry) => registry.register::<C>(),
        };
        let id = id.unwrap_or_else(|taken| {
            self.requirements.name_taken.get_or_insert(taken);
            ComponentId::UNKNOWN
        });
        if id == ComponentId::UNKNOWN {
            self.record_unknown::<C>();
        }
        ComponentRef { id, name: C::NAME }
    }

    /// Records a type without an id. The world has no type of its name, but this query may name
    /// two.
    #[cold]
    fn record_unknown<C: Component>(&mut self) {
        self.requirements.unknown = true;
        let (id, path) = (TypeId::of::<C>(), type_name::<C>());
        let other = self.unknown.iter().find(|other| other.0 == C::NAME && other.2 != id);
        if let Some(&(name, owner, _)) = other {
            self.requirements.name_taken.get_or_insert(NameTaken { name, owner, refused: path });
        }
        self.unknown.push((C::NAME, path, id));
    }

    /// Adds a rule once: a term and a filter may require the same.
    fn add_rule(&mut self, rule: Rule) {
        if !self.requirements.rules.contains(&rule) {
            self.requirements.rules.push(rule);
        }
    }

    /// Adds a term's column.
    pub(crate) fn column<C: Component>(&mut self, write: bool, optional: bool) {
        let component = self.component_ref::<C>();
        self.requirements.columns.push((component, write));
        if !optional {
            self.add_rule(Rule::Has(component));
        }
    }

    /// Adds a column whose stamps a filter reads.
    pub(crate) fn watch<C: Component>(&mut self) {
        let component = self.component_ref::<C>();
        self.add_rule(Rule::Has(component));
        self.requirements.columns.push((component, false));
    }

    /// Records that a filter reads the stamps of arrivals.
    pub(crate) const fn watch_arrivals(&mut self) {
        self.requirements.arrivals = true;
    }

    pub(crate) fn with<C: Component>(&mut self) {
        let component = self.component_ref::<C>();
        self.add_rule(Rule::Has(component));
    }

    pub(crate) fn without<C: Component>(&mut self) {
        let component = self.component_ref::<C>();
        self.add_rule(Rule::Lacks(component));
    }

    /// Begins a set of alternatives.
    pub(crate) fn begin_any(&mut self) {
        self.requirements.rules.push(Rule::HasAny(Vec::new()));
    }

    /// Adds an alternative to the set that was begun last.
    pub(crate) fn or<C: Component>(&mut self) {
        let component = self.component_ref::<C>();
        let Some(Rule::HasAny(set)) = self.requirements.rules.last_mut() else {
            unreachable!("an alternative is added to no set")
        };
        set.push(component);
    }
}

impl Requirements {
    /// The columns, and whether each is written: those of the terms, then the watched ones.
    pub(crate) fn columns(&self) -> impl ExactSizeIterator<Item = (ComponentId, bool)> {
        self.columns.iter().map(|&(one, write)| (one.id, write))
    }

    /// Whether a type has no id yet.
    pub(crate) const fn is_unknown(&self) -> bool {
        self.unknown
    }

    /// The first type that the world refuses, because another type has its name.
    pub(crate) const fn name_taken(&self) -> Option<NameTaken> {
        self.name_taken
    }

    /// The names of the terms' components, and whether each is written.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (&'static str, bool)> {
        self.columns[..self.terms_len].iter().map(|&(one, write)| (one.name, write))
    }

    /// The names of the components whose changes filters watch.
    pub(crate) fn watched(&self) -> impl Iterator<Item = &'static str> {
        self.columns[self.terms_len..].iter().map(|&(one, _)| one.name)
    }

    /// Whether a filter chooses chunks by the version at which rows arrived in them.
    pub(crate) const fn watches_arrivals(&self) -> bool {
        self.arrivals
    }

    /// The rules that must admit an archetype.
    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The rules that exclude an archetype.
    pub(crate) fn broken_rules(&self, set: &ComponentSet) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| !rule.admits(set))
    }

    pub(crate) fn matches(&self, set: &ComponentSet) -> bool {
        self.rule_sets.admit(set)
    }

    /// A component that both access and one of them writes, unless no archetype can match both
    /// because one requires a component that the other excludes.
    pub(crate) fn clash(&self, other: &Self) -> Option<&'static str> {
        let are_disjoint = || self.excludes(other) || other.excludes(self);
        self.shared(other).next().filter(|_| !are_disjoint()).map(|one| one.name)
    }

    /// [`Requirements::clash`] in one of the archetypes that exist. O(archetypes) if they clash at
    /// all.
    pub(crate) fn clash_in(&self, other: &Self, archetypes: &[Archetype]) -> Option<&'static str> {
        self.clash(other)?;
        let in_one = |shared: &ComponentRef| {
            archetypes
                .iter()
                .map(Archetype::set)
                .any(|set| set.contains(shared.id) && self.matches(set) && other.matches(set))
        };
        self.shared(other).find(in_one).map(|one| one.name)
    }

    /// Whether these requirements exceed others in nothing: the columns of the terms are the same,
    /// and so is whether each is written, and all rules of the others are among these. O(columns +
    /// rules²).
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        self.columns[..self.terms_len] == other.columns[..other.terms_len]
            && other.rules.iter().all(|rule| self.rules.contains(rule))
    }

    /// Whether every archetype that meets `other` lacks a component that `self` requires.
    fn excludes(&self, other: &Self) -> bool {
        let lacks = |one: &ComponentRef| other.rules.contains(&Rule::Lacks(*one));
        self.rules.iter().any(|rule| match rule {
            Rule::Has(one) => lacks(one),
            Rule::HasAny(some) => some.iter().all(lacks),
            Rule::Lacks(_) => false,
        })
    }

    /// The components that both access and one of them writes.
    fn shared(&self, other: &Self) -> impl Iterator<Item = ComponentRef> {
        self.columns.iter().filter_map(|&(mine, write)| {
            let clashes = |&(theirs, writes): &(ComponentRef, bool)| {
                mine.id == theirs.id && (write || writes)
            };
            other.columns.iter().any(clashes).then_some(mine)
        })
    }
}
