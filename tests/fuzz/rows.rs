//! Changes and reads of single entities by their ids.

use phalanx::prelude::*;

use crate::beside::Note;
use crate::outcome::{DEAD, DONE, HELD, IDLE, LACKS, Outcome, WIDE, word};
use crate::parts::{Eight, Four, Part, Shape, fits};
use crate::trial::Trial;

impl Trial {
    pub(crate) fn insert<S: Shape>(&mut self, entity: Entity, number: u32) -> Outcome {
        let inserted = self.step(|side| match Note::is_beside(number) {
            true => side.world.insert(entity, (S::make(number), Note::of(number))),
            false => side.world.insert(entity, S::make(number)),
        });
        let expected = match self.model.alive(entity) {
            None => DEAD,
            Some(row) if !fits(row.set | S::SET, self.model.chunk_bytes) => WIDE,
            Some(_) => DONE,
        };
        assert_eq!(word(&inserted), expected, "{entity}");
        if inserted.is_ok() {
            self.model.changed(&self.main.world, entity, (0, S::SET), number);
            self.noted(entity, number);
        }
        expected
    }

    /// An entity has got the sparse component that comes with a number.
    pub(crate) fn noted(&mut self, entity: Entity, number: u32) {
        if Note::is_beside(number) {
            self.model.row_mut(entity).side = Some(number);
        }
    }

    pub(crate) fn remove<S: Shape>(&mut self, entity: Entity) -> Outcome {
        let note = self.model.alive(entity).and_then(|row| row.side);
        let note = note.filter(|&number| Note::is_beside(number));
        let removed = self.step(|side| match note {
            None => side.world.remove::<S>(entity),
            Some(number) => side.world.remove::<(S, Note)>(entity).map(|(removed, note)| {
                assert_eq!(note.number(), number, "the sparse component of {entity}");
                removed
            }),
        });
        let row = self.model.needs(entity, S::SET).copied();
        let expected = row.err().unwrap_or(DONE);
        assert_eq!(word(&removed), expected, "{entity}");
        if let (Ok(removed), Ok(row)) = (removed, row) {
            assert_eq!(removed, S::of(&row.numbers), "what {entity} had");
            self.model.changed(&self.main.world, entity, (S::SET, 0), 0);
            if note.is_some() {
                self.model.row_mut(entity).side = None;
            }
        }
        expected
    }

    pub(crate) fn exchange<R: Shape, A: Shape>(&mut self, entity: Entity, number: u32) -> Outcome {
        let removed = self.step(|side| match Note::is_beside(number) {
            true => side.world.exchange::<R, _>(entity, (A::make(number), Note::of(number))),
            false => side.world.exchange::<R, A>(entity, A::make(number)),
        });
        let row = self.model.alive(entity).copied();
        let outcome = word(&removed);
        let Some(row) = row else {
            assert_eq!(outcome, DEAD, "{entity}");
            return DEAD;
        };
        let is_wide = !fits(row.set & !R::SET | A::SET, self.model.chunk_bytes);
        match (row.has(R::SET), is_wide) {
            (false, true) => assert!([LACKS, WIDE].contains(&outcome), "{entity}: {outcome}"),
            (false, false) => assert_eq!(outcome, LACKS, "{entity}"),
            (true, true) => assert_eq!(outcome, WIDE, "{entity}"),
            (true, false) => assert_eq!(outcome, DONE, "{entity}"),
        }
        if let Ok(removed) = removed {
            assert_eq!(removed, R::of(&row.numbers), "what {entity} had");
            self.model.changed(&self.main.world, entity, (R::SET, A::SET), number);
            self.noted(entity, number);
        }
        outcome
    }

    pub(crate) fn despawn(&mut self, entity: Entity) -> Outcome {
        let ended = self.step(|side| side.world.despawn(entity));
        let expected = match self.model.alive(entity) {
            None => DEAD,
            Some(_) if self.model.is_held(&[entity]) => HELD,
            Some(_) => DONE,
        };
        assert_eq!(word(&ended), expected, "{entity}");
        if ended.is_ok() {
            self.model.despawned(&self.main.world, &[entity]);
        }
        expected
    }

    pub(crate) fn get_mut<P: Part>(&mut self, entity: Entity, number: u32) -> Outcome {
        let before = self.model.row(entity).map(|row| P::part(row.numbers[P::INDEX]));
        let written = self.step(|side| {
            side.world.get_mut::<P>(entity).map(|part| std::mem::replace(part, P::part(number)))
        });
        let expected = self.model.needs(entity, P::SET).err().unwrap_or(DONE);
        assert_eq!(word(&written), expected, "{entity}");
        if let Ok(old) = written {
            assert!(before.is_some_and(|before| before == old), "what {entity} had");
            self.model.wrote(entity, P::SET, number, self.now());
            if P::SET == Four::SET && number.is_multiple_of(8) {
                self.assert_one_line(entity);
            }
        }
        expected
    }

