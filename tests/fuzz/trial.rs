//! A world under test: its twin receives the same calls, and both must answer as the model does.

use std::fmt::Debug;

use phalanx::HashCache;
use phalanx::logs::LogCursor;
use phalanx::prelude::*;
use phalanx::rows::{ChunkBounds, LevelPlan, RowPlace};
use phalanx::snapshot::Snapshot;

use crate::beside;
use crate::buffers::{Recorded, SLOTS};
use crate::chance::Chance;
use crate::logs::{Cursors, Table};
use crate::model::Model;
use crate::operations::Op;
use crate::order::Coarse;
use crate::outcome::{DONE, Outcome};
use crate::passes::Passed;
use crate::places::Places;
use crate::profile::{Profile, Twin};
use crate::relations::ChildOf;
use crate::shared;
use crate::states::{Known, STATES};
use crate::systems;
use crate::{with_bulk_shape, with_column, with_part, with_relation, with_shape, with_small_shape};

/// A world with its buffers, schedule, states and cursors.
pub(crate) struct Side {
    pub(crate) world: World,
    pub(crate) buffers: [Option<CommandBuffer>; SLOTS],
    pub(crate) schedule: Schedule,
    pub(crate) states: [Snapshot; STATES],
    pub(crate) pings: LogCursor<Events<beside::Ping>>,
    pub(crate) cursors: Cursors,
    pub(crate) hashes: HashCache,
    pub(crate) bounds: ChunkBounds<Coarse>,
    pub(crate) places: Vec<RowPlace>,
    pub(crate) plan: LevelPlan<ChildOf>,
}

impl Side {
    fn new(profile: &Profile, (chunk, extent): (ChunkSize, u32), threads: usize) -> Self {
        let builder = World::builder().chunk_size(chunk).extent_chunks_max(extent);
        let mut world = builder.entities_max(profile.limit).build();
        world.insert_resource(systems::Orders::default());
        shared::encode(&mut world);
        let pings = beside::prepare(&mut world);
        let cursors = Cursors::new(&mut world);
        let schedule = systems::schedule(threads);
        Self {
            world,
            buffers: Default::default(),
            schedule,
            states: Default::default(),
            pings,
            cursors,
            hashes: HashCache::new(),
            bounds: ChunkBounds::new(),
            places: Vec::new(),
            plan: LevelPlan::new(),
        }
    }
}

/// A world, its twin if it has one, and the model of both.
pub(crate) struct Trial {
    pub(crate) main: Side,
    pub(crate) twin: Option<Side>,
    pub(crate) model: Model,
    pub(crate) recorded: [Option<Recorded>; SLOTS],
    /// The model's data of each state.
    pub(crate) known: [Option<Known>; STATES],
    pub(crate) table: Table,
    pub(crate) places: Places,
    pub(crate) passed: Passed,
    /// Events that the cursors have not read.
    pub(crate) unread: beside::Unread,
    pub(crate) profile: Profile,
    /// The version of the last comparison.
    pub(crate) compared: Version,
    /// The world's version before the last step.
    pub(crate) before: u64,
}

impl Trial {
    pub(crate) fn new(profile: Profile) -> Self {
        let chunk = profile.chunk;
        let twin_chunk = if profile.twin == Twin::Resized { ChunkSize::KIB_256 } else { chunk };
        // No answer depends on the addresses of chunks.
        let twin_extent = if profile.extent == 1 { 64 } else { 1 };
        let twin = || Side::new(&profile, (twin_chunk, twin_extent), 1);
        Self {
            main: Side::new(&profile, (chunk, profile.extent), 2),
            twin: (profile.twin != Twin::None).then(twin),
            model: Model::new(profile.limit, chunk),
            recorded: Default::default(),
            known: Default::default(),
            unread: Default::default(),
            table: Table::default(),
            places: Places::default(),
            passed: Passed::default(),
            compared: Version::NEVER,
            profile,
            before: 0,
        }
    }

