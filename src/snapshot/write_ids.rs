//! Writes the ids of a state, or their difference from an older state.

use std::io::{self, Write};
use std::ops::Range;

use bytemuck::cast_slice;

use crate::archetype::RowsView;
use crate::entity::{Directory, DirectoryImage, Entity, IdNumbers};
use crate::storage::StampKind;

use super::delta::{differences, differences_at};
use super::output::Output;

/// The ids of a state.
pub(super) enum Ids<'a> {
    /// The ids of a world, whose changes are stamped.
    World(&'a Directory),
    /// The ids of a snapshot.
    Image(&'a DirectoryImage),
}

/// The ids of a state, and its rows.
#[derive(Clone, Copy)]
pub(super) struct IdSource<'a> {
    pub(super) ids: &'a Ids<'a>,
    pub(super) views: &'a [RowsView<'a>],
}

impl IdSource<'_> {
    /// The ids as numbers. O(ids).
    fn numbers(self) -> IdNumbers {
        match self.ids {
            Ids::World(directory) => directory.id_numbers(),
            Ids::Image(image) => {
                image.id_numbers(self.views.iter().flat_map(|view| view.entities()).copied())
            }
        }
    }
}

/// An array that differs from an older one.
struct ArrayDifference {
    len: usize,
    ranges: Vec<Range<usize>>,
    /// The elements of the array in the ranges.
    contents: Vec<u32>,
    is_any: bool,
}

impl ArrayDifference {
    fn between(new: &[u32], old: &[u32]) -> Self {
        let ranges = differences(new, old);
        Self::in_ranges((new.len(), old.len()), ranges, |at| new[at])
    }

    fn in_ranges(
        (len, old_len): (usize, usize),
        ranges: Vec<Range<usize>>,
        value: impl Fn(usize) -> u32,
    ) -> Self {
        let contents = ranges.iter().cloned().flatten().map(value).collect();
        Self { len, is_any: len != old_len || !ranges.is_empty(), ranges, contents }
    }

    fn write<W: Write>(&self, out: &mut Output<W>) -> io::Result<()> {
        out.len(self.len)?;
        out.ranges(&self.ranges)?;
        out.bytes(cast_slice(&self.contents))
    }
}

/// Writes the ids, as the difference from an older state if there is one. The difference may be
/// empty.
pub(super) fn write_ids<W: Write>(
    source: IdSource<'_>,
    base: Option<IdSource<'_>>,
    out: &mut Output<W>,
) -> io::Result<()> {
    let Some(base) = base else {
        let ids = source.numbers();
        out.u32(1)?;
        out.u32(ids.reach)?;
        return arrays(&ids).into_iter().try_for_each(|array| {
            out.len(array.len())?;
            out.array(array, &differences(array, &[]))
        });
    };
    let (reach, old_reach, differences) =
        few_differences(source, base).unwrap_or_else(|| all_differences(source, base));
    if reach == old_reach && !differences.iter().any(|difference| difference.is_any) {
        return out.u32(0);
    }
    out.u32(1)?;
    out.u32(reach)?;
    differences.iter().try_for_each(|difference| difference.write(out))
}

/// The arrays of ids that are written.
fn arrays(ids: &IdNumbers) -> [&[u32]; 5] {
    [&ids.generations, &ids.free, &ids.far, &ids.next_generations, &ids.demands]
}

/// The distance that a given id may skip, now and in the older state, and the differences of the
/// arrays.
type Differences = (u32, u32, [ArrayDifference; 5]);

/// The differences, from a comparison of all ids. O(ids).
fn all_differences(source: IdSource<'_>, base: IdSource<'_>) -> Differences {
    let (new, old) = (source.numbers(), base.numbers());
    let mut olds = arrays(&old).into_iter();
    let differences = arrays(&new)
        .map(|new| ArrayDifference::between(new, olds.next().expect("there are as many")));
    (new.reach, old.reach, differences)
}

/// The same differences, from the changes alone. `None` if the changes are many or not known.
fn few_differences(source: IdSource<'_>, base: IdSource<'_>) -> Option<Differences> {
    let (Ids::World(new), Ids::Image(old)) = (source.ids, base.ids) else { return None };
    let changes = new.changes_since(old, changed_rows(source.views, base.views))?;
    let free = new.free_indices();
    let [new_next, old_next] = [new.next_generations(), old.next_generations()];
    let ranges = [&changes.slots, &changes.free].map(|places| differences_at(places));
    let [slots, positions] = ranges;
    let differences = [
        ArrayDifference::in_ranges((new.indices_len(), old.indices_len()), slots, |at| {
            new.generation(u32::try_from(at).expect("a slot has an index"))
        }),
        ArrayDifference::in_ranges((free.len(), old.free_len()), positions, |at| free[at]),
        ArrayDifference::between(&[], &[]),
        ArrayDifference::between(&new_next, &old_next),
        ArrayDifference::between(&new.demands(), &old.demands()),
    ];
    Some((new.reach(), old.reach(), differences))
}

/// The rows whose entities may differ from an older state: the present entities, and the older
/// ones.
fn changed_rows<'a>(
    views: &'a [RowsView<'a>],
    base: &'a [RowsView<'a>],
) -> impl Iterator<Item = (&'a [Entity], &'a [Entity])> {
    let is_same = |(view, older): &(&RowsView<'_>, &RowsView<'_>)| view.set() == older.set();
    let known = views.iter().zip(base).take_while(is_same).count();
    let pairs = views.iter().zip(base).take(known).flat_map(|(view, older)| {
        let (new, old) = (view.entities(), older.entities());
        let rows = view.written(older, StampKind::ORDER).map(|chunk| view.rows_of(chunk));
        let parts = rows.map(|rows| {
            (
                &new[rows.clone()],
                old.get(rows.start..).map_or(&[][..], |old| &old[..old.len().min(rows.len())]),
            )
        });
        parts.chain([(&[][..], old.get(new.len()..).unwrap_or(&[]))])
    });
    let added = views[known..].iter().map(|view| (view.entities(), &[][..]));
    let gone = base[known..].iter().map(|older| (&[][..], older.entities()));
    pairs.chain(added).chain(gone)
}
