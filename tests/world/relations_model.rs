//! Random calls on five relations, against a list of pairs.

use std::collections::{BTreeMap, BTreeSet};

use phalanx::command::{Applied, ApplyError};
use phalanx::prelude::*;
use phalanx::sparse::RelationComponent;
use proptest::prelude::*;

use crate::common::components::{Four, sound};
use crate::common::effort::effort;
use crate::common::length;
use crate::common::world;

use super::ordered::SlotOf;
use super::relations::{ChildOf, Needs, PartOf, Target};

/// The relations by their numbers in the model, each with its rules.
const NAMES: [&str; 5] = ["ChildOf", "PartOf", "Needs", "Target", "SlotOf"];
const IS_TREE: [bool; 5] = [true, true, false, false, true];
const FOLLOWS: [bool; 5] = [false, true, false, false, false];
const REFUSES: [bool; 5] = [false, false, true, false, false];

/// The state as a list of entities, and of the target of each source in each relation.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    alive: BTreeSet<Entity>,
    targets: [BTreeMap<Entity, Entity>; 5],
}

impl Model {
    fn accepts(&self, relation: usize, source: Entity, target: Entity) -> bool {
        let mut above = Some(target);
        while let Some(at) = above.filter(|_| IS_TREE[relation]) {
            if at == source {
                return false;
            }
            above = self.targets[relation].get(&at).copied();
        }
        self.alive.contains(&source) && self.alive.contains(&target)
    }

    fn sources(&self, relation: usize, target: Entity) -> BTreeSet<Entity> {
        let all = self.targets[relation].iter();
        all.filter(|(_, of)| **of == target).map(|(source, _)| *source).collect()
    }

    /// The entities that go if some are named.
    fn going(&self, named: &[Entity]) -> BTreeSet<Entity> {
        let mut going: BTreeSet<_> =
            named.iter().copied().filter(|entity| self.alive.contains(entity)).collect();
        loop {
            let before = going.len();
            for relation in (0..5).filter(|&relation| FOLLOWS[relation]) {
                let new = going.iter().flat_map(|&target| self.sources(relation, target));
                let new: Vec<_> = new.collect();
                going.extend(new);
            }
            if going.len() == before {
                return going;
            }
        }
    }

    fn is_refused(&self, named: &[Entity]) -> bool {
        let going = self.going(named);
        let holds = |relation: usize| {
            let mut all = self.targets[relation].iter();
            all.any(|(source, target)| going.contains(target) && !going.contains(source))
        };
        (0..5).any(|relation| REFUSES[relation] && holds(relation))
    }

    fn end(&mut self, going: &BTreeSet<Entity>) {
        self.alive.retain(|entity| !going.contains(entity));
        for targets in &mut self.targets {
            targets.retain(|source, target| !going.contains(source) && !going.contains(target));
        }
    }

    /// The number of entities that go; 0 if any is refused.
    fn despawn(&mut self, named: &[Entity]) -> usize {
        if self.is_refused(named) {
            return 0;
        }
        let going = self.going(named);
        self.end(&going);
        going.len()
    }

    /// Removes the fewest of the named ones that are refused: by trial of the largest set.
    fn despawn_most(&mut self, named: &[Entity]) -> usize {
        let subsets = 0..1u32 << named.len();
        let chosen = |bits: u32| -> Vec<_> {
            let all = named.iter().enumerate();
            all.filter(|(at, _)| bits >> at & 1 == 1).map(|(_, &entity)| entity).collect()
        };
        let possible = subsets.filter(|&bits| !self.is_refused(&chosen(bits)));
        let most = possible.max_by_key(|bits| self.going(&chosen(*bits)).len()).unwrap_or(0);
        self.despawn(&chosen(most))
    }

