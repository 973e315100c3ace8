//! The first difference of the sparse components of two worlds.

use crate::entity::Entity;
use crate::store::{SetArrays, SetView, SparseSets};

/// The first place of a sparse component that differs.
pub(super) struct SetDifference {
    pub(super) component: &'static str,
    pub(super) place: usize,
    /// The entities of the place in both worlds.
    pub(super) entities: [Option<Entity>; 2],
}

impl SetDifference {
    /// The first difference, in the order of the names. O(values).
    pub(super) fn find(a: &SparseSets, b: &SparseSets) -> Option<Self> {
        let all = a.views().into_iter().chain(b.views());
        let mut names: Vec<_> = all.map(SetView::name).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().find_map(|component| {
            let (place, entities) = with_arrays(a.named(component), |a| {
                with_arrays(b.named(component), |b| find_place(a, b))
            })?;
            Some(Self { component, place, entities })
        })
    }
}

/// The bytes of a value.
fn value<'a>(of: &'a SetArrays<'_>, at: usize) -> Option<&'a [u8]> {
    let size = of.values.len().checked_div(of.entities.len()).unwrap_or(0);
    of.values.get(at * size..(at + 1) * size)
}

/// Passes the arrays of a set, or those of an empty one.
fn with_arrays<R>(set: Option<SetView<'_>>, read: impl FnOnce(&SetArrays<'_>) -> R) -> R {
    match set {
        Some(set) => set.with_arrays(|arrays| read(&arrays)),
        None => read(&SetArrays::default()),
    }
}

fn find_place(a: &SetArrays<'_>, b: &SetArrays<'_>) -> Option<(usize, [Option<Entity>; 2])> {
    let len = a.entities.len().max(b.entities.len());
    let entities = |at: usize| [a, b].map(|of| of.entities.get(at).copied());
    let differs = |&at: &usize| {
        let [mine, other] = entities(at);
        mine != other || value(a, at) != value(b, at) || a.places.get(at) != b.places.get(at)
    };
    // The order of the targets is the last to be compared: it has no place of its own.
    let place = (0..len).find(differs).or_else(|| (a.heads != b.heads).then_some(0));
    place.map(|at| (at, entities(at)))
}