    /// Changes the world and its twin, which must give the same answer. Reserved ids become alive.
    pub(crate) fn step<R: PartialEq + Debug>(&mut self, run: impl FnMut(&mut Side) -> R) -> R {
        let answer = self.step_aside(run);
        self.model.flush(&self.main.world, self.before + 1);
        answer
    }

    /// Makes a call that leaves reserved ids as they are.
    pub(crate) fn step_aside<R: PartialEq + Debug>(
        &mut self,
        mut run: impl FnMut(&mut Side) -> R,
    ) -> R {
        self.before = self.main.world.version().to_bits();
        let answer = run(&mut self.main);
        if let Some(twin) = &mut self.twin {
            assert_eq!(run(twin), answer, "the twin (left) answers otherwise");
        }
        self.model.lists.learn(&self.main.world);
        answer
    }

    /// Reads the world and its twin, which must give the same answer.
    pub(crate) fn look<R: PartialEq + Debug>(&self, run: impl Fn(&World) -> R) -> R {
        let answer = run(&self.main.world);
        if let Some(twin) = &self.twin {
            assert_eq!(run(&twin.world), answer, "the twin (left) answers otherwise");
        }
        answer
    }

    /// Makes reserved ids alive.
    pub(crate) fn flush(&mut self) {
        if !self.model.reserved.is_empty() {
            self.step(|side| side.world.query_mut::<Entity>().iter_mut().for_each(drop));
        }
    }

    /// The present version of the world.
    pub(crate) const fn now(&self) -> u64 {
        self.main.world.version().to_bits()
    }

    /// A random operation of any kind.
    pub(crate) fn choose(&self, chance: &mut Chance) -> Op {
        Op::any(chance, &self.profile, self.model.living.len())
    }

    /// Runs an operation and returns its outcome.
    pub(crate) fn run(&mut self, op: &Op) -> Outcome {
        let outcome = match op {
            Op::Spawn { .. }
            | Op::SpawnAt { .. }
            | Op::SpawnBatch { .. }
            | Op::SpawnCharged { .. }
            | Op::SpawnRelated { .. }
            | Op::SpawnColumns { .. }
            | Op::Instantiate { .. }
            | Op::ReserveEntities { .. }
            | Op::ReserveIndices { .. }
            | Op::Reserve { .. } => self.run_spawn(op),
            Op::Write { .. }
            | Op::Read { .. }
            | Op::InsertWhere { .. }
            | Op::RemoveWhere { .. }
            | Op::DespawnWhere { .. }
            | Op::ShareWhere { .. }
            | Op::WriteValues { .. }
            | Op::WriteLines { .. }
            | Op::SwitchWhere { .. }
            | Op::Retain { .. }
            | Op::Sort { .. }
            | Op::SortBy { .. }
            | Op::SortByLevel { .. }
            | Op::Between { .. }
            | Op::WriteCharges { .. }
            | Op::Travel { .. }
            | Op::Scatter { .. } => self.run_query(op),
            Op::MakeBuffer { .. }
            | Op::DropBuffer { .. }
            | Op::ClearBuffer { .. }
            | Op::Record { .. }
            | Op::RecordParallel { .. }
            | Op::Apply { .. } => self.run_buffer(op),
            Op::RunSchedule { number } => self.run_schedule(*number),
            Op::Compact { rows_max } => self.compact(*rows_max),
            Op::TakeState { slot } => self.take_state(*slot),
            Op::ReadState { slot, as_delta } => self.read_state(*slot, *as_delta),
            Op::PutBack { slot } => self.put_back(*slot),
            Op::RetireArchetypes => self.retire(),
            Op::Clear => self.clear(),
            Op::Tree(op) => self.run_tree(op),
            Op::Named(op) => self.run_named(*op),
            Op::Flip => self.flip(),
            Op::Send { number } => self.send(*number),
            Op::AgeLogs => self.age_logs(),
            Op::ReadEvents => self.read_events(),
            _ => self.run_row(op),
        };
        self.places.pass(op);
        self.passed.pass(op, outcome, self.main.world.version().to_bits());
        self.read_logs(op, outcome);
        assert_eq!(self.main.world.len(), self.model.rows.len(), "entities after {outcome}");
        outcome
    }

