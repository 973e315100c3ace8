//! The kinds of rows that have logs.

use core::ops::Range;

use crate::archetype::Archetype;
use crate::component::{Component, InSet, SparseComponent, Whole};

use super::row_log::RowLog;

/// A kind of rows, each with a log of its gains and one of its losses: the shape of a component, or
/// the entities themselves.
pub trait RowKind: 'static {
    /// The value of an entry.
    type Value: Copy + Send + Sync + 'static;

    /// Records rows of a chunk, with the values of its column `column`. A sparse component is in no
    /// chunk: its set has its own notes.
    #[doc(hidden)]
    fn record(
        log: &mut RowLog<Self::Value>,
        archetype: &Archetype,
        column: u16,
        rows: (u32, Range<usize>),
    );
}

/// The entities themselves, without a value.
#[derive(Debug)]
pub struct EntityRows(());

impl<C: Component> RowKind for Whole<C> {
    type Value = C;

    fn record(
        log: &mut RowLog<C>,
        archetype: &Archetype,
        column: u16,
        (chunk, rows): (u32, Range<usize>),
    ) {
        let values = &archetype.list().cells::<C>(column, chunk)[rows.clone()];
        let entities = &archetype.entities_of_chunk(chunk)[rows];
        log.record(entities, values.iter().copied());
    }
}

impl<S: SparseComponent> RowKind for InSet<S> {
    type Value = S::Logged;

    fn record(_: &mut RowLog<S::Logged>, _: &Archetype, _: u16, _: (u32, Range<usize>)) {
        unreachable!("no rows of a chunk count for a sparse component");
    }
}

impl RowKind for EntityRows {
    type Value = ();

    fn record(
        log: &mut RowLog<()>,
        archetype: &Archetype,
        _: u16,
        (chunk, rows): (u32, Range<usize>),
    ) {
        let entities = &archetype.entities_of_chunk(chunk)[rows];
        log.record(entities, entities.iter().map(drop));
    }
}
