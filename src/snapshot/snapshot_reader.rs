//! Reads states of another program, or of an older version of this one.

use core::cell::RefCell;
use core::fmt;

use super::format::SNAPSHOT;
use crate::component::{Component, ComponentInfo, Disabled, Gone, HasSparseCleanup, Prototype};
use crate::world::World;

use super::compression::decompressed;
use super::convert::{Convert, convert};
use super::read::{Header, Migration, Rules, Skips, checked};
use super::read_error::ReadError;
use super::read_shared::NewTags;
use super::shared_table::SharedTables;
use super::snapshot::Snapshot;

/// Options for reading a state whose components differ from this world: made by
/// [`SnapshotReader::new`].
///
/// ```
/// # use phalanx::prelude::*;
/// # use phalanx::snapshot::SnapshotReader;
/// mod version_1 {
///     # use phalanx::prelude::*;
///     #[component(name = "health")]
///     pub struct Health(pub f32);
///     #[component(name = "rumour")]
///     pub struct Rumour(u32);
/// }
/// #[component(name = "health")]
/// struct Health { now: f32, max: f32 }
///
/// let mut old = World::new();
/// let hero = old.spawn((version_1::Health(30.0), version_1::Rumour::default()));
/// let bytes = old.snapshot()?.to_bytes()?;
///
/// let mut world = World::new();
/// world.register::<Health>();
/// let state = SnapshotReader::new(&mut world)
///     .migrate(|old: version_1::Health| Health { now: old.0, max: 100.0 })
///     .skip_unknown()
///     .read(&bytes)?;
/// world.restore(&state)?;
/// assert_eq!(world.get::<Health>(hero)?.max, 100.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing is read before `read`"]
pub struct SnapshotReader<'w> {
    world: &'w mut World,
    skips: Option<Box<Skips<'w>>>,
    migrations: Vec<Migration>,
    functions: Vec<Box<Convert<'w>>>,
}

impl fmt::Debug for SnapshotReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SnapshotReader")
            .field("skips_unknown", &self.skips.is_some())
            .field("migrations", &self.migrations.len())
            .finish_non_exhaustive()
    }
}

