//! Components that are switched off and on: the rows that queries see, and bits that follow their
//! rows.

use std::collections::{BTreeMap, BTreeSet};

use phalanx::prelude::*;

use crate::common::components::{Tag, sound};
use crate::common::world;

#[component(enableable)]
#[derive(Debug, PartialEq)]
pub(crate) struct Health(pub(crate) u32);
#[component(enableable)]
#[derive(Debug, PartialEq)]
pub(crate) struct Awake;
/// A wide row, so that chunks have few rows.
#[component(enableable)]
#[derive(Debug, PartialEq)]
struct Wide([u8; 200]);

/// The expected components of an entity, and their enable bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Model {
    health: Option<(u32, bool)>,
    awake: Option<bool>,
    wide: Option<bool>,
    tag: bool,
}

impl Model {
    fn is_healthy(&self) -> bool {
        self.health.is_some_and(|(_, on)| on)
    }

    fn is_awake(&self) -> bool {
        self.awake == Some(true)
    }
}

/// Pseudo-random numbers.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn few(&mut self, n: usize) -> u32 {
        u32::try_from(self.below(n)).unwrap()
    }

    fn pick(&mut self, model: &BTreeMap<Entity, Model>) -> Option<Entity> {
        let n = self.below(model.len().max(1));
        model.keys().nth(n).copied()
    }
}

fn those(model: &BTreeMap<Entity, Model>, of: impl Fn(&Model) -> bool) -> BTreeSet<Entity> {
    model.iter().filter(|(_, model)| of(model)).map(|(&entity, _)| entity).collect()
}

/// The entities of a query, in all ways to read them.
fn seen<F: Filter>(query: &Query<'_, Entity, F>) -> BTreeSet<Entity> {
    let rows: Vec<Entity> = query.iter().flatten().copied().collect();
    assert_eq!(query.copies().entities(), rows);
    assert_eq!(query.count_rows(), rows.len());
    assert_eq!(query.copies().offsets().last(), Some(&rows.len()));
    assert!(rows.iter().all(|&entity| query.contains(entity) && query.get(entity) == Ok(entity)));
    let set: BTreeSet<_> = rows.iter().copied().collect();
    assert_eq!(set.len(), rows.len(), "a row is seen twice");
    set
}

/// Compares the world with the model.
fn compare(world: &World, model: &BTreeMap<Entity, Model>) {
    sound(world);
    assert_eq!(world.len(), model.len());
    for (&entity, model) in model {
        let health = world.get::<Health>(entity).ok().map(|health| health.0);
        assert_eq!(health, model.health.map(|(health, _)| health));
        assert_eq!(world.is_enabled::<Health>(entity).ok(), model.health.map(|(_, on)| on));
        assert_eq!(world.is_enabled::<Awake>(entity).ok(), model.awake);
        assert_eq!(world.is_enabled::<Wide>(entity).ok(), model.wide);
        assert_eq!(world.has::<Tag>(entity), model.tag);
    }
    let all = || world.query::<Entity>();
    assert_eq!(seen(&all().with::<Awake>()), those(model, Model::is_awake));
    assert_eq!(seen(&all().without::<Awake>()), those(model, |model| !model.is_awake()));
    assert_eq!(
        seen(&all().filter::<WithDisabled<Awake>>()),
        those(model, |model| model.awake == Some(false))
    );
    assert_eq!(
        seen(&all().with::<Awake>().filter::<IgnoreEnabled>()),
        those(model, |model| model.awake.is_some())
    );
    assert_eq!(
        seen(&all().without::<Awake>().filter::<IgnoreEnabled>()),
        those(model, |model| model.awake.is_none())
    );
    assert_eq!(
        seen(&all().filter::<AnyOf<(Awake, Health)>>()),
        those(model, |model| model.is_awake() || model.is_healthy())
    );
    assert_eq!(
        seen(&all().filter::<AnyOf<(Awake, Tag)>>()),
        those(model, |model| model.is_awake() || model.tag)
    );
    assert_eq!(
        seen(&all().with::<Health>().without::<Wide>().with::<Tag>()),
        those(model, |model| model.is_healthy() && model.wide != Some(true) && model.tag)
    );
    let healths: u64 =
        world.query::<&Health>().copies().gather().iter().map(|h: &Health| u64::from(h.0)).sum();
    let enabled = model.values().filter_map(|model| model.health.filter(|(_, on)| *on));
    assert_eq!(healths, enabled.map(|(health, _)| u64::from(health)).sum::<u64>());
    let mut on = BTreeSet::new();
    for (entities, awake) in &world.query::<(Entity, Enabled<Awake>)>() {
        assert_eq!(awake.count(), awake.into_iter().filter(|on| *on).count());
        on.extend(entities.iter().zip(awake).filter(|(_, on)| *on).map(|(&entity, _)| entity));
    }
    assert_eq!(on, those(model, Model::is_awake));
    let mut masked = BTreeSet::new();
    for (mask, entities) in world.query::<Entity>().with::<Awake>().masked() {
        assert!(!mask.none(), "a chunk of which nothing is seen");
        masked.extend((0..mask.len()).filter(|&row| mask.get(row)).map(|row| entities[row]));
    }
    assert_eq!(masked, on);
    let (mut chunks, mut first) = (BTreeSet::new(), 0);
    for chunk in world.query::<&Awake>().chunks() {
        assert_eq!((chunk.first_row(), chunk.rows().len()), (first, chunk.len()));
        first += chunk.len();
        chunks.extend(chunk.entities());
    }
    assert_eq!(chunks, on);
}

