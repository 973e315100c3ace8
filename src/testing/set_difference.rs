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
    let len = if of.counts.is_empty() { of.entities.len() } else { of.targets.len() };
    let size = of.values.len().checked_div(len).unwrap_or(0);
    of.values.get(at * size..(at + 1) * size)
}

/// The place of the source of a pair.
fn source_of(of: &SetArrays<'_>, pair: usize) -> usize {
    let mut end = 0;
    let ends = of.counts.iter().map(|&count| {
        end += count as usize;
        end
    });
    ends.take_while(|&end| end <= pair).count()
}

/// The first source of a relation to many with other targets or values.
fn find_pair(a: &SetArrays<'_>, b: &SetArrays<'_>) -> Option<usize> {
    let len = a.entities.len().max(b.entities.len());
    let differs = |&at: &usize| {
        a.entities.get(at) != b.entities.get(at) || a.counts.get(at) != b.counts.get(at)
    };
    let source = (0..len).find(differs).unwrap_or(len);
    let pairs = a.targets.len().max(b.targets.len());
    let differs =
        |&at: &usize| a.targets.get(at) != b.targets.get(at) || value(a, at) != value(b, at);
    let pair = (0..pairs).find(differs).map(|pair| source_of(a, pair).min(source_of(b, pair)));
    Some(source.min(pair.unwrap_or(len))).filter(|&at| at < len)
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
    let is_to_many = !(a.counts.is_empty() && b.counts.is_empty());
    let first = if is_to_many { find_pair(a, b) } else { (0..len).find(differs) };
    if let Some(at) = first {
        return Some((SetPart::Values, at, entities(at)));
    }
    let places = a.places.len().max(b.places.len());
    if let Some(at) = (0..places).find(|&at| a.places.get(at) != b.places.get(at)) {
        let at = if is_to_many { source_of(a, at) } else { at };
        return Some((SetPart::Places, at, entities(at)));
    }
    let heads = |at: usize| [a, b].map(|of| of.heads.get(at).copied());
    let at = (0..a.heads.len().max(b.heads.len())).find(|&at| heads(at)[0] != heads(at)[1])?;
    Some((SetPart::Heads, at, heads(at)))
}
