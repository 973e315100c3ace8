//! Comparisons of a world with the model, and with its twin.

use std::collections::BTreeSet;

use phalanx::prelude::*;

use crate::parts::{Eight, Four, KINDS, PARTS, Part, Shape, Spot, Twelve, parts_of};
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
            let bytes: usize = parts.flat_map(|part| KINDS[part].1).sum();
            assert_eq!(side.world.memory().row_bytes, bytes, "bytes of all rows");
            self.compare_bits(&side.world);
            self.compare_spots(&side.world);
            self.compare_teams(&side.world);
            self.compare_sides(&side.world);
            self.compare_charges(&side.world);
            self.compare_grips(&side.world);
            self.compare_relations(&side.world);
            self.compare_ends(&side.world);
            for part in 0..PARTS {
                with_part!(part, P => self.compare_values::<P>(&side.world));
            }
        }
        self.compare_logs();
        self.compare_lines::<Four>();
        self.compare_lines::<Twelve>();
        self.model.rows.values_mut().for_each(|row| row.touched = 0);
        self.compared = self.main.world.version();
        for side in [Some(&mut self.main), self.twin.as_mut()].into_iter().flatten() {
            assert_eq!(side.hashes.hash(&side.world), side.world.hash(), "a hash of what changed");
        }
        self.model.lists.assert_seen_in(&self.main.world);
        // Hashes depend on the size of chunks.
        self.look(|world| world.query::<Entity>().filter::<IncludeHidden>().copies().entities());
        if self.profile.twin == Twin::Looked {
            self.look(World::hash);
        }
    }

    /// Compacts and reads the twin, which must not change its hash or version.
    fn disturb(&mut self) {
        let Some(twin) = &mut self.twin else { return };
        self.places.are_valid = false;
        let before = (twin.world.hash(), twin.world.version());
        twin.world.memory_mut().compact(usize::MAX);
        let explained = twin.world.explain();
        assert_eq!(
            explained.archetypes.len(),
            twin.world.reflect().archetypes().len(),
            "archetypes"
        );
        let rows = twin.world.query::<(Entity, Option<&crate::parts::Page>)>();
        let rows = rows.filter::<IncludeHidden>().rows().count();
        assert_eq!(rows, twin.world.len(), "all rows");
        assert_eq!((twin.world.hash(), twin.world.version()), before, "looks change nothing");
    }

    /// Compares the enabled rows of a component, by bits and by queries.
    fn compare_bits(&self, world: &World) {
        let is_on = |entity: &Entity| self.model.row(*entity).is_some_and(|row| !row.is_off());
        for (entity, enabled) in
            world.query::<(Entity, Enabled<Eight>)>().filter::<IncludeHidden>().rows()
        {
            assert_eq!(enabled, is_on(&entity), "the bit of {entity}");
        }
        let seen = world.query::<(Entity, &Eight)>().filter::<IncludeHidden>();
        let mut all =
            world.query::<(Entity, &Eight)>().filter::<(IncludeHidden, IgnoreEnabled)>().rows();
        for (entity, _) in seen.rows() {
            let next = all.by_ref().map(|(entity, _)| entity).find(is_on);
            assert_eq!(next, Some(entity), "the next row that is enabled");
        }
        assert!(!all.any(|(entity, _)| is_on(&entity)), "all enabled rows are seen");
        let off = world.query::<Entity>().filter::<(IncludeHidden, WithDisabled<Eight>)>();
        let expected = self.model.rows.values().filter(|row| row.is_off()).count();
        assert_eq!(off.count_rows(), expected, "rows that are disabled");
    }

    /// Asserts that each value written since the last comparison is in a line that is reported,
    /// even if its row has moved.
    fn compare_lines<P: Part>(&self) {
        let lines = self.main.world.query::<(Entity, &P)>().filter::<IncludeHidden>();
        let reported = lines.filter_since::<ChangedLines<P>>(self.compared).rows();
        let reported: BTreeSet<Entity> = reported.map(|(entity, _)| entity).collect();
        for (entity, row) in &self.model.rows {
            let is_written = row.touched & row.set & P::SET != 0;
            assert!(!is_written || reported.contains(entity), "{entity}: a line of {}", P::NAME);
        }
    }

    /// Compares the values of the component that has several columns.
    fn compare_spots(&self, world: &World) {
        let mut rows = 0;
        for (entity, spot) in world.query::<(Entity, &Spot)>().filter::<IncludeHidden>().rows() {
            let row = self.model.row(entity).filter(|row| row.has(Spot::SET));
            let numbers = row.expect("it has one").numbers;

            assert_eq!(spot, Spot::of(&numbers), "the spot of {entity}");
            rows += 1;
        }
        let expected = self.model.rows.values().filter(|row| row.has(Spot::SET)).count();
        assert_eq!(rows, expected, "entities with spots");
    }

    /// Compares the values of one component in all archetypes.
    fn compare_values<P: Part>(&self, world: &World) {
        let mut rows = 0;
        for (entities, column) in
            world.query::<(Entity, &P)>().filter::<(IncludeHidden, IgnoreEnabled)>()
        {
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
