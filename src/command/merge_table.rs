//! Merging: the changes of one entity, combined to one net change.
//!
//! A sequence of changes results in a [`NetChange`]: the components that the entity has afterwards,
//! and the components that it lacks afterwards, regardless of its components before. Net changes
//! are the states of a machine, and a bundle kind is a step from one to another:
//!
//! ```text
//!   nothing --insert (A, B)--> +A +B --remove B--> +A -B --insert A--> +A -B
//! ```
//!
//! So an insert followed by a remove cancels, and the last value wins. Net changes and steps are
//! numbered and cached: a command costs one look-up, and a program has few distinct ones. Values
//! are not copied on the way; only their offsets are.

use rustc_hash::FxHashMap;

use crate::archetype::BundleId;
use crate::component::ComponentId;
use crate::world::World;

use super::arena::ValueId;
use super::bundle_kinds::{BundleKindId, ResolvedKind, ResolvedKinds};

/// The number of a net change in its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NetChangeId(u32);

impl NetChangeId {
    /// No change at all.
    const NOTHING: Self = Self(0);
}

/// The result of a sequence of changes.
#[derive(Debug)]
struct NetChange {
    /// In ascending order.
    added: Vec<ComponentId>,
    /// In ascending order, none of them added.
    removed: Vec<ComponentId>,
    bundles: (BundleId, BundleId),
}

/// The source of a value of a net change.
#[derive(Clone, Copy, Debug)]
enum ValueSource {
    /// The value with this position in the net change before the step.
    Before(usize),
    /// The bytes at this offset in the value of the command.
    Command(usize),
}

/// The step that a bundle kind makes from a net change.
#[derive(Debug)]
struct NetChangeStep {
    target: NetChangeId,
    values: Box<[ValueSource]>,
}

/// The net changes and steps of a buffer in its world, cached.
#[derive(Debug, Default)]
pub(super) struct MergeTable {
    net_changes: Vec<NetChange>,
    by_bundles: FxHashMap<(BundleId, BundleId), NetChangeId>,
    steps: Vec<NetChangeStep>,
    by_change: FxHashMap<(NetChangeId, BundleKindId), usize>,
    /// The last step looked up: loops record the same one repeatedly.
    last: Option<((NetChangeId, BundleKindId), usize)>,
    /// The offsets of the values of the current net change, and scratch memory for the next one's.
    starts: Vec<usize>,
    next: Vec<usize>,
}

/// A net change with its values: the removed and added bundles, and the offsets of the added bytes.
#[derive(Debug)]
pub(super) struct NetChangeValues<'n> {
    pub(super) removed: BundleId,
    pub(super) added: BundleId,
    pub(super) starts: &'n [usize],
}

impl MergeTable {
    /// Merges changes in their order.
    #[inline]
    pub(super) fn merge(
        &mut self,
        world: &mut World,
        resolved: &ResolvedKinds,
        changes: impl Iterator<Item = (BundleKindId, ValueId)>,
    ) -> NetChangeValues<'_> {
        if self.net_changes.is_empty() {
            self.find(world, Vec::new(), Vec::new());
        }
        let mut net_change = NetChangeId::NOTHING;
        self.starts.clear();
        for (bundle_kind, value) in changes {
            let step = self.step(world, resolved, net_change, bundle_kind);
            let NetChangeStep { target, values } = &self.steps[step];
            self.next.clear();
            self.next.extend(values.iter().map(|&source| match source {
                ValueSource::Before(at) => self.starts[at],
                ValueSource::Command(start) => value.byte() + start,
            }));
            core::mem::swap(&mut self.starts, &mut self.next);
            net_change = *target;
        }
        let (removed, added) = self.net_changes[net_change.0 as usize].bundles;
        NetChangeValues { removed, added, starts: &self.starts }
    }

    #[inline]
    fn step(
        &mut self,
        world: &mut World,
        resolved: &ResolvedKinds,
        net_change: NetChangeId,
        bundle_kind: BundleKindId,
    ) -> usize {
        match self.last {
            Some((last, step)) if last == (net_change, bundle_kind) => step,
            _ => self.find_step(world, resolved, net_change, bundle_kind),
        }
    }

    fn find_step(
        &mut self,
        world: &mut World,
        resolved: &ResolvedKinds,
        net_change: NetChangeId,
        bundle_kind: BundleKindId,
    ) -> usize {
        let step = match self.by_change.get(&(net_change, bundle_kind)) {
            Some(&step) => step,
            None => self.add_step(world, resolved.get(bundle_kind), (net_change, bundle_kind)),
        };
        self.last = Some(((net_change, bundle_kind), step));
        step
    }

    #[cold]
    fn add_step(
        &mut self,
        world: &mut World,
        kind: &ResolvedKind,
        from: (NetChangeId, BundleKindId),
    ) -> usize {
        let before = &self.net_changes[from.0.0 as usize];
        let added_by_kind = |id| kind.added.iter().find(|&&(added, _)| added == id);
        let removed_by_kind = |id| kind.removed.contains(id);
        let kept =
            before.added.iter().filter(|id| !removed_by_kind(id) && added_by_kind(**id).is_none());
        let mut added: Vec<_> = kept.copied().chain(kind.added.iter().map(|&(id, _)| id)).collect();
        let all_removed = before.removed.iter().chain(&kind.removed).copied();
        let mut removed: Vec<_> = all_removed.filter(|&id| added_by_kind(id).is_none()).collect();
        for ids in [&mut added, &mut removed] {
            ids.sort_unstable();
            ids.dedup();
        }
        let source = |&id: &ComponentId| match added_by_kind(id) {
            Some(&(_, start)) => ValueSource::Command(start),
            None => {
                let at = before.added.binary_search(&id);
                ValueSource::Before(at.expect("a component is neither added nor kept"))
            }
        };
        let values = added.iter().map(source).collect();
        let target = self.find(world, removed, added);
        self.steps.push(NetChangeStep { target, values });
        self.by_change.insert(from, self.steps.len() - 1);
        self.steps.len() - 1
    }

    /// Finds or adds the net change of these components.
    fn find(
        &mut self,
        world: &mut World,
        removed: Vec<ComponentId>,
        added: Vec<ComponentId>,
    ) -> NetChangeId {
        let bundles = (world.store.set_id(&removed), world.store.set_id(&added));
        *self.by_bundles.entry(bundles).or_insert_with(|| {
            let id = u32::try_from(self.net_changes.len());
            let id = id.expect("a command buffer has more than 4,294,967,295 net changes");
            self.net_changes.push(NetChange { added, removed, bundles });
            NetChangeId(id)
        })
    }
}
