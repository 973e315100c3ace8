//! Despawns that relations may refuse: played after the other records before a barrier.
//!
//! A relation that one of these records removes keeps no target, and neither does a source that is
//! despawned by another one, whatever the order of the two.

use rustc_hash::FxHashMap;

use super::error::{CommandErrorKind, CommandVerb};
use super::player::Player;

impl Player<'_> {
    /// Plays the despawns that relations may refuse, together: a source that goes keeps no target.
    #[cold]
    pub(super) fn play_late_despawns(&mut self) {
        let late = core::mem::take(&mut self.late_despawns);
        let named: Vec<_> = late.iter().map(|&at| self.records[at].entity).collect();
        let mut refused = FxHashMap::default();
        self.world.flush();
        let ended = self.catch(|world| world.store.despawn_most(&named, &mut refused));
        self.outcome.applied.despawned += ended.unwrap_or_default();
        for at in late {
            if let Some(error) = refused.remove(&self.records[at].entity) {
                let (entity, call_site) = (self.records[at].entity, self.records[at].call_site);
                let fault = CommandErrorKind::Relation(error);
                self.report(at + 1, CommandVerb::Despawn, entity, None, call_site, fault);
            }
        }
    }
}