/// One random change of both.
#[expect(clippy::too_many_lines, reason = "a list of changes, each of which is short")]
fn step(world: &mut World, model: &mut BTreeMap<Entity, Model>, chance: &mut Chance) {
    let on = chance.below(2) == 0;
    match chance.below(22) {
        0 | 1 => {
            let n = chance.few(90);
            let ids = world.spawn_batch((0..n).map(|i| (Health(i), Awake))).to_vec();
            for (i, entity) in (0..).zip(ids) {
                let health = Some((i, true));
                model.insert(entity, Model { health, awake: Some(true), ..Model::default() });
            }
        }
        2 => {
            let entity = world.spawn((Awake, Wide([1; 200]), Tag));
            let (awake, wide) = (Some(true), Some(true));
            model.insert(entity, Model { awake, wide, tag: true, ..Model::default() });
        }
        3..=6 => {
            for _ in 0..20 {
                let Some(entity) = chance.pick(model) else { return };
                let on = chance.below(2) == 0;
                let entry = model.get_mut(&entity).unwrap();
                let was = world.set_enabled::<Awake>(entity, on).ok();
                assert_eq!(was, entry.awake);
                entry.awake = entry.awake.map(|_| on);
                let mut healths = world.lookup_mut::<Health>();
                let was = healths.set_enabled(entity, !on).ok();
                assert_eq!(was, entry.health.map(|(_, on)| on));
                assert_eq!(healths.is_enabled(entity).ok(), entry.health.map(|_| !on));
                entry.health = entry.health.map(|(health, _)| (health, !on));
            }
        }
        7 => {
            let Some(entity) = chance.pick(model) else { return };
            let entry = model.get_mut(&entity).unwrap();
            world.insert(entity, (Health(9), Tag)).unwrap();
            // Inserted components are enabled.
            entry.health = Some((9, true));
            entry.tag = true;
        }
        8 => {
            let Some(entity) = chance.pick(model) else { return };
            let entry = model.get_mut(&entity).unwrap();
            assert_eq!(world.remove::<Awake>(entity).is_ok(), entry.awake.is_some());
            entry.awake = None;
        }
        9 => {
            let Some(entity) = chance.pick(model) else { return };
            world.despawn(entity).unwrap();
            model.remove(&entity);
        }
        10 => {
            let Some(prototype) = chance.pick(model) else { return };
            let (copy, n) = (model[&prototype], chance.below(40));
            let ids = world.instantiate(prototype, n).unwrap().to_vec();
            model.extend(ids.into_iter().map(|entity| (entity, copy)));
        }
        11 => {
            let gone: Vec<_> = (0..5).filter_map(|_| chance.pick(model)).collect();
            world.despawn_batch(&gone);
            model.retain(|entity, _| !gone.contains(entity));
        }
        12 => {
            let count = match on {
                true => world.matching::<Entity>().with::<Tag>().enable::<Awake>(),
                false => world.matching::<Entity>().with::<Tag>().disable::<Awake>(),
            };
            let switched = those(model, |model| model.tag && model.awake == Some(!on));
            assert_eq!(count, switched.len());
            switched.iter().for_each(|entity| model.get_mut(entity).unwrap().awake = Some(on));
        }
        13 => {
            // Switches the component that it filters by.
            let count = world.matching::<&Health>().with::<Awake>().disable::<Health>();
            let switched = those(model, |model| model.is_healthy() && model.is_awake());
            assert_eq!(count, switched.len());
            for entity in switched {
                model.get_mut(&entity).unwrap().health.as_mut().unwrap().1 = false;
            }
        }
        14 => {
            let count = world.matching::<&Awake>().without::<Tag>().insert(Tag).unwrap();
            let changed = those(model, |model| model.is_awake() && !model.tag);
            assert_eq!(count, changed.len());
            changed.iter().for_each(|entity| model.get_mut(entity).unwrap().tag = true);
        }
        15 => {
            let count = world
                .matching::<Entity>()
                .filter::<WithDisabled<Awake>>()
                .remove::<(Tag, Health)>();
            let changed =
                |model: &Model| model.awake == Some(false) && (model.tag || model.health.is_some());
            let changed = those(model, changed);
            assert_eq!(count, changed.len());
            for entity in changed {
                let entry = model.get_mut(&entity).unwrap();
                (entry.tag, entry.health) = (false, None);
            }
        }
        16 if chance.below(4) == 0 => {
            let count = world.matching::<&Health>().filter::<WithDisabled<Awake>>().despawn();
            let gone = those(model, |model| model.is_healthy() && model.awake == Some(false));
            assert_eq!(count, gone.len());
            model.retain(|entity, _| !gone.contains(entity));
        }
        17 => {
            let kernel = |healths: &[Health], keep: &mut [bool]| {
                healths.iter().zip(keep).for_each(|(health, keep)| *keep = health.0 % 8 != 7);
            };
            world.matching::<&Health>().with::<Awake>().retain(kernel);
            model.retain(|_, model| {
                let goes = |(health, on): (u32, bool)| on && health % 8 == 7;
                !(model.is_awake() && model.health.is_some_and(goes))
            });
        }
        18 => {
            let Some(entity) = chance.pick(model) else { return };
            let mut buffer = world.command_buffer(0).unwrap();
            buffer.set_enabled::<Awake>(entity, on);
            buffer.set_enabled::<Awake>(entity, !on);
            buffer.insert(entity, Wide([2; 200]));
            buffer.set_enabled::<Wide>(entity, false);
            buffer.disable_where::<Health, &Wide, Without<Awake>>();
            buffer.enable_where::<Wide, Entity, WithDisabled<Wide>>();
            world.apply(&mut buffer).unwrap();
            let entry = model.get_mut(&entity).unwrap();
            entry.awake = entry.awake.map(|_| !on);
            entry.wide = Some(false);
            for entry in model.values_mut() {
                if entry.wide == Some(true) && !entry.is_awake() {
                    entry.health = entry.health.map(|(health, _)| (health, false));
                }
                entry.wide = entry.wide.map(|_| true);
            }
        }
        19 => {
            let kernel = |entities: &[Entity], awake: &mut phalanx::rows::EnabledRowsMut<'_>| {
                awake.assign(|row| entities[row].index().is_multiple_of(3));
            };
            for (entities, mut awake) in world.query_mut::<(Entity, EnabledMut<Awake>)>() {
                kernel(entities, &mut awake);
            }
            for (entity, entry) in model.iter_mut() {
                entry.awake = entry.awake.map(|_| entity.index().is_multiple_of(3));
            }
        }
        20 => {
            for (mut health, mut awake) in
                world.query_mut::<(EnabledMut<Health>, EnabledMut<Awake>)>()
            {
                health.fill(on);
                let middle = awake.len() / 2;
                awake.set(middle, on);
                assert_eq!((health.get(middle), awake.get(middle)), (on, on));
                awake.fill(!on);
            }
            for entry in model.values_mut().filter(|entry| entry.awake.is_some()) {
                if let Some(health) = &mut entry.health {
                    (health.1, entry.awake) = (on, Some(!on));
                }
            }
        }
        _ => {
            world.memory_mut().compact(usize::MAX);
            world.query_mut::<(&mut Health, &Awake)>().rows().for_each(|(health, _)| health.0 += 1);
            for entry in model.values_mut().filter(|entry| entry.is_awake()) {
                if let Some((health, true)) = &mut entry.health {
                    *health += 1;
                }
            }
        }
    }
}

#[test]
fn what_queries_see_is_what_a_model_says() {
    for seed in 0..if cfg!(miri) { 1 } else { 12 } {
        let (mut world, mut model, mut chance) = (world(), BTreeMap::new(), Chance(seed));
        for _ in 0..if cfg!(miri) { 25 } else { 150 } {
            step(&mut world, &mut model, &mut chance);
            compare(&world, &model);
        }
    }
}

#[test]
fn bits_are_in_the_hash_and_equal_calls_make_equal_hashes() {
    let run = |seed| {
        let (mut world, mut model, mut chance) = (world(), BTreeMap::new(), Chance(seed));
        (0..60).for_each(|_| step(&mut world, &mut model, &mut chance));
        world
    };
    let [mut a, b] = [run(5), run(5)];
    assert_eq!(a.hash(), b.hash());
    let entity = a.spawn(Awake);
    let before = a.hash();
    a.set_enabled::<Awake>(entity, true).unwrap();
    assert_eq!(a.hash(), before, "nothing was switched");
    a.set_enabled::<Awake>(entity, false).unwrap();
    assert_ne!(a.hash(), before);
}
