//! A sparse component of plain data: by entity, in batches, and as a term of queries.

use phalanx::prelude::*;

use crate::filtered;
use crate::filters::Only;
use crate::outcome::{DEAD, DONE, IDLE, LACKS, Outcome, word};
use crate::parts::{Four, Part, Shape};
use crate::trial::Trial;

/// A sparse component with bytes in all states.
#[component(sparse)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Charge(pub(crate) u32);

impl Charge {
    /// Whether a value comes with the rows of a recorded batch that has this number.
    pub(crate) const fn is_beside(number: u32) -> bool {
        number % 4 == 2
    }
}

impl Trial {
    /// Inserts or removes the value of an entity.
    pub(crate) fn charge(&mut self, entity: Entity, number: Option<u32>) -> Outcome {
        let former = self.step(|side| match number {
            Some(number) => side.world.insert(entity, Charge(number)).map(|()| None),
            None => side.world.remove::<Charge>(entity).map(|charge| Some(charge.0)),
        });
        let expected = match (self.model.alive(entity), number) {
            (None, _) => DEAD,
            (Some(row), None) if row.charge.is_none() => LACKS,
            _ => DONE,
        };
        assert_eq!(word(&former), expected, "{entity}");
        if let Ok(former) = former {
            let row = self.model.row_mut(entity);
            assert!(former.is_none() || former == row.charge, "{entity}: {former:?}");
            row.charge = number;
        }
        expected
    }

    /// Spawns rows with values.
    pub(crate) fn spawn_charged<S: Shape>(&mut self, rows: usize, first: u32) -> Outcome {
        let numbers = || (0u32..).take(rows).map(move |i| first.wrapping_add(i));
        let expected = self.refusal(S::SET, rows);
        let spawned = self.step(|side| {
            let rows = numbers().map(|number| (S::make(number), Charge(number)));
            side.world.try_spawn_batch(rows).map(<[_]>::to_vec)
        });
        assert_eq!(word(&spawned), expected);
        if let Ok(entities) = spawned {
            self.made::<S>(entities.clone(), numbers());
            for (entity, number) in entities.into_iter().zip(numbers()) {
                self.model.row_mut(entity).charge = Some(number);
            }
        }
        expected
    }

    /// Writes the values of all entities that a filter lets pass.
    pub(crate) fn write_charges(&mut self, only: Only, number: u32) -> Outcome {
        let chunks = self.matched(only, 0);
        let has = |entity: &&Entity| self.model.rows[*entity].charge.is_some();
        let rows = chunks.iter().flat_map(|(_, rows)| rows).filter(has);
        let mut rows: Vec<Entity> = rows.copied().collect();
        let since = only.since(self.now());
        let mut seen = self.step(|side| {
            let mut seen = Vec::new();
            filtered!(side.world, query_mut::<(Entity, &mut Charge, Option<&Four>)>, only, since,
            q => q.rows().for_each(|(entity, charge, four)| {
                let old = std::mem::replace(&mut charge.0, number);
                seen.push((entity, old, four.map(|four| four.0)));
            }));
            seen
        });
        seen.sort_unstable();
        rows.sort_unstable();
        assert!(seen.iter().map(|row| &row.0).eq(&rows), "rows with a value");
        for (entity, old, four) in seen {
            let row = self.model.row_mut(entity);
            assert_eq!(four, row.has(Four::SET).then(|| row.numbers[Four::INDEX]), "{entity}");
            assert_eq!(row.charge.replace(number), Some(old), "the value of {entity}");
        }
        if rows.is_empty() { IDLE } else { DONE }
    }

    /// Compares all values, by entity, by filter and by query.
    pub(crate) fn compare_charges(&self, world: &World) {
        let expected = self.model.rows.iter();
        let expected: Vec<_> = expected.filter_map(|(&e, row)| Some((e, row.charge?))).collect();
        let charges = world.sparse::<Charge>();
        assert_eq!(charges.len(), expected.len(), "values");
        for (entity, number) in &expected {
            assert_eq!(charges.get(*entity), Some(&Charge(*number)), "the value of {entity}");
        }
        let all = || world.query::<Entity>().filter::<IncludeHidden>();
        assert_eq!(all().with::<Charge>().count_rows(), expected.len(), "rows with a value");
        let others = all().without::<Charge>().count_rows();
        assert_eq!(others + expected.len(), world.len(), "rows without a value");
        let rows = world.query::<(Entity, &Charge)>().filter::<IncludeHidden>().rows();
        let mut rows: Vec<_> = rows.map(|(entity, charge)| (entity, charge.0)).collect();
        rows.sort_unstable();
        assert_eq!(rows, expected, "values by query");
    }
}
