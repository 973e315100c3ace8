//! Random calls on an ordered tree, against a list of sources for each target.

use std::collections::BTreeMap;

use phalanx::prelude::*;
use phalanx::snapshot::Snapshot;
use proptest::prelude::*;

use crate::common::components::{Four, sound};
use crate::common::effort::effort;
use crate::common::length;
use crate::common::world;

use super::ordered::SlotOf;
use super::snapshot_shared::bytes_of;

#[derive(Clone, Default)]
struct Model {
    /// The living entities, each with its sources.
    lists: BTreeMap<Entity, Vec<Entity>>,
}

impl Model {
    fn target(&self, source: Entity) -> Option<Entity> {
        let mut lists = self.lists.iter();
        lists.find(|(_, sources)| sources.contains(&source)).map(|(target, _)| *target)
    }

    fn accepts(&self, source: Entity, target: Entity) -> bool {
        let mut above = core::iter::successors(Some(target), |&above| self.target(above));
        self.lists.contains_key(&source)
            && self.lists.contains_key(&target)
            && above.all(|above| above != source)
    }

    fn remove(&mut self, source: Entity) {
        self.lists.values_mut().for_each(|sources| sources.retain(|&one| one != source));
    }

    /// Returns whether the relation is accepted.
    fn put(&mut self, source: Entity, target: Entity, place: Option<usize>) -> bool {
        let accepts = self.accepts(source, target);
        if accepts && (place.is_some() || self.target(source) != Some(target)) {
            self.remove(source);
            let list = self.lists.get_mut(&target).expect("it is alive");
            list.insert(place.unwrap_or(list.len()).min(list.len()), source);
        }
        accepts
    }

    fn spawn(&mut self, entity: Entity, target: Entity, place: Option<usize>) {
        self.lists.insert(entity, Vec::new());
        assert!(self.put(entity, target, place), "the world has taken it");
    }

    fn end(&mut self, entity: Entity) -> bool {
        self.remove(entity);
        self.lists.remove(&entity).is_some()
    }

    fn depth_first(&self, entity: Entity) -> Vec<Entity> {
        let below = |&source: &Entity| {
            let mut list = vec![source];
            list.extend(self.depth_first(source));
            list
        };
        self.lists[&entity].iter().flat_map(below).collect()
    }

    fn level_order(&self, root: Entity) -> Vec<Entity> {
        let mut list = vec![root];
        let mut next = 0;
        while next < list.len() {
            list.extend_from_slice(&self.lists[&list[next]]);
            next += 1;
        }
        list
    }

    fn mapped(&self, map: impl Fn(Entity) -> Entity) -> Self {
        let list = |(target, sources): (&Entity, &Vec<Entity>)| {
            (map(*target), sources.iter().map(|&source| map(source)).collect())
        };
        Self { lists: self.lists.iter().map(list).collect() }
    }
}

fn compare(world: &World, model: &Model) {
    sound(world);
    let (view, rows) = (world.relation::<SlotOf>(), world.query::<Entity>());
    assert_eq!(world.len(), model.lists.len());
    assert_eq!(view.len(), model.lists.values().map(Vec::len).sum::<usize>());
    for (&target, sources) in &model.lists {
        assert_eq!(view.sources(target), sources);
        assert!(view.rows_of(target, &rows).eq(sources.iter().copied()));
        for (place, &source) in sources.iter().enumerate() {
            assert_eq!(view.place(source), Some(place));
            assert_eq!(world.get::<SlotOf>(source).ok().as_deref(), Some(&SlotOf::of(target)));
        }
        if model.target(target).is_none() {
            assert_eq!(view.place(target), None);
            assert!(view.depth_first(target).eq(model.depth_first(target)));
            assert_eq!(view.descendants(target), model.level_order(target)[1..]);
        }
    }
}

fn slot(target: Entity, place: Option<usize>) -> SlotOf {
    let slot = SlotOf::of(target);
    place.map_or(slot, |place| slot.at(place))
}

type Numbers = (u8, u8, u8, u8);

struct State {
    world: World,
    model: Model,
    /// Entities, of which some are not alive.
    all: Vec<Entity>,
    saved: Option<(Snapshot, Model)>,
}

impl State {
    fn new() -> Self {
        let (mut world, mut model) = (world(), Model::default());
        let all = world.spawn_batch([(); 6]).to_vec();
        all.iter().for_each(|&one| drop(model.lists.insert(one, Vec::new())));
        Self { world, model, all, saved: None }
    }

