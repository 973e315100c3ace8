//! All that can be asked of the world gives what the model says.

use std::collections::BTreeSet;

use phalanx::prelude::*;

use crate::common::components::{Big, Byte, Four, Line, Tag, Twelve};
use crate::parts::Part;
use crate::world::{Pair, Row};

impl Pair {
    /// All that can be asked gives what the model says.
    pub(crate) fn compare(&self) {
        self.compare_rows();
        self.compare_filters();
        self.compare_teams();
        let parts: &[u64] = if cfg!(miri) { &[2] } else { &[0, 1, 2, 3] };
        let since = parts.iter().map(|part| self.world.version().to_bits() * part / 4);
        for since in since.map(Version::from_bits) {
            self.compare_changes::<Tag>(since);
            self.compare_changes::<Byte>(since);
            self.compare_changes::<Four>(since);
            self.compare_changes::<Twelve>(since);
            self.compare_changes::<Line>(since);
            self.compare_changes::<Big>(since);
            self.compare_lines::<Four>(since);
            self.compare_lines::<Twelve>(since);
        }
    }

    /// Whatever changed after `since` is in a line that is reported, and what is reported are whole
    /// lines of chunks that changed.
    fn compare_lines<P: Part>(&self, since: Version) {
        let mut reported = BTreeSet::new();
        let query = self.world.query::<(Entity, &P)>().changed_lines_since::<P>(since);
        let len = |rows: &[Entity]| rows.len();
        for chunk in query.chunks() {
            let rows = chunk.rows();
            assert!(chunk.version::<P>() > Some(since));
            assert_eq!(rows.start % VECTOR_ROWS, 0, "a line begins there");
            let is_last = rows.end % VECTOR_ROWS != 0;
            assert_eq!(len(chunk.entities()), rows.len());
            assert!(!is_last || self.ends_a_chunk(*chunk.entities().last().expect("a row")));
            reported.extend(chunk.entities().iter().copied());
        }
        for (&entity, row) in &self.rows {
            let changed = row.values[P::INDEX].is_some_and(|value| value.changed > since);
            assert!(!changed || reported.contains(&entity), "{entity}: a line of {}", P::NAME);
        }
    }

    /// Whether this is the entity of the last row of a chunk.
    fn ends_a_chunk(&self, entity: Entity) -> bool {
        let mut chunks = self.world.query::<(Entity,)>().chunks();
        chunks.any(|chunk| chunk.entities().last() == Some(&entity))
    }

    /// Every component of every entity, by rows, by `get` and by `lookup`.
    fn compare_rows(&self) {
        let world = &self.world;
        assert_eq!(world.len(), self.rows.len());
        type All<'a> = (
            Entity,
            Option<&'a Tag>,
            Option<&'a Byte>,
            Option<&'a Four>,
            Option<&'a Twelve>,
            Option<&'a Line>,
            Option<&'a Big>,
        );
        fn same<P: Part>(row: &Row, part: Option<&P>) {
            let expected = row.number::<P>();
            assert!(part.copied() == expected.map(P::part), "{}, made from {expected:?}", P::NAME);
        }
        let mut seen = BTreeSet::new();
        for (entity, tag, byte, four, twelve, line, big) in world.query::<All<'_>>().rows() {
            assert!(seen.insert(entity), "{entity} is visited once");
            let row = &self.rows[&entity];
            same(row, tag);
            same(row, byte);
            same(row, four);
            same(row, twelve);
            same(row, line);
            same(row, big);
        }
        assert_eq!(seen.len(), self.rows.len(), "all are visited");
        let (fours, tags, bigs) =
            (world.lookup::<Four>(), world.lookup::<Tag>(), world.lookup::<Big>());
        for (&entity, row) in &self.rows {
            same(row, fours.get(entity).ok());
            same(row, tags.get(entity).ok());
            same(row, bigs.get(entity).ok());
            same(row, world.get::<Line>(entity).ok());
            assert_eq!(world.has::<Twelve>(entity), row.number::<Twelve>().is_some());
        }
    }

    /// Which rows queries of several kinds visit, padding included.
    fn compare_filters(&self) {
        let count = |visits: &dyn Fn(u8) -> bool| {
            self.rows.values().filter(|row| visits(row.mask())).count()
        };
        let has = |mask: u8, i: usize| mask >> i & 1 == 1;
        let w = &self.world;
        let with = w.query::<&Four>().with::<Twelve>().without::<Tag>();
        assert_eq!(with.count_rows(), with.into_iter().map(<[_]>::len).sum::<usize>());
        let with = w.query::<&Four>().with::<Twelve>().without::<Tag>().rows().count();
        assert_eq!(with, count(&|m| has(m, 2) && has(m, 3) && !has(m, 0)));
        let any = w.query::<(Entity, Option<&Big>)>().any_of::<(Big, Tag)>().without::<Line>();
        assert_eq!(any.rows().count(), count(&|m| (has(m, 5) || has(m, 0)) && !has(m, 4)));
        let alone = w.query::<Entity>().without::<Tag>().without::<Four>();
        let alone = alone.into_iter().flatten().count();
        assert_eq!(alone, count(&|m| !has(m, 0) && !has(m, 2)));
        assert_eq!(w.query::<&Tag>().iter().map(<[_]>::len).sum::<usize>(), count(&|m| has(m, 0)));
        let mut first_row = 0;
        for chunk in w.query::<(Entity, &Four, Option<&Twelve>)>().padded().chunks() {
            assert_eq!(chunk.first_row(), first_row);
            first_row += chunk.len();
            let (ids, four, twelve) = chunk.slices();
            assert!(four.len() >= ids.len() && four.len() < ids.len() + 16);
            assert!(twelve.is_none_or(|twelve| twelve.len() == four.len()));
            // Miri finds padding that was never written by its being read.
            let sum = four[ids.len()..].iter().fold(0u32, |sum, four| sum.wrapping_add(four.0));
            assert!(u64::from(sum) < 1 << 32);
        }
    }

    /// Whatever changed or arrived after `since` is reported, and what is reported has a reason.
    fn compare_changes<P: Part>(&self, since: Version) {
        let query = self.world.query::<(Entity, &P)>().changed_since::<P>(since);
        let reported: BTreeSet<_> = query.rows().map(|(e, _)| e).collect();
        let query = self.world.query::<(Entity, &P)>().arrived_since(since);
        let added: BTreeSet<_> = query.rows().map(|(e, _)| e).collect();
        for (&entity, row) in &self.rows {
            let Some(value) = row.values[P::INDEX] else {
                assert!(!reported.contains(&entity) && !added.contains(&entity));
                continue;
            };
            assert!(value.changed <= since || reported.contains(&entity), "{entity}: {}", P::NAME);
            assert!(row.arrived <= since || added.contains(&entity), "{entity} arrived");
        }
        for chunk in self.world.query::<(&P,)>().chunks() {
            let listed = |set: &BTreeSet<_>| set.contains(&chunk.entities()[0]);
            assert_eq!(listed(&reported), chunk.version::<P>() > Some(since));
            assert_eq!(listed(&added), chunk.arrival_version() > since);
        }
    }
}
