//! Shared values of entities: teams. Even a world of many entities has only a few.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use phalanx::prelude::*;

use crate::chosen;
use crate::filters::Only;
use crate::outcome::{DEAD, DONE, IDLE, LACKS, Outcome, word};
use crate::parts::SHARED;
use crate::trial::Trial;

/// Teams are 0 to 3. Four means none.
pub(crate) const TEAMS: u8 = 4;

/// A shared value. Teams 0 and 1 have the same hash, and so do teams 2 and 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Team(pub(crate) u8);

impl Hash for Team {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0 / 2).hash(state);
    }
}

/// Sets the encoding of teams, for states as bytes.
pub(crate) fn encode(world: &mut World) {
    world.shared_mut().encode(
        "team",
        |team: &Team, bytes| bytes.push(team.0),
        |bytes| bytes.first().map(|&team| Team(team)),
    );
}

impl Trial {
    /// Sets or removes the team of an entity.
    pub(crate) fn share(&mut self, entity: Entity, team: u8) -> Outcome {
        let team = Some(team).filter(|&team| team < TEAMS);
        let shared = self.step(|side| match team {
            Some(team) => side.world.insert_shared(entity, Team(team)),
            None => side.world.remove_shared::<Team>(entity),
        });
        let expected = match self.model.alive(entity) {
            None => DEAD,
            Some(row) if team.is_none() && row.team.is_none() => LACKS,
            Some(_) => DONE,
        };
        assert_eq!(word(&shared), expected, "{entity}");
        if shared.is_ok() {
            self.model.joined(&self.main.world, entity, team);
        }
        expected
    }

    pub(crate) fn share_where(&mut self, only: Only, team: u8) -> Outcome {
        let team = Some(team).filter(|&team| team < TEAMS);
        let (mut entities, _) = self.passing(only, 0);
        entities.retain(|entity| self.model.alive(*entity).is_some_and(|row| row.team != team));
        let since = only.since(self.now());
        let shared = self.step(|side| {
            chosen!(side.world, matching::<Entity>, only, since, q => match team {
                Some(team) => q.insert_shared(Team(team)).expect("everything fits"),
                None => q.remove_shared::<Team>(),
            })
        });
        assert_eq!(shared, entities.len());
        self.model.forget_writes();
        for &entity in &entities {
            self.model.row_mut(entity).join(team);
        }
        if entities.is_empty() {
            return IDLE;
        }
        self.settle(only);
        DONE
    }

    /// Compares the teams of all entities, and the teams of the world.
    pub(crate) fn compare_teams(&self, world: &World) {
        let rows = &self.model.rows;
        let query = world.query::<(Entity, Option<Shared<Team>>)>().filter::<IncludeHidden>();
        for (entities, team) in query {
            for entity in entities {
                assert_eq!(team.map(|team| team.0), rows[entity].team, "the team of {entity}");
            }
        }
        let teams: BTreeSet<u8> = rows.values().filter_map(|row| row.team).collect();
        let known: Vec<u8> = world.shared::<Team>().iter().map(|team| team.0).collect();
        assert_eq!(known.len(), teams.len(), "teams of the world: {known:?}");
        for team in 0..TEAMS {
            assert_eq!(known.contains(&team), teams.contains(&team), "whether team {team} is");
            let query = world.query::<Entity>().filter::<IncludeHidden>().where_shared(&Team(team));
            let members = rows.values().filter(|row| row.team == Some(team));
            assert_eq!(query.count_rows(), members.count(), "members of team {team}");
        }
        for (&entity, row) in rows.iter().take(8) {
            let team = world.shared::<Team>().get(entity).ok().map(|team| team.0);
            assert_eq!(team, row.team, "the team of {entity}");
        }
        let members = rows.values().filter(|row| row.set & SHARED != 0);
        assert!(members.clone().all(|row| row.team.is_some()), "a flag says who has one");
    }
}
