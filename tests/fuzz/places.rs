//! Places of rows: read and written while they are valid, refused after rows have moved.
//!
//! The model keeps the rows as they lay when the places were found. If they lie otherwise, each
//! place must be refused. If all calls since only wrote values, each must be valid. After other
//! calls that moved no row it may be either.

use std::hash::{DefaultHasher, Hash, Hasher};

use phalanx::prelude::*;
use phalanx::rows::{PlaceError, RowError};

use crate::operations::Op;
use crate::outcome::{DONE, IDLE, LACKS, Outcome};
use crate::parts::{Part, Shape};
use crate::trial::Trial;

/// The entities with places that were found, and a hash of the rows of all archetypes at this time.
#[derive(Debug, Default)]
pub(crate) struct Places {
    entities: Vec<Entity>,
    rows: u64,
    /// Whether all calls since only wrote values.
    pub(crate) are_valid: bool,
}

impl Places {
    /// Takes notice of an operation.
    pub(crate) const fn pass(&mut self, op: &Op) {
        self.are_valid &= matches!(
            op,
            Op::Write { .. }
                | Op::Read { .. }
                | Op::Look { .. }
                | Op::GetMut { .. }
                | Op::LookupMut { .. }
                | Op::WriteValues { .. }
                | Op::WriteLines { .. }
                | Op::WriteCharges { .. }
                | Op::Between { .. }
                | Op::Scatter { .. }
                | Op::Send { .. }
                | Op::ReadEvents
                | Op::FindPlaces { .. }
                | Op::UsePlaces { .. }
        );
    }
}

impl Trial {
    /// A hash of the rows of all archetypes that have some.
    fn hash_of_rows(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let rows = self.model.lists.lists.iter().map(|list| &list.entities);
        rows.filter(|rows| !rows.is_empty()).for_each(|rows| rows.hash(&mut hasher));
        hasher.finish()
    }

    /// Finds the places of entities, some of them without a row or the component, and uses them.
    pub(crate) fn find_places<P: Part>(&mut self, entities: &[Entity], number: u32) -> Outcome {
        self.flush();
        let has = |entity: &Entity| self.model.row(*entity).is_some_and(|row| row.has(P::SET));
        let found: Vec<Entity> = entities.iter().copied().filter(has).collect();
        self.step_aside(|side| {
            let view = side.world.lookup::<P>().by_place();
            side.places = entities.iter().filter_map(|&entity| view.place(entity).ok()).collect();
            assert_eq!(side.places.len(), found.len(), "places of {entities:?}");
        });
        self.places = Places { entities: found, rows: self.hash_of_rows(), are_valid: true };
        if self.places.entities.is_empty() { LACKS } else { self.use_places::<P>(number) }
    }

    /// Reads a component at all places that were found, and writes it if they are valid.
    pub(crate) fn use_places<P: Part>(&mut self, number: u32) -> Outcome {
        self.flush();
        let have_moved = self.hash_of_rows() != self.places.rows;
        let are_valid = self.places.are_valid && !have_moved;
        let value = |entity: &Entity| {
            let row = self.model.row(*entity).filter(|row| row.has(P::SET));
            (*entity, row.map(|row| P::part(row.numbers[P::INDEX])))
        };
        let expected: Vec<_> = self.places.entities.iter().map(value).collect();
        self.step_aside(|side| {
            let view = side.world.lookup::<P>().by_place();
            let query = side.world.query::<(Entity, &P)>().filter::<IncludeHidden>();
            let rows = query.lookup();
            for (&place, (entity, value)) in side.places.iter().zip(&expected) {
                match (view.at(place), rows.at(place)) {
                    (Err(PlaceError::Moved), Err(RowError::Moved)) => {
                        assert!(!are_valid, "the place of {entity} is valid");
                    }
                    (cell, row) => {
                        assert!(!have_moved, "the place of {entity} is void");
                        assert_eq!(cell.ok(), value.as_ref(), "{} of {entity}", P::NAME);
                        let row = row.ok();
                        assert_eq!(row, value.as_ref().map(|value| (*entity, value)));
                    }
                }
            }
        });
        if !are_valid && !have_moved {
            return IDLE;
        }
        self.step(|side| {
            let mut view = side.world.lookup_mut::<P>().by_place();
            for (&place, (entity, value)) in side.places.iter().zip(&expected) {
                match view.at_mut(place) {
                    Ok(cell) => {
                        assert!(are_valid && value.is_some(), "the place of {entity}");
                        *cell = P::part(number);
                    }
                    Err(PlaceError::Moved) => assert!(have_moved, "the place of {entity}"),
                    Err(_) => assert!(are_valid && value.is_none(), "the place of {entity}"),
                }
            }
        });
        if have_moved {
            return "void";
        }
        for (entity, _) in expected.iter().filter(|(_, value)| value.is_some()) {
            self.model.wrote(*entity, P::SET, number, self.now());
        }
        DONE
    }
}
