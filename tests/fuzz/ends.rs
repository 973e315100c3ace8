//! Values at the other end of relations: rows of sources, and values of targets and ancestors.

use std::iter::successors;

use phalanx::prelude::*;
use phalanx::sparse::{Relation, TargetValues};

use crate::filters::Only;
use crate::model::Model;
use crate::outcome::{DONE, IDLE, LACKS, Outcome};
use crate::parts::{Byte, Four, Part, Shape};
use crate::relations::{ChildOf, Faces, Kind, Needs, SlotOf};
use crate::trial::Trial;

/// The entities whose values a pass reads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reach {
    Target,
    Nearest,
    OwnOrNearest,
}

impl Reach {
    pub(crate) const ALL: [Self; 3] = [Self::Target, Self::Nearest, Self::OwnOrNearest];
}

impl Model {
    /// The number of the [`Four`] of an entity, which may be hidden.
    fn four(&self, entity: Entity) -> Option<u32> {
        let row = self.row(entity).filter(|row| row.has(Four::SET));
        row.map(|row| row.numbers[Four::INDEX])
    }

    /// The number that [`TargetValues`] reads for an entity.
    fn value(&self, entity: Entity, reach: Reach) -> Option<u32> {
        let above = |entity: Entity| self.relations.of::<ChildOf>().target(entity);
        match reach {
            Reach::Target => self.four(self.relations.of::<Faces>().target(entity)?),
            Reach::Nearest => self.value(above(entity)?, Reach::OwnOrNearest),
            Reach::OwnOrNearest => {
                successors(Some(entity), |&one| above(one)).find_map(|one| self.four(one))
            }
        }
    }

    /// The sources of an entity that a query of [`Four`] sees, and the numbers of their values.
    fn rows_of<K: Kind>(&self, target: Entity) -> Vec<(Entity, u32)> {
        let sources = self.relations.of::<K>().sources(target).iter();
        let seen = sources.filter(|source| !self.rows[source].is_hidden());
        seen.filter_map(|&source| Some((source, self.four(source)?))).collect()
    }
}

/// Writes the values beside the rows of a query. Returns them with the entities.
fn write_values<R: phalanx::sparse::RelationComponent>(
    values: TargetValues<'_, R, Four>,
    rows: Query<'_, (&mut Byte, Entity)>,
) -> Vec<(Entity, u32)> {
    let mut visits = Vec::new();
    values.for_each_chunk(rows, |(bytes, entities), fours| {
        assert_eq!((bytes.len(), entities.len()), (fours.len(), fours.len()), "rows of a slice");
        for ((byte, &entity), &Four(number)) in bytes.iter_mut().zip(entities).zip(fours) {
            *byte = Byte::part(number);
            visits.push((entity, number));
        }
    });
    visits
}

impl Trial {
    /// Writes a component of all rows that have a value at the other end, or all rows if there is
    /// a number for the others.
    pub(crate) fn write_ends(&mut self, reach: Reach, otherwise: Option<u32>) -> Outcome {
        self.flush();
        let chunks = self.matched(Only { kind: 0, age: 0 }, Byte::SET);
        let rows = chunks.into_iter().flat_map(|(_, rows)| rows);
        let value = |entity| Some((entity, self.model.value(entity, reach).or(otherwise)?));
        let expected: Vec<_> = rows.filter_map(value).collect();
        let four = otherwise.map(Four);
        type Bytes<'w> = Query<'w, (&'static mut Byte, Entity)>;
        let visits = self.step(|side| match reach {
            Reach::Target => side.world.run(
                |faces: Relation<'_, Faces>, fours: Lookup<'_, Four>, bytes: Bytes<'_>| {
                    let values = faces.target_values(&fours);
                    write_values(four.as_ref().map_or(values, |four| values.or(four)), bytes)
                },
            ),
            _ => side.world.run(
                |tree: Relation<'_, ChildOf>, fours: Lookup<'_, Four>, bytes: Bytes<'_>| {
                    let values = match reach {
                        Reach::Nearest => tree.nearest_values(&fours),
                        _ => tree.own_or_nearest_values(&fours),
                    };
                    write_values(four.as_ref().map_or(values, |four| values.or(four)), bytes)
                },
            ),
        });
        assert_eq!(visits, expected, "values of {reach:?}");
        for (entity, number) in expected {
            self.model.wrote(entity, Byte::SET, number, self.now());
        }
        if visits.is_empty() { IDLE } else { DONE }
    }

    /// Writes a component of the sources of an entity.
    pub(crate) fn write_sources(&mut self, target: Entity, number: u32) -> Outcome {
        self.flush();
        let expected = self.model.rows_of::<ChildOf>(target);
        type Fours<'w> = Query<'w, (&'static mut Four, Entity)>;
        let visits = self.step(|side| {
            side.world.run(|tree: Relation<'_, ChildOf>, mut fours: Fours<'_>| {
                let mut visits = Vec::new();
                tree.for_each_of(target, &mut fours, |(four, entity)| {
                    visits.push((entity, std::mem::replace(four, Four::part(number)).0));
                });
                visits
            })
        });
        assert_eq!(visits, expected, "the sources of {target}");
        for (entity, _) in expected {
            self.model.wrote(entity, Four::SET, number, self.now());
        }
        if visits.is_empty() { LACKS } else { DONE }
    }

    /// Compares the values at the other end of each entity.
    pub(crate) fn compare_ends(&self, world: &World) {
        let (tree, faces) = (world.relation::<ChildOf>(), world.relation::<Faces>());
        let (slots, needs) = (world.relation::<SlotOf>(), world.relation::<Needs>());
        let (rows, fours) = (world.query::<(Entity, &Four)>(), world.lookup::<Four>());
        let number = |(entity, four): (Entity, &Four)| (entity, four.0);
        for &entity in self.model.rows.keys() {
            let value = |reach| self.model.value(entity, reach);
            let read = |four: Option<&Four>| four.map(|four| four.0);
            let seen = faces.target_values(&fours).get(entity);
            assert_eq!(read(seen), value(Reach::Target), "the target of {entity}");
            let seen = tree.nearest_values(&fours).get(entity);
            assert_eq!(read(seen), value(Reach::Nearest), "above {entity}");
            let seen = tree.own_or_nearest_values(&fours).get(entity);
            assert_eq!(read(seen), value(Reach::OwnOrNearest), "{entity} and above");
            let children = tree.rows_of(entity, &rows).map(number);
            assert!(children.eq(self.model.rows_of::<ChildOf>(entity)), "children of {entity}");
            let slots = slots.rows_of(entity, &rows).map(number);
            assert!(slots.eq(self.model.rows_of::<SlotOf>(entity)), "slots of {entity}");
            let mut holders: Vec<_> = needs.rows_of(entity, &rows).map(number).collect();
            let mut expected = self.model.rows_of::<Needs>(entity);
            holders.sort_unstable();
            expected.sort_unstable();
            assert_eq!(holders, expected, "holders of {entity}");
        }
    }
}