    /// Runs an operation that makes entities.
    fn run_spawn(&mut self, op: &Op) -> Outcome {
        match *op {
            Op::Spawn { shape, number } => with_shape!(shape, S => self.spawn::<S>(number)),
            Op::SpawnAt { who, shape, number } => {
                let entity = self.model.resolve(who);
                with_shape!(shape, S => self.spawn_at::<S>(entity, number))
            }
            Op::SpawnBatch { shape, rows, hint, panics_at } => {
                with_shape!(shape, S => self.spawn_batch::<S>(rows, hint, panics_at))
            }
            Op::SpawnCharged { shape, rows, number } => {
                with_bulk_shape!(shape % BULK_SHAPES, S => self.spawn_charged::<S>(rows, number))
            }
            Op::SpawnRelated { kind, to, shape, rows, number } => {
                let target = self.model.resolve(to);
                with_relation!(kind, K => with_small_shape!(shape, S =>
                    self.spawn_related::<K, S>(target, rows, number)))
            }
            Op::SpawnColumns { kind, rows, uneven } => self.spawn_columns(kind, rows, uneven),
            Op::Instantiate { who, copies } => self.instantiate(self.model.resolve(who), copies),
            Op::ReserveEntities { ids, together } => self.reserve_entities(ids, together),
            Op::ReserveIndices { indices } => self.grow_indices(indices),
            Op::Reserve { shape, rows } => with_shape!(shape, S => self.reserve::<S>(rows)),
            _ => unreachable!("{op:?} is done elsewhere"),
        }
    }

    /// Runs an operation on entities by their ids.
    fn run_row(&mut self, op: &Op) -> Outcome {
        match *op {
            Op::Insert { who, shape, number } => {
                let entity = self.model.resolve(who);
                with_shape!(shape, S => self.insert::<S>(entity, number))
            }
            Op::Remove { who, shape } => {
                let entity = self.model.resolve(who);
                let shape = self.model.part_of(entity, shape);
                with_shape!(shape, S => self.remove::<S>(entity))
            }
            Op::Exchange { who, removed, added, number } => {
                let entity = self.model.resolve(who);
                with_small_shape!(removed, R =>
                    with_small_shape!(added, A => self.exchange::<R, A>(entity, number)))
            }
            Op::DespawnBatch { who, with_sources } => self.despawn_batch(&who, with_sources),
            Op::Side { who, number } => self.put_side(self.model.resolve(who), number),
            Op::Charge { who, number } => self.charge(self.model.resolve(who), number),
            Op::Grip { who, number } => self.grip(self.model.resolve(who), number),
            Op::Share { who, team } => self.share(self.model.resolve(who), team),
            Op::Despawn { who } => self.despawn(self.model.resolve(who)),
            Op::GetMut { who, part, number } => {
                let entity = self.model.resolve(who);
                let part = self.model.part_of(entity, part);
                with_part!(part, P => self.get_mut::<P>(entity, number))
            }
            Op::SetEnabled { who, enabled } => self.set_enabled(self.model.resolve(who), enabled),
            Op::GetDisjointMut { who, part, number } => {
                let entities = who.map(|who| self.model.resolve(who));
                let part = self.model.part_of(entities[0], part);
                with_part!(part, P => self.get_disjoint_mut::<P>(entities, number))
            }
            Op::LookupMut { who, part, number } => {
                let entities = who.map(|who| self.model.resolve(who));
                let part = self.model.part_of(entities[0], part);
                with_part!(part, P => self.lookup_mut::<P>(&entities, number))
            }
            Op::Relate { kind, who, to, number, is_exchange } => {
                let (mut source, target) = (self.model.resolve(who), self.model.resolve(to));
                with_relation!(kind, K => {
                    source = if is_exchange { self.source::<K>(source) } else { source };
                    self.relate::<K>((source, target), number, is_exchange)
                })
            }
            Op::Unrelate { kind, who } => {
                let source = self.model.resolve(who);
                with_relation!(kind, K => self.unrelate::<K>(self.source::<K>(source)))
            }
            Op::RelateBatch { kind, who, to, number } => {
                with_relation!(kind, K => self.relate_batch::<K>((&who, &to), number))
            }
            Op::ChangePair { who, to, number } => {
                self.change_pair((self.model.resolve(who), self.model.resolve(to)), number)
            }
            Op::FindPlaces { who, part, number } => {
                let entities = who.map(|who| self.model.resolve(who));
                with_column!(part, P => self.find_places::<P>(&entities, number))
            }
            Op::UsePlaces { part, number } => {
                with_column!(part, P => self.use_places::<P>(number))
            }
            Op::Look { who, part } => {
                let entity = self.model.resolve(who);
                let part = self.model.part_of(entity, part);
                with_part!(part, P => self.look_at::<P>(entity))
            }
            _ => unreachable!("{op:?} is done elsewhere"),
        }
    }

