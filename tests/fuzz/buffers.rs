//! Command buffers: made, recorded into, cleared, dropped, and played back.
//!
//! The model applies the recorded commands one by one. Entities of batches and writers get their
//! ids at playback, so the model does not know the ids and uses stand-ins. After the playback each
//! stand-in is matched with a new entity of the world by components and values.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::command::{ApplyError, CommandVerb};
use phalanx::prelude::*;
use rayon::prelude::*;

use crate::chunks::Rule;
use crate::commands::Command;
use crate::operations::{Op, Who};
use crate::outcome::{DEAD, DEAD_TARGET, DONE, EXHAUSTED, Fault, IDLE, Outcome, PANICKED, word};
use crate::playback::Playback;
use crate::trial::{Side, Trial};

/// The maximum number of buffers for one world.
pub(crate) const SLOTS: usize = 3;

/// The contents of a buffer.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) commands: Vec<Record>,
    /// The number of ids that the buffer borrows for each playback, and the number that is left.
    quota: usize,
    left: usize,
    /// Ids that the buffer has handed out since the last playback.
    handed: Vec<Entity>,
    policy: DeadEntityPolicy,
}

/// A command, the entity that it names or makes, and the target of its relation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) command: Command,
    pub(crate) entity: Entity,
    pub(crate) target: Entity,
}

/// A command without effect: its action, its entity, and the reason.
pub(crate) type Failure = (CommandVerb, Entity, Outcome);

/// The answer of a playback.
#[derive(Debug, PartialEq)]
enum Played {
    Applied {
        commands: usize,
        failures: Vec<Failure>,
    },
    /// A closure panicked.
    Panicked,
    /// A command had no effect, and the policy is to panic.
    Refused,
}

/// Plays a buffer back.
fn play(side: &mut Side, slot: usize) -> Played {
    let Side { world, buffers, .. } = side;
    let buffer = buffers[slot].as_mut().expect("the slot has one");
    match catch_unwind(AssertUnwindSafe(|| world.apply(buffer))) {
        Ok(Ok(applied)) => Played::Applied { commands: applied.commands, failures: Vec::new() },
        Ok(Err(ApplyError::Commands(errors))) => {
            let commands = errors.applied().commands;
            let errors = errors.into_iter();
            let failures = errors.map(|error| (error.verb, error.entity, error.fault.word()));
            Played::Applied { commands, failures: failures.collect() }
        }
        Ok(Err(error)) => panic!("the buffer is of this world: {error}"),
        Err(payload) => match payload.downcast_ref::<Outcome>() {
            Some(&PANICKED) => Played::Panicked,
            _ => match payload.downcast_ref::<String>() {
                Some(text) if is_refusal(text) => Played::Refused,
                _ => std::panic::resume_unwind(payload),
            },
        },
    }
}

/// Whether the text tells of a command without effect, or without its relation.
fn is_refusal(text: &str) -> bool {
    ["had no effect", "without the relation"].iter().any(|part| text.contains(part))
}

impl Trial {
    pub(crate) fn run_buffer(&mut self, op: &Op) -> Outcome {
        let (Op::MakeBuffer { slot, .. }
        | Op::DropBuffer { slot }
        | Op::ClearBuffer { slot }
        | Op::Record { slot, .. }
        | Op::RecordParallel { slot, .. }
        | Op::Apply { slot }) = *op
        else {
            unreachable!("{op:?} is done elsewhere");
        };
        match (op, self.recorded[slot].is_some()) {
            (&Op::MakeBuffer { ids, .. }, false) => self.make_buffer(slot, ids),
            (Op::MakeBuffer { .. }, true) | (_, false) => IDLE,
            (Op::DropBuffer { .. }, _) => self.drop_buffer(slot),
            (Op::ClearBuffer { .. }, _) => {
                self.step_aside(|side| buffer(side, slot).clear());
                self.recorded(slot).commands.clear();
                DONE
            }
            (Op::Record { command, .. }, _) => self.record(slot, *command),
            (Op::RecordParallel { writers, commands, .. }, _) => {
                self.record_parallel(slot, *writers, commands)
            }
            _ => self.apply(slot),
        }
    }

    fn recorded(&mut self, slot: usize) -> &mut Recorded {
        self.recorded[slot].as_mut().expect("the slot has a buffer")
    }

    fn make_buffer(&mut self, slot: usize, ids: u32) -> Outcome {
        let made = self.step(|side| {
            side.world.command_buffer(ids).map(|buffer| side.buffers[slot] = Some(buffer))
        });
        let (quota, available) = (ids as usize, self.model.ids.available());
        assert_eq!(word(&made), if quota > available { EXHAUSTED } else { DONE });
        if made.is_ok() {
            self.model.ids.lend(quota);
            self.recorded[slot] = Some(Recorded { quota, left: quota, ..Recorded::default() });
        }
        word(&made)
    }

    fn drop_buffer(&mut self, slot: usize) -> Outcome {
        self.step_aside(|side| drop(side.buffers[slot].take()));
        let recorded = self.recorded[slot].take().expect("the slot has a buffer");
        self.model.ids.end_loans(recorded.left);
        recorded.handed.into_iter().for_each(|entity| self.model.buried(entity));
        DONE
    }

