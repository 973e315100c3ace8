//! The kinds of change that a buffer has recorded: which bundle goes, which comes.

use core::any::TypeId;

use rustc_hash::FxHashMap;

use crate::archetype::BundleId;
use crate::bundle::{Bundle, Bundles};
use crate::component::{ComponentId, NameTaken, Names, Registry};
use crate::query::Store;
use crate::world::World;

use super::error::CommandVerb;

/// A kind's number in its buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct KindId(u16);

/// Two bundle types: what goes and what comes. Either may be `()`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    key: TypeId,
    removed: BundleType,
    added: BundleType,
}

/// A bundle type without the type.
#[derive(Clone, Copy, Debug)]
struct BundleType {
    names: Names,
    id: fn(&mut Bundles, &mut Registry) -> Result<BundleId, NameTaken>,
}

impl BundleType {
    const fn of<B: Bundle>() -> Self {
        Self { names: B::NAMES, id: |bundles, registry| bundles.try_id::<B>(registry) }
    }
}

impl Kind {
    fn of<R: Bundle, A: Bundle>() -> Self {
        let key = TypeId::of::<(R, A)>();
        Self { key, removed: BundleType::of::<R>(), added: BundleType::of::<A>() }
    }

    /// The names of its components, those that come first.
    pub(super) fn names(&self) -> Vec<&'static str> {
        let mut names = self.added.names.list();
        names.append(&mut self.removed.names.list());
        names
    }

    /// BarrierKind it does to an entity that lives.
    pub(super) fn verb(&self) -> CommandVerb {
        let is_empty = |bundle: BundleType| bundle.names.list().is_empty();
        match (is_empty(self.removed), is_empty(self.added)) {
            (true, _) => CommandVerb::Insert,
            (_, true) => CommandVerb::Remove,
            (false, false) => CommandVerb::Exchange,
        }
    }

    /// BarrierKind it means in a world.
    ///
    /// # Errors
    ///
    /// If the world has another type of the name of one of its components.
    fn resolve(&self, store: &mut Store) -> Result<Resolved, NameTaken> {
        let Store { bundles, source, .. } = store;
        let removed = (self.removed.id)(bundles, &mut source.registry)?;
        let bundle = (self.added.id)(bundles, &mut source.registry)?;
        let mut bytes = 0;
        let start = |&id: &ComponentId| {
            let start = bytes;
            bytes += source.registry.info(id).size();
            (id, start)
        };
        let added: Box<[_]> = bundles.info(bundle).components.iter().map(start).collect();
        Ok(Resolved {
            removed: bundles.info(removed).components.clone(),
            starts: added.iter().map(|&(_, start)| start).collect(),
            added,
            bundle,
            bytes,
        })
    }
}

/// BarrierKind a kind means in the buffer's world.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) removed: Box<[ComponentId]>,
    /// The components that come, and where in the bundle's value each one's bytes begin.
    pub(super) added: Box<[(ComponentId, usize)]>,
    /// The bundle that comes.
    pub(super) bundle: BundleId,
    /// Where its components' bytes begin, by themselves.
    pub(super) starts: Box<[usize]>,
    /// The bytes of its value.
    pub(super) bytes: usize,
}

impl Resolved {
    /// In the place of a meaning that a kind does not have.
    fn nothing(store: &mut Store) -> Self {
        let bundle = store.bundles.set_id(&[]);
        Self { removed: [].into(), added: [].into(), bundle, starts: [].into(), bytes: 0 }
    }
}

/// The kinds that a buffer has recorded, each once.
#[derive(Debug, Default)]
pub(super) struct BundleKinds {
    list: Vec<Kind>,
    by_key: FxHashMap<TypeId, KindId>,
    /// The kind asked for last: loops ask for the same one again and again.
    last: Option<(TypeId, KindId)>,
}

impl KindId {
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl BundleKinds {
    /// The number of "`R` goes, `A` comes".
    #[inline]
    pub(super) fn id<R: Bundle, A: Bundle>(&mut self) -> KindId {
        let key = TypeId::of::<(R, A)>();
        match self.last {
            Some((last, id)) if last == key => id,
            _ => self.find(key, Kind::of::<R, A>),
        }
    }

    fn find(&mut self, key: TypeId, kind: impl FnOnce() -> Kind) -> KindId {
        let id = match self.by_key.get(&key) {
            Some(&id) => id,
            None => self.add(kind()),
        };
        self.last = Some((key, id));
        id
    }

    #[cold]
    fn add(&mut self, kind: Kind) -> KindId {
        let id = u16::try_from(self.list.len()).map(KindId);
        let id = id.expect("a command buffer knows at most 65,536 kinds of bundles");
        self.list.push(kind);
        self.by_key.insert(kind.key, id);
        id
    }

    #[inline]
    pub(super) fn get(&self, id: KindId) -> &Kind {
        &self.list[usize::from(id.0)]
    }

    /// The numbers that the kinds of another recorder have here.
    pub(super) fn translate(&mut self, other: &Self) -> Vec<KindId> {
        other.list.iter().map(|&kind| self.find(kind.key, || kind)).collect()
    }
}

/// BarrierKind the kinds of one buffer mean in its world: as many as have been played back.
#[derive(Debug, Default)]
pub(super) struct ResolvedKinds {
    list: Vec<Resolved>,
    /// BundleKinds that the world refuses, because it has another type of a component's name. Their
    /// commands are not played.
    refused: FxHashMap<KindId, NameTaken>,
}

impl ResolvedKinds {
    /// Learns the kinds that are new.
    pub(super) fn learn(&mut self, kinds: &BundleKinds, world: &mut World) {
        let store = &mut world.store;
        for kind in &kinds.list[self.list.len()..] {
            let meaning = kind.resolve(store).unwrap_or_else(|taken| {
                self.refused.insert(kinds.by_key[&kind.key], taken);
                Resolved::nothing(store)
            });
            self.list.push(meaning);
        }
    }

    #[inline]
    pub(super) fn get(&self, id: KindId) -> &Resolved {
        &self.list[usize::from(id.0)]
    }

    /// Whether no kind is refused.
    pub(super) fn are_whole(&self) -> bool {
        self.refused.is_empty()
    }

    /// Why the world refuses a kind, if it does.
    pub(super) fn refused(&self, id: KindId) -> Option<NameTaken> {
        self.refused.get(&id).copied()
    }
}