    /// Runs an operation on all matches of a query.
    fn run_query(&mut self, op: &Op) -> Outcome {
        self.flush();
        match *op {
            Op::Write { part, only, way, number } => {
                crate::with_column!(part, P => self.write::<P>(only, way, number))
            }
            Op::Read { part, only } => {
                crate::with_column!(part, P => self.read::<P>(only))
            }
            Op::Scatter { part, only, number, short } => {
                crate::with_column!(part, P => self.scatter::<P>(only, number, short))
            }
            Op::InsertWhere { only, shape, number } => with_bulk_shape!(
                shape % BULK_SHAPES, S => self.insert_where::<S>(only, number)),
            Op::RemoveWhere { only, shape } => with_bulk_shape!(
                shape % BULK_SHAPES, S => self.remove_where::<S>(only)),
            Op::DespawnWhere { only } => self.despawn_where(only),
            Op::WriteValues { only, number } => self.write_values(only, number),
            Op::WriteLines { only, number } => self.write_lines(only, number),
            Op::SwitchWhere { only, enabled } => self.switch_where(only, enabled),
            Op::Retain { only, number } => self.retain(only, number),
            Op::Sort { only, number } => self.sort(only, number),
            Op::SortBy { only } => self.sort_by(only),
            Op::SortByLevel { only } => self.sort_by_level(only),
            Op::Between { only, from, number } => self.between(only, from, number),
            Op::WriteCharges { only, number } => self.write_charges(only, number),
            Op::Travel { only, as_whole } => self.travel(only, as_whole),
            Op::ShareWhere { only, team } => self.share_where(only, team),
            _ => unreachable!("{op:?} is done elsewhere"),
        }
    }

    fn compact(&mut self, rows_max: usize) -> Outcome {
        let mut moved = Vec::new();
        // The number of moved rows depends on the memory: the twin may already be compact.
        self.step(|side| moved.push(side.world.memory_mut().compact(rows_max).rows_moved));
        assert!(moved.iter().all(|&moved| moved <= rows_max), "{moved:?} moved, of {rows_max}");
        if moved[0] > 0 { DONE } else { "moves no row" }
    }

    fn retire(&mut self) -> Outcome {
        self.flush();
        let retired = self.step(|side| side.world.memory_mut().retire_archetypes());
        self.model.retire();
        if retired > 0 { DONE } else { "none is empty" }
    }

    fn clear(&mut self) -> Outcome {
        self.step(|side| side.world.clear());
        for entity in self.model.rows.keys().copied().collect::<Vec<_>>() {
            self.model.take(entity);
            self.model.buried(entity);
        }
        self.model.lists.clear();
        for side in [Some(&self.main), self.twin.as_ref()].into_iter().flatten() {
            assert_eq!(side.world.memory().block_bytes, 0, "every block went back");
        }
        DONE
    }
}
