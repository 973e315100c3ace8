//! Writes the sparse sets of a state: see [`format`](super::format).

use std::io::{self, Write};

use crate::store::{SetArrays, SetKind, SetShape, SetView};

use super::delta::{differences, value_differences};
use super::format::{PAIRS, RELATION, VALUES};
use super::output::Output;

/// Writes the sets of a state that have a form as bytes, as the difference from an older state if
/// there is one. Both are in the order of the names. O(values), without those of sets that are
/// unchanged copies.
pub(super) fn write_sets<W: Write>(
    sets: &[SetView<'_>],
    base: &[SetView<'_>],
    out: &mut Output<W>,
) -> io::Result<()> {
    out.len(sets.len())?;
    sets.iter().try_for_each(|&set| {
        let older = base.binary_search_by(|older| older.name().cmp(set.name()));
        let older = older.ok().map(|at| base[at]).filter(|older| older.shape() == set.shape());
        if older.is_some_and(|older| older.is_same(set)) {
            return write_unchanged(set, out);
        }
        set.with_arrays(|arrays| match older {
            None => write_changed(set, &arrays, &SetArrays::default(), out),
            Some(older) => older.with_arrays(|older| write_changed(set, &arrays, &older, out)),
        })
    })
}

fn write_unchanged<W: Write>(set: SetView<'_>, out: &mut Output<W>) -> io::Result<()> {
    let [len, pairs, heads] = set.lens();
    let shape = write_head(set, len, out)?;
    out.ranges(&[])?;
    if shape.kind == SetKind::Pairs {
        out.len(pairs)?;
        out.ranges(&[])?;
        out.ranges(&[])?;
    }
    out.ranges(&[])?;
    if shape.kind != SetKind::Values {
        out.ranges(&[])?;
        out.len(heads)?;
        out.ranges(&[])?;
    }
    Ok(())
}

fn write_changed<W: Write>(
    set: SetView<'_>,
    arrays: &SetArrays<'_>,
    older: &SetArrays<'_>,
    out: &mut Output<W>,
) -> io::Result<()> {
    let shape = write_head(set, arrays.entities.len(), out)?;
    out.array(&arrays.entities, &differences(&arrays.entities, &older.entities))?;
    if shape.kind == SetKind::Pairs {
        out.len(arrays.targets.len())?;
        out.array(&arrays.counts, &differences(&arrays.counts, &older.counts))?;
        out.array(&arrays.targets, &differences(&arrays.targets, &older.targets))?;
    }
    let ranges = value_differences(&arrays.values, &older.values, shape.size);
    out.ranges(&ranges)?;
    for range in ranges {
        out.bytes(&arrays.values[range.start * shape.size..range.end * shape.size])?;
    }
    if shape.kind != SetKind::Values {
        out.array(&arrays.places, &differences(&arrays.places, &older.places))?;
        out.len(arrays.heads.len())?;
        out.array(&arrays.heads, &differences(&arrays.heads, &older.heads))?;
    }
    Ok(())
}

/// Writes the beginning of a set with `len` values.
fn write_head<W: Write>(set: SetView<'_>, len: usize, out: &mut Output<W>) -> io::Result<SetShape> {
    let shape = set.shape().expect("it has a form as bytes");
    out.len(set.name().len())?;
    out.u32(match shape.kind {
        SetKind::Values => VALUES,
        SetKind::Relation => RELATION,
        SetKind::Pairs => PAIRS,
    })?;
    out.len(shape.size)?;
    out.u64(shape.fingerprint)?;
    out.bytes(set.name().as_bytes())?;
    out.len(len)?;
    Ok(shape)
}
