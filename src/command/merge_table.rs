//! Merging the changes of one entity: what they come to, and where each value is.
//!
//! BarrierKind a run of changes comes to is a [`NetChange`]: the components that the entity has afterwards
//! whatever it had before, and those that it has not. A net is a state and a kind of change is a
//! step to another one:
//!
//! ```text
//!   nothing --insert (A, B)--> +A +B --remove B--> +A -B --insert A--> +A -B
//! ```
//!
//! So add and then remove cancels, the last value wins, and the order in which things were done is
//! gone. MergeTable and steps are numbered and kept: an entity's change costs a look-up a command, and a
//! program has few kinds of them. Values are not copied on the way; only where they are is.

use rustc_hash::FxHashMap;

use crate::archetype::BundleId;
use crate::component::ComponentId;
use crate::world::World;

use super::arena::ValueId;
use super::bundle_kinds::{KindId, Resolved, ResolvedKinds};

/// A net's number in its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NetChangeId(u32);

impl NetChangeId {
    /// No change at all.
    const NOTHING: Self = Self(0);
}

/// BarrierKind changes come to.
#[derive(Debug)]
struct NetChange {
    /// In ascending order.
    added: Vec<ComponentId>,
    /// In ascending order, none of them added.
    removed: Vec<ComponentId>,
    bundles: (BundleId, BundleId),
}

/// Where a value of a net is found.
#[derive(Clone, Copy, Debug)]
enum Found {
    /// Where it was, as this value of the net before.
    Before(usize),
    /// In the value of the command, from this byte on.
    Here(usize),
}

/// Where a kind of change leads from a net.
#[derive(Debug)]
struct Step {
    target: NetChangeId,
    values: Box<[Found]>,
}

/// The nets and steps that a buffer has met in its world.
#[derive(Debug, Default)]
pub(super) struct MergeTable {
    list: Vec<NetChange>,
    by_bundles: FxHashMap<(BundleId, BundleId), NetChangeId>,
    steps: Vec<Step>,
    by_change: FxHashMap<(NetChangeId, KindId), usize>,
    /// The step asked for last: loops ask for the same one again and again.
    last: Option<((NetChangeId, KindId), usize)>,
    /// Where the values of the net under way begin, and room for the next one's.
    starts: Vec<usize>,
    next: Vec<usize>,
}

/// A net with its values: bundles that go and come, and where the bytes of what comes begin.
#[derive(Debug)]
pub(super) struct Merged<'n> {
    pub(super) removed: BundleId,
    pub(super) added: BundleId,
    pub(super) starts: &'n [usize],
}

impl MergeTable {
    /// BarrierKind the changes come to, in their order.
    #[inline]
    pub(super) fn merge(
        &mut self,
        world: &mut World,
        meanings: &ResolvedKinds,
        changes: impl Iterator<Item = (KindId, ValueId)>,
    ) -> Merged<'_> {
        if self.list.is_empty() {
            self.find(world, Vec::new(), Vec::new());
        }
        let mut net = NetChangeId::NOTHING;
        self.starts.clear();
        for (kind, value) in changes {
            let step = self.step(world, meanings, net, kind);
            let Step { target, values } = &self.steps[step];
            self.next.clear();
            self.next.extend(values.iter().map(|&found| match found {
                Found::Before(at) => self.starts[at],
                Found::Here(start) => value.byte() + start,
            }));
            core::mem::swap(&mut self.starts, &mut self.next);
            net = *target;
        }
        let (removed, added) = self.list[net.0 as usize].bundles;
        Merged { removed, added, starts: &self.starts }
    }

    #[inline]
    fn step(
        &mut self,
        world: &mut World,
        meanings: &ResolvedKinds,
        net: NetChangeId,
        kind: KindId,
    ) -> usize {
        match self.last {
            Some((last, step)) if last == (net, kind) => step,
            _ => self.find_step(world, meanings, net, kind),
        }
    }

    fn find_step(
        &mut self,
        world: &mut World,
        meanings: &ResolvedKinds,
        net: NetChangeId,
        kind: KindId,
    ) -> usize {
        let step = match self.by_change.get(&(net, kind)) {
            Some(&step) => step,
            None => self.add_step(world, meanings.get(kind), (net, kind)),
        };
        self.last = Some(((net, kind), step));
        step
    }

    #[cold]
    fn add_step(
        &mut self,
        world: &mut World,
        kind: &Resolved,
        from: (NetChangeId, KindId),
    ) -> usize {
        let before = &self.list[from.0.0 as usize];
        let comes = |id| kind.added.iter().find(|&&(added, _)| added == id);
        let goes = |id| kind.removed.contains(id);
        let kept = before.added.iter().filter(|id| !goes(id) && comes(**id).is_none());
        let mut added: Vec<_> = kept.copied().chain(kind.added.iter().map(|&(id, _)| id)).collect();
        let gone = before.removed.iter().chain(&kind.removed);
        let mut removed: Vec<_> = gone.copied().filter(|&id| comes(id).is_none()).collect();
        for ids in [&mut added, &mut removed] {
            ids.sort_unstable();
            ids.dedup();
        }
        let found = |&id: &ComponentId| match comes(id) {
            Some(&(_, start)) => Found::Here(start),
            None => Found::Before(before.added.binary_search(&id).expect("kept")),
        };
        let values = added.iter().map(found).collect();
        let target = self.find(world, removed, added);
        self.steps.push(Step { target, values });
        self.by_change.insert(from, self.steps.len() - 1);
        self.steps.len() - 1
    }

    /// The net of these components.
    fn find(
        &mut self,
        world: &mut World,
        removed: Vec<ComponentId>,
        added: Vec<ComponentId>,
    ) -> NetChangeId {
        let known = &mut world.store.bundles;
        let bundles = (known.set_id(&removed), known.set_id(&added));
        *self.by_bundles.entry(bundles).or_insert_with(|| {
            let id = u32::try_from(self.list.len()).expect("nets of a program");
            self.list.push(NetChange { added, removed, bundles });
            NetChangeId(id)
        })
    }
}
