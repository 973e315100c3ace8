//! Relations by name: made and removed without their types, at once or by a command, and read.

use std::collections::BTreeSet;

use phalanx::command::ApplyError;
use phalanx::prelude::*;
use phalanx::sparse::SparseComponent;

use crate::chance::Chance;
use crate::operations::Who;
use crate::outcome::{DEAD, DONE, Fault, LACKS, Outcome};
use crate::profile::Profile;
use crate::relations::{Kind, Likes};
use crate::trial::Trial;
use crate::with_relation;

/// A change of a relation by its name: a removal without a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedOp {
    kind: usize,
    who: Who,
    to: Who,
    number: Option<u32>,
    by_command: bool,
}

impl NamedOp {
    /// The public function that the operation calls.
    pub(crate) const fn name(&self) -> &'static str {
        match (self.number, self.by_command) {
            (Some(_), false) => "reflect_mut.relate",
            (None, false) => "reflect_mut.unrelate",
            (Some(_), true) => "relate_named",
            (None, true) => "unrelate_named",
        }
    }

    pub(crate) fn any(chance: &mut Chance, profile: &Profile) -> Self {
        let number = (!chance.one_in(4)).then(|| chance.number());
        let kind = match number {
            Some(_) => profile.relation(chance),
            None => profile.former_relation(chance),
        };
        let (who, to) = (Who::any(chance), Who::target(chance));
        Self { kind, who, to, number, by_command: chance.one_in(2) }
    }
}

/// Applies a command. Returns its fault.
fn apply(world: &mut World, record: impl FnOnce(&mut CommandBuffer)) -> Result<(), Outcome> {
    let mut buffer = world.command_buffer(0).expect("it asks for no ids");
    record(&mut buffer);
    match world.apply(&mut buffer) {
        Ok(_) => Ok(()),
        Err(ApplyError::Commands(errors)) => Err(errors.as_slice()[0].fault.word()),
        Err(error) => panic!("the buffer is of this world: {error}"),
    }
}

impl Trial {
    pub(crate) fn run_named(&mut self, op: NamedOp) -> Outcome {
        let (source, target) = (self.model.resolve(op.who), self.model.resolve(op.to));
        with_relation!(op.kind, K => match op.number {
            Some(number) => self.relate_named::<K>((source, target), number, op.by_command),
            None => self.unrelate_named::<K>((source, target), op.by_command),
        })
    }

    fn relate_named<K: Kind>(
        &mut self,
        (source, target): (Entity, Entity),
        number: u32,
        by_command: bool,
    ) -> Outcome
    where
        K::Value: SparseComponent,
    {
        let (name, value) = (<K::Value as SparseComponent>::NAME, number.to_ne_bytes());
        let named = K::named(target, number, &value);
        let related = self.step(|side| {
            side.world.register::<K::Value>();
            match by_command {
                true => apply(&mut side.world, |buffer| buffer.relate_named(source, name, named)),
                false => {
                    let related = side.world.reflect_mut().relate(source, name, named);
                    related.map_err(|error| error.word())
                }
            }
        });
        let outcome = related.err().unwrap_or(DONE);
        let expected = match self.model.alive(source) {
            None => DEAD,
            Some(_) => self.model.relates::<K>(source, target),
        };
        // With two reasons either is told.
        let is_either = expected != DONE && outcome == self.model.relates::<K>(source, target);
        assert!(outcome == expected || is_either, "{source}, {target}: {outcome}, {expected}");
        if outcome == DONE {
            let former = self.model.relations.of::<K>().number(source, target);
            let number = if K::has_value(number) { number } else { former.unwrap_or(0) };
            self.model.relations.put::<K>(source, target, number);
            self.read_named::<K>(source, target);
        }
        outcome
    }

    fn unrelate_named<K: Kind>(
        &mut self,
        (source, target): (Entity, Entity),
        by_command: bool,
    ) -> Outcome
    where
        K::Value: SparseComponent,
    {
        let source = self.source::<K>(source);
        let target = self.model.relations.of::<K>().target(source).unwrap_or(target);
        let name = <K::Value as SparseComponent>::NAME;
        let had_one = self.model.relations.of::<K>().number(source, target).is_some();
        let removed = self.step(|side| {
            side.world.register::<K::Value>();
            if by_command {
                let unrelate = |buffer: &mut CommandBuffer| {
                    buffer.unrelate_named(source, name, target);
                };
                return apply(&mut side.world, unrelate).map(|()| had_one);
            }
            let removed = side.world.reflect_mut().unrelate(source, name, target);
            removed.map_err(|error| error.word())
        });
        let is_alive = self.model.alive(source).is_some();
        assert_eq!(removed, if is_alive { Ok(had_one) } else { Err(DEAD) }, "{source}, {target}");
        self.model.relations.of_mut::<K>().remove_pair(source, target);
        self.read_named::<K>(source, target);
        match removed {
            Ok(true) => DONE,
            Ok(false) => LACKS,
            Err(fault) => fault,
        }
    }

    /// Reads both ends of a relation, and the value of a pair.
    fn read_named<K: Kind>(&self, source: Entity, target: Entity)
    where
        K::Value: SparseComponent,
    {
        let (name, pairs) = (<K::Value as SparseComponent>::NAME, self.model.relations.of::<K>());
        let set = |list: Vec<Entity>| list.into_iter().collect::<BTreeSet<_>>();
        self.look(|world| {
            let reflect = world.reflect();
            let targets = set(reflect.targets(source, name).expect("it is known"));
            assert!(targets.iter().eq(pairs.targets(source)), "the targets of {source}");
            let sources = reflect.sources(target, name).expect("it is known");
            match K::IS_MANY {
                true => assert_eq!(set(sources), set(pairs.sources(target).to_vec()), "{target}"),
                false => assert_eq!(sources, pairs.sources(target), "the sources of {target}"),
            }
            let pair = reflect.pair(source, name, target).expect("it is known");
            let number = pairs.number(source, target);
            assert_eq!(pair.is_some(), number.is_some(), "{source} to {target}");
            if let Some((pair, number)) = pair.zip(number) {
                let value = number.to_ne_bytes();
                let value = if K::INDEX == Likes::INDEX { &value[..] } else { &[] };
                assert_eq!(pair.bytes(), value, "the value of {source} and {target}");
            }
        });
    }
}
