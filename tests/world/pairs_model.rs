//! Random calls on three relations to many, against lists of pairs.

use std::collections::{BTreeMap, BTreeSet};

use phalanx::command::{Applied, ApplyError};
use phalanx::prelude::*;
use phalanx::sparse::ManyRelation;
use proptest::prelude::*;

use crate::common::components::{Four, sound};
use crate::common::effort::effort;
use crate::common::length;
use crate::common::world;

use super::pairs::{Follows, Likes, Needs};

const LIKES: usize = 0;
const FOLLOWS: usize = 1;
const NEEDS: usize = 2;

/// The state as a list of entities, and of the number of each pair in each relation.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    alive: BTreeSet<Entity>,
    pairs: [BTreeMap<(Entity, Entity), u32>; 3],
}

/// The values of a relation by numbers.
trait Numbered: ManyRelation {
    fn numbered(number: u32) -> Self;
    fn number(&self) -> u32;
}

impl Numbered for Likes {
    fn numbered(weight: u32) -> Self {
        Self { weight }
    }
    fn number(&self) -> u32 {
        self.weight
    }
}

impl Numbered for Follows {
    fn numbered(_: u32) -> Self {
        Self
    }
    fn number(&self) -> u32 {
        0
    }
}

impl Numbered for Needs {
    fn numbered(number: u32) -> Self {
        if number == 0 { Self::Somewhat } else { Self::Badly }
    }
    fn number(&self) -> u32 {
        u32::from(*self == Self::Badly)
    }
}

fn value_of(relation: usize, number: u8) -> u32 {
    [number.into(), 0, u32::from(number % 2)][relation]
}

impl Model {
    /// The entities that go if some are named.
    fn going(&self, named: &[Entity]) -> BTreeSet<Entity> {
        let alive = named.iter().copied().filter(|entity| self.alive.contains(entity));
        let mut going: BTreeSet<_> = alive.collect();
        loop {
            let followers = self.pairs[FOLLOWS].keys().filter(|pair| going.contains(&pair.1));
            let new: Vec<_> = followers.map(|pair| pair.0).collect();
            let before = going.len();
            going.extend(new);
            if going.len() == before {
                return going;
            }
        }
    }

    fn is_refused(&self, named: &[Entity]) -> bool {
        let going = self.going(named);
        let mut all = self.pairs[NEEDS].keys();
        all.any(|(source, target)| going.contains(target) && !going.contains(source))
    }

