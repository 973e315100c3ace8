//! Bundle kinds: the pairs of bundle types that a buffer's commands remove and add, before and
//! after the world has assigned ids to their components.

use core::any::TypeId;

use rustc_hash::FxHashMap;

use crate::archetype::{Bundle, BundleId, ColumnBundle};
use crate::component::{ComponentId, NameTaken, Names, SparseBundle};
use crate::store::Store;
use crate::world::World;

use super::command_errors::CommandVerb;

/// The number of a bundle kind in its buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct BundleKindId(u16);

/// Two bundle types, one removed and one added. Either may be `()`.
#[derive(Clone, Copy, Debug)]
pub(super) struct BundleKind {
    key: TypeId,
    removed: BundleType,
    added: BundleType,
}

/// A bundle type, type-erased.
#[derive(Clone, Copy, Debug)]
struct BundleType {
    names: Names,
    is_sparse: bool,
    /// Whether it has sparse cleanup components and no columns.
    is_sparse_cleanup: bool,
    id: fn(&mut Store) -> Result<BundleId, NameTaken>,
}

impl BundleType {
    const fn of_removed<B: Bundle>() -> Self {
        Self { id: try_removed_id::<B>, ..Self::of_added::<B>() }
    }

    const fn of_added<B: Bundle>() -> Self {
        let is_sparse = !<B::Sparse as SparseBundle>::IS_EMPTY;
        let is_sparse_cleanup =
            B::Sparse::HAS_CLEANUP && <B::Columns as ColumnBundle>::NAMES.is_empty();
        Self { names: B::NAMES, is_sparse, is_sparse_cleanup, id: try_added_id::<B> }
    }

    const fn of_columns<B: ColumnBundle>() -> Self {
        let (is_sparse, is_sparse_cleanup) = (false, false);
        Self { names: B::NAMES, is_sparse, is_sparse_cleanup, id: Store::try_bundle_id::<B> }
    }
}

/// The id of the columns of a bundle that is removed. Gives its sparse components their names, and
/// adds no set.
fn try_removed_id<B: Bundle>(store: &mut Store) -> Result<BundleId, NameTaken> {
    store.try_name_sparse::<B::Sparse>()?;
    store.try_bundle_id::<B::Columns>()
}

/// The id of the columns of a bundle that is added. Adds the sets of its sparse components.
fn try_added_id<B: Bundle>(store: &mut Store) -> Result<BundleId, NameTaken> {
    store.find_missing_sets::<B::Sparse>()?;
    let id = store.try_bundle_id::<B::Columns>()?;
    store.try_add_sets::<B::Sparse>()?;
    Ok(id)
}

impl BundleKind {
    fn of<R: Bundle, A: Bundle>() -> Self {
        let key = TypeId::of::<(R, A)>();
        Self { key, removed: BundleType::of_removed::<R>(), added: BundleType::of_added::<A>() }
    }

    fn of_columns<R: ColumnBundle, A: ColumnBundle>() -> Self {
        let (removed, added) = (BundleType::of_columns::<R>(), BundleType::of_columns::<A>());
        Self { key: TypeId::of::<(R, A)>(), removed, added }
    }

    /// The names of its components, the added ones first.
    pub(super) fn names(&self) -> Vec<&'static str> {
        let mut names = self.added.names.list();
        names.append(&mut self.removed.names.list());
        names
    }

    /// The verb of a change of an existing entity.
    pub(super) fn verb(&self) -> CommandVerb {
        let is_empty = |bundle: BundleType| bundle.names.list().is_empty();
        match (is_empty(self.removed), is_empty(self.added)) {
            (true, _) => CommandVerb::Insert,
            (_, true) => CommandVerb::Remove,
            (false, false) => CommandVerb::Exchange,
        }
    }

    /// Looks its components up in a world.
    ///
    /// # Errors
    ///
    /// [`NameTaken`] if another type has the name of one of its components in this world.
    fn resolve(&self, store: &mut Store) -> Result<ResolvedKind, NameTaken> {
        let removed = (self.removed.id)(store)?;
        let bundle = (self.added.id)(store)?;
        let mut bytes = 0;
        let start = |&id: &ComponentId| {
            let start = bytes;
            bytes += store.registry().info(id).size();
            (id, start)
        };
        let added: Box<[_]> = store.components_of(bundle).iter().map(start).collect();
        Ok(ResolvedKind {
            removed: store.components_of(removed).into(),
            starts: added.iter().map(|&(_, start)| start).collect(),
            added,
            bundle,
            bytes,
            adds_sparse: self.added.is_sparse,
            only_removes_sparse_cleanup: self.removed.is_sparse_cleanup
                && self.added.names.is_empty(),
        })
    }
}

