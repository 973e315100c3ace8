//! The requirements of a query: the columns that it takes, and the archetypes that it matches.
//!
//! The terms and filters of a query type build its [`Requirements`] once. A plan lists the
//! archetypes that meet them. Two queries may run at the same time if their requirements do not
//! clash.

use core::any::{TypeId, type_name};

use crate::archetype::Archetype;
use crate::component::{Component, ComponentId, NameTaken, Registry, SharedValue};

use super::component_ref::ComponentRef;
use super::filter_expression::FilterExpression;
use super::hidden_filter::HiddenFilter;
use super::row_rule::RowRule;
use super::rule::{Rule, RuleSets};
use super::sparse::SetUse;
use crate::storage::AccessKind;

/// The way in which the ids of component types are found.
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
    pub(super) ids: ComponentIds<'r>,
    pub(super) requirements: Requirements,
    /// Types without an id: their names, paths and type ids.
    unknown: Vec<(&'static str, &'static str, TypeId)>,
    /// The alternatives of the last set begun, and whether each is enableable.
    any: Vec<(ComponentRef, bool)>,
    pub(super) expressions: Vec<FilterExpression>,
    /// Whether enable bits are ignored.
    ignores_enabled: bool,
}

/// A column that a query takes from each archetype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NeededColumn {
    pub(crate) component: ComponentRef,
    pub(crate) write: bool,
    /// Whether the term uses the data beside the column instead of the column.
    pub(crate) beside: bool,
}

/// Identifies the terms and filters of a query, and describes their requirements.
///
/// Two values with the same key are equal: plans and access are found by the key alone, and unsafe
/// code relies on it. Made by `query::query_type`; elsewhere only to check a plan, and in tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryType {
    /// The key of the query's plan.
    pub(crate) key: TypeId,
    /// The name in messages.
    pub(crate) name: fn() -> &'static str,
    /// The number of columns that its terms take.
    pub(crate) columns: usize,
    pub(crate) describe: fn(ComponentIds<'_>) -> Requirements,
}

/// The conditions on an archetype, and the columns that the query takes from it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requirements {
    /// The columns of the terms, followed by the watched columns.
    pub(super) columns: Vec<NeededColumn>,
    /// The number of columns of the terms.
    terms_len: usize,
    /// Whether a filter chooses chunks by the version at which rows arrived in them.
    arrivals: bool,
    /// Whether a filter chooses chunks by the version at which rows came or went.
    order: bool,
    /// Whether a filter chooses archetypes by the tag of a shared value.
    tags: bool,
    rules: Vec<Rule>,
    /// The conditions on rows, by their enable bits.
    row_rules: Vec<RowRule>,
    /// The sparse components of the sets that terms and filters use.
    pub(super) sets: Vec<(ComponentRef, SetUse)>,
    /// The rules as sets, to test archetypes.
    pub(super) rule_sets: RuleSets,
    /// The hidden components that terms and filters name.
    pub(super) sight: HiddenFilter,
    /// Whether a type has no id yet. No archetype has its component.
    unknown: bool,
    /// The first type that gets no id, because another type of the world has its name.
    pub(super) name_taken: Option<NameTaken>,
}

