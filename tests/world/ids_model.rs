//! Random calls on a tree of entities that name each other, in columns and in values of pairs,
//! against a list of all ids: each call that gives new ids replaces each of them.

use std::collections::{BTreeMap, BTreeSet};

use phalanx::prelude::*;
use phalanx::snapshot::Snapshot;
use proptest::prelude::*;

use crate::common::components::{Link, sound};
use crate::common::effort::effort;
use crate::common::length;
use crate::common::world;

use super::relations::ChildOf;

#[relation(many, name = "ids.saw")]
#[derive(Debug, PartialEq)]
struct Saw {
    witness: Entity,
    number: u64,
}

/// The parent and the link of each entity, and the value of each pair.
#[derive(Clone, Debug, Default)]
struct Model {
    entities: BTreeMap<Entity, (Option<Entity>, Entity)>,
    pairs: BTreeMap<(Entity, Entity), (Entity, u64)>,
}

impl Model {
    fn is_alive(&self, entity: Entity) -> bool {
        self.entities.contains_key(&entity)
    }

    fn end(&mut self, entity: Entity) -> bool {
        let ended = self.entities.remove(&entity).is_some();
        self.pairs.retain(|&(source, target), _| source != entity && target != entity);
        let parents = self.entities.values_mut().map(|(parent, _)| parent);
        parents.for_each(|parent| *parent = parent.filter(|&parent| parent != entity));
        ended
    }

    fn is_below(&self, mut entity: Entity, other: Entity) -> bool {
        while entity != other {
            let Some(parent) = self.entities[&entity].0 else { return false };
            entity = parent;
        }
        true
    }

    /// Some of the entities, and the relations between them, with other ids.
    fn part(&self, is_in: impl Fn(Entity) -> bool, map: impl Fn(Entity) -> Entity) -> Self {
        let entity = |(&one, &(parent, link)): (&Entity, &(Option<Entity>, Entity))| {
            (map(one), (parent.filter(|&parent| is_in(parent)).map(&map), map(link)))
        };
        let pair =
            |(&(source, target), &(witness, number)): (&(Entity, Entity), &(Entity, u64))| {
                ((map(source), map(target)), (map(witness), number))
            };
        let inner = self.pairs.iter().filter(|(pair, _)| is_in(pair.0) && is_in(pair.1));
        Self {
            entities: self.entities.iter().filter(|(one, _)| is_in(**one)).map(entity).collect(),
            pairs: inner.map(pair).collect(),
        }
    }

    fn extend(&mut self, other: Self) {
        self.entities.extend(other.entities);
        self.pairs.extend(other.pairs);
    }
}

fn compare(world: &World, model: &Model) {
    sound(world);
    let parents = world.relation::<ChildOf>();
    let all = world.query::<(Entity, &Link)>();
    let found = all.rows().map(|(one, link)| (one, (parents.target(one), link.0)));
    assert_eq!(found.collect::<BTreeMap<_, _>>(), model.entities);
    let pairs = world.relation::<Saw>();
    let found = pairs.iter().map(|(a, b, saw)| ((a, b), (saw.witness, saw.number)));
    assert_eq!(found.collect::<BTreeMap<_, _>>(), model.pairs);
}

type Numbers = (u8, u8, u8, u8);

#[derive(Default)]
struct State {
    world: World,
    model: Model,
    /// Entities, some of which are not alive.
    all: Vec<Entity>,
    saved: Option<(Snapshot, Model)>,
}

impl State {
    fn step(&mut self, (kind, a, b, c): Numbers) {
        let Self { world, model, all, .. } = self;
        if all.len() < 4 {
            all.extend_from_slice(world.spawn_batch([Link(Entity::NULL); 4]));
            model.entities.extend(all.iter().map(|&one| (one, (None, Entity::NULL))));
        }
        let [one, other, third] = [a, b, c].map(|at| all[usize::from(at) % all.len()]);
        let number = u64::from(kind);
        let are_alive = model.is_alive(one) && model.is_alive(other);
        match kind % 16 {
            0..=2 => {
                let parent = Some(one).filter(|&parent| model.is_alive(parent));
                let new = world.spawn(Link(other));
                if let Some(parent) = parent {
                    world.insert(new, ChildOf::of(parent)).expect("the parent is alive");
                }
                model.entities.insert(new, (parent, other));
                all.push(new);
            }
            3..=5 => {
                let pair = Saw { witness: third, number }.of(other);
                assert_eq!(world.insert(one, pair).is_ok(), are_alive);
                if are_alive {
                    model.pairs.insert((one, other), (third, number));
                }
            }
            6 => {
                let made = world.insert(one, ChildOf::of(other)).is_ok();
                assert_eq!(made, are_alive && !model.is_below(other, one));
                if made {
                    model.entities.get_mut(&one).expect("it is alive").0 = Some(other);
                }
            }
            7 => assert_eq!(world.despawn(one).is_ok(), model.end(one)),
            8 if model.is_alive(one) => {
                world.get_mut::<Link>(one).expect("it is alive").0 = third;
                model.entities.get_mut(&one).expect("it is alive").1 = third;
            }
            9 | 10 if model.is_alive(one) && all.len() < 200 => self.copy(one, other),
            11 => self.save(),
            12 => self.restore(),
            13 => self.leave_and_return(a % 2 == 0),
            14 => self.merge_into_another(),
            _ => {}
        }
    }

