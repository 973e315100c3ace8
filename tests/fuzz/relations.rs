//! The relations of the model: the targets of each source, and the sources of each target.
//!
//! There are five: a tree that despawns sources with their target, one that keeps its sources
//! in an order, one with many targets for a source and a value for each, a plain one, and another
//! to many that keeps its targets alive.

use std::collections::{BTreeMap, BTreeSet};

use phalanx::prelude::*;
use phalanx::reflect::NamedTarget;
use phalanx::sparse::Targets;

/// A tree.
#[relation(tree, on_delete = despawn)]
pub(crate) struct ChildOf;

/// A relation with an order of its sources. It may have cycles.
#[relation(ordered)]
pub(crate) struct SlotOf;

/// A relation to many.
#[relation(many)]
#[derive(Debug, PartialEq)]
pub(crate) struct Likes {
    pub(crate) weight: u32,
}

/// A plain relation. It may have cycles.
#[relation]
pub(crate) struct Faces;

/// A relation to many that refuses the despawn of a target without its sources.
#[relation(many, on_delete = refuse)]
#[derive(Debug, PartialEq)]
pub(crate) struct Needs;

/// The number of relations.
pub(crate) const KINDS: usize = 5;

/// A relation of the fuzz.
pub(crate) trait Kind: 'static {
    const INDEX: usize;
    /// Whether a source has a list of targets, and not one.
    const IS_MANY: bool = false;
    /// The component of a source.
    type Value: Bundle;
    fn value(target: Entity, number: u32) -> Self::Value;
    /// The same for a relation by name, with these bytes as the value of the pair if it has one.
    fn named(target: Entity, _number: u32, _value: &[u8]) -> NamedTarget<'_> {
        NamedTarget::of(target)
    }
    /// Whether a pair by name gets a value.
    fn has_value(_number: u32) -> bool {
        true
    }
}

impl Kind for ChildOf {
    const INDEX: usize = 0;
    type Value = Self;
    fn value(target: Entity, _: u32) -> Self {
        Self::of(target)
    }
}

impl Kind for SlotOf {
    const INDEX: usize = 1;
    type Value = Self;
    fn value(target: Entity, number: u32) -> Self {
        place(number).map_or(Self::of(target), |place| Self::of(target).at(place))
    }
    fn named(target: Entity, number: u32, _: &[u8]) -> NamedTarget<'_> {
        let named = NamedTarget::of(target);
        place(number).map_or(named, |place| named.at(place))
    }
}

impl Kind for Likes {
    const INDEX: usize = 2;
    const IS_MANY: bool = true;
    type Value = Targets<Self>;
    fn value(target: Entity, weight: u32) -> Targets<Self> {
        Self { weight }.of(target)
    }
    fn named(target: Entity, number: u32, value: &[u8]) -> NamedTarget<'_> {
        let named = NamedTarget::of(target);
        if Self::has_value(number) { named.with(value) } else { named }
    }
    fn has_value(number: u32) -> bool {
        number.is_multiple_of(2)
    }
}

impl Kind for Faces {
    const INDEX: usize = 3;
    type Value = Self;
    fn value(target: Entity, _: u32) -> Self {
        Self::of(target)
    }
}

impl Kind for Needs {
    const INDEX: usize = 4;
    const IS_MANY: bool = true;
    type Value = Targets<Self>;
    fn value(target: Entity, _: u32) -> Targets<Self> {
        Self.of(target)
    }
}

/// The place among the sources that comes with a number.
const fn place(number: u32) -> Option<usize> {
    match number % 4 {
        0 => Some(number as usize / 4 % 3),
        1 => Some(usize::MAX),
        _ => None,
    }
}

/// Runs an expression with the `n`th relation as `$R`.
#[macro_export]
macro_rules! with_relation {
    ($n:expr, $R:ident => $run:expr) => {{
        use $crate::relations::{ChildOf, Faces, Likes, Needs, SlotOf};
        match $n {
            0 => {
                type $R = ChildOf;
                $run
            }
            1 => {
                type $R = SlotOf;
                $run
            }
            2 => {
                type $R = Likes;
                $run
            }
            3 => {
                type $R = Faces;
                $run
            }
            _ => {
                type $R = Needs;
                $run
            }
        }
    }};
}

/// The pairs of a relation, both ways.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    /// The targets of each source, each with the number of its value.
    targets: BTreeMap<Entity, BTreeMap<Entity, u32>>,
    /// The sources of each target, in the order of the list.
    sources: BTreeMap<Entity, Vec<Entity>>,
    /// Whether the last source of a list does not take the place of one that leaves.
    is_ordered: bool,
}

impl Pairs {
    /// The sources, each with its targets.
    pub(crate) const fn all(&self) -> &BTreeMap<Entity, BTreeMap<Entity, u32>> {
        &self.targets
    }

    pub(crate) fn has(&self, source: Entity) -> bool {
        self.targets.contains_key(&source)
    }

    /// The target of a source, of several the least.
    pub(crate) fn target(&self, source: Entity) -> Option<Entity> {
        self.targets.get(&source)?.keys().next().copied()
    }