/// The reason why an archetype is not visited.
#[derive(Debug)]
pub(crate) enum Obstacle<'p> {
    /// It breaks this rule.
    Rule(&'p Rule),
    /// It has the hidden component of this name, which the query does not name.
    Hidden(&'static str),
}

impl<'r> RequirementsBuilder<'r> {
    pub(crate) fn new(ids: ComponentIds<'r>) -> Self {
        Self {
            ids,
            requirements: Requirements::default(),
            unknown: Vec::new(),
            any: Vec::new(),
            expressions: Vec::new(),
            ignores_enabled: false,
        }
    }

    /// Ends the columns of the terms. Later columns are watched by filters.
    pub(crate) fn end_terms(&mut self) {
        self.requirements.terms_len = self.requirements.columns.len();
    }

    pub(crate) fn build(mut self) -> Requirements {
        self.require_expressions(self.ignores_enabled);
        let mut requirements = self.requirements;
        if self.ignores_enabled {
            for rule in core::mem::take(&mut requirements.row_rules) {
                let (rows, archetypes) = rule.without_enable_bits();
                requirements.row_rules.extend(rows);
                requirements.rules.extend(archetypes);
            }
        }
        requirements.rule_sets = RuleSets::new(&requirements.rules);
        requirements
    }

    pub(super) fn component_ref<C: Component>(&mut self) -> ComponentRef {
        let id = match &mut self.ids {
            ComponentIds::Known(registry) => registry.known::<C>(),
            ComponentIds::Register(registry) => registry.register::<C>(),
        };
        let id = id.unwrap_or_else(|taken| {
            self.requirements.name_taken.get_or_insert(taken);
            ComponentId::UNKNOWN
        });
        if id == ComponentId::UNKNOWN {
            self.record_unknown((C::NAME, type_name::<C>(), TypeId::of::<C>()));
        }
        let (name, is_hidden, is_by_row) = (C::NAME, C::HIDDEN, C::ENABLEABLE);
        let component = ComponentRef { id, name, is_hidden, is_sparse: false, is_by_row };
        self.name(component);
        component
    }

    /// Names all hidden components.
    pub(crate) const fn name_all_hidden(&mut self) {
        self.requirements.sight.name_all();
    }

    /// Records a type without an id. The world has no type of its name, but this query may name two
    /// such types.
    #[cold]
    pub(super) fn record_unknown(
        &mut self,
        (name, refused, id): (&'static str, &'static str, TypeId),
    ) {
        self.requirements.unknown = true;
        let other = self.unknown.iter().find(|other| other.0 == name && other.2 != id);
        if let Some(&(name, owner, _)) = other {
            self.requirements.name_taken.get_or_insert(NameTaken { name, owner, refused });
        }
        self.unknown.push((name, refused, id));
    }

    /// Adds a rule once: a term and a filter may have the same one.
    pub(super) fn add_rule(&mut self, rule: Rule) {
        if !self.requirements.rules.contains(&rule) {
            self.requirements.rules.push(rule);
        }
    }

    /// Adds a term's column.
    pub(crate) fn column<C: Component>(&mut self, access: AccessKind) {
        let component = self.optional_column::<C>(access);
        self.require(component);
    }

    /// Adds a term's column, which archetypes may lack.
    pub(crate) fn optional_column<C: Component>(&mut self, access: AccessKind) -> ComponentRef {
        let component = self.component_ref::<C>();
        self.push_column(component, access);
        component
    }

    /// Adds the data beside the column of `C`.
    pub(crate) fn beside<C: Component>(&mut self, access: AccessKind) {
        let (component, write) = (self.component_ref::<C>(), access.is_write());
        self.requirements.columns.push(NeededColumn { component, write, beside: true });
        self.add_rule(Rule::Has(component));
    }

    /// Requires archetypes with a component, and rows in which it is enabled or present.
    pub(super) fn require(&mut self, component: ComponentRef) {
        self.add_rule(Rule::Has(component));
        if component.is_by_row {
            self.add_row_rule(RowRule::Enabled(component));
        }
    }

    pub(super) fn add_row_rule(&mut self, rule: RowRule) {
        if !self.requirements.row_rules.contains(&rule) {
            self.requirements.row_rules.push(rule);
        }
    }

    /// Adds a column for a filter that reads its stamps.
    pub(crate) fn watch<C: Component>(&mut self) {
        let component = self.optional_column::<C>(AccessKind::Read);
        self.add_rule(Rule::Has(component));
    }

    /// Requires archetypes whose entities have a shared value of type `T`.
    pub(crate) fn shared<T: SharedValue>(&mut self) {
        let marker = self.shared_marker::<T>();
        self.add_rule(Rule::Has(marker));
    }

    /// Requires archetypes whose entities have the shared value of type `T` that a filter names.
    pub(crate) fn shared_value<T: SharedValue>(&mut self) {
        self.requirements.tags = true;
        self.shared::<T>();
    }

    /// Requires archetypes whose entities have no shared value of type `T`.
    pub(crate) fn without_shared<T: SharedValue>(&mut self) {
        let marker = self.shared_marker::<T>();
        self.add_rule(Rule::Lacks(marker));
    }

    pub(super) fn shared_marker<T: SharedValue>(&mut self) -> ComponentRef {
        let id = match &mut self.ids {
            ComponentIds::Known(registry) => registry.shared_marker::<T>(),
            ComponentIds::Register(registry) => registry.register_shared::<T>(),
        };
        self.requirements.unknown |= id == ComponentId::UNKNOWN;
        let name = type_name::<T>();
        ComponentRef { id, name, is_hidden: false, is_sparse: false, is_by_row: false }
    }

    /// Records that a filter reads the stamps of arrivals.
    pub(crate) const fn watch_arrivals(&mut self) {
        self.requirements.arrivals = true;
    }

    /// Records that a filter reads the stamps of the order.
    pub(crate) const fn watch_order(&mut self) {
        self.requirements.order = true;
    }

    pub(crate) fn with<C: Component>(&mut self) {
        let component = self.component_ref::<C>();
        self.require(component);
    }

    pub(crate) fn without<C: Component>(&mut self) {
        let component = self.component_ref::<C>();
        self.exclude(component);
    }

    /// Requires archetypes with a component, and rows in which it is disabled.
    pub(crate) fn disabled<C: Component>(&mut self) {
        let component = self.component_ref::<C>();
        self.add_rule(Rule::Has(component));
        self.add_row_rule(RowRule::Disabled(component));
    }

    /// Ignores enable bits.
    pub(crate) const fn ignore_enabled(&mut self) {
        self.ignores_enabled = true;
    }

    /// Begins a set of alternatives.
    pub(crate) fn begin_any(&mut self) {
        self.requirements.rules.push(Rule::HasAny(Vec::new()));
        self.any.clear();
    }

    /// Ends the set of alternatives.
    pub(crate) fn end_any(&mut self) {
        let any = core::mem::take(&mut self.any);
        if any.iter().any(|&(_, enableable)| enableable) {
            self.add_row_rule(RowRule::AnyEnabled(any));
        }
    }

    /// Adds an alternative to the last set begun.
    pub(crate) fn or<C: Component>(&mut self) {
        let component = self.component_ref::<C>();
        self.add_alternative(component);
    }

    pub(super) fn add_alternative(&mut self, component: ComponentRef) {
        let Some(Rule::HasAny(set)) = self.requirements.rules.last_mut() else {
            unreachable!("an alternative is added to no set")
        };
        set.push(component);
        self.any.push((component, component.is_by_row));
    }
}

impl Requirements {
    /// The columns of the terms, followed by the watched columns.
    pub(crate) fn columns(&self) -> impl ExactSizeIterator<Item = NeededColumn> {
        self.columns.iter().copied()
    }

    /// The conditions on rows.
    pub(crate) fn row_rules(&self) -> &[RowRule] {
        &self.row_rules
    }

    /// The components that a query accesses, enable bits included, and whether it writes them.
    pub(crate) fn accesses(&self) -> impl Iterator<Item = (ComponentRef, bool)> {
        let columns = self.columns.iter().map(|column| (column.component, column.write));
        let bits = self.row_rules.iter().flat_map(RowRule::components);
        columns.chain(bits.map(|component| (component, false)))
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
        let columns = self.columns[..self.terms_len].iter().map(|one| (one.component, one.write));
        columns.chain(self.sets()).map(|(one, write)| (one.name, write))
    }

    /// The names of the components that filters watch for changes.
    pub(crate) fn watched(&self) -> impl Iterator<Item = &'static str> {
        let columns = self.columns[self.terms_len..].iter().map(|one| one.component.name);
        columns.chain(self.watched_sets().map(|one| one.name))
    }

    /// Whether a filter chooses chunks by the version at which rows arrived in them.
    pub(crate) const fn watches_arrivals(&self) -> bool {
        self.arrivals
    }

    /// Whether a filter chooses chunks by the version at which rows came or went.
    pub(crate) const fn watches_order(&self) -> bool {
        self.order
    }

    /// Whether a filter chooses archetypes by the tag of a shared value.
    pub(crate) const fn choose_tags(&self) -> bool {
        self.tags
    }

    /// The rules that must admit an archetype.
    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether all hidden components are seen.
    pub(crate) const fn see_all_hidden(&self) -> bool {
        self.sight.sees_all()
    }

    /// All reasons that exclude an archetype: its hidden components that are not named, and the
    /// rules that it breaks.
    pub(crate) fn obstacles<'p>(
        &'p self,
        archetype: &'p Archetype,
    ) -> impl Iterator<Item = Obstacle<'p>> {
        let hidden = archetype.hidden().into_iter();
        let hidden = hidden.flat_map(|hidden| self.sight.unseen(hidden));
        let hidden = hidden.map(|id| Obstacle::Hidden(archetype.component_name(id)));
        let broken = self.rules.iter().filter(|rule| !rule.admits(|one| one.is_had_by(archetype)));
        hidden.chain(broken.map(Obstacle::Rule))
    }

    /// The first rule that excludes entities without components.
    pub(crate) fn excludes_bare(&self) -> Option<&Rule> {
        self.rules.iter().find(|rule| !rule.admits(|_| false))
    }

    /// Whether all rules admit an archetype.
    fn admit(&self, archetype: &Archetype) -> bool {
        self.rules.iter().all(|rule| rule.admits(|one| one.is_had_by(archetype)))
    }

    #[inline]
    pub(crate) fn matches(&self, archetype: &Archetype) -> bool {
        self.rule_sets.admit(archetype.set())
            && (!self.rule_sets.has_sparse_rule() || self.admit(archetype))
            && archetype.hidden().is_none_or(|hidden| self.sight.admits(hidden))
    }

    /// A component that both access and one of them writes. `None` if no archetype can match both,
    /// because one requires a component that the other excludes or does not see. Sparse components
    /// make no two queries disjoint, and a set is locked as a whole.
    pub(crate) fn clash(&self, other: &Self) -> Option<&'static str> {
        let columns = || self.shared(other).next().filter(|_| !self.is_disjoint(other));
        self.conflicting_set(other).or_else(|| columns().map(|one| one.name))
    }

    /// Whether no archetype can meet both: one requires a component that the other excludes or does
    /// not see.
    pub(crate) fn is_disjoint(&self, other: &Self) -> bool {
        self.excludes(other) || other.excludes(self)
    }

    /// Whether an archetype with a component meets both. O(archetypes).
    pub(crate) fn meets(
        &self,
        other: &Self,
        component: ComponentId,
        archetypes: &[Archetype],
    ) -> bool {
        let mut having = archetypes.iter().filter(|one| one.set().contains(component));
        !self.is_disjoint(other) && having.any(|one| self.matches(one) && other.matches(one))
    }

    /// [`Requirements::clash`], restricted to the archetypes that exist. O(archetypes) if they can
    /// clash.
    pub(crate) fn clash_in(&self, other: &Self, archetypes: &[Archetype]) -> Option<&'static str> {
        self.clash(other)?;
        let in_one = |shared: &ComponentRef| self.meets(other, shared.id, archetypes);
        let column = || self.shared(other).find(in_one).map(|one| one.name);
        self.conflicting_set(other).or_else(column)
    }

    /// Whether these requirements ask for at most the same as others: the columns of the terms and
    /// their writes are equal, all rules of the others are among these, none of their archetypes is
    /// hidden from the others, and they read no enable bits of another component. O(columns +
    /// rules²).
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        self.columns[..self.terms_len] == other.columns[..other.terms_len]
            && self.uses_sets_within(other)
            && other.rules.iter().all(|rule| self.has_rule(rule))
            && self.seen_beyond(other).is_none()
            && self.row_rules.iter().flat_map(RowRule::components).all(|own| other.names(own.id))
    }

    /// Whether a rule is among these, or the one that remains of it if enable bits are ignored: a
    /// row that meets the second is in an archetype that meets the first.
    fn has_rule(&self, rule: &Rule) -> bool {
        let remains = match rule {
            Rule::Meets(expression) => Some(Rule::of(expression.clone().ignoring_bits())),
            _ => None,
        };
        self.rules.contains(rule) || remains.is_some_and(|rule| self.rules.contains(&rule))
    }

    /// Whether the query accesses a component.
    pub(crate) fn names(&self, id: ComponentId) -> bool {
        self.accesses().any(|(one, _)| one.id == id) || self.uses_set(id)
    }

    /// The hidden component, or the filter, that makes these requirements see archetypes that are
    /// hidden from the others.
    pub(crate) fn seen_beyond(&self, other: &Self) -> Option<&'static str> {
        if other.sight.sees_all() {
            return None;
        }
        let lacked = |one: &ComponentRef| self.rules.contains(&Rule::Lacks(*one));
        let mut seen = self.sight.named().iter().filter(|one| !lacked(one));
        match self.sight.sees_all() {
            true => Some("IncludeHidden"),
            false => seen.find(|one| !other.sight.sees(one)).map(|one| one.name),
        }
    }

    /// Whether every archetype that meets `other` lacks a component that `self` requires.
    fn excludes(&self, other: &Self) -> bool {
        let lacks =
            |one: &ComponentRef| !other.sight.sees(one) || other.rules.contains(&Rule::Lacks(*one));
        self.rules.iter().any(|rule| match rule {
            Rule::Has(one) => lacks(one),
            Rule::HasAny(some) => some.iter().all(lacks),
            Rule::Lacks(_) | Rule::Meets(_) => false,
        })
    }

    /// The components that both access and one of them writes.
    fn shared(&self, other: &Self) -> impl Iterator<Item = ComponentRef> {
        self.accesses().filter_map(|(mine, write)| {
            let clashes =
                |(theirs, writes): (ComponentRef, bool)| mine.id == theirs.id && (write || writes);
            other.accesses().any(clashes).then_some(mine)
        })
    }
}