    /// Copies a tree, perhaps below another entity.
    fn copy(&mut self, root: Entity, parent: Entity) {
        let Self { world, model, all, .. } = self;
        let parent = Some(parent).filter(|&parent| model.is_alive(parent));
        let mut old = vec![root];
        old.extend(world.relation::<ChildOf>().descendants(root));
        let copies = world.instantiate_tree::<ChildOf>(root, parent).expect("it is alive");
        assert_eq!(copies.len(), old.len());
        let new: BTreeMap<_, _> = old.iter().copied().zip(copies.iter().copied()).collect();
        let map = |one: Entity| new.get(&one).copied().unwrap_or(one);
        let mut copy = model.part(|one| new.contains_key(&one), map);
        // Pairs with targets outside of the tree are copied as well.
        let of_tree = model.pairs.iter().filter(|(pair, _)| new.contains_key(&pair.0));
        let of_copy = of_tree.map(|(&(source, target), &(witness, number))| {
            ((map(source), map(target)), (map(witness), number))
        });
        copy.pairs.extend(of_copy);
        copy.entities.get_mut(&copies[0]).expect("it is the root").0 = parent;
        model.extend(copy);
        all.extend(copies);
    }

    /// Another world that reads the bytes of the state names the same entities.
    fn save(&mut self) {
        let state = self.world.snapshot().expect("no buffers");
        let mut mirror = world();
        mirror.register::<(Link, ChildOf, Targets<Saw>)>();
        let bytes = state.to_bytes().expect("nothing is shared");
        let read = mirror.read_snapshot(&bytes).expect("it was written");
        mirror.restore(&read).expect("it was read here");
        compare(&mirror, &self.model);
        assert_eq!(mirror.hash(), self.world.hash());
        self.saved = Some((state, self.model.clone()));
    }

    fn restore(&mut self) {
        if let Some((state, model)) = &self.saved {
            self.world.restore(state).expect("of this world");
            self.model = model.clone();
        }
    }

    /// The sources of pairs, or all others, leave, and come back with other ids. Ids of entities
    /// in the other world become null in their values.
    fn leave_and_return(&mut self, sources: bool) {
        let Self { world, model, .. } = self;
        let with: BTreeSet<_> = model.pairs.keys().map(|pair| pair.0).collect();
        let leaves = |one: Entity| model.is_alive(one) && with.contains(&one) == sources;
        let mut other = self::world();
        other.spawn_batch([Link(Entity::NULL); 3]);
        let moved = match sources {
            true => other.move_from(world.matching::<Entity>().with::<Saw>()),
            false => other.move_from(world.matching::<Entity>().without::<Saw>()),
        };
        let moved = moved.expect("built alike");
        let part = model.part(leaves, |old| moved.get(old).unwrap_or(Entity::NULL));
        *model = model.part(|one| model.is_alive(one) && !leaves(one), |one| one);
        compare(world, model);
        let others = other.query::<(Entity, &Link)>().rows().map(|(one, link)| (one, link.0));
        let others: BTreeMap<_, _> = others.map(|(one, link)| (one, (None, link))).collect();
        let mut theirs = Model { entities: others, ..Model::default() };
        theirs.extend(part);
        compare(&other, &theirs);
        let merged = world.merge(other).expect("built alike");
        model.extend(theirs.part(|_| true, |old| merged.get(old).unwrap_or(Entity::NULL)));
        self.all = self.model.entities.keys().copied().chain(self.all.drain(..).take(5)).collect();
    }

    /// All entities go to a world in which others have their indices.
    fn merge_into_another(&mut self) {
        let mut other = world();
        let theirs = other.spawn_batch([Link(Entity::NULL); 2]).to_vec();
        let merged = other.merge(core::mem::replace(&mut self.world, world()));
        let merged = merged.expect("built alike");
        self.world = other;
        self.model = self.model.part(|_| true, |old| merged.get(old).unwrap_or(Entity::NULL));
        self.model.entities.extend(theirs.iter().map(|&one| (one, (None, Entity::NULL))));
        self.all = self.model.entities.keys().copied().collect();
        self.saved = None;
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { effort(64) },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn each_id_is_replaced_where_entities_get_new_ones(
        steps in prop::collection::vec(any::<Numbers>(), 1..length(80)),
    ) {
        let mut state = State { world: world(), ..State::default() };
        for numbers in steps {
            state.step(numbers);
            compare(&state.world, &state.model);
        }
    }
}
