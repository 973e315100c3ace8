//! A sparse cleanup component: its values, and with them the entities, outlive despawns.

use phalanx::prelude::*;

use crate::outcome::{DEAD, DONE, LACKS, Outcome, word};
use crate::parts::{GONE, KEPT};
use crate::trial::Trial;

/// A sparse cleanup component with bytes in all states.
#[component(sparse, plain, cleanup)]
#[derive(Debug, PartialEq)]
pub(crate) struct Grip(pub(crate) u32);

impl Trial {
    /// Inserts the value of an entity, or removes one: of an entity that has it, if any does.
    pub(crate) fn grip(&mut self, entity: Entity, number: Option<u32>) -> Outcome {
        match number {
            Some(number) => self.insert_grip(entity, number),
            None => {
                let having = self.model.rows.iter().filter(|(_, row)| row.grip.is_some());
                let having: Vec<Entity> = having.map(|(&entity, _)| entity).collect();
                let nth = entity.index() as usize % (having.len() + 1);
                self.remove_grip(having.get(nth).copied().unwrap_or(entity))
            }
        }
    }

    fn insert_grip(&mut self, entity: Entity, number: u32) -> Outcome {
        let inserted = self.step(|side| side.world.insert(entity, Grip(number)));
        let expected = if self.model.alive(entity).is_some() { DONE } else { DEAD };
        assert_eq!(word(&inserted), expected, "{entity}");
        if inserted.is_ok() {
            self.model.row_mut(entity).grip = Some(number);
        }
        expected
    }

    fn remove_grip(&mut self, entity: Entity) -> Outcome {
        let removed = self.step(|side| side.world.remove::<Grip>(entity));
        let row = self.model.row(entity).copied();
        let expected = match row {
            Some(row) if row.grip.is_some() => DONE,
            Some(row) if !row.is_gone() => LACKS,
            _ => DEAD,
        };
        assert_eq!(word(&removed), expected, "{entity}");
        if let (Ok(Grip(number)), Some(row)) = (removed, row) {
            assert_eq!(Some(number), row.grip, "the grip of {entity}");
            self.model.row_mut(entity).grip = None;
            if row.is_gone() {
                self.model.changed(&self.main.world, entity, (KEPT, 0), 0);
            }
        }
        expected
    }

    /// Compares all values, of entities that are alive and of those that are gone.
    pub(crate) fn compare_grips(&self, world: &World) {
        let rows = world.query::<(Entity, &Grip, Option<&Gone>)>().filter::<IncludeHidden>();
        let rows = rows.rows().map(|(entity, grip, gone)| (entity, grip.0, gone.is_some()));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_unstable();
        let expected = self.model.rows.iter();
        let expected = expected.filter_map(|(&e, row)| Some((e, row.grip?, row.is_gone())));
        let expected: Vec<_> = expected.collect();
        assert_eq!(rows, expected, "grips by query");
        assert_eq!(world.sparse::<Grip>().len(), expected.len(), "grips");
        let gone = world.query::<Entity>().with::<Gone>().with::<Grip>().count_rows();
        let is_kept = |row: &&crate::model::Row| row.has(GONE | KEPT);
        assert_eq!(gone, self.model.rows.values().filter(is_kept).count(), "grips that are kept");
    }
}