    fn mapped(&self, map: impl Fn(Entity) -> Entity) -> Self {
        let pairs = |targets: &BTreeMap<Entity, Entity>| {
            targets.iter().map(|(source, target)| (map(*source), map(*target))).collect()
        };
        Self {
            alive: self.alive.iter().map(|&entity| map(entity)).collect(),
            targets: self.targets.each_ref().map(pairs),
        }
    }

    fn extend(&mut self, other: Self) {
        self.alive.extend(other.alive);
        for (ours, theirs) in self.targets.iter_mut().zip(other.targets) {
            ours.extend(theirs);
        }
    }
}

fn same<R: RelationComponent>(world: &World, model: &Model, relation: usize) {
    let (view, name) = (world.relation::<R>(), NAMES[relation]);
    assert!(view.iter().collect::<BTreeMap<_, _>>() == model.targets[relation], "{name}");
    for &entity in &model.alive {
        let sources = view.sources(entity);
        let set: BTreeSet<_> = sources.iter().copied().collect();
        assert!(set == model.sources(relation, entity) && set.len() == sources.len(), "{name}");
    }
    let with: BTreeSet<_> = world.query::<Entity>().with::<R>().rows().collect();
    assert!(with.iter().eq(model.targets[relation].keys()), "{name}");
    let without = world.query::<Entity>().without::<R>().count_rows();
    assert_eq!(without + with.len(), model.alive.len(), "{name}");
}

fn compare(world: &World, model: &Model) {
    sound(world);
    assert!(world.query::<Entity>().rows().collect::<BTreeSet<_>>() == model.alive);
    same::<ChildOf>(world, model, 0);
    same::<PartOf>(world, model, 1);
    same::<Needs>(world, model, 2);
    same::<Target>(world, model, 3);
    same::<SlotOf>(world, model, 4);
    let levels = world.relation::<ChildOf>().levels();
    let tree = world.relation::<ChildOf>();
    for (depth, level) in levels.iter().enumerate() {
        assert!(level.iter().all(|&entity| tree.depth(entity) == depth));
    }
}

/// The orders of all sources, which a restored state has as well.
fn orders(world: &World, model: &Model) -> Vec<Vec<Entity>> {
    let (parents, targets) = (world.relation::<ChildOf>(), world.relation::<Target>());
    let slots = world.relation::<SlotOf>();
    let all = |&entity: &Entity| {
        [parents.sources(entity), targets.sources(entity), slots.sources(entity)].map(<[_]>::to_vec)
    };
    model.alive.iter().flat_map(all).collect()
}

/// Calls a macro with the relation of a number.
macro_rules! of {
    ($relation:expr, $call:ident!($($argument:expr),*)) => {
        match $relation {
            0 => $call!(ChildOf, $($argument),*),
            1 => $call!(PartOf, $($argument),*),
            2 => $call!(Needs, $($argument),*),
            3 => $call!(Target, $($argument),*),
            _ => $call!(SlotOf, $($argument),*),
        }
    };
}
macro_rules! insert {
    ($R:ident, $world:expr, $source:expr, $target:expr) => {
        $world.insert($source, $R::of($target)).is_ok()
    };
}
macro_rules! spawn {
    ($R:ident, $world:expr, $number:expr, $target:expr) => {
        $world.try_spawn((Four($number), $R::of($target))).ok()
    };
}
macro_rules! remove {
    ($R:ident, $world:expr, $source:expr) => {
        $world.remove::<$R>($source).map(|former| former.target()).ok()
    };
}
macro_rules! exchange {
    ($R:ident, $world:expr, $source:expr, $target:expr) => {
        $world.exchange::<$R, _>($source, $R::of($target)).is_ok()
    };
}
macro_rules! record {
    ($R:ident, $buffer:expr, $source:expr, $target:expr) => {
        $buffer.insert($source, $R::of($target))
    };
}

type Numbers = (u8, u8, u8, u8);