/// A bundle kind with the component ids of the buffer's world.
#[derive(Debug)]
pub(super) struct ResolvedKind {
    pub(super) removed: Box<[ComponentId]>,
    /// The added components, each with the offset of its bytes in the bundle's value.
    pub(super) added: Box<[(ComponentId, usize)]>,
    /// The added bundle.
    pub(super) bundle: BundleId,
    /// The offsets in `added`.
    pub(super) starts: Box<[usize]>,
    /// The size of the bundle's value in bytes.
    pub(super) bytes: usize,
    /// Whether it adds a sparse component.
    pub(super) adds_sparse: bool,
    /// Whether it removes sparse components, with cleanup components among them, and has no effect
    /// on columns.
    pub(super) only_removes_sparse_cleanup: bool,
}

impl ResolvedKind {
    /// A placeholder for a kind that the world refuses.
    fn empty(store: &mut Store) -> Self {
        let bundle = store.set_id(&[]);
        let (removed, added, starts) = ([].into(), [].into(), [].into());
        let (adds_sparse, only_removes_sparse_cleanup) = (false, false);
        let bytes = 0;
        Self { removed, added, bundle, starts, bytes, adds_sparse, only_removes_sparse_cleanup }
    }
}

/// The bundle kinds that a buffer has recorded, each once.
#[derive(Debug, Default)]
pub(super) struct BundleKinds {
    list: Vec<BundleKind>,
    by_key: FxHashMap<TypeId, BundleKindId>,
    /// The last kind looked up: loops record the same one repeatedly.
    last: Option<(TypeId, BundleKindId)>,
}

impl BundleKindId {
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl BundleKinds {
    /// The number of the kind that removes `R` and adds `A`.
    #[inline]
    pub(super) fn id<R: Bundle, A: Bundle>(&mut self) -> BundleKindId {
        let key = TypeId::of::<(R, A)>();
        match self.last {
            Some((last, id)) if last == key => id,
            _ => self.find(key, BundleKind::of::<R, A>),
        }
    }

    /// [`BundleKinds::id`] of bundles of columns: for these both give the same number.
    pub(super) fn id_of_columns<R: ColumnBundle, A: ColumnBundle>(&mut self) -> BundleKindId {
        self.find(TypeId::of::<(R, A)>(), BundleKind::of_columns::<R, A>)
    }

    fn find(&mut self, key: TypeId, kind: impl FnOnce() -> BundleKind) -> BundleKindId {
        let id = match self.by_key.get(&key) {
            Some(&id) => id,
            None => self.add(kind()),
        };
        self.last = Some((key, id));
        id
    }

    #[cold]
    fn add(&mut self, kind: BundleKind) -> BundleKindId {
        let id = u16::try_from(self.list.len()).map(BundleKindId);
        let id = id.expect("a command buffer records more than 65,536 bundle kinds");
        self.list.push(kind);
        self.by_key.insert(kind.key, id);
        id
    }

    #[inline]
    pub(super) fn get(&self, id: BundleKindId) -> &BundleKind {
        &self.list[usize::from(id.0)]
    }

    /// The numbers in this list for the kinds of another one, which are added if missing.
    pub(super) fn translate(&mut self, other: &Self) -> Vec<BundleKindId> {
        other.list.iter().map(|&kind| self.find(kind.key, || kind)).collect()
    }
}

/// The bundle kinds of one buffer as resolved in its world, up to the last playback.
#[derive(Debug, Default)]
pub(super) struct ResolvedKinds {
    list: Vec<ResolvedKind>,
    /// The kinds that the world refuses, because another type has a component's name. Their
    /// commands are not played back.
    refused: FxHashMap<BundleKindId, NameTaken>,
}

impl ResolvedKinds {
    /// Resolves the kinds recorded since the last playback.
    pub(super) fn resolve_new(&mut self, kinds: &BundleKinds, world: &mut World) {
        let store = &mut world.store;
        for kind in &kinds.list[self.list.len()..] {
            let resolved = kind.resolve(store).unwrap_or_else(|taken| {
                self.refused.insert(kinds.by_key[&kind.key], taken);
                ResolvedKind::empty(store)
            });
            self.list.push(resolved);
        }
    }

    #[inline]
    pub(super) fn get(&self, id: BundleKindId) -> &ResolvedKind {
        &self.list[usize::from(id.0)]
    }

    /// Returns `true` if a kind is refused.
    pub(super) fn has_refused(&self) -> bool {
        !self.refused.is_empty()
    }

    /// The reason why the world refuses a kind, if it does.
    pub(super) fn refused(&self, id: BundleKindId) -> Option<NameTaken> {
        self.refused.get(&id).copied()
    }
}