    fn step(&mut self, (kind, a, b, c): Numbers) {
        let Self { world, model, all, .. } = self;
        let [one, other, third] = [a, b, a ^ b].map(|at| all[usize::from(at) % all.len()]);
        let is_alive = model.lists.contains_key(&other);
        let place = match c % 4 {
            0 => None,
            1 => Some(usize::from(c / 4 % 3)),
            2 => Some(usize::from(c / 4)),
            _ => Some(usize::MAX - usize::from(c % 8)),
        };
        match kind % 16 {
            0..=4 => {
                let made = world.insert(one, slot(other, place)).is_ok();
                assert_eq!(made, model.put(one, other, place));
            }
            5 | 6 if is_alive => {
                let rows = [1, 2, 3].map(|number| (Four(number), slot(other, place)));
                let new = world.spawn_batch(rows).to_vec();
                new.iter().for_each(|&one| model.spawn(one, other, place));
                all.extend(new);
            }
            7 => {
                let removed = world.remove::<SlotOf>(one).ok().map(|slot| slot.target());
                assert_eq!(removed, model.target(one));
                model.remove(one);
            }
            8 => {
                let had = model.target(one).is_some();
                let accepts = had && model.accepts(one, other);
                let made = world.exchange::<SlotOf, _>(one, slot(other, place)).is_ok();
                assert_eq!(made, accepts);
                if made {
                    model.remove(one);
                    model.put(one, other, place);
                }
            }
            9 => assert_eq!(world.despawn(one).is_ok(), model.end(one)),
            10 => {
                let ended = world.despawn_batch(&[one, other, third, one]);
                let named = [one, other, third];
                assert_eq!(ended, named.iter().filter(|&&entity| model.end(entity)).count());
            }
            11 => self.command([one, other, third], place),
            12 if is_alive && all.len() < 200 => {
                let old = model.level_order(other);
                let parent = Some(third).filter(|third| model.lists.contains_key(third));
                let copies = world.instantiate_tree::<SlotOf>(other, parent).expect("alive");
                let part =
                    Model { lists: old.iter().map(|&e| (e, model.lists[&e].clone())).collect() };
                let map = |e| copies[old.iter().position(|&one| one == e).expect("in the tree")];
                model.lists.extend(part.mapped(map).lists);
                if let Some(parent) = parent {
                    model.put(copies[0], parent, None);
                }
                all.extend(copies);
            }
            13 => self.save(),
            14 => self.restore(),
            15 if a < 64 => self.leave_and_return(),
            _ => {}
        }
    }

    fn command(&mut self, [one, other, third]: [Entity; 3], place: Option<usize>) {
        let Self { world, model, all, .. } = self;
        let mut buffer = world.command_buffer(1).expect("ids are left");
        let new = buffer.spawn(slot(one, place));
        buffer.insert(other, slot(new, place));
        buffer.insert(third, slot(one, place));
        drop(world.apply(&mut buffer)); // the model knows what is refused
        model.lists.insert(new, Vec::new());
        model.put(new, one, place);
        model.put(other, new, place);
        model.put(third, one, place);
        all.push(new);
    }

    fn save(&mut self) {
        let state = self.world.snapshot().expect("no buffers");
        let mut mirror = world();
        mirror.register::<(Four, SlotOf)>();
        let read = mirror.read_snapshot(&bytes_of(&mut self.world)).expect("it was written");
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

    /// Entities without a target leave, and lose the sources that stay; all come back.
    fn leave_and_return(&mut self) {
        let Self { world, model, .. } = self;
        let mut other = self::world();
        let moved = other.move_from(world.matching::<Entity>().without::<SlotOf>());
        let moved = moved.expect("built alike");
        let is_root = |entity: &Entity| moved.get(*entity).is_some();
        let roots: Vec<_> = model.lists.keys().copied().filter(is_root).collect();
        assert!(roots.iter().all(|&root| model.target(root).is_none()));
        roots.iter().for_each(|&root| assert!(model.end(root)));
        compare(world, model);
        // A tree that leaves as a whole keeps its order.
        other.spawn(());
        let merged = other.merge(core::mem::replace(world, self::world())).expect("alike");
        *model = model.mapped(|old| merged.get(old).expect("it came"));
        for one in other.query::<Entity>().rows() {
            model.lists.entry(one).or_default();
        }
        *world = other;
        compare(world, model);
        self.all = self.model.lists.keys().copied().collect();
        self.saved = None;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { effort(64) }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sources_stand_in_the_order_of_a_list(
        steps in prop::collection::vec(any::<Numbers>(), 1..length(80)),
    ) {
        let mut state = State::new();
        for numbers in steps {
            state.step(numbers);
            compare(&state.world, &state.model);
        }
    }
}
