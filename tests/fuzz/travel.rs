//! Moves of entities to another world and back: by `move_from`, and by `merge` of a whole world.

use std::collections::BTreeMap;

use phalanx::prelude::*;

use crate::chosen;
use crate::filters::Only;
use crate::outcome::{DONE, IDLE, Outcome};
use crate::parts::{Link, Shape, link_to};
use crate::trial::Trial;

impl Trial {
    /// Writes a few links to other entities of the same journey.
    fn link_some(&mut self, entities: &[Entity]) {
        let bearers = entities.iter().filter(|entity| self.model.rows[entity].has(Link::SET));
        let bearers: Vec<Entity> = bearers.take(4).copied().collect();
        for (entity, target) in bearers.into_iter().zip(entities.iter().rev()) {
            let Some(number) = link_to(*target) else { continue };
            self.step(|side| {
                let link = side.world.get_mut::<Link>(entity).expect("it has one");
                *link = Link::make(number);
            });
            self.model.wrote(entity, Link::SET, number, self.now());
        }
    }

    /// Moves the entities that a filter lets pass to a new world, and back under new ids, with all
    /// of their data. A link to an entity of the journey leads to its new id, any other link to
    /// none.
    pub(crate) fn travel(&mut self, only: Only, as_whole: bool) -> Outcome {
        // A world with few ids may have too few for the way back.
        if self.profile.limit != u32::MAX {
            return IDLE;
        }
        let (entities, _) = self.passing(only, 0);
        let since = only.since(self.now());
        self.link_some(&entities);
        let journeys: Vec<(Entity, Entity)> = self.step(|side| {
            let mut other = World::builder().chunk_size(side.world.chunk_size()).build();
            let out = chosen!(side.world, matching::<Entity>, only, since, q => {
                other.move_from(q).expect("the other world is new")
            });
            assert_eq!((other.check(), side.world.check()), (Ok(()), Ok(())));
            let back = if as_whole {
                side.world.merge(other).expect("it was there before")
            } else {
                let all = other.matching::<Entity>().filter::<IncludeHidden>();
                let back = side.world.move_from(all).expect("it was there before");
                assert!(other.is_empty() && other.check() == Ok(()), "nothing stays");
                back
            };
            out.iter().map(|(old, there)| (old, back.get(there).expect("it came back"))).collect()
        });
        let new: BTreeMap<Entity, Entity> = journeys.into_iter().collect();
        assert!(new.len() == entities.len() && entities.iter().all(|old| new.contains_key(old)));
        self.model.forget_writes();
        // A relation with one end in each world is removed, and despawns no one.
        let relations = self.model.relations.moved(&entities, &new);
        let rows: Vec<_> = entities.iter().map(|&old| self.model.take(old)).collect();
        entities.iter().for_each(|&old| self.model.buried(old));
        let mut lost = Vec::new();
        for (old, mut row) in entities.iter().zip(rows) {
            let entity = new[old];
            if row.has(Link::SET) {
                let Link(target) = Link::of(&row.numbers);
                let target = new.get(&target).copied().unwrap_or(Entity::NULL);
                let number = link_to(target).unwrap_or_else(|| {
                    lost.push((entity, target));
                    0
                });
                row.numbers[Link::SET.trailing_zeros() as usize] = number;
            }
            self.model.ids.made(entity);
            self.model.came(entity, row);
        }
        self.model.relations.extend(relations);
        if new.is_empty() {
            return IDLE;
        }
        self.settle(only);
        self.reset_links(lost);
        DONE
    }
}