    /// The targets of a source, in the order of ids.
    pub(crate) fn targets(&self, source: Entity) -> impl Iterator<Item = &Entity> {
        self.targets.get(&source).into_iter().flat_map(BTreeMap::keys)
    }

    /// The number of the value of a pair.
    pub(crate) fn number(&self, source: Entity, target: Entity) -> Option<u32> {
        self.targets.get(&source)?.get(&target).copied()
    }

    pub(crate) fn sources(&self, target: Entity) -> &[Entity] {
        self.sources.get(&target).map_or(&[], Vec::as_slice)
    }

    /// The first target that is not below an entity.
    pub(crate) fn target_from(&self, entity: Entity) -> Option<Entity> {
        self.sources.range(entity..).next().map(|(&target, _)| target)
    }

    /// Gives copies of some entities the relations of these. Targets among them become copies.
    fn copy(&mut self, originals: &[Entity], new: &BTreeMap<Entity, Entity>) {
        let place = |one: Entity| self.sources(self.target(one)?).iter().position(|&o| o == one);
        let mut sources: Vec<_> = originals.iter().map(|&one| (place(one), one)).collect();
        if self.is_ordered {
            sources.sort_by_key(|source| source.0);
        }
        for (_, source) in sources {
            for (target, number) in self.targets.get(&source).cloned().unwrap_or_default() {
                let target = new.get(&target).copied().unwrap_or(target);
                self.add((new[&source], target), usize::MAX, number);
            }
        }
    }

    /// Whether a source is its own target, or above it.
    fn is_cycle(&self, source: Entity, target: Entity) -> bool {
        std::iter::successors(Some(target), |&above| self.target(above)).any(|one| one == source)
    }

    /// Whether the way up from an entity comes back.
    pub(crate) fn is_endless(&self, from: Entity) -> bool {
        let mut seen = BTreeSet::new();
        std::iter::successors(Some(from), |&above| self.target(above)).any(|one| !seen.insert(one))
    }

    fn add(&mut self, (source, target): (Entity, Entity), place: usize, number: u32) {
        if self.targets.entry(source).or_default().insert(target, number).is_none() {
            let sources = self.sources.entry(target).or_default();
            sources.insert(place.min(sources.len()), source);
        }
    }

    /// Removes one pair. Returns the number of its value.
    pub(crate) fn remove_pair(&mut self, source: Entity, target: Entity) -> Option<u32> {
        let targets = self.targets.get_mut(&source)?;
        let number = targets.remove(&target)?;
        if targets.is_empty() {
            self.targets.remove(&source);
        }
        let sources = self.sources.get_mut(&target).expect("it has this one");
        let place = sources.iter().position(|&one| one == source).expect("it has this one");
        match self.is_ordered {
            true => sources.remove(place),
            false => sources.swap_remove(place),
        };
        if sources.is_empty() {
            self.sources.remove(&target);
        }
        Some(number)
    }

    /// Removes all pairs of a source.
    pub(crate) fn remove(&mut self, source: Entity) {
        for target in self.targets.get(&source).cloned().unwrap_or_default().into_keys() {
            self.remove_pair(source, target);
        }
    }

    /// Brings the sources of each target into another order.
    pub(crate) fn reorder<'a>(&mut self, order: impl Fn(Entity) -> &'a [Entity]) {
        for (&target, sources) in &mut self.sources {
            let seen = order(target);
            if seen != sources {
                let set = |list: &[Entity]| list.iter().copied().collect::<BTreeSet<_>>();
                assert!(seen.len() == sources.len() && set(seen) == set(sources), "of {target}");
                sources.copy_from_slice(seen);
            }
        }
    }

    /// Removes all pairs that an entity is in.
    fn end(&mut self, entity: Entity) {
        self.remove(entity);
        for source in self.sources(entity).to_vec() {
            self.remove_pair(source, entity);
        }
    }

    /// Removes the pairs with one end among entities that leave.
    fn cut(&mut self, leaving: &[Entity], stays: impl Fn(Entity) -> bool) {
        for &entity in leaving {
            let targets = self.targets.get(&entity).into_iter().flat_map(BTreeMap::keys);
            let targets = targets.map(|&target| (entity, target));
            let sources = self.sources(entity).iter().map(|&source| (source, entity));
            let is_cut = |&(source, target): &(Entity, Entity)| stays(source) || stays(target);
            for (source, target) in targets.chain(sources).filter(is_cut).collect::<Vec<_>>() {
                self.remove_pair(source, target);
            }
        }
    }

    /// The pairs with both ends among some entities, which are others now.
    fn mapped(&self, new: &BTreeMap<Entity, Entity>) -> Self {
        let mut pairs = Self { is_ordered: self.is_ordered, ..Self::default() };
        for (target, sources) in &self.sources {
            let Some(&to) = new.get(target) else { continue };
            for source in sources {
                let Some(&from) = new.get(source) else { continue };
                pairs.add((from, to), usize::MAX, self.targets[source][target]);
            }
        }
        pairs
    }
}