    /// The entity that a command names. [`Who::Reserved`] chooses an entity that the buffer has
    /// handed out, if it has handed out any.
    fn named(&self, slot: usize, who: Option<Who>) -> Entity {
        let handed = self.recorded[slot].as_ref().map_or(&[][..], |recorded| &recorded.handed);
        match who {
            Some(Who::Reserved(n)) if !handed.is_empty() => handed[n as usize % handed.len()],
            Some(who) => self.model.resolve(who),
            None => Entity::NULL,
        }
    }

    fn record(&mut self, slot: usize, command: Command) -> Outcome {
        let entity = self.named(slot, command.who());
        if let Command::Despawn { with_sources: true, .. } = command {
            for holder in self.model.relations.holders(&[entity]) {
                self.record_on(slot, command, holder);
            }
        }
        self.record_on(slot, command, entity)
    }

    fn record_on(&mut self, slot: usize, command: Command, mut entity: Entity) -> Outcome {
        let target = self.named(slot, command.target());
        let made = self.step_aside(|side| command.record(buffer(side, slot), (entity, target)));
        match command {
            Command::DeadEntityPolicy { policy } => {
                self.recorded(slot).policy = policy;
                return DONE;
            }
            _ if command.is_spawn() => {
                assert_eq!(made.is_some(), self.recorded(slot).left > 0, "an id for a spawn");
                let Some(made) = made else { return "no id left" };
                self.model.ids.promised(made);
                let recorded = self.recorded(slot);
                recorded.left -= 1;
                recorded.handed.push(made);
                entity = made;
            }
            // A batch without rows is not recorded.
            Command::SpawnBatch { rows: 0, .. } => return IDLE,
            _ => {}
        }
        self.recorded(slot).commands.push(Record { command, entity, target });
        let (len, recorded) = (buffer(&mut self.main, slot).len(), self.recorded(slot));
        assert_eq!(len, recorded.commands.len(), "commands of the buffer");
        DONE
    }

    /// Records commands on several threads. The buffer has them in the order of the writers.
    fn record_parallel(&mut self, slot: usize, writers: usize, commands: &[Command]) -> Outcome {
        let record = |&command: &Command| {
            let (entity, target) = (command.who(), command.target());
            let [entity, target] = [entity, target].map(|who| self.named(slot, who));
            Record { command, entity, target }
        };
        let records: Vec<_> = commands.iter().map(record).collect();
        let each = records.len().div_ceil(writers).max(1);
        self.step_aside(|side| {
            let mut writers = buffer(side, slot).par_writers(writers);
            let write = |(writer, records): (&mut phalanx::command::CommandWriter, &[Record])| {
                records.iter().for_each(|record| {
                    record.command.write(writer, (record.entity, record.target));
                });
            };
            if cfg!(miri) {
                writers.iter_mut().zip(records.chunks(each)).rev().for_each(write);
            } else {
                let writers = writers.par_iter_mut().with_max_len(1);
                writers.zip(records.par_chunks(each)).for_each(write);
            }
        });
        self.recorded(slot).commands.extend(records);
        DONE
    }

    fn apply(&mut self, slot: usize) -> Outcome {
        if self.recorded(slot).commands.len() % 4 == 1 {
            let refused = World::new().apply(buffer(&mut self.main, slot));
            assert_eq!(refused, Err(ApplyError::OtherWorld));
        }
        let played = self.step(|side| play(side, slot));
        let recorded = self.recorded[slot].take().expect("the slot has a buffer");
        let Recorded { commands, quota, left, handed, policy } = recorded;
        let is_unnamed = |record: &&Record| {
            matches!(record.command, Command::Spawn { .. }) && record.entity.is_null()
        };
        let unnamed = commands.iter().filter(is_unnamed).count();
        let mut playback = Playback::new(&mut self.model, unnamed);
        playback.play_all(&commands);
        let (mut failures, panicked) = playback.end(&self.main.world);
        if policy == DeadEntityPolicy::Ignore {
            failures.retain(|failure| ![DEAD, DEAD_TARGET].contains(&failure.2));
        }
        let refused = policy == DeadEntityPolicy::Panic && !failures.is_empty();
        let outcome = match (panicked, refused, failures.is_empty()) {
            (true, ..) => PANICKED,
            (_, true, _) => "panicked by policy",
            (.., false) => "done but for some",
            (.., true) => DONE,
        };
        assert_eq!(
            played,
            match (panicked, refused) {
                (true, _) => Played::Panicked,
                (_, true) => Played::Refused,
                _ => Played::Applied { commands: commands.len(), failures },
            }
        );
        // Ids that were handed out and not spawned become invalid, and the buffer borrows ids up to
        // its number again.
        for entity in handed {
            if self.model.ids.is_promised(entity) {
                self.model.buried(entity);
            }
        }
        let lent = (quota - left).min(self.model.ids.available());
        self.model.ids.lend(lent);
        let left = left + lent;
        self.recorded[slot] = Some(Recorded { quota, left, policy, ..Recorded::default() });
        self.model.read_places(&self.main.world, Rule::Rows, self.before);
        self.model.read_sources(&self.main.world);
        outcome
    }
}

fn buffer(side: &mut Side, slot: usize) -> &mut CommandBuffer {
    side.buffers[slot].as_mut().expect("the slot has a buffer")
}
