//! The kinds of change that a buffer has recorded: which bundle goes, which comes.

use core::any::TypeId;

use rustc_hash::FxHashMap;

use crate::archetype::BundleId;
use crate::bundle::{Bundle, Bundles};
use crate::component::{ComponentId, NameList, Registry};
use crate::world::World;

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
    names: fn() -> NameList,
    id: fn(&mut Bundles, &mut Registry) -> BundleId,
}

impl BundleType {
    const fn of<B: Bundle>() -> Self {
        Self { names: || B::NAMES, id: |bundles, registry| bundles.id::<B>(registry) }
    }
}

impl Kind {
    fn of<R: Bundle, A: Bundle>() -> Self {
        let key = TypeId::of::<(R, A)>();
        Self { key, removed: BundleType::of::<R>(), added: BundleType::of::<A>() }
    }

    /// The names of its components, those that come first.
    pub(super) fn names(&self) -> Vec<&'static str> {
        let mut names = (self.added.names)().as_slice().to_vec();
        names.extend_from_slice((self.removed.names)().as_slice());
        names
    }
}

/// What a kind means in the buffer's world.
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

/// The kinds that a buffer has recorded, each once.
#[derive(Debug, Default)]
pub(super) struct Kinds {
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

impl Kinds {
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

/// What the kinds of one buffer mean in its world: as many as have been played back.
#[derive(Debug, Default)]
pub(super) struct Meanings(Vec<Resolved>);

impl Meanings {
    /// Learns the kinds that are new.
    pub(super) fn learn(&mut self, kinds: &Kinds, world: &mut World) {
        let store = &mut world.store;
        for kind in &kinds.list[self.0.len()..] {
            let removed = (kind.removed.id)(&mut store.bundles, &mut store.source.registry);
            let bundle = (kind.added.id)(&mut store.bundles, &mut store.source.registry);
            let mut bytes = 0;
            let start = |&id: &ComponentId| {
                let start = bytes;
                bytes += store.source.registry.info(id).size();
                (id, start)
            };
            let added: Box<[_]> = store.bundles.info(bundle).components.iter().map(start).collect();
            self.0.push(Resolved {
                removed: store.bundles.info(removed).components.clone(),
                starts: added.iter().map(|&(_, start)| start).collect(),
                added,
                bundle,
                bytes,
            });
        }
    }

    #[inline]
    pub(super) fn get(&self, id: KindId) -> &Resolved {
        &self.0[usize::from(id.0)]
    }
}
