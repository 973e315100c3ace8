//! A schedule of a few systems, which runs on two threads, and on one in the twin.

use phalanx::prelude::*;

use crate::chunks::Rule;
use crate::outcome::{DONE, Fault as _, HELD, Outcome};
use crate::parts::{Byte, Four, Half, Mark, Odd, Shape, Sixteen, Tag, Twelve};
use crate::playback::Playback;
use crate::relations::{ChildOf, Kind, Likes, SlotOf};
use crate::trial::Trial;

/// A resource: the parameters of the systems in this run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Orders {
    number: u32,
    spawns: u32,
}

impl Orders {
    const fn concern(self, entity: Entity) -> bool {
        entity.index() % 7 == self.number % 7
    }
}

fn write_fours(fours: Query<'_, (Entity, &mut Four), Without<Tag>>, orders: Res<'_, Orders>) {
    fours.par().for_each_chunk(|(_, column)| column.fill(Four::make(orders.number)));
}

fn write_some(
    bearers: Query<'_, Entity, With<Twelve>>,
    mut twelves: LookupMut<'_, Twelve>,
    orders: Res<'_, Orders>,
) {
    for &entity in bearers.into_iter().flatten().filter(|entity| orders.concern(**entity)) {
        *twelves.get_mut(entity).expect("it has one") = Twelve::make(orders.number);
    }
}

fn cull(bytes: Query<'_, (Entity, &Byte)>, mut commands: Commands<'_>, orders: Res<'_, Orders>) {
    commands.on_dead_entity(DeadEntityPolicy::Ignore);
    for (entity, _) in bytes.rows().filter(|(entity, _)| orders.concern(*entity)) {
        commands.despawn(entity);
    }
}

fn breed(
    halves: Query<'_, Entity, With<Half>>,
    mut commands: Commands<'_>,
    orders: Res<'_, Orders>,
) {
    commands.on_dead_entity(DeadEntityPolicy::Ignore);
    for &entity in halves.into_iter().flatten() {
        commands.insert(entity, (Mark::make(0), Odd::make(orders.number)));
    }
    for _ in 0..orders.spawns {
        commands.spawn((Sixteen::make(orders.number), Byte::make(orders.number)));
    }
}

/// Concerned children like their parents, and leave them. The others take the place of a child.
fn part(
    bearers: Query<'_, Entity, With<Twelve>>,
    tree: Relation<'_, ChildOf>,
    mut commands: Commands<'_>,
    orders: Res<'_, Orders>,
) {
    commands.on_dead_entity(DeadEntityPolicy::Ignore);
    for &entity in bearers.into_iter().flatten().filter(|entity| orders.concern(**entity)) {
        if let Some(parent) = tree.target(entity) {
            commands.remove::<ChildOf>(entity);
            commands.insert(entity, Likes::value(parent, orders.number));
        } else if let Some(&child) = tree.sources(entity).iter().min() {
            commands.insert(entity, SlotOf::value(child, orders.number));
        }
    }
}

/// Runs after a sync point, so its query also finds the entities that `breed` has spawned.
fn wean(bred: Query<'_, Entity, With<Sixteen>>, mut commands: Commands<'_>) {
    for &entity in bred.into_iter().flatten() {
        commands.remove::<Odd>(entity);
    }
}

pub(crate) fn schedule(threads: usize) -> Schedule {
    let mut schedule = Schedule::new();
    schedule.threads(threads);
    schedule.add(write_fours);
    schedule.add(write_some);
    schedule.add(cull);
    schedule.add(breed);
    schedule.add(part);
    schedule.sync();
    schedule.add(wean);
    schedule
}

impl Playback<'_> {
    /// The parent of an entity, and its least child.
    fn relatives(&self, entity: Entity) -> (Option<Entity>, Option<Entity>) {
        let tree = self.relations().of::<ChildOf>();
        (tree.target(entity), tree.sources(entity).iter().min().copied())
    }

    /// The commands of the system [`part`].
    fn part(
        &mut self,
        entity: Entity,
        (parent, child): (Option<Entity>, Option<Entity>),
        number: u32,
    ) {
        if !self.is_alive(entity) {
            return;
        }
        // Those with a dead target are ignored.
        if let Some(parent) = parent {
            self.unrelate::<ChildOf>(entity);
            _ = self.relate::<Likes>(entity, parent, number);
        } else if let Some(child) = child {
            _ = self.relate::<SlotOf>(entity, child, number);
        }
    }
}

impl Trial {
    pub(crate) fn run_schedule(&mut self, number: u32) -> Outcome {
        // Three systems record commands in parallel, and each may use a third of the remaining ids.
        let room = u32::try_from(self.model.ids.available() / 3).expect("ids are 32 bits");
        let orders = Orders { number, spawns: room.min(number % 40) };
        let refused = self.step(|side| {
            side.world.insert_resource(orders);
            match side.schedule.run(&mut side.world) {
                Ok(()) => 0,
                Err(ScheduleError::Commands(failed)) => {
                    assert_eq!(failed.first.fault.word(), HELD, "all else is ignored");
                    failed.count
                }
                Err(error) => panic!("only despawns are errors: {error}"),
            }
        });
        self.unread.age();
        let mut playback = Playback::new(&mut self.model, 0);
        playback.write_where(|set| set & (Four::SET | Tag::SET) == Four::SET, Four::SET, number);
        let concerned = |entity: &&Entity| orders.concern(**entity);
        let living: Vec<Entity> = playback.living().to_vec();
        for &entity in living.iter().filter(concerned) {
            if playback.has(entity, Twelve::SET) {
                playback.change(entity, (0, Twelve::SET), number);
            }
        }
        let parting: Vec<_> = living
            .iter()
            .filter(concerned)
            .filter(|entity| playback.has(**entity, Twelve::SET))
            .map(|&entity| (entity, playback.relatives(entity)))
            .collect();
        let culled = living.iter().filter(concerned).filter(|e| playback.has(**e, Byte::SET));
        let kept = playback.despawn_most(culled.copied().collect());
        assert_eq!(refused, kept.len() as u64, "entities that are held");
        for &entity in &living {
            if playback.has(entity, Half::SET) {
                playback.change(entity, (0, Mark::SET | Odd::SET), number);
            }
        }
        for _ in 0..orders.spawns {
            playback.stand_in(Sixteen::SET | Byte::SET, number);
        }
        for (entity, relatives) in parting {
            playback.part(entity, relatives, number);
        }
        playback.remove_where(Sixteen::SET, Odd::SET);
        playback.end(&self.main.world);
        self.model.read_places(&self.main.world, Rule::Rows, self.before);
        self.model.read_sources(&self.main.world);
        if kept.is_empty() { DONE } else { HELD }
    }
}
