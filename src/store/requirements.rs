//! What a query requires of a world: which columns it takes, of which archetypes.
//!
//! The terms and filters of a query type build its [`Requirements`] once. A plan lists the archetypes
//! that meet them. Two queries whose requirements do not clash may run at the same time.

use core::any::{TypeId, type_name};

use crate::archetype::Archetype;
use crate::component::{Component, ComponentId, ComponentSet, NameTaken, Registry};

use super::rule::{ComponentRef, Rule, RuleSets};

/// Where component types get their numbers from: a world that may learn new ones, or one that is
/// only looked at.
#[derive(Debug)]
pub(crate) enum ComponentIds<'r> {
    Known(&'r Registry),
    Learned(&'r mut Registry),
}

/// What terms and filters say of themselves.
#[derive(Debug)]
pub struct RequirementsBuilder<'r> {
    types: ComponentIds<'r>,
    requirements: Requirements,
    /// Types without a number: names, paths and the types themselves.
    unknown: Vec<(&'static str, &'static str, TypeId)>,
}

/// The conditions on an archetype, and the columns to cut from it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requirements {
    /// Terms first, then watched columns. With each, whether it is written.
    columns: Vec<(ComponentRef, bool)>,
    /// How many of the columns are terms.
    terms: usize,
    /// Whether chunks are chosen by when rows arrived in them.
    arrivals: bool,
    rules: Vec<Rule>,
    /// The rules once more, to test archetypes.
    conditions: RuleSets,
    /// A type has no number yet. No archetype that exists can have it.
    unknown: bool,
    /// A type has no number and never will: the world has another of its name.
    taken: Option<NameTaken>,
}

impl<'r> RequirementsBuilder<'r> {
    pub(crate) fn new(types: ComponentIds<'r>) -> Self {
        Self { types, requirements: Requirements::default(), unknown: Vec::new() }
    }

    /// Ends the columns of the terms. Those that follow are watched by filters.
    pub(crate) fn end_terms(&mut self) {
        self.requirements.terms = self.requirements.columns.len();
    }

    pub(crate) fn build(self) -> Requirements {
        let mut requirements = self.requirements;
        requirements.conditions = RuleSets::new(&requirements.rules);
        requirements
    }

    fn named<C: Component>(&mut self) -> ComponentRef {
        let id = match &mut self.types {
            ComponentIds::Known(registry) => registry.known::<C>(),
            ComponentIds::Learned(registry) => registry.register::<C>(),
        };
        let id = id.unwrap_or_else(|taken| {
            self.requirements.taken.get_or_insert(taken);
            ComponentId::UNKNOWN
        });
        if id == ComponentId::UNKNOWN {
            self.unknown::<C>();
        }
        ComponentRef { id, name: C::NAME }
    }

    /// A type without a number. The world has none of its name, but this query may name another.
    #[cold]
    fn unknown<C: Component>(&mut self) {
        self.requirements.unknown = true;
        let (id, path) = (TypeId::of::<C>(), type_name::<C>());
        let other = self.unknown.iter().find(|other| other.0 == C::NAME && other.2 != id);
        if let Some(&(name, owner, _)) = other {
            self.requirements.taken.get_or_insert(NameTaken { name, owner, refused: path });
        }
        self.unknown.push((C::NAME, path, id));
    }

    /// Adds a rule, unless it is there: a term and a filter may ask for the same.
    fn rule(&mut self, rule: Rule) {
        if !self.requirements.rules.contains(&rule) {
            self.requirements.rules.push(rule);
        }
    }

    /// A term's column.
    pub(crate) fn column<C: Component>(&mut self, write: bool, optional: bool) {
        let named = self.named::<C>();
        self.requirements.columns.push((named, write));
        if !optional {
            self.rule(Rule::Has(named));
        }
    }

