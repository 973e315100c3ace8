//! Spawns: single, in batches, as copies, and under given ids; and reserved capacity.

use phalanx::error::{AllocAtError, SpawnError};
use phalanx::prelude::*;

use crate::beside::Note;
use crate::ids::AtId;
use crate::operations::Hint;
use crate::outcome::{
    DEAD, DONE, EXHAUSTED, Fault, Outcome, PANICKED, WIDE, panic_as_told, told, word,
};
use crate::parts::{ALL, Four, Line, Odd, Part, Set, Shape, Tag, Twelve, fits};
use crate::profile::Twin;
use crate::trial::Trial;

/// An iterator with any size hint, which may panic.
struct Rows<I> {
    rows: I,
    hint: usize,
    until_panic: Option<usize>,
}

impl<I: Iterator> Iterator for Rows<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        if let Some(until) = &mut self.until_panic {
            match until.checked_sub(1) {
                Some(less) => *until = less,
                None => panic_as_told(),
            }
        }
        self.rows.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.hint, None)
    }
}

/// The numbers of rows that are spawned together.
fn numbers(first: u32, rows: usize) -> impl Iterator<Item = u32> + Clone {
    (0u32..).take(rows).map(move |i| first.wrapping_add(i))
}

impl Trial {
    pub(crate) fn refusal(&self, set: Set, rows: usize) -> Outcome {
        match (fits(set, self.model.chunk_bytes), rows > self.model.ids.available()) {
            (false, _) => WIDE,
            (true, true) => EXHAUSTED,
            (true, false) => DONE,
        }
    }

    /// Adds entities that the world has made under ids of its choice.
    pub(crate) fn made<S: Shape>(
        &mut self,
        entities: Vec<Entity>,
        numbers: impl Iterator<Item = u32>,
    ) {
        for (entity, number) in entities.into_iter().zip(numbers) {
            self.model.ids.made(entity);
            self.model.spawned(&self.main.world, entity, S::SET, [number; ALL]);
        }
    }

    pub(crate) fn spawn<S: Shape>(&mut self, number: u32) -> Outcome {
        let expected = self.refusal(S::SET, 1);
        let spawned = self.step(|side| match expected {
            DONE if Note::is_beside(number) => {
                Ok(side.world.spawn((Note::of(number), S::make(number))))
            }
            DONE if number.is_multiple_of(2) => Ok(side.world.spawn(S::make(number))),
            _ => side.world.try_spawn(S::make(number)),
        });
        assert_eq!(word(&spawned), expected);
        if let Ok(entity) = spawned {
            self.made::<S>(vec![entity], [number].into_iter());
            self.noted(entity, number);
        }
        expected
    }

    pub(crate) fn spawn_at<S: Shape>(&mut self, entity: Entity, number: u32) -> Outcome {
        let spawned = self.step(|side| side.world.spawn_at(entity, S::make(number)));
        let at = self.model.ids.at(entity);
        let expected = match at {
            _ if !fits(S::SET, self.model.chunk_bytes) => WIDE,
            AtId::Free if spawned.is_err() && self.model.ids.may_be_lent() => "id lent",
            AtId::Free => DONE,
            AtId::Null => "null id",
            AtId::AboveLimit => "id above the limit",
            AtId::TooFar => "gap too wide",
            AtId::Occupied => "id occupied",
            AtId::Promised => "id lent",
            AtId::Retired => "id retired",
        };
        assert_eq!(word(&spawned), expected, "{entity}");
        if let Err(SpawnError::Id(AllocAtError::Occupied { occupant, .. })) = spawned {
            assert_eq!(occupant.index(), entity.index());
            assert!(self.model.row(occupant).is_some(), "{occupant} lives");
        }
        if spawned.is_ok() {
            self.model.ids.made_at(entity);
            self.model.spawned(&self.main.world, entity, S::SET, [number; ALL]);
        }
        expected
    }

