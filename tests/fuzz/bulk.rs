//! Changes of all entities that terms and filters match: whole chunks at a time.

use phalanx::prelude::*;

use crate::chosen;
use crate::chunks::Rule;
use crate::filters::{OF_ROWS, Only};
use crate::outcome::{DONE, HELD, IDLE, Outcome, WIDE, word};
use crate::parts::{GONE, Set, Shape, fits};
use crate::trial::Trial;

impl Trial {
    /// The entities that a filter lets pass, and whether each of their archetypes also has room for
    /// the components of `added`.
    pub(crate) fn passing(&self, only: Only, added: Set) -> (Vec<Entity>, bool) {
        let lists = &self.model.lists.lists;
        let mut entities = Vec::new();
        let mut all_fit = true;
        for (number, chunk) in only.chunks(&self.model.lists, 0, self.now()) {
            let list = &lists[number];
            let known = entities.len();
            let rows = list.rows(chunk).iter().copied();
            entities.extend(rows.filter(|entity| only.chooses(&self.model.rows[entity])));
            // An archetype without a chosen row need not have room.
            let may_lack_room = list.set & GONE != 0 || entities.len() == known;
            all_fit &= may_lack_room || fits(list.set | added, self.model.chunk_bytes);
        }
        (entities, all_fit)
    }

    /// Reads the new places of moved rows.
    pub(crate) fn settle(&mut self, only: Only) {
        let rule = if only.kind >= OF_ROWS { Rule::Rows } else { Rule::Chunks };
        self.model.read_places(&self.main.world, rule, self.before);
    }

    pub(crate) fn insert_where<S: Shape>(&mut self, only: Only, number: u32) -> Outcome {
        let (entities, all_fit) = self.passing(only, S::SET);
        let since = only.since(self.now());
        let inserted = self.step(|side| {
            chosen!(side.world, matching::<Entity>, only, since,
                q => q.insert(S::make(number)))
        });
        if !all_fit {
            assert_eq!(inserted.as_ref().map_err(crate::outcome::Fault::word), Err(WIDE));
            return word(&inserted);
        }
        let living = |entity: &&Entity| self.model.alive(**entity).is_some();
        let entities: Vec<Entity> = entities.iter().filter(living).copied().collect();
        assert_eq!(inserted, Ok(entities.len()));
        self.model.forget_writes();
        for &entity in &entities {
            self.model.give(entity, S::SET, number);
        }
        if entities.is_empty() {
            return IDLE;
        }
        self.settle(only);
        DONE
    }

    pub(crate) fn remove_where<S: Shape>(&mut self, only: Only) -> Outcome {
        let (entities, _) = self.passing(only, 0);
        let since = only.since(self.now());
        let removed = self.step(
            |side| chosen!(side.world, matching::<Entity>, only, since, q => q.remove::<S>()),
        );
        self.model.forget_writes();
        let mut expected = 0;
        for entity in entities {
            expected += usize::from(self.model.row_mut(entity).set & S::SET != 0);
            self.model.lose(entity, S::SET);
        }
        assert_eq!(removed, expected);
        if expected == 0 {
            return IDLE;
        }
        self.settle(only);
        DONE
    }

    pub(crate) fn despawn_where(&mut self, only: Only) -> Outcome {
        let (entities, _) = self.passing(only, 0);
        let since = only.since(self.now());
        let ended = self
            .step(|side| chosen!(side.world, matching::<Entity>, only, since, q => q.despawn()));
        let going = self.model.going(&entities);
        if self.model.relations.is_held(&going) {
            assert_eq!(ended, 0, "one of them is held");
            return HELD;
        }
        assert_eq!(ended, going.len());
        if going.is_empty() {
            return IDLE;
        }
        self.model.forget_writes();
        going.iter().for_each(|&entity| self.model.die(entity));
        // Entities that follow are despawned one by one, and so are the others with them.
        let is_followed = going.iter().any(|entity| !entities.contains(entity));
        let kind = if is_followed { OF_ROWS } else { only.kind };
        self.settle(Only { kind, ..only });
        DONE
    }
}
