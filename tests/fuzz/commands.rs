//! Commands that a buffer or a writer records.

use phalanx::command::CommandVerb;
use phalanx::command::CommandWriter;
use phalanx::prelude::*;

use crate::beside::Note;
use crate::chance::Chance;
use crate::charges::Charge;
use crate::operations::Who;
use crate::outcome::panic_as_told;
use crate::parts::{
    Big, Byte, EMPTY, Four, HIDDEN, Mark, Part, SMALL_SHAPES, Set, Shape, Sound, Twelve,
};
use crate::profile::{Profile, Twin};
use crate::relations::Kind;
use crate::{with_relation, with_shape, with_small_shape};

/// A command. Its entity is chosen when it is recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Command {
    Spawn {
        shape: usize,
        number: u32,
    },
    SpawnBatch {
        shape: usize,
        rows: usize,
        number: u32,
    },
    Insert {
        who: Who,
        shape: usize,
        number: u32,
    },
    Remove {
        who: Who,
        shape: usize,
    },
    Exchange {
        who: Who,
        removed: usize,
        added: usize,
        number: u32,
    },
    Relate {
        kind: usize,
        who: Who,
        to: Who,
        number: u32,
    },
    Unrelate {
        kind: usize,
        who: Who,
    },
    SpawnRelated {
        kind: usize,
        to: Who,
        shape: usize,
        number: u32,
    },
    Despawn {
        who: Who,
        /// Whether the entities that hold it are despawned with it.
        with_sources: bool,
    },
    InsertWhere {
        query: usize,
        shape: usize,
        number: u32,
    },
    RemoveWhere {
        query: usize,
        shape: usize,
    },
    DespawnWhere {
        query: usize,
    },
    Run {
        what: Closure,
        who: Who,
        number: u32,
    },
    /// Sets the buffer's policy for commands on dead entities.
    DeadEntityPolicy {
        policy: DeadEntityPolicy,
    },
}

/// The action of a recorded closure.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Closure {
    Despawn,
    Insert,
    WriteAll,
    Panic,
}

/// The number of queries of commands.
const QUERIES: usize = 4;

impl Command {
    /// A command on one entity.
    pub(crate) fn single(chance: &mut Chance, profile: &Profile) -> Self {
        let (who, number, shape) =
            (Who::of_command(chance), chance.number(), profile.shape(chance));
        match chance.below(24) {
            20..23 => Self::Relate {
                kind: profile.relation(chance),
                who,
                to: Who::target_of_command(chance),
                number,
            },
            23 => Self::Unrelate { kind: profile.former_relation(chance), who },
            0..5 => Self::Spawn { shape, number },
            5..10 => Self::Insert { who, shape, number },
            // The component that is left of a despawned entity.
            10 => Self::Remove { who: Who::Dead(number), shape: Sound::INDEX },
            11..14 => Self::Remove { who, shape },
            14..16 => Self::Exchange {
                who,
                removed: chance.below(SMALL_SHAPES),
                added: chance.below(SMALL_SHAPES),
                number,
            },
            _ => Self::Despawn { who, with_sources: chance.one_in(2) },
        }
    }

    /// A random command that a buffer can record.
    pub(crate) fn any(chance: &mut Chance, profile: &Profile) -> Self {
        let (who, number, shape) =
            (Who::of_command(chance), chance.number(), profile.shape(chance));
        let (query, small) = (chance.below(QUERIES), chance.below(SMALL_SHAPES));
        // The results of commands by query depend on the size of chunks.
        let by_chunk = profile.twin != Twin::Resized;
        match chance.below(400) {
            0..8 => Self::SpawnBatch { shape, rows: chance.skewed(60), number },
            8..11 if by_chunk => Self::InsertWhere { query, shape: small, number },
            11..14 if by_chunk => Self::RemoveWhere { query, shape: small },
            14 if by_chunk && chance.one_in(4) => Self::DespawnWhere { query },
            15..18 => Self::Run { what: Closure::Despawn, who, number },
            18..21 => Self::Run { what: Closure::Insert, who, number },
            21 => Self::Run { what: Closure::WriteAll, who, number },
            22 => Self::Run { what: Closure::Panic, who, number },
            26..40 => Self::SpawnRelated {
                kind: profile.relation(chance),
                to: Who::target_of_command(chance),
                shape: small,
                number,
            },
            23..26 => Self::DeadEntityPolicy {
                policy: chance.pick(&[
                    DeadEntityPolicy::Report,
                    DeadEntityPolicy::Ignore,
                    DeadEntityPolicy::Panic,
                ]),
            },
            _ => Self::single(chance, profile),
        }
    }