impl<'w> SnapshotReader<'w> {
    /// A reader for a world. Without options it reads only what the world knows.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use phalanx::snapshot::SnapshotReader;
    /// # let mut world = World::new();
    /// # let bytes = world.snapshot()?.to_bytes()?;
    /// let state = SnapshotReader::new(&mut world).skip_unknown().read(&bytes)?;
    /// # assert!(state.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(world: &'w mut World) -> Self {
        Self { world, skips: None, migrations: Vec::new(), functions: Vec::new() }
    }

    /// Leaves out the components and the shared types whose names are not known to this world.
    /// Entities stay, with their other components.
    ///
    /// Default names are paths of types, so a type that has moved is unknown as well:
    /// [`SnapshotReader::skip_unknown_if`] reports the names that are left out.
    ///
    /// Despawned entities with [cleanup components](crate::component#cleanup-components) are freed
    /// if all these components are left out. Every world that reads knows the components of phalanx
    /// itself ([`Disabled`], [`Prototype`]). Register your own components that
    /// [hide](crate::Component::HIDDEN) their entities: an entity whose hiding component is left
    /// out is visible.
    ///
    /// A state that lacks components of its sender follows no deltas of it: read whole states.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::snapshot::SnapshotReader;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Rumour(u32);
    /// # let mut old = World::new();
    /// # old.spawn((Health(1.0), Rumour(1)));
    /// # let bytes = old.snapshot()?.to_bytes()?;
    /// let mut world = World::new();
    /// world.register::<Health>();
    /// assert!(world.read_snapshot(&bytes).is_err());
    /// assert_eq!(SnapshotReader::new(&mut world).skip_unknown().read(&bytes)?.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn skip_unknown(self) -> Self {
        self.skip_unknown_if(|_| true)
    }

    /// As [`skip_unknown`](SnapshotReader::skip_unknown), if `skip` returns `true` for the name; if
    /// not, it is an error. The function is called once for each unknown name, and not for the
    /// names of phalanx itself. A [split component](crate::component#split-components) has a name
    /// for each of its columns. A later call replaces an earlier one.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::snapshot::SnapshotReader;
    /// #[component(name = "health")]
    /// struct Health(f32);
    /// # #[component(name = "debug/trace")] struct Trace(u32);
    /// # #[component(name = "gold")] struct Gold(u32);
    /// # let mut old = World::new();
    /// # old.spawn((Health(1.0), Trace(1)));
    /// # let bytes = old.snapshot()?.to_bytes()?;
    /// # old.spawn(Gold(1));
    /// # let with_gold = old.snapshot()?.to_bytes()?;
    /// let mut world = World::new();
    /// world.register::<Health>();
    /// let mut skipped = Vec::new();
    /// let state = SnapshotReader::new(&mut world)
    ///     .skip_unknown_if(|name| {
    ///         skipped.push(name.to_owned());
    ///         name.starts_with("debug/")
    ///     })
    ///     .read(&bytes)?;
    /// assert_eq!((state.len(), skipped), (1, vec!["debug/trace".to_owned()]));
    /// # let reader = SnapshotReader::new(&mut world);
    /// # let reader = reader.skip_unknown_if(|name| name.starts_with("debug/"));
    /// # assert!(reader.read(&with_gold).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn skip_unknown_if(mut self, skip: impl FnMut(&str) -> bool + 'w) -> Self {
        let skip = RefCell::new(skip);
        self.skips = Some(Box::new(move |name| (*skip.borrow_mut())(name)));
        self
    }

    /// Converts each value of a component from its old type: for a component that has a new field,
    /// lost one, or has another name. A [split component](crate::component#split-components) is
    /// several columns, and cannot be migrated: first exchange it for another component in a world
    /// with the old definition.
    ///
    /// `Old` is defined like the component when the state was written. Its name may differ if `New`
    /// has the old name. A component that is defined like `New` is read unchanged. Each `New` is
    /// the component of its name in this world, or [`read`](SnapshotReader::read) fails with
    /// [`ReadError::NameTaken`]: functions are not applied one after the other.
    ///
    /// Definitions do not include those of the types of fields. If only such a type changes, for
    /// example an enum gets a variant, `New` needs another name than `Old`, and the field of `Old`
    /// has the type as it was.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::snapshot::SnapshotReader;
    /// # mod old { #[phalanx::component(name = "mass")] pub struct Mass(pub f32); }
    /// #[component(name = "weight")]
    /// struct Weight(f64); // it was `Mass`, an `f32`
    /// # let mut then = World::new();
    /// # let stone = then.spawn(old::Mass(2.0));
    /// # let bytes = then.snapshot()?.to_bytes()?;
    /// # let mut world = World::new();
    /// # world.register::<Weight>();
    /// let weight = |mass: old::Mass| Weight(f64::from(mass.0) * 9.81);
    /// let state = SnapshotReader::new(&mut world).migrate(weight).read(&bytes)?;
    /// # world.restore(&state)?;
    /// # assert_eq!(world.get::<Weight>(stone)?.0, 2.0 * 9.81);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn migrate<Old: Component, New: Component>(
        mut self,
        function: impl Fn(Old) -> New + 'w,
    ) -> Self {
        let (from, to) = (ComponentInfo::of::<Old>(), ComponentInfo::of::<New>());
        self.migrations.push(Migration { from, to });
        self.functions.push(Box::new(move |cells, rows| {
            let mut made = Vec::with_capacity(rows * size_of::<New>());
            for row in 0..rows {
                // The values of a tag have no bytes, but each row has one.
                let old = &cells[row * size_of::<Old>()..][..size_of::<Old>()];
                let old = bytemuck::checked::try_pod_read_unaligned(old).ok()?;
                made.extend_from_slice(bytemuck::bytes_of(&function(old)));
            }
            Some(made)
        }));
        self
    }

    /// Makes a snapshot from bytes, as [`World::read_snapshot`], with three differences: components
    /// are left out or converted by the options; the state may be from a world with other chunks;
    /// and in both cases the rows are put into new chunks. All versions are the newest in this
    /// case, and values of chunks ([`PerChunk`](crate::chunks::PerChunk)) are the default.
    ///
    /// O(bytes).
    ///
    /// # Errors
    ///
    /// See [`ReadError`]. With [`skip_unknown`](SnapshotReader::skip_unknown) the world knows
    /// [`Disabled`], [`Prototype`], [`Gone`] and the tag of sparse cleanup components afterwards,
    /// even if the bytes are refused, but not if their beginning or their checksum is wrong.
    ///
    /// # Panics
    ///
    /// If a function of [`SnapshotReader::migrate`] or [`SnapshotReader::skip_unknown_if`] panics,
    /// or as [`World::read_snapshot`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::snapshot::SnapshotReader;
    /// let mut small = World::builder().chunk_size(ChunkSize::KIB_4).build();
    /// small.spawn_batch([(); 10]);
    /// let bytes = small.snapshot()?.to_bytes()?;
    /// let mut world = World::new();
    /// assert!(world.read_snapshot(&bytes).is_err());
    /// assert_eq!(SnapshotReader::new(&mut world).read(&bytes)?.len(), 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(self, bytes: &[u8]) -> Result<Snapshot, ReadError> {
        let Self { world, skips, migrations, functions } = self;
        let registry = world.store.registry();
        migrations.iter().try_for_each(|migration| migration.check(registry))?;
        let bytes = decompressed(bytes, &world.store)?;
        let input = checked(&bytes)?;
        // Without these components, hidden entities would be visible and despawned ones alive. A
        // world without room for them cannot read states that have them.
        let ours = [Disabled::NAME, Prototype::NAME, Gone::NAME, HasSparseCleanup::NAME];
        if skips.is_some() && world.store.registry().has_room_for(ours.len()) {
            world.register::<(Disabled, Prototype, Gone, HasSparseCleanup)>();
        }
        let skip =
            |name: &str| !ours.contains(&name) && skips.as_ref().is_some_and(|skips| skips(name));
        let rules = Rules { skips: Some(&skip), migrations: &migrations, converts: true };
        let mut header = Header::read(input, &world.store, SNAPSHOT, &rules)?;
        let mut snapshot = Snapshot::new();
        let tags = NewTags::of(&mut world.store);
        header.read_shared(tags.store.registry_mut(), &SharedTables::default(), &rules)?;
        if header.is_as_here(tags.store.registry()) {
            let patch = header.patch(tags.store, &snapshot.image, &rules)?;
            snapshot.image.apply(patch);
        } else {
            snapshot.image = convert(header, tags.store, &functions, &rules)?;
        }
        tags.keep();
        snapshot.belong_to(world);
        Ok(snapshot)
    }
}
