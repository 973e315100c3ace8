//! Operations on a world: plain values, chosen at random and valid in any state.
//!
//! Entities are chosen by number among the living ones when the operation runs, so that a series of
//! operations can be replayed with some of them left out.

use crate::chance::Chance;
use crate::commands::Command;
use crate::filters::Only;
use crate::named::NamedOp;
use crate::parts::{PARTS, SHAPES, SMALL_SHAPES};
use crate::profile::{Profile, Twin};
use crate::shared::TEAMS;
use crate::states::STATES;
use crate::trees::TreeOp;

/// An entity, by its state in the model.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Who {
    Living(u32),
    Dead(u32),
    Reserved(u32),
    MadeUp { index: u32, generation: u32 },
}

impl Who {
    /// Mostly a living entity.
    pub(crate) fn any(chance: &mut Chance) -> Self {
        match chance.below(64) {
            0..2 => Self::Dead(chance.number()),
            2 => Self::Reserved(chance.number()),
            3 => Self::made_up(chance, false),
            _ => Self::Living(chance.number()),
        }
    }

    /// A target: often one of a few.
    pub(crate) fn target(chance: &mut Chance) -> Self {
        match chance.below(3) {
            0 => Self::Living(chance.number() % 5),
            _ => Self::any(chance),
        }
    }

    /// [`Who::target`] for a command, which may name an entity of its buffer.
    pub(crate) fn target_of_command(chance: &mut Chance) -> Self {
        if chance.one_in(2) { Self::target(chance).settled() } else { Self::of_command(chance) }
    }

    /// The same, but for a made-up id, which may become the id of an entity.
    const fn settled(self) -> Self {
        match self {
            Self::MadeUp { index, generation } => {
                Self::MadeUp { index, generation: (generation % 6) | (1 << 31) }
            }
            who => who,
        }
    }

    /// An entity for a command: a reserved one is an entity that the buffer has handed out. A
    /// made-up id has a generation that no index reaches. Otherwise it could be the id of a batch's
    /// entity, which is allocated in the same playback and which the model does not know.
    pub(crate) fn of_command(chance: &mut Chance) -> Self {
        if chance.one_in(4) {
            return Self::Reserved(chance.number());
        }
        Self::any(chance).settled()
    }

    /// Any bits, or an id that may belong to an entity, with one of the last generations if `last`
    /// is set.
    fn made_up(chance: &mut Chance, last: bool) -> Self {
        let index = match chance.below(8) {
            0 => chance.number(),
            1 => u32::MAX,
            _ => chance.number() % 3_000,
        };
        let generation = match chance.below(8) {
            0 => chance.number(),
            1 if last => u32::MAX - chance.number() % 2,
            _ => chance.number() % 6,
        };
        Self::MadeUp { index, generation }
    }
}

/// The length that an iterator reports.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hint {
    True,
    Nothing,
    Half,
    TooMuch,
}

/// The kind of a pass over the matches of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Slices,
    Padded,
    Rows,
    Chunks,
    ForEach,
    /// Every other chunk is written, and the rest are reported as unmodified.
    EveryOther,
    Parallel,
    /// A panic in the chunk of this index, after it is written.
    Panics(usize),
    /// An end after this number of chunks.
    Ends(usize),
}

/// Numbers of components and bundles from this one on choose among the entity's own components.
pub(crate) const OWN: usize = 100;

/// A component type: mostly one of the entity's own.
const fn part_of_it(chance: &mut Chance) -> usize {
    if chance.one_in(4) { chance.below(PARTS) } else { OWN + chance.below(PARTS) }
}

/// The number from which written values are made.
type Number = u32;