    /// A column whose stamps are looked at.
    pub(crate) fn watch<C: Component>(&mut self) {
        let named = self.named::<C>();
        self.rule(Rule::Has(named));
        self.requirements.columns.push((named, false));
    }

    /// The stamp of arrivals is looked at.
    pub(crate) const fn watch_arrivals(&mut self) {
        self.requirements.arrivals = true;
    }

    pub(crate) fn with<C: Component>(&mut self) {
        let named = self.named::<C>();
        self.rule(Rule::Has(named));
    }

    pub(crate) fn without<C: Component>(&mut self) {
        let named = self.named::<C>();
        self.rule(Rule::Lacks(named));
    }

    /// Begins a set of alternatives.
    pub(crate) fn open_any(&mut self) {
        self.requirements.rules.push(Rule::HasAny(Vec::new()));
    }

    /// Adds an alternative to the set that was opened last.
    pub(crate) fn any<C: Component>(&mut self) {
        let named = self.named::<C>();
        let Some(Rule::HasAny(set)) = self.requirements.rules.last_mut() else {
            unreachable!("a set was opened")
        };
        set.push(named);
    }
}

impl Requirements {
    /// The columns, and whether each is written: of the terms, then those whose stamps are looked at.
    pub(crate) fn columns(&self) -> impl ExactSizeIterator<Item = (ComponentId, bool)> {
        self.columns.iter().map(|&(named, write)| (named.id, write))
    }

    /// Whether a type that it names has no number yet.
    pub(crate) const fn is_unknown(&self) -> bool {
        self.unknown
    }

    /// The first type that it names and the world refuses, since another has its name.
    pub(crate) const fn taken(&self) -> Option<NameTaken> {
        self.taken
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
    pub(crate) fn broken(&self, set: &ComponentSet) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| !rule.admits(set))
    }

    pub(crate) fn matches(&self, set: &ComponentSet) -> bool {
        self.conditions.admit(set)
    }

    /// A component that both touch and one of them writes, unless no archetype at all can match
    /// both: one requires a component that the other excludes.
    pub(crate) fn clash(&self, other: &Self) -> Option<&'static str> {
        let apart = || self.excludes(other) || other.excludes(self);
        self.shared(other).next().filter(|_| !apart()).map(|named| named.name)
    }

    /// [`Requirements::clash`] in the archetypes that exist: a component that both touch in one of them.
    /// O(archetypes), if they clash at all.
    pub(crate) fn clash_in(&self, other: &Self, archetypes: &[Archetype]) -> Option<&'static str> {
        self.clash(other)?;
        let in_one = |named: &ComponentRef| {
            archetypes
                .iter()
                .map(Archetype::set)
                .any(|set| set.contains(named.id) && self.matches(set) && other.matches(set))
        };
        self.shared(other).find(in_one).map(|named| named.name)
    }

    /// Whether it asks for nothing beyond another demand: the columns of its terms are the other's,
    /// written where those are, and it obeys all of the other's rules. O(columns + rules²).
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        self.columns[..self.terms] == other.columns[..other.terms]
            && other.rules.iter().all(|rule| self.rules.contains(rule))
    }

    /// Whether every archetype that obeys the other lacks something that this one requires.
    fn excludes(&self, other: &Self) -> bool {
        let lacks = |named: &ComponentRef| other.rules.contains(&Rule::Lacks(*named));
        self.rules.iter().any(|rule| match rule {
            Rule::Has(one) => lacks(one),
            Rule::HasAny(some) => some.iter().all(lacks),
            Rule::Lacks(_) => false,
        })
    }

    /// The components that both name and one of them writes.
    fn shared(&self, other: &Self) -> impl Iterator<Item = ComponentRef> {
        self.columns.iter().filter_map(|&(mine, write)| {
            let clashes = |&(theirs, writes): &(ComponentRef, bool)| {
                mine.id == theirs.id && (write || writes)
            };
            other.columns.iter().any(clashes).then_some(mine)
        })
    }
}
