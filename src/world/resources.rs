//! Resources: values of the world that belong to no entity.

use core::any::{Any, TypeId, type_name};
use core::error::Error;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use rustc_hash::FxHashMap;

use crate::store::{FirstPanic, ReadGuard, is_held};

/// A world has no resource of this type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MissingResource {
    /// The type of the resource, as the compiler names it.
    pub resource: &'static str,
}

impl MissingResource {
    #[cold]
    fn new<R>() -> Self {
        Self { resource: type_name::<R>() }
    }
}

impl fmt::Display for MissingResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource } = self;
        write!(f, "the world has no resource `{resource}`: insert it with `World::insert_resource`")
    }
}

impl Error for MissingResource {}

/// A resource that is borrowed for reading. As a parameter of a system it declares that the system
/// reads the resource.
///
/// A guard that is forgotten ([`mem::forget`](core::mem::forget)) blocks no later call: its lock is
/// renewed when the world is borrowed exclusively.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// struct Poison(f32);
///
/// fn poison(health: Query<&mut Health>, poison: Res<Poison>) {
///     health.rows().for_each(|health| health.0 -= poison.0);
/// }
/// ```
pub struct Res<'w, R: Send + Sync + 'static> {
    guard: ReadGuard<'w, R>,
    /// Invariant in `R`: a subtype of it is another resource.
    resource: PhantomData<fn(R) -> R>,
}

impl<R: Send + Sync + 'static> Deref for Res<'_, R> {
    type Target = R;

    #[inline]
    fn deref(&self) -> &R {
        &self.guard
    }
}

impl<R: fmt::Debug + Send + Sync + 'static> fmt::Debug for Res<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Res").field(&**self).finish()
    }
}

/// A resource that is borrowed for writing. Systems that name the same resource do not run at the
/// same time.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// #[derive(Default)]
/// struct Dead(usize);
///
/// fn count(health: Query<&Health>, mut dead: ResMut<Dead>) {
///     dead.0 = health.rows().filter(|health| health.0 <= 0.0).count();
/// }
/// ```
pub struct ResMut<'w, R: Send + Sync + 'static> {
    resource: &'w mut R,
}

impl<'w, R: Send + Sync + 'static> Res<'w, R> {
    /// A resource for one run of a system, which holds the lock.
    pub(crate) const fn granted(resource: &'w R) -> Self {
        Self { guard: ReadGuard::Granted(resource), resource: PhantomData }
    }
}

impl<'w, R: Send + Sync + 'static> ResMut<'w, R> {
    /// A resource for one run of a system, which holds the lock.
    pub(crate) const fn granted(resource: &'w mut R) -> Self {
        Self { resource }
    }
}

impl<R: Send + Sync + 'static> Deref for ResMut<'_, R> {
    type Target = R;

    #[inline]
    fn deref(&self) -> &R {
        self.resource
    }
}

impl<R: Send + Sync + 'static> DerefMut for ResMut<'_, R> {
    #[inline]
    fn deref_mut(&mut self) -> &mut R {
        self.resource
    }
}

impl<R: fmt::Debug + Send + Sync + 'static> fmt::Debug for ResMut<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ResMut").field(&**self).finish()
    }
}

/// The resources of a world, by their type.
///
/// Each has a lock, on which no thread ever waits: a schedule runs no system beside one that writes
/// a resource that the system reads. A panic during a write leaves the resource as it is at that
/// moment.
#[derive(Default)]
pub(crate) struct Resources {
    /// Each is the `RwLock<R>` of its type.
    by_type: FxHashMap<TypeId, Box<dyn ErasedResource>>,
}

/// A resource of any type, in its lock.
trait ErasedResource: Any + Send + Sync {
    /// Returns `true` if a forgotten guard holds the lock. Only valid while no other borrow exists.
    fn is_held(&self) -> bool;
    /// The same resource in a new lock.
    fn renewed(self: Box<Self>) -> Box<dyn ErasedResource>;
}