    fn end(&mut self, going: &BTreeSet<Entity>) {
        self.alive.retain(|entity| !going.contains(entity));
        for pairs in &mut self.pairs {
            pairs.retain(|(source, target), _| !going.contains(source) && !going.contains(target));
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

    /// Despawns the largest set of the named ones that is not refused, found by trial.
    fn despawn_most(&mut self, named: &[Entity]) -> usize {
        let chosen = |bits: u32| -> Vec<_> {
            let all = named.iter().enumerate();
            all.filter(|(at, _)| bits >> at & 1 == 1).map(|(_, &entity)| entity).collect()
        };
        let possible = (0..1u32 << named.len()).filter(|&bits| !self.is_refused(&chosen(bits)));
        let most = possible.max_by_key(|bits| self.going(&chosen(*bits)).len()).unwrap_or(0);
        self.despawn(&chosen(most))
    }

    fn sources(&self, relation: usize) -> BTreeSet<Entity> {
        self.pairs[relation].keys().map(|pair| pair.0).collect()
    }

    fn mapped(&self, map: impl Fn(Entity) -> Entity) -> Self {
        let pairs = |pairs: &BTreeMap<(Entity, Entity), u32>| {
            pairs.iter().map(|(&(a, b), &number)| ((map(a), map(b)), number)).collect()
        };
        Self {
            alive: self.alive.iter().map(|&entity| map(entity)).collect(),
            pairs: self.pairs.each_ref().map(pairs),
        }
    }

    fn extend(&mut self, other: Self) {
        self.alive.extend(other.alive);
        self.pairs.iter_mut().zip(other.pairs).for_each(|(ours, theirs)| ours.extend(theirs));
    }
}

fn same<R: Numbered>(world: &World, model: &Model, relation: usize) {
    let (view, pairs) = (world.relation::<R>(), &model.pairs[relation]);
    let all = view.iter().map(|(source, target, value)| ((source, target), value.number()));
    assert!(all.collect::<BTreeMap<_, _>>() == *pairs && view.len() == pairs.len());
    for &entity in &model.alive {
        let sources: BTreeSet<_> = view.sources(entity).iter().copied().collect();
        let expected = pairs.keys().filter(|pair| pair.1 == entity).map(|pair| pair.0);
        assert!(sources == expected.collect() && sources.len() == view.sources(entity).len());
    }
    for (&(source, target), &number) in pairs {
        assert_eq!(view.get(source, target).map(R::number), Some(number));
    }
    let with: BTreeSet<_> = world.query::<Entity>().with::<R>().rows().collect();
    assert!(with == model.sources(relation));
    let without = world.query::<Entity>().without::<R>().count_rows();
    assert_eq!(without + with.len(), model.alive.len());
}

fn compare(world: &World, model: &Model) {
    sound(world);
    assert!(world.query::<Entity>().rows().collect::<BTreeSet<_>>() == model.alive);
    same::<Likes>(world, model, LIKES);
    same::<Follows>(world, model, FOLLOWS);
    same::<Needs>(world, model, NEEDS);
}

/// The orders of all lists, which a restored state has as well.
fn orders(world: &World, model: &Model) -> Vec<Vec<Entity>> {
    let (likes, needs) = (world.relation::<Likes>(), world.relation::<Needs>());
    let all = |&entity: &Entity| {
        let lists = [likes.sources(entity), likes.targets(entity), needs.sources(entity)];
        lists.map(<[Entity]>::to_vec)
    };
    model.alive.iter().flat_map(all).collect()
}

type Numbers = (u8, u8, u8, u8);

fn some(all: &[Entity], (_, a, b, c): Numbers) -> Vec<Entity> {
    [a, b, c, a ^ b, b ^ c].map(|at| all[usize::from(at) % all.len()]).to_vec()
}

/// One call in the world and in the model. `all` has entities; many are not alive.
fn change(world: &mut World, model: &mut Model, all: &mut Vec<Entity>, numbers: Numbers) {
    if all.len() < 4 {
        all.extend_from_slice(world.spawn_batch([(); 4]));
        model.alive.extend(all.iter());
    }
    let relation = usize::from(numbers.3 % 3);
    match relation {
        LIKES => step::<Likes>(world, model, all, numbers, LIKES),
        FOLLOWS => step::<Follows>(world, model, all, numbers, FOLLOWS),
        _ => step::<Needs>(world, model, all, numbers, NEEDS),
    }
}

fn step<R: Numbered>(
    world: &mut World,
    model: &mut Model,
    all: &mut Vec<Entity>,
    numbers: Numbers,
    relation: usize,
) {
    let (kind, a, ..) = numbers;
    let named = some(all, numbers);
    let (one, other, number) = (named[0], named[1], value_of(relation, a));
    let list: Targets<R> = named[1..4].iter().map(|&to| (to, R::numbered(number))).collect();
    let accepts = named[1..4].iter().all(|target| model.alive.contains(target));
    let put = |model: &mut Model, source| {
        named[1..4].iter().for_each(|&to| _ = model.pairs[relation].insert((source, to), number));
    };
    match kind % 16 {
        0 | 1 => {
            let new = world.try_spawn((Four(a.into()), list)).ok();
            assert_eq!(new.is_some(), accepts);
            if let Some(new) = new {
                model.alive.insert(new);
                put(model, new);
                all.push(new);
            }
        }
        2 => {
            let removed = world.remove::<Targets<R>>(one).map_or(0, |list| list.len());
            let before = model.pairs[relation].len();
            model.pairs[relation].retain(|pair, _| pair.0 != one);
            assert_eq!(removed, before - model.pairs[relation].len());
        }
        3..=5 => {
            let has = model.sources(relation).contains(&one);
            let list = world.get_mut::<R>(one);
            assert_eq!(list.is_ok(), has);
            let Ok(mut list) = list else { return };
            if kind % 2 == 0 {
                let removed = list.remove(other).map(|value| value.number());
                assert_eq!(removed, model.pairs[relation].remove(&(one, other)));
            } else if let Some(value) = list.get_mut(other) {
                *value = R::numbered(number);
                model.pairs[relation].insert((one, other), number);
            }
        }
        6 => {
            let made = world.exchange::<Targets<R>, _>(one, list).is_ok();
            assert_eq!(made, accepts && model.sources(relation).contains(&one));
            if made {
                model.pairs[relation].retain(|pair, _| pair.0 != one);
                put(model, one);
            }
        }
        7 | 8 => {
            let made = world.insert(one, list).is_ok();
            assert_eq!(made, accepts && model.alive.contains(&one));
            if made {
                put(model, one);
            }
        }
        9 | 10 => {
            let made = world.insert(one, R::numbered(number).to(other)).is_ok();
            assert_eq!(made, model.alive.contains(&one) && model.alive.contains(&other));
            if made {
                model.pairs[relation].insert((one, other), number);
            }
        }
        11 => assert_eq!(world.despawn(one).is_ok(), model.despawn(&[one]) > 0),
        12 => assert_eq!(world.despawn_batch(&named), model.despawn(&named)),
        _ => command::<R>(world, model, all, (numbers, relation)),
    }
}

fn command<R: Numbered>(
    world: &mut World,
    model: &mut Model,
    all: &mut Vec<Entity>,
    (numbers, relation): (Numbers, usize),
) {
    let named = some(all, numbers);
    let number = value_of(relation, numbers.2);
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
    let new = buffer.spawn(R::numbered(number).to(named[0]));
    buffer.insert(named[1], R::numbered(number).to(new));
    let (_, failed) = counts(world.apply(&mut buffer));
    model.alive.insert(new);
    all.push(new);
    let pairs = [(new, named[0]), (named[1], new)];
    let made = pairs.map(|(a, b)| model.alive.contains(&a) && model.alive.contains(&b));
    for (pair, _) in pairs.into_iter().zip(made).filter(|(_, made)| *made) {
        model.pairs[relation].insert(pair, number);
    }
    assert_eq!(failed, made.iter().filter(|made| !**made).count());
}

/// Another world that reads the bytes of a state answers alike.
fn read_elsewhere(world: &World, model: &Model, bytes: &[u8]) {
    let mut mirror = self::world();
    mirror.register::<(Four, Targets<Likes>, Targets<Follows>, Targets<Needs>)>();
    let state = mirror.read_snapshot(bytes).expect("it was written");
    mirror.restore(&state).expect("it was read here");
    compare(&mirror, model);
    assert_eq!(mirror.hash(), world.hash());
    assert!(orders(&mirror, model) == orders(world, model), "the orders of lists");
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
    let mut saved = (world.snapshot().expect("no buffers"), model.clone(), Vec::new());
    for (step, &numbers) in steps.iter().enumerate() {
        change(world, model, &mut ids[0], numbers);
        compare(world, model);
        match step % 16 {
            3 => {
                let snapshot = world.snapshot().expect("no buffers");
                read_elsewhere(world, model, &snapshot.to_bytes().expect("nothing is shared"));
                saved = (snapshot, model.clone(), orders(world, model));
            }
            9 => {
                world.restore(&saved.0).expect("of this world");
                *model = saved.1.clone();
                compare(world, model);
                assert!(saved.2.is_empty() || saved.2 == orders(world, model), "the orders");
            }
            12 => {
                // Sources without a target leave.
                let leaving: BTreeSet<_> =
                    world.query::<Entity>().without::<Likes>().rows().collect();
                let mut part = model.clone();
                let stay = model.alive.difference(&leaving).copied().collect();
                part.end(&stay);
                model.end(&leaving);
                let moved = other.move_from(world.matching::<Entity>().without::<Likes>());
                let moved = moved.expect("built alike");
                their_model.extend(part.mapped(|old| moved.get(old).expect("it came")));
                compare(world, model);
                compare(other, their_model);
                // And all come back.
                let merged = world.merge(core::mem::replace(other, self::world()));
                let merged = merged.expect("built alike");
                let came = core::mem::take(their_model);
                model.extend(came.mapped(|old| merged.get(old).expect("it came")));
                compare(world, model);
                ids[0] = model.alive.iter().copied().chain(ids[0].drain(..).take(5)).collect();
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { effort(48) },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn lists_both_ways_are_those_of_a_list_of_pairs(
        steps in prop::collection::vec(any::<Numbers>(), 1..length(80)),
        theirs in prop::collection::vec(any::<Numbers>(), 0..length(30)),
    ) {
        case(&steps, &theirs);
    }
}
