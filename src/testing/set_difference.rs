//! The first difference of the sparse components of two worlds.

use crate::entity::Entity;
use crate::store::{SetArrays, SetView, SparseSets};

/// The part of a sparse component that differs.
#[derive(Clone, Copy)]
pub(super) enum SetPart {
    /// The entities or their values.
    Values,
    /// The order of the sources of a target.
    Places,
    /// The order of the targets.
    Heads,
}

/// The first place of a sparse component that differs.
pub(super) struct SetDifference {
    pub(super) component: &'static str,
    pub(super) part: SetPart,
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
            let (part, place, entities) = with_arrays(a.named(component), |a| {
                with_arrays(b.named(component), |b| find_place(a, b))
            })?;
            Some(Self { component, part, place, entities })
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

/// The place, in the order of the part that differs, with its entities.
type Place = (SetPart, usize, [Option<Entity>; 2]);

/// The first difference: of the values, and if these are equal, of the orders of relations.
fn find_place(a: &SetArrays<'_>, b: &SetArrays<'_>) -> Option<Place> {
    let len = a.entities.len().max(b.entities.len());
    let entities = |at: usize| [a, b].map(|of| of.entities.get(at).copied());
    let differs = |&at: &usize| {
        let [mine, other] = entities(at);
        mine != other || value(a, at) != value(b, at)
    };
    if let Some(at) = (0..len).find(differs) {
        return Some((SetPart::Values, at, entities(at)));
    }
    if let Some(at) = (0..len).find(|&at| a.places.get(at) != b.places.get(at)) {
        return Some((SetPart::Places, at, entities(at)));
    }
    let heads = |at: usize| [a, b].map(|of| of.heads.get(at).copied());
    let at = (0..a.heads.len().max(b.heads.len())).find(|&at| heads(at)[0] != heads(at)[1])?;
    Some((SetPart::Heads, at, heads(at)))
}