    /// The entity that the command names, if any.
    pub(crate) const fn who(&self) -> Option<Who> {
        match *self {
            Self::Insert { who, .. }
            | Self::Remove { who, .. }
            | Self::Exchange { who, .. }
            | Self::Relate { who, .. }
            | Self::Unrelate { who, .. }
            | Self::Despawn { who, .. }
            | Self::Run { who, .. } => Some(who),
            _ => None,
        }
    }

    /// The target that the command names, if any.
    pub(crate) const fn target(&self) -> Option<Who> {
        match *self {
            Self::Relate { to, .. } | Self::SpawnRelated { to, .. } => Some(to),
            _ => None,
        }
    }

    /// Whether the command makes one entity.
    pub(crate) const fn is_spawn(&self) -> bool {
        matches!(self, Self::Spawn { .. } | Self::SpawnRelated { .. })
    }

    /// The action that an error about the command names.
    pub(crate) const fn verb(&self) -> Option<CommandVerb> {
        match self {
            Self::Spawn { .. } | Self::SpawnBatch { .. } | Self::SpawnRelated { .. } => {
                Some(CommandVerb::Spawn)
            }
            Self::Relate { .. } => Some(CommandVerb::Insert),
            Self::Unrelate { .. } => Some(CommandVerb::Remove),
            // An exchange that lacks one part is reported as the other part, an empty one as an
            // insertion.
            Self::Insert { .. } => Some(CommandVerb::Insert),
            Self::Remove { shape: EMPTY, .. } => Some(CommandVerb::Insert),
            Self::Remove { .. } => Some(CommandVerb::Remove),
            Self::Exchange { removed: 0, .. } => Some(CommandVerb::Insert),
            Self::Exchange { added: 0, .. } => Some(CommandVerb::Remove),
            Self::Exchange { .. } => Some(CommandVerb::Exchange),
            Self::Despawn { .. } | Self::DespawnWhere { .. } => Some(CommandVerb::Despawn),
            _ => None,
        }
    }

    /// The value of the sparse component that it inserts.
    pub(crate) fn note(&self) -> Option<u32> {
        match *self {
            Self::Insert { number, .. } if Note::is_beside(number) => Some(number),
            _ => None,
        }
    }

    /// Whether it removes the sparse component.
    pub(crate) const fn drops_note(&self) -> bool {
        matches!(self, Self::Remove { shape, .. } if *shape % 3 == 1 && *shape != EMPTY)
    }

    /// The components that the command removes and adds, and the number of the added values.
    pub(crate) fn sets(&self) -> (Set, Set, u32) {
        match *self {
            Self::Spawn { shape, number }
            | Self::SpawnBatch { shape, number, .. }
            | Self::Insert { shape, number, .. } => with_shape!(shape, S => (0, S::SET, number)),
            Self::Remove { shape, .. } => with_shape!(shape, S => (S::SET, 0, 0)),
            Self::InsertWhere { shape, number, .. } | Self::SpawnRelated { shape, number, .. } => {
                with_small_shape!(shape, S => (0, S::SET, number))
            }
            Self::RemoveWhere { shape, .. } => with_small_shape!(shape, S => (S::SET, 0, 0)),
            Self::Exchange { removed, added, number, .. } => with_small_shape!(removed, R =>
                with_small_shape!(added, A => (R::SET, A::SET, number))),
            _ => (0, 0, 0),
        }
    }

    /// Whether a query of a command matches these components.
    pub(crate) const fn matches(query: usize, set: Set) -> bool {
        if set & HIDDEN != 0 {
            return false;
        }
        match query {
            0 => set & (Four::SET | Mark::SET) == Four::SET,
            1 => set & (Twelve::SET | Byte::SET) == (Twelve::SET | Byte::SET),
            2 => set & Big::SET != 0,
            _ => set & (Mark::SET | Big::SET) != 0 && set & Byte::SET == 0,
        }
    }