/// One operation.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Spawn { shape: usize, number: Number },
    SpawnAt { who: Who, shape: usize, number: Number },
    SpawnBatch { shape: usize, rows: usize, hint: Hint, panics_at: Option<usize> },
    SpawnCharged { shape: usize, rows: usize, number: Number },
    SpawnRelated { kind: usize, to: Who, shape: usize, rows: usize, number: Number },
    SpawnColumns { kind: usize, rows: usize, uneven: bool },
    Instantiate { who: Who, copies: usize },
    Tree(TreeOp),
    ReserveEntities { ids: u32, together: bool },
    ReserveIndices { indices: u32 },
    Reserve { shape: usize, rows: usize },
    Insert { who: Who, shape: usize, number: Number },
    Remove { who: Who, shape: usize },
    Exchange { who: Who, removed: usize, added: usize, number: Number },
    Despawn { who: Who },
    GetMut { who: Who, part: usize, number: Number },
    SetEnabled { who: Who, enabled: bool },
    GetDisjointMut { who: [Who; 3], part: usize, number: Number },
    LookupMut { who: [Who; 8], part: usize, number: Number },
    DespawnBatch { who: [Who; 6], with_sources: bool },
    Side { who: Who, number: Option<Number> },
    Charge { who: Who, number: Option<Number> },
    Grip { who: Who, number: Option<Number> },
    Relate { kind: usize, who: Who, to: Who, number: Number, is_exchange: bool },
    Unrelate { kind: usize, who: Who },
    Named(NamedOp),
    RelateBatch { kind: usize, who: [Who; 4], to: [Who; 4], number: Number },
    ChangePair { who: Who, to: Who, number: Option<Number> },
    WriteCharges { only: Only, number: Number },
    Share { who: Who, team: u8 },
    ShareWhere { only: Only, team: u8 },
    FindPlaces { who: [Who; 8], part: usize, number: Number },
    UsePlaces { part: usize, number: Number },
    Look { who: Who, part: usize },
    Write { part: usize, only: Only, way: Way, number: Number },
    Read { part: usize, only: Only },
    InsertWhere { only: Only, shape: usize, number: Number },
    RemoveWhere { only: Only, shape: usize },
    DespawnWhere { only: Only },
    WriteValues { only: Only, number: Number },
    WriteLines { only: Only, number: Number },
    SwitchWhere { only: Only, enabled: bool },
    Retain { only: Only, number: Number },
    Sort { only: Only, number: Number },
    SortBy { only: Only },
    SortByLevel { only: Only },
    Between { only: Only, from: u32, number: Option<Number> },
    Flip,
    Send { number: Number },
    AgeLogs,
    ReadEvents,
    Travel { only: Only, as_whole: bool },
    Scatter { part: usize, only: Only, number: Number, short: bool },
    Compact { rows_max: usize },
    TakeState { slot: usize },
    ReadState { slot: usize, as_delta: bool },
    PutBack { slot: usize },
    RetireArchetypes,
    Clear,
    MakeBuffer { slot: usize, ids: u32 },
    DropBuffer { slot: usize },
    ClearBuffer { slot: usize },
    Record { slot: usize, command: Command },
    RecordParallel { slot: usize, writers: usize, commands: Vec<Command> },
    Apply { slot: usize },
    RunSchedule { number: Number },
}