fn some(all: &[Entity], numbers: Numbers) -> Vec<Entity> {
    let (_, a, b, c) = numbers;
    let picked = [a, b, c, a ^ b, b ^ c];
    picked.iter().map(|&at| all[usize::from(at) % all.len()]).collect()
}

/// One call in the world and in the model. `all` has entities; many are not alive.
fn change(world: &mut World, model: &mut Model, all: &mut Vec<Entity>, numbers: Numbers) {
    if all.len() < 4 {
        all.extend_from_slice(world.spawn_batch([(); 4]));
        model.alive.extend(all.iter());
    }
    match numbers.0 % 16 {
        0..=8 => relate(world, model, all, numbers),
        9..=12 => despawn(world, model, all, numbers),
        13 | 14 => command(world, model, all, numbers),
        _ if numbers.1.is_multiple_of(4) => {
            world.clear();
            *model = Model::default();
        }
        _ => {}
    }
}

fn relate(world: &mut World, model: &mut Model, all: &mut Vec<Entity>, numbers: Numbers) {
    let (kind, a, b, c) = numbers;
    let relation = usize::from(c % 5);
    let [one, other] = [a, b].map(|at| all[usize::from(at) % all.len()]);
    let made = match kind % 16 {
        0 => {
            let new = world.spawn(Four(a.into()));
            model.alive.insert(new);
            return all.push(new);
        }
        1 | 2 => {
            let new = of!(relation, spawn!(world, b.into(), one));
            assert_eq!(new.is_some(), model.alive.contains(&one));
            if let Some(new) = new {
                model.alive.insert(new);
                model.targets[relation].insert(new, one);
                all.push(new);
            }
            return;
        }
        7 => {
            let former = of!(relation, remove!(world, one));
            assert_eq!(former, model.targets[relation].remove(&one));
            return;
        }
        8 => {
            let made = of!(relation, exchange!(world, one, other));
            if !model.targets[relation].contains_key(&one) {
                return assert!(!made, "it has none to be removed");
            }
            made
        }
        _ => of!(relation, insert!(world, one, other)),
    };
    let accepts = model.accepts(relation, one, other);
    assert_eq!(made, accepts, "{} {one} to {other}", NAMES[relation]);
    if made {
        model.targets[relation].insert(one, other);
    }
}

fn despawn(world: &mut World, model: &mut Model, all: &[Entity], numbers: Numbers) {
    let named = some(all, numbers);
    match numbers.0 % 16 {
        9 => {
            let ended = world.despawn(named[0]);
            assert_eq!(ended.is_ok(), model.despawn(&named[..1]) > 0);
        }
        10 => assert_eq!(world.despawn_batch(&named), model.despawn(&named)),
        11 => {
            let rows = world.query::<(Entity, &Four)>().with::<Target>().rows();
            let named: Vec<_> = rows.map(|row| row.0).collect();
            let ended = world.matching::<(Entity, &Four)>().with::<Target>().despawn();
            assert_eq!(ended, model.despawn(&named));
        }
        _ => {
            let ended = world.matching::<Entity>().retain(|rows, keep| {
                rows.iter().zip(keep).for_each(|(row, keep)| *keep = !named.contains(row));
            });
            assert_eq!(ended, model.despawn(&named));
        }
    }
}

fn command(world: &mut World, model: &mut Model, all: &mut Vec<Entity>, numbers: Numbers) {
    let named = some(all, numbers);
    let (one, other, relation) = (named[0], named[1], usize::from(numbers.3 % 5));
    let mut buffer = world.command_buffer(1).expect("ids are left");
    let counts = |applied| match applied {
        Ok(Applied { despawned, .. }) => (despawned, 0),
        Err(ApplyError::Commands(errors)) => (errors.applied().despawned, errors.len()),
        Err(error) => panic!("{error}"),
    };
    if numbers.0 % 16 == 13 {
        named.iter().for_each(|&entity| buffer.despawn(entity));
        let (ended, _) = counts(world.apply(&mut buffer));
        return assert_eq!(ended, model.despawn_most(&named));
    }
    let new = buffer.spawn(PartOf::of(one));
    of!(relation, record!(buffer, other, new));
    let (_, failed) = counts(world.apply(&mut buffer));
    model.alive.insert(new);
    all.push(new);
    let is_part = model.accepts(1, new, one);
    if is_part {
        model.targets[1].insert(new, one);
    }
    let is_target = model.accepts(relation, other, new);
    if is_target {
        model.targets[relation].insert(other, new);
    }
    assert_eq!(failed, usize::from(!is_part) + usize::from(!is_target));
}