    pub(crate) fn spawn_batch<S: Shape>(
        &mut self,
        rows: usize,
        hint: Hint,
        panics_at: Option<usize>,
    ) -> Outcome {
        let available = self.model.ids.available();
        // The end of ids is detected at the end of a chunk, and the size of chunks decides whether
        // this is before or after the panic.
        let is_same_end = self.profile.twin != Twin::Resized;
        let panics_at = panics_at.filter(|&at| at <= available || is_same_end);
        let hint = match hint {
            Hint::True => rows,
            Hint::Nothing => 0,
            Hint::Half => rows / 2,
            Hint::TooMuch => usize::MAX,
        };
        let spawned = self.step(|side| {
            let rows = numbers(7, rows).map(S::make);
            let rows = Rows { rows, hint, until_panic: panics_at };
            told(|| side.world.try_spawn_batch(rows).map(<[_]>::to_vec))
        });
        let outcome = spawned.as_ref().map_or_else(|&panic| panic, word);
        match (self.refusal(S::SET, rows), panics_at) {
            (WIDE, _) => assert_eq!(outcome, WIDE),
            (_, Some(at)) if at <= available => assert_eq!(outcome, PANICKED),
            // The end of ids is detected at the end of a chunk, before or after the panic.
            (_, Some(_)) => assert!([PANICKED, EXHAUSTED].contains(&outcome), "{outcome}"),
            (expected, None) => assert_eq!(outcome, expected),
        }
        if let Ok(Ok(entities)) = spawned {
            assert_eq!(entities.len(), rows);
            self.made::<S>(entities, numbers(7, rows));
        }
        outcome
    }

    pub(crate) fn spawn_columns(&mut self, kind: usize, rows: usize, uneven: bool) -> Outcome {
        match kind {
            0 => self.columns_of::<Four, Odd>(rows, uneven),
            1 => self.columns_of::<Tag, Twelve>(rows, uneven),
            2 => self.columns_of::<Line, Tag>(rows, uneven),
            _ => self.columns_of::<Twelve, Four>(rows, uneven),
        }
    }

    fn columns_of<A: Part, B: Part>(&mut self, rows: usize, uneven: bool) -> Outcome {
        let first: Vec<A> = numbers(9, rows).map(A::part).collect();
        let second: Vec<B> = numbers(9, rows + usize::from(uneven)).map(B::part).collect();
        let expected = if uneven { "uneven columns" } else { self.refusal(A::SET | B::SET, rows) };
        let run = |side: &mut crate::trial::Side| {
            let spawned = side.world.spawn_columns(((&first[..],), &second[..]));
            spawned.map(<[_]>::to_vec)
        };
        // Uneven columns are refused before anything happens.
        let spawned = if uneven { self.step_aside(run) } else { self.step(run) };
        assert_eq!(word(&spawned), expected);
        if let Ok(entities) = spawned {
            assert_eq!(entities.len(), rows);
            self.made::<(A, B)>(entities, numbers(9, rows));
        }
        expected
    }

    pub(crate) fn instantiate(&mut self, prototype: Entity, copies: usize) -> Outcome {
        let copied = self.step(|side| side.world.instantiate(prototype, copies).map(<[_]>::to_vec));
        let row = self.model.alive(prototype).copied();
        let expected = match row {
            None => DEAD,
            Some(_) if copies > self.model.ids.available() => EXHAUSTED,
            Some(_) => DONE,
        };
        assert_eq!(word(&copied), expected);
        if let (Ok(entities), Some(row)) = (copied, row) {
            assert_eq!(entities.len(), copies);
            for entity in entities {
                self.model.ids.made(entity);
                self.model.copied(&self.main.world, entity, &row, self.now());
            }
        }
        expected
    }

    pub(crate) fn reserve_entities(&mut self, ids: u32, together: bool) -> Outcome {
        let available = self.model.ids.available();
        let reserved = self.look(|world| {
            if together {
                return world.reserve_entities(ids).map(Iterator::collect::<Vec<_>>);
            }
            let ids = (0..ids).map_while(|_| world.reserve_entity().ok());
            Ok(ids.collect())
        });
        if together && ids as usize > available {
            assert_eq!(word(&reserved), EXHAUSTED);
            return EXHAUSTED;
        }
        let reserved = reserved.expect("there are as many");
        assert_eq!(reserved.len(), available.min(ids as usize));
        for entity in reserved {
            self.model.ids.reserved(entity);
            self.model.reserved.push(entity);
        }
        DONE
    }

    pub(crate) fn grow_indices(&mut self, indices: u32) -> Outcome {
        let grown = self.step(|side| side.world.memory_mut().grow_indices(indices));
        let expected = if indices > self.model.ids.limit() { EXHAUSTED } else { DONE };
        assert_eq!(word(&grown), expected);
        if grown.is_ok() {
            self.model.ids.reach(indices);
        }
        expected
    }

    pub(crate) fn reserve<S: Shape>(&mut self, rows: usize) -> Outcome {
        let reserved = self.step(|side| side.world.reserve::<S>(rows));
        let outcome = reserved.as_ref().map_or_else(Fault::word, |()| DONE);
        let refusal = self.refusal(S::SET, rows);
        let either = refusal == WIDE && rows > self.model.ids.available();
        assert!(outcome == refusal || (either && outcome == EXHAUSTED), "{outcome}, {refusal}");
        outcome
    }
}