impl Op {
    /// The public function that the operation calls.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Spawn { .. } => "spawn",
            Self::SpawnAt { .. } => "spawn_at",
            Self::SpawnBatch { .. } => "spawn_batch",
            Self::SpawnCharged { .. } => "spawn_batch, sparse",
            Self::SpawnRelated { .. } => "spawn_batch, related",
            Self::SpawnColumns { .. } => "spawn_columns",
            Self::Instantiate { .. } => "instantiate",
            Self::Tree(op) => op.name(),
            Self::ReserveEntities { .. } => "reserve_entities",
            Self::ReserveIndices { .. } => "grow_indices",
            Self::Reserve { .. } => "reserve",
            Self::Insert { .. } => "insert",
            Self::Remove { .. } => "remove",
            Self::Exchange { .. } => "exchange",
            Self::Despawn { .. } => "despawn",
            Self::GetMut { .. } => "get_mut",
            Self::SetEnabled { .. } => "set_enabled",
            Self::GetDisjointMut { .. } => "get_disjoint_mut",
            Self::LookupMut { .. } => "lookup_mut",
            Self::DespawnBatch { .. } => "despawn_batch",
            Self::Side { .. } => "insert_sparse",
            Self::Charge { .. } => "insert, sparse",
            Self::Grip { .. } => "insert, sparse cleanup",
            Self::Relate { is_exchange: false, .. } => "insert, relation",
            Self::Relate { .. } => "exchange, relation",
            Self::Unrelate { .. } => "remove, relation",
            Self::Named(op) => op.name(),
            Self::RelateBatch { .. } => "relate_batch",
            Self::ChangePair { .. } => "get_mut, pair",
            Self::WriteCharges { .. } => "query_mut, sparse",
            Self::Share { .. } => "insert_shared",
            Self::ShareWhere { .. } => "query.insert_shared",
            Self::FindPlaces { .. } => "place, at, at_mut",
            Self::UsePlaces { .. } => "at, later",
            Self::Look { .. } => "get, has, lookup",
            Self::Write { .. } => "query_mut, written",
            Self::Read { .. } => "query, read",
            Self::InsertWhere { .. } => "query.insert",
            Self::RemoveWhere { .. } => "query.remove",
            Self::DespawnWhere { .. } => "query.despawn",
            Self::WriteValues { .. } => "values of chunks",
            Self::WriteLines { .. } => "lines",
            Self::SwitchWhere { .. } => "query.enable",
            Self::Retain { .. } => "query.retain",
            Self::Sort { .. } => "query.sort_by_key",
            Self::SortBy { .. } => "query.sort_by",
            Self::SortByLevel { .. } => "query.sort_by_level",
            Self::Between { .. } => "between",
            Self::Flip => "flip",
            Self::Send { .. } => "send",
            Self::AgeLogs => "age_logs",
            Self::ReadEvents => "events, read",
            Self::Travel { as_whole, .. } => ["move_from", "merge"][*as_whole as usize],
            Self::Scatter { .. } => "gather, scatter",
            Self::Compact { .. } => "compact",
            Self::TakeState { .. } => "snapshot",
            Self::ReadState { as_delta: false, .. } => "read_snapshot",
            Self::ReadState { as_delta: true, .. } => "read_delta",
            Self::PutBack { .. } => "restore",
            Self::RetireArchetypes => "retire_archetypes",
            Self::Clear => "clear",
            Self::MakeBuffer { .. } => "command_buffer",
            Self::DropBuffer { .. } => "drop of a buffer",
            Self::ClearBuffer { .. } => "buffer.clear",
            Self::Record { .. } => "buffer: a command",
            Self::RecordParallel { .. } => "buffer.par",
            Self::Apply { .. } => "apply",
            Self::RunSchedule { .. } => "schedule.run",
        }
    }

    /// A random operation, for a world of `living` entities.
    pub(crate) fn any(chance: &mut Chance, profile: &Profile, living: usize) -> Self {
        // Despawns replace spawns in a full world, which stays near its size.
        let is_full = living > profile.rows;
        if chance.one_in(200) {
            let slot = chance.below(STATES);
            return match chance.below(6) {
                0..2 => Self::PutBack { slot },
                2..4 => Self::TakeState { slot },
                way => Self::ReadState { slot, as_delta: way == 4 },
            };
        }
        if chance.one_in(profile.bulk_every) {
            return Self::of_many(chance, profile, is_full);
        }
        if profile.buffers && chance.one_in(4) {
            return Self::of_buffers(chance, profile);
        }
        let number = chance.number();
        match chance.below(134) {
            0..12 if is_full => Self::Despawn { who: Who::any(chance) },
            0..12 => Self::Spawn { shape: profile.shape(chance), number },
            12..14 => Self::SpawnAt {
                // With buffers, entities that die before the model sees their ids must not retire
                // an index.
                who: match chance.below(2) {
                    0 => Who::Dead(number),
                    _ => Who::made_up(chance, !profile.buffers),
                },
                shape: profile.shape(chance),
                number,
            },
            14..16 => Self::ReserveEntities {
                ids: number % if chance.one_in(8) { 200 } else { 6 },
                together: chance.one_in(2),
            },
            16..40 => Self::Insert { who: Who::any(chance), shape: profile.shape(chance), number },
            40..60 => Self::Remove {
                who: Who::any(chance),
                shape: if chance.one_in(3) { profile.shape(chance) } else { part_of_it(chance) },
            },
            60..70 => Self::Exchange {
                who: Who::any(chance),
                removed: chance.below(SMALL_SHAPES),
                added: chance.below(SMALL_SHAPES),
                number,
            },
            70..76 => Self::Despawn { who: Who::any(chance) },
            76 => Self::despawn_batch(chance),
            77 => Self::Side {
                who: Who::any(chance),
                number: (!number.is_multiple_of(3)).then_some(number),
            },
            78..81 => Self::SetEnabled { who: Who::any(chance), enabled: chance.one_in(3) },
            81..84 => Self::GetMut { who: Who::any(chance), part: part_of_it(chance), number },
            84..87 => Self::GetDisjointMut {
                who: [(); 3].map(|()| Who::any(chance)),
                part: part_of_it(chance),
                number,
            },
            87..89 => Self::LookupMut {
                who: [(); 8].map(|()| Who::any(chance)),
                part: part_of_it(chance),
                number,
            },
            89..92 => Self::Share { who: Who::any(chance), team: chance.byte() % (TEAMS + 1) },
            92 => match chance.below(6) {
                0..3 => Self::Send { number },
                3 => Self::ReadEvents,
                _ => Self::AgeLogs,
            },
            93..126 => Self::beside_rows(chance, profile, number),
            _ => Self::Look { who: Who::any(chance), part: part_of_it(chance) },
        }
    }

    fn despawn_batch(chance: &mut Chance) -> Self {
        Self::DespawnBatch {
            who: [(); 6].map(|()| Who::any(chance)),
            with_sources: chance.one_in(2),
        }
    }

    /// An operation on data of one entity beside its row, or on places of rows.
    fn beside_rows(chance: &mut Chance, profile: &Profile, number: Number) -> Self {
        match chance.below(33) {
            29.. => Self::Grip {
                who: Who::any(chance),
                number: (!number.is_multiple_of(3)).then_some(number),
            },
            0..4 => Self::Charge {
                who: Who::any(chance),
                number: (!number.is_multiple_of(3)).then_some(number),
            },
            4..7 => Self::FindPlaces {
                who: [(); 8].map(|()| Who::any(chance)),
                part: chance.below(PARTS),
                number,
            },
            17..19 => Self::Named(NamedOp::any(chance, profile)),
            7..17 => Self::Relate {
                kind: profile.relation(chance),
                who: Who::any(chance),
                to: Who::target(chance),
                number,
                is_exchange: chance.one_in(4),
            },
            19..22 => {
                Self::Unrelate { kind: profile.former_relation(chance), who: Who::any(chance) }
            }
            22 => Self::RelateBatch {
                kind: profile.relation(chance),
                who: [(); 4].map(|()| Who::target(chance)),
                to: [(); 4].map(|()| Who::target(chance)),
                number,
            },
            23..27 => Self::ChangePair {
                who: Who::any(chance),
                to: Who::any(chance),
                number: (!number.is_multiple_of(3)).then_some(number),
            },
            _ => Self::UsePlaces { part: chance.below(PARTS), number },
        }
    }

    /// An operation on many rows.
    fn of_many(chance: &mut Chance, profile: &Profile, is_full: bool) -> Self {
        let (number, part) = (chance.number(), chance.below(PARTS));
        let only = Only::any(chance, profile);
        let of_rows = Only::any_of_rows(chance, profile);
        let shape = profile.shape(chance);
        let rows = chance.skewed(profile.rows / 2 + 1);
        match chance.below(if profile.twin == Twin::Resized { 73 } else { 138 }) {
            0..20 if is_full => Self::Despawn { who: Who::Living(number) },
            0..2 => Self::SpawnCharged { shape, rows, number },
            2..5 => Self::SpawnRelated {
                kind: profile.relation(chance),
                to: Who::target(chance),
                shape: shape % SMALL_SHAPES,
                rows,
                number,
            },
            5..14 => Self::SpawnBatch {
                shape,
                rows,
                hint: chance.pick(&[Hint::True, Hint::Nothing, Hint::Half, Hint::TooMuch]),
                panics_at: chance.one_in(4).then(|| chance.below(rows + 1)),
            },
            14..17 => Self::SpawnColumns { kind: chance.below(4), rows, uneven: chance.one_in(8) },
            17..20 => Self::Instantiate { who: Who::any(chance), copies: rows },
            20..24 => Self::Reserve { shape, rows: chance.skewed(2 * profile.rows) },
            24..26 => Self::ReserveIndices { indices: number % 4_000 },
            26..28 => Self::WriteCharges { only, number },
            28..44 => Self::Write { part, only, way: Way::any(chance, profile), number },
            44..46 => Self::Read { part, only },
            46..62 => Self::Tree(TreeOp::any(chance, profile, is_full)),
            62..69 if profile.twin != Twin::Resized => {
                Self::Scatter { part, only, number, short: chance.one_in(8) }
            }
            62..69 => Self::Read { part, only },
            69 => Self::Clear,
            70..73 => Self::Flip,
            73..80 => Self::InsertWhere { only: of_rows, shape, number },
            80..88 => Self::RemoveWhere { only: of_rows, shape },
            88..90 => Self::ShareWhere { only: of_rows, team: chance.byte() % (TEAMS + 1) },
            90 => Self::DespawnWhere { only: of_rows },
            91..94 if profile.schedules => Self::RunSchedule { number },
            91..94 => Self::Travel { only: of_rows, as_whole: chance.one_in(2) },
            94 => Self::RetireArchetypes,
            95..97 => Self::Sort { only, number },
            97..100 => Self::Compact { rows_max: chance.pick(&[0, 10, 1_000, usize::MAX]) },
            100..105 => Self::WriteValues { only, number },
            105..110 => Self::WriteLines { only, number },
            110..114 => Self::SwitchWhere { only, enabled: chance.one_in(2) },
            120..126 => Self::Travel { only: of_rows, as_whole: chance.one_in(2) },
            114..117 => Self::Retain { only, number },
            126..129 => Self::SortBy { only },
            129..131 => Self::SortByLevel { only },
            131.. => {
                Self::Between { only, from: number, number: chance.one_in(2).then_some(number) }
            }
            _ => Self::InsertWhere { only, shape: 6, number },
        }
    }

    /// An operation on one of the buffers.
    fn of_buffers(chance: &mut Chance, profile: &Profile) -> Self {
        let slot = chance.below(crate::buffers::SLOTS);
        match chance.below(1_000) {
            0..15 => Self::MakeBuffer { slot, ids: chance.skewed(100).try_into().expect("small") },
            15..25 => Self::DropBuffer { slot },
            25..32 => Self::ClearBuffer { slot },
            32..50 => Self::RecordParallel {
                slot,
                writers: 1 + chance.below(5),
                commands: (0..chance.below(24)).map(|_| Command::single(chance, profile)).collect(),
            },
            50..80 => Self::Apply { slot },
            _ => Self::Record { slot, command: Command::any(chance, profile) },
        }
    }
}

impl Way {
    fn any(chance: &mut Chance, profile: &Profile) -> Self {
        let ways = [
            Self::Slices,
            Self::Padded,
            Self::Rows,
            Self::ForEach,
            Self::Parallel,
            Self::Chunks,
            Self::EveryOther,
            Self::Panics(chance.below(6)),
            Self::Ends(chance.below(6)),
        ];
        // The other ways depend on the size of chunks.
        let len = if profile.twin == Twin::Resized { 5 } else { ways.len() };
        ways[chance.below(len)]
    }
}

const _: () = assert!(SHAPES > PARTS, "the first shapes are the parts");