    /// Asserts that the last step has changed only the line of one entity.
    fn assert_one_line(&self, entity: Entity) {
        let lines = self.main.world.query::<(Entity, &Four)>().filter::<IncludeHidden>();
        let since = Version::from_bits(self.before);
        let rows = lines.filter_since::<ChangedLines<Four>>(since).rows().map(|(entity, _)| entity);
        let rows: Vec<Entity> = rows.collect();
        assert!(rows.len() <= VECTOR_ROWS && rows.contains(&entity), "the line of {entity}");
    }

    pub(crate) fn set_enabled(&mut self, entity: Entity, enabled: bool) -> Outcome {
        let was_off = self.model.row(entity).map(|row| row.is_off());
        let was_on = self.step(|side| side.world.set_enabled::<Eight>(entity, enabled));
        let expected = self.model.needs(entity, Eight::SET).err().unwrap_or(DONE);
        assert_eq!(word(&was_on), expected, "{entity}");
        let Ok(was_on) = was_on else { return expected };
        assert_eq!(Some(!was_on), was_off, "{entity}");
        if was_on == enabled {
            return IDLE;
        }
        self.model.switched(entity, enabled, self.now());
        DONE
    }

    pub(crate) fn get_disjoint_mut<P: Part>(
        &mut self,
        entities: [Entity; 3],
        number: u32,
    ) -> Outcome {
        let written = self.step(|side| {
            let cells = side.world.get_disjoint_mut::<P, 3>(entities)?;
            for (i, cell) in (0u32..).zip(cells) {
                *cell = P::part(number.wrapping_add(i));
            }
            Ok::<(), phalanx::error::EntityError>(())
        });
        let refused = entities.iter().find_map(|&entity| self.model.needs(entity, P::SET).err());
        let [a, b, c] = entities;
        let repeated = a == b || b == c || a == c;
        let expected = refused.unwrap_or(if repeated { "repeated" } else { DONE });
        assert_eq!(word(&written), expected, "{entities:?}");
        if written.is_ok() {
            for (i, entity) in (0u32..).zip(entities) {
                self.model.wrote(entity, P::SET, number.wrapping_add(i), self.now());
            }
        }
        expected
    }

    /// Writes several entities through one view, some of them without the component.
    pub(crate) fn lookup_mut<P: Part>(&mut self, entities: &[Entity], number: u32) -> Outcome {
        self.flush();
        let old: Vec<Option<P>> = entities
            .iter()
            .map(|&entity| self.model.row(entity).filter(|row| row.has(P::SET)))
            .map(|row| row.map(|row| P::part(row.numbers[P::INDEX])))
            .collect();
        self.step(|side| {
            let mut view = side.world.lookup_mut::<P>();
            for (&entity, old) in entities.iter().zip(&old) {
                assert!(view.get(entity).ok() == old.as_ref(), "what {entity} had");
            }
            for (&entity, old) in entities.iter().zip(&old) {
                let cell = view.get_mut(entity);
                assert_eq!(cell.is_ok(), old.is_some(), "{entity}");
                cell.into_iter().for_each(|cell| *cell = P::part(number));
            }
        });
        for (&entity, _) in entities.iter().zip(&old).filter(|(_, old)| old.is_some()) {
            self.model.wrote(entity, P::SET, number, self.now());
        }
        if old.iter().any(Option::is_some) { DONE } else { LACKS }
    }

    /// Compares all properties of one entity.
    pub(crate) fn look_at<P: Part>(&self, entity: Entity) -> Outcome {
        let row = self.model.row(entity);
        let waits = row.is_none() && self.model.reserved.contains(&entity);
        let value = row.filter(|row| row.has(P::SET)).map(|row| P::part(row.numbers[P::INDEX]));
        let expected = match (row, &value) {
            (None, _) if waits => LACKS,
            _ => self.model.needs(entity, P::SET).err().unwrap_or(DONE),
        };
        self.look(|world| {
            let is_alive = self.model.alive(entity).is_some() || waits;
            assert_eq!(world.contains(entity), is_alive, "{entity}");
            assert_eq!(world.has::<P>(entity), value.is_some(), "{entity}");
            let got = world.get::<P>(entity);
            assert_eq!(word(&got), expected, "{entity}");
            assert!(got.ok() == value.as_ref(), "the value of {entity}");
            assert!(
                world.lookup::<P>().get(entity).ok() == value.as_ref(),
                "the value of {entity}"
            );
        });
        expected
    }
}
