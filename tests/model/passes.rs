//! Passes over all rows that write or read.

use std::collections::BTreeMap;

use phalanx::prelude::*;

use crate::common::components::{Big, Byte, Four, Line, Tag, Twelve};
use crate::parts::{Part, Shape};
use crate::world::{Pair, Value};

/// Miri runs these tests under rules that rayon does not keep; others run it by its own.
pub(crate) const RAYON: bool = !cfg!(miri);

/// Which parts of which entities a pass wrote.
type Written = Vec<(Entity, usize)>;

/// Passes by slices, rows, bodies, and bodies on several threads.
fn write_by_slices(world: &mut World, kind: u8, number: u32) -> Written {
    let mut written: Written = Vec::new();
    let mut note = |ids: &[Entity], part: usize| written.extend(ids.iter().map(|&e| (e, part)));
    match kind {
        0 => {
            for (ids, four) in world.query_mut::<(Entity, &mut Four)>() {
                four.fill(Four::make(number));
                note(ids, Four::INDEX);
            }
        }
        1 => {
            // Padding is written as well, and belongs to no entity.
            let query = world.query_mut::<(&mut Twelve, Option<&mut Four>, Entity)>();
            for (twelve, four, ids) in query.without::<Tag>().padded() {
                twelve.fill(Twelve::make(number));
                note(ids, Twelve::INDEX);
                if let Some(four) = four {
                    four.fill(Four::make(number));
                    note(ids, Four::INDEX);
                }
            }
        }
        2 => {
            let query = world.query_mut::<(Entity, &mut Byte, Option<&Big>)>().rows();
            for (entity, byte, _) in query {
                *byte = Byte::make(number);
                note(&[entity], Byte::INDEX);
            }
        }
        3 => {
            world.query_mut::<(&mut Four, Entity)>().for_each_chunk(|(four, ids)| {
                if ids[0].index() % 2 == 0 {
                    return Modified::No;
                }
                four.fill(Four::make(number));
                note(ids, Four::INDEX);
                Modified::Yes
            });
        }
        4 => {
            // Row by row, since a body may get a part of a chunk.
            let fill = |(big, ids): (&mut [Big], &[Entity])| {
                let mut modified = Modified::No;
                for (big, _) in big.iter_mut().zip(ids).filter(|(_, id)| id.index() % 2 == 1) {
                    *big = Big::make(number);
                    modified = Modified::Yes;
                }
                modified
            };
            let query = world.query_mut::<(&mut Big, Entity)>();
            if RAYON {
                query.par_for_each_chunk(fill)
            } else {
                query.for_each_chunk(fill)
            }
            let now = world.version();
            for c in world.query::<(&Big, Entity)>().chunks() {
                for &id in c.entities().iter().filter(|id| id.index() % 2 == 1) {
                    assert_eq!(c.version::<Big>(), Some(now), "a chunk that was written");
                    note(&[id], Big::INDEX);
                }
            }
        }
        _ => unreachable!("five kinds"),
    }
    written
}

/// Passes that are filtered, cut short, or by chunks.
fn write_by_filters(world: &mut World, kind: u8, number: u32) -> Written {
    let mut written: Written = Vec::new();
    let mut note = |ids: &[Entity], part: usize| written.extend(ids.iter().map(|&e| (e, part)));
    let before = world.version();
    match kind {
        5 => {
            let any = world.query_mut::<(Option<&mut Line>, Entity)>().any_of::<(Line, Byte)>();
            for (line, ids) in any.with::<Twelve>() {
                if let Some(line) = line {
                    line.fill(Line::make(number));
                    note(ids, Line::INDEX);
                }
            }
        }
        6 => {
            // Early end: what was not visited is not written.
            for (ids, four) in world.query_mut::<(Entity, &mut Four)>().iter_mut().take(2) {
                four.fill(Four::make(number));
                note(ids, Four::INDEX);
            }
        }
        7 => {
            for chunk in world.query_mut::<(&mut Twelve, &Four)>().chunks() {
                note(chunk.entities(), Twelve::INDEX);
                chunk.slices().0.fill(Twelve::make(number));
            }
        }
        8 => {
            let since = Version::from_bits(before.to_bits() / 2);
            let query = world.query_mut::<(Entity, &mut Twelve)>();
            for (ids, twelve) in query.changed_since::<Four>(since).arrived_since(Version::NEVER) {
                twelve.fill(Twelve::make(number));
                note(ids, Twelve::INDEX);
            }
        }
        _ => {
            let query = world.query_mut::<(&mut Tag, &mut Line, Entity, &Twelve)>();
            query.into_iter().for_each(|(_, line, ids, _)| {
                line.fill(Line::make(number));
                note(ids, Line::INDEX);
                note(ids, Tag::INDEX);
            });
        }
    }
    written
}

/// What a version filter of `P` reports, by the chunk.
pub(crate) type Stamps = BTreeMap<(usize, usize, usize), (Option<Version>, Version, Version)>;

impl Pair {
    /// A pass that writes, and what it does to the model.
    pub(crate) fn write(&mut self, kind: u8, number: u32) {
        let before = self.world.version();
        let written = match kind {
            ..5 => write_by_slices(&mut self.world, kind, number),
            _ => write_by_filters(&mut self.world, kind, number),
        };
        self.flushed();
        let now = self.world.version();
        assert!(now > before, "the clock advances");
        for (entity, part) in written {
            let row = self.rows.get_mut(&entity).expect("a visited entity lives");
            assert!(row.values[part].is_some(), "a written component is there");
            row.values[part] = Some(Value { number, changed: now });
        }
    }

    /// A pass that only reads: it leaves every stamp as it was.
    pub(crate) fn read(&mut self, kind: u8) {
        self.flush();
        let before = self.stamps();
        let world = &mut self.world;
        match kind {
            0 => world.query::<(&Four, Option<&Big>)>().iter().for_each(drop),
            1 => world.query_mut::<(&Tag, Option<&Line>, Entity)>().rows().for_each(drop),
            3 if RAYON => {
                world.query_mut::<&mut Line>().par_for_each_chunk(|_| Modified::No);
            }
            _ => world.query_mut::<(&mut Four, &mut Tag)>().for_each_chunk(|_| Modified::No),
        }
        self.differ(&before, 0);
    }

    /// The stamps of all chunks: by component, archetype and chunk.
    pub(crate) fn stamps(&self) -> Stamps {
        let mut stamps = Stamps::new();
        macro_rules! part {
            ($($P:ident)*) => {$(
                for c in self.world.query::<(&$P,)>().chunks() {
                    let versions = (c.version::<$P>(), c.order_version(), c.arrival_version());
                    stamps.insert(($P::INDEX, c.archetype(), c.index()), versions);
                }
            )*};
        }
        part!(Tag Byte Four Twelve Line Big);
        stamps
    }

    /// Exactly this many columns of chunks have other stamps than before, and no rows moved.
    pub(crate) fn differ(&self, before: &Stamps, expected: usize) {
        let after = self.stamps();
        assert!(after.keys().eq(before.keys()), "no chunk came or went");
        let other = before.iter().zip(&after).filter(|(b, a)| b.1 != a.1).count();
        assert_eq!(other, expected, "chunks with other stamps");
        assert!(before.values().zip(after.values()).all(|(b, a)| (b.1, b.2) == (a.1, a.2)));
    }
}