/// Another world that reads the bytes of a state answers alike.
fn read_elsewhere(world: &World, model: &Model, bytes: &[u8]) {
    let mut mirror = self::world();
    mirror.register::<(Four, ChildOf, PartOf, Needs, Target, SlotOf)>();
    let state = mirror.read_snapshot(bytes).expect("it was written");
    mirror.restore(&state).expect("it was read here");
    compare(&mirror, model);
    assert_eq!(mirror.hash(), world.hash());
    assert_eq!(mirror.relation::<ChildOf>().levels(), world.relation::<ChildOf>().levels());
    assert!(orders(&mirror, model) == orders(world, model), "the order of sources");
}

fn case(steps: &[Numbers], theirs: &[Numbers]) {
    let mut worlds = [world(), world()];
    let mut models = [Model::default(), Model::default()];
    let mut ids = [Vec::new(), Vec::new()];
    for &numbers in theirs {
        change(&mut worlds[1], &mut models[1], &mut ids[1], numbers);
    }
    compare(&worlds[1], &models[1]);
    let [world, other] = &mut worlds;
    let [model, their_model] = &mut models;
    let mut saved = (world.snapshot().expect("no buffers"), model.clone(), vec![]);
    for (step, &numbers) in steps.iter().enumerate() {
        change(world, model, &mut ids[0], numbers);
        compare(world, model);
        match step % 16 {
            3 => {
                saved =
                    (world.snapshot().expect("no buffers"), model.clone(), orders(world, model));
                read_elsewhere(world, model, &saved.0.to_bytes().expect("nothing is shared"));
            }
            9 => {
                world.restore(&saved.0).expect("of this world");
                *model = saved.1.clone();
                compare(world, model);
                assert!(
                    saved.2.is_empty() || saved.2 == orders(world, model),
                    "the order of sources"
                );
            }
            12 => {
                // Those without a parent leave.
                let leaving: BTreeSet<_> =
                    world.query::<Entity>().without::<ChildOf>().rows().collect();
                let mut part = model.clone();
                let stay = model.alive.difference(&leaving).copied().collect();
                part.end(&stay);
                model.end(&leaving);
                let order = orders(world, model);
                let moved = other.move_from(world.matching::<Entity>().without::<ChildOf>());
                let moved = moved.expect("built alike");
                let map = |old| moved.get(old).expect("it came");
                their_model.extend(part.mapped(map));
                assert!(stay.is_empty() || order.len() == orders(world, model).len());
                compare(world, model);
                compare(other, their_model);
                // And all come back.
                let back = core::mem::replace(other, self::world());
                let merged = world.merge(back).expect("built alike");
                model.extend(
                    core::mem::take(their_model).mapped(|old| merged.get(old).expect("it came")),
                );
                compare(world, model);
                ids[0] = model.alive.iter().copied().chain(ids[0].drain(..).take(5)).collect();
            }
            _ => {}
        }
    }
    *other = self::world();
    sound(other);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { effort(48) }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lists_and_values_are_those_of_a_list_of_pairs(
        steps in prop::collection::vec(any::<Numbers>(), 1..length(80)),
        theirs in prop::collection::vec(any::<Numbers>(), 0..length(30)),
    ) {
        case(&steps, &theirs);
    }
}