impl<R: Send + Sync + 'static> ErasedResource for RwLock<R> {
    fn is_held(&self) -> bool {
        is_held(self)
    }

    fn renewed(self: Box<Self>) -> Box<dyn ErasedResource> {
        Box::new(Self::new(self.into_inner().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Resources {
    pub(super) fn insert<R: Send + Sync + 'static>(&mut self, resource: R) -> Option<R> {
        let lock = Box::new(RwLock::new(resource));
        self.by_type.insert(TypeId::of::<R>(), lock).map(into_value)
    }

    pub(super) fn remove<R: Send + Sync + 'static>(&mut self) -> Option<R> {
        self.by_type.remove(&TypeId::of::<R>()).map(into_value)
    }

    /// Renews the locks that forgotten guards hold.
    pub(super) fn release(&mut self) {
        let held = self.by_type.iter().filter(|(_, lock)| lock.is_held());
        let held: Vec<TypeId> = held.map(|(&id, _)| id).collect();
        for id in held {
            let lock = self.by_type.remove(&id).expect("listed above");
            self.by_type.insert(id, lock.renewed());
        }
    }

    fn lock<R: Send + Sync + 'static>(&self) -> Result<&RwLock<R>, MissingResource> {
        let lock = self.by_type.get(&TypeId::of::<R>()).ok_or_else(MissingResource::new::<R>)?;
        let any: &dyn Any = &**lock;
        Ok(any.downcast_ref().expect("the lock of a resource is filed under another type"))
    }

    /// The resource for writing, even if a forgotten guard holds its lock.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub(super) fn get_mut<R: Send + Sync + 'static>(
        &mut self,
    ) -> Result<ResMut<'_, R>, MissingResource> {
        let lock = self.by_type.get_mut(&TypeId::of::<R>());
        let any: &mut dyn Any = &mut **lock.ok_or_else(MissingResource::new::<R>)?;
        let lock = any.downcast_mut::<RwLock<R>>();
        let lock = lock.expect("the lock of a resource is filed under another type");
        Ok(ResMut { resource: lock.get_mut().unwrap_or_else(PoisonError::into_inner) })
    }

    /// The resource for reading, from a shared world.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub(super) fn read<R: Send + Sync + 'static>(&self) -> Result<Res<'_, R>, MissingResource> {
        Ok(Res { guard: ReadGuard::Lock(self.grant()?), resource: PhantomData })
    }

    /// The right to read a resource, for one run of a system.
    ///
    /// # Errors
    ///
    /// If there is none.
    ///
    /// # Panics
    ///
    /// If it is borrowed for writing.
    pub(crate) fn grant<R: Send + Sync + 'static>(
        &self,
    ) -> Result<RwLockReadGuard<'_, R>, MissingResource> {
        match self.lock::<R>()?.try_read() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                panic!("`{}` is borrowed for writing", type_name::<R>())
            }
        }
    }

    /// The right to write a resource, for one run of a system.
    ///
    /// # Errors
    ///
    /// If there is none.
    ///
    /// # Panics
    ///
    /// If it is borrowed.
    pub(crate) fn grant_mut<R: Send + Sync + 'static>(
        &self,
    ) -> Result<RwLockWriteGuard<'_, R>, MissingResource> {
        match self.lock::<R>()?.try_write() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => panic!("`{}` is borrowed", type_name::<R>()),
        }
    }
}

impl Drop for Resources {
    /// After a panic, the destructor of the map would not drop the remaining resources. A world
    /// drops its resources after its sparse components, and a panic of theirs may be in progress.
    fn drop(&mut self) {
        if self.by_type.is_empty() {
            return;
        }
        let (mut panic, mut resources) = (FirstPanic::default(), self.by_type.drain());
        panic.catch(|| resources.by_ref().for_each(drop));
        panic.resume_from_drop();
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resources").field("len", &self.by_type.len()).finish()
    }
}

fn into_value<R: Send + Sync + 'static>(lock: Box<dyn ErasedResource>) -> R {
    let lock: Box<dyn Any> = lock;
    let lock = lock.downcast::<RwLock<R>>();
    let lock = *lock.expect("the lock of a resource is filed under another type");
    lock.into_inner().unwrap_or_else(PoisonError::into_inner)
}
