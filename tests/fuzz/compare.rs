//! Everything that can be asked of a world, against the model; and the world against its twin.

use phalanx::prelude::*;

use crate::parts::{Eight, KINDS, PARTS, Part, Shape, parts_of};
use crate::profile::Twin;
use crate::trial::Trial;
use crate::with_part;

impl Trial {
    /// Compares everything. O(rows + archetypes).
    pub(crate) fn compare(&mut self) {
        self.flush();
        if self.profile.twin == Twin::Looked {
            self.disturb();
        }
        for side in [Some(&self.main), self.twin.as_ref()].into_iter().flatten() {
            assert_eq!(side.world.check(), Ok(()));
            let parts = self.model.rows.values().flat_map(|row| parts_of(row.set));
            let bytes: usize = parts.map(|part| KINDS[part].1).sum();
            assert_eq!(side.world.memory().row_bytes, bytes, "bytes of all rows");
            self.compare_bits(&side.world);
            for part in 0..PARTS {
                with_part!(part, P => self.compare_values::<P>(&side.world));
            }
        }
        self.model.lists.assert_seen_in(&self.main.world);
        // A hash goes by the chunk, so a twin of other chunks has another one.
        self.look(|world| world.query::<Entity>().entities());
        if self.profile.twin == Twin::Looked {
            self.look(World::hash);
        }
    }

    /// Does to the twin what must not be seen afterwards.
    fn disturb(&mut self) {
        let Some(twin) = &mut self.twin else { return };
        let before = (twin.world.hash(), twin.world.version());
        twin.world.compact(usize::MAX);
        let explained = twin.world.explain();
        assert_eq!(explained.archetypes.len(), twin.world.archetypes().len(), "archetypes");
        let rows = twin.world.query::<(Entity, Option<&crate::parts::Page>)>().rows().count();
        assert_eq!(rows, twin.world.len(), "all rows");
        assert_eq!((twin.world.hash(), twin.world.version()), before, "looks change nothing");
    }

    /// Which rows of a component are enabled, by bits and as a query sees them.
    fn compare_bits(&self, world: &World) {
        let is_on = |entity: &Entity| self.model.row(*entity).is_some_and(|row| !row.is_off());
        for (entity, enabled) in world.query::<(Entity, Enabled<Eight>)>().rows() {
            assert_eq!(enabled, is_on(&entity), "the bit of {entity}");
        }
        let seen = world.query::<(Entity, &Eight)>();
        let mut all = world.query::<(Entity, &Eight)>().ignore_enabled().rows();
        for (entity, _) in seen.rows() {
            let next = all.by_ref().map(|(entity, _)| entity).find(is_on);
            assert_eq!(next, Some(entity), "the next row that is enabled");
        }
        assert!(!all.any(|(entity, _)| is_on(&entity)), "all enabled rows are seen");
        let off = world.query::<Entity>().disabled::<Eight>();
        let expected = self.model.rows.values().filter(|row| row.is_off()).count();
        assert_eq!(off.count_rows(), expected, "rows that are disabled");
    }

    /// The values of one component, wherever it is.
    fn compare_values<P: Part>(&self, world: &World) {
        let mut rows = 0;
        for (entities, column) in world.query::<(Entity, &P)>().ignore_enabled() {
            for (entity, part) in entities.iter().zip(column) {
                let row = self.model.row(*entity).expect("what a query visits lives");
                assert!(row.has(P::SET), "{entity} has {}", P::NAME);
                let number = row.numbers[P::INDEX];
                assert!(*part == P::part(number), "{} of {entity}, made from {number}", P::NAME);
            }
            rows += entities.len();
        }
        let expected = self.model.rows.values().filter(|row| row.has(P::SET)).count();
        assert_eq!(rows, expected, "entities with {}", P::NAME);
    }
}
