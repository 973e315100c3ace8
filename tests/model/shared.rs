//! Values that entities share: teams, of which a world of many entities has a few.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use phalanx::prelude::*;

use crate::common::components::{Big, Byte, Four, Line, Tag, Twelve};
use crate::matching::filtered;
use crate::world::Pair;

/// Teams are 0 to 4. Five means none.
pub(crate) const TEAMS: u8 = 5;

/// Teams of one number are equal. Each is an owner, so that it is known how many there are.
#[derive(Debug)]
pub(crate) struct Team(u8, #[expect(dead_code, reason = "it counts")] Arc<()>);

impl PartialEq for Team {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Team {}

impl Hash for Team {
    /// Two teams have one hash.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0 / 2).hash(state);
    }
}

impl Pair {
    fn team(&self, number: u8) -> Team {
        Team(number, Arc::clone(&self.teams))
    }

    pub(crate) fn share(&mut self, entity: Entity, team: u8) {
        let row = self.rows[&entity];
        if team < TEAMS {
            let team = self.team(team);
            self.world.insert_shared(entity, team).expect("it lives, and everything fits");
        } else {
            let removed = self.world.remove_shared::<Team>(entity);
            assert_eq!(removed.is_ok(), row.team.is_some(), "{removed:?}");
        }
        self.flushed();
        self.joined(entity, team);
    }

    pub(crate) fn share_where(&mut self, filter: u8, team: u8) {
        let matched = self.matched(filter);
        let new = Some(team).filter(|&team| team < TEAMS);
        let others = matched.iter().filter(|entity| self.rows[entity].team != new).count();
        let value = new.map(|team| self.team(team));
        let world = &mut self.world;
        let changed = filtered!(matching, world, filter, Entity, q => match value {
            Some(value) => q.insert_shared(value).expect("everything fits"),
            None => q.remove_shared::<Team>(),
        });
        assert_eq!(changed, others);
        matched.into_iter().for_each(|entity| self.joined(entity, team));
    }

    /// An entity whose team is another one has arrived among its new comrades.
    fn joined(&mut self, entity: Entity, team: u8) {
        let now = self.world.version();
        let row = self.rows.get_mut(&entity).expect("it lives");
        let team = Some(team).filter(|&team| team < TEAMS);
        if row.team != team {
            row.team = team;
            row.arrived = now;
        }
    }

    /// Every entity has its team, every chunk one team, and the world each team once.
    pub(crate) fn compare_teams(&self) {
        let world = &self.world;
        let mut rows = 0;
        for (entities, team) in world.query::<(Entity, Option<Shared<Team>>)>() {
            rows += entities.len();
            for entity in entities {
                assert_eq!(team.map(|team| team.0), self.rows[entity].team, "{entity}");
            }
        }
        assert_eq!(rows, self.rows.len());
        let of_team = |team| self.rows.values().filter(move |row| row.team == team).count();
        for number in 0..TEAMS {
            let query = world.query::<Entity>().where_shared(&self.team(number));
            assert_eq!(query.count_rows(), of_team(Some(number)));
        }
        let members = world.query::<(Entity, Shared<Team>)>().rows();
        assert_eq!(members.count() + of_team(None), self.rows.len());
        let teams: BTreeSet<_> = self.rows.values().filter_map(|row| row.team).collect();
        let known = || world.shared_values::<Team>().map(|team| team.0);
        assert_eq!(known().count(), teams.len());
        assert_eq!(known().collect::<BTreeSet<_>>(), teams);
        assert_eq!(Arc::strong_count(&self.teams) - 1, teams.len(), "owners");
        for (&entity, row) in self.rows.iter().take(8) {
            assert_eq!(world.get_shared::<Team>(entity).ok().map(|team| team.0), row.team);
        }
    }
}