/// All relations of the model.
#[derive(Clone, Debug)]
pub(crate) struct Relations {
    kinds: [Pairs; KINDS],
}

impl Default for Relations {
    fn default() -> Self {
        let pairs = |kind| Pairs { is_ordered: kind == SlotOf::INDEX, ..Pairs::default() };
        Self { kinds: std::array::from_fn(pairs) }
    }
}

impl Relations {
    pub(crate) const fn of<K: Kind>(&self) -> &Pairs {
        &self.kinds[K::INDEX]
    }

    pub(crate) const fn of_mut<K: Kind>(&mut self) -> &mut Pairs {
        &mut self.kinds[K::INDEX]
    }

    /// Whether a relation between two living entities is refused.
    pub(crate) fn is_cycle<K: Kind>(&self, source: Entity, target: Entity) -> bool {
        K::INDEX == ChildOf::INDEX && self.of::<K>().is_cycle(source, target)
    }

    /// Relates a source to a target, as an insertion does.
    pub(crate) fn put<K: Kind>(&mut self, source: Entity, target: Entity, number: u32) {
        let place = place(number).filter(|_| K::INDEX == SlotOf::INDEX);
        let pairs = self.of_mut::<K>();
        let stays = place.is_none() && pairs.target(source) == Some(target);
        if K::IS_MANY {
            pairs.add((source, target), usize::MAX, number);
        } else if !stays {
            pairs.remove(source);
            pairs.add((source, target), place.unwrap_or(usize::MAX), 0);
        }
    }

    /// The entities that go if some living ones are despawned: those first, and level after level
    /// the children.
    pub(crate) fn going(&self, named: impl IntoIterator<Item = Entity>) -> Vec<Entity> {
        let mut seen = BTreeSet::new();
        let mut going: Vec<Entity> = named.into_iter().filter(|&one| seen.insert(one)).collect();
        let mut next = 0;
        while let Some(&target) = going.get(next) {
            let children = self.of::<ChildOf>().sources(target).iter().copied();
            going.extend(children.filter(|&child| seen.insert(child)));
            next += 1;
        }
        going
    }

    /// Whether a source of an entity that goes would stay, and does not let it go.
    pub(crate) fn is_held(&self, going: &[Entity]) -> bool {
        let stays = |source: &Entity| !going.contains(source);
        going.iter().any(|&target| self.of::<Needs>().sources(target).iter().any(stays))
    }

    /// The sources that hold some entities.
    pub(crate) fn holders(&self, targets: &[Entity]) -> Vec<Entity> {
        targets.iter().flat_map(|&target| self.of::<Needs>().sources(target)).copied().collect()
    }

    /// The entities that stay if some living ones are despawned as far as they can be.
    pub(crate) fn kept(&self, named: &[Entity]) -> BTreeSet<Entity> {
        let (mut left, mut kept) =
            (named.iter().copied().collect::<BTreeSet<_>>(), BTreeSet::new());
        loop {
            let going: BTreeSet<Entity> = self.going(left.iter().copied()).into_iter().collect();
            let stays = |source: &Entity| !going.contains(source);
            let held = |target: &&Entity| self.of::<Needs>().sources(**target).iter().any(stays);
            // Any of the entities above a held one would take it along.
            let parent = |&entity: &Entity| self.of::<ChildOf>().target(entity);
            let held = going.iter().filter(held);
            let above = held.flat_map(|&held| std::iter::successors(Some(held), parent));
            let before = left.len();
            kept.extend(above.filter(|entity| left.remove(entity)));
            if left.len() == before {
                return kept;
            }
        }
    }

    /// Ends all relations of an entity.
    pub(crate) fn end(&mut self, entity: Entity) {
        self.kinds.iter_mut().for_each(|pairs| pairs.end(entity));
    }

    /// Gives the copies of a tree, of which the root is the first, the relations of the originals.
    pub(crate) fn copy(&mut self, tree: &[Entity], new: &BTreeMap<Entity, Entity>) {
        for (kind, pairs) in self.kinds.iter_mut().enumerate() {
            // The target of the root is another one.
            pairs.copy(if kind == ChildOf::INDEX { &tree[1..] } else { tree }, new);
        }
    }

    /// Removes the relations with one end among entities that leave, and returns the relations
    /// among them, which have other ids now.
    pub(crate) fn moved(&mut self, leaving: &[Entity], new: &BTreeMap<Entity, Entity>) -> Self {
        let stays = |entity| !new.contains_key(&entity);
        self.kinds.iter_mut().for_each(|pairs| pairs.cut(leaving, stays));
        Self { kinds: self.kinds.each_ref().map(|pairs| pairs.mapped(new)) }
    }

    /// Adds relations of entities that have none.
    pub(crate) fn extend(&mut self, others: Self) {
        for (ours, theirs) in self.kinds.iter_mut().zip(others.kinds) {
            ours.targets.extend(theirs.targets);
            ours.sources.extend(theirs.sources);
        }
    }
}