    /// Records the command on an entity, and maybe a target. Returns the id of a spawn, or `None`
    /// if no id is left.
    pub(crate) fn record(
        &self,
        buffer: &mut CommandBuffer,
        (entity, target): (Entity, Entity),
    ) -> Option<Entity> {
        match *self {
            Self::SpawnRelated { kind, shape, number, .. } => {
                return with_relation!(kind, K => with_small_shape!(shape, S => {
                    buffer.try_spawn((S::make(number), K::value(target, number))).ok()
                }));
            }
            Self::Relate { kind, number, .. } => {
                with_relation!(kind, K => buffer.insert(entity, K::value(target, number)));
            }
            Self::Unrelate { kind, .. } => {
                with_relation!(kind, K => buffer.remove::<<K as Kind>::Value>(entity));
            }
            Self::Spawn { shape, number } => {
                return with_shape!(shape, S => buffer.try_spawn(S::make(number)).ok());
            }
            Self::SpawnBatch { shape, rows, number } => {
                with_shape!(shape, S => match Charge::is_beside(number) {
                    true => buffer.spawn_batch((0..rows).map(|_| (S::make(number), Charge(number)))),
                    false => buffer.spawn_batch((0..rows).map(|_| S::make(number))),
                });
            }
            Self::Insert { shape, number, .. } => {
                with_shape!(shape, S => match Note::is_beside(number) {
                    true => buffer.insert(entity, (S::make(number), Note::of(number))),
                    false => buffer.insert(entity, S::make(number)),
                });
            }
            Self::Remove { shape, .. } => with_shape!(shape, S => match self.drops_note() {
                true => buffer.remove::<(Note, S)>(entity),
                false => buffer.remove::<S>(entity),
            }),
            Self::Exchange { removed, added, number, .. } => with_small_shape!(removed, R =>
                with_small_shape!(added, A => buffer.exchange::<R, A>(entity, A::make(number)))),
            Self::Despawn { .. } => buffer.despawn(entity),
            Self::DeadEntityPolicy { policy } => buffer.on_dead_entity(policy),
            Self::Run { what, number, .. } => {
                buffer.run(move |world| what.run(world, entity, number))
            }
            _ => self.record_by_query(buffer),
        }
        None
    }

    fn record_by_query(&self, buffer: &mut CommandBuffer) {
        macro_rules! queried {
            ($query:expr, $method:ident $(::<$B:ty>)? ($($value:expr)?)) => {
                match $query {
                    0 => buffer.$method::<&Four, Without<Mark>, $($B)?>($($value)?),
                    1 => buffer.$method::<(&Twelve, &mut Byte), (), $($B)?>($($value)?),
                    2 => buffer.$method::<Entity, With<Big>, $($B)?>($($value)?),
                    _ => buffer.$method::<Entity, (AnyOf<(Mark, Big)>, Without<Byte>), $($B)?>(
                        $($value)?
                    ),
                }
            };
        }
        match *self {
            Self::InsertWhere { query, shape, number } => {
                with_small_shape!(shape, S => queried!(query, insert_where::<S>(S::make(number))));
            }
            Self::RemoveWhere { query, shape } => {
                with_small_shape!(shape, S => queried!(query, remove_where::<S>()));
            }
            Self::DespawnWhere { query } => queried!(query, despawn_where()),
            _ => unreachable!("{self:?} is no command by query"),
        }
    }

    /// Records a command on one entity through a writer.
    pub(crate) fn write(&self, writer: &mut CommandWriter, (entity, target): (Entity, Entity)) {
        match *self {
            Self::Relate { kind, number, .. } => {
                with_relation!(kind, K => writer.insert(entity, K::value(target, number)));
            }
            Self::Unrelate { kind, .. } => {
                with_relation!(kind, K => writer.remove::<<K as Kind>::Value>(entity));
            }
            Self::Spawn { shape, number } => {
                with_shape!(shape, S => writer.spawn(S::make(number)));
            }
            Self::Insert { shape, number, .. } => {
                with_shape!(shape, S => match Note::is_beside(number) {
                    true => writer.insert(entity, (S::make(number), Note::of(number))),
                    false => writer.insert(entity, S::make(number)),
                });
            }
            Self::Remove { shape, .. } => with_shape!(shape, S => match self.drops_note() {
                true => writer.remove::<(Note, S)>(entity),
                false => writer.remove::<S>(entity),
            }),
            Self::Exchange { removed, added, number, .. } => with_small_shape!(removed, R =>
                with_small_shape!(added, A => writer.exchange::<R, A>(entity, A::make(number)))),
            Self::Despawn { .. } => writer.despawn(entity),
            _ => unreachable!("{self:?} is not for writers"),
        }
    }
}

impl Closure {
    fn run(self, world: &mut World, entity: Entity, number: u32) {
        match self {
            Self::Despawn => drop(world.despawn(entity)),
            Self::Insert => drop(world.insert(entity, (Four::make(number), Twelve::make(number)))),
            Self::WriteAll => {
                world
                    .query_mut::<&mut Four>()
                    .iter_mut()
                    .flatten()
                    .for_each(|four| *four = Four::make(number));
            }
            Self::Panic => panic_as_told(),
        }
    }
}
