//! The parameters that read gained and lost components, and despawned entities.
//!
//! Rows change at sync points only, when no system runs, so these conflict with no other parameter.

use crate::component::{Component, Registry};
use crate::store::ReaderPosition;
use crate::version::Version;
use crate::world::{Despawned, Inserted, MissingResource, Removed, World};

use super::access::{NamedAccess, ParamKind};
use super::param::{SystemParam, SystemRun, sealed};

impl<C: Component> sealed::Sealed for Inserted<'_, C> {}
impl<C: Component> SystemParam for Inserted<'_, C> {
    type Item<'a> = Inserted<'a, C>;
    const READS_LOGS: bool = true;
    type State = ReaderPosition;
    type Borrowed<'r> = Option<Inserted<'r, C>>;

    fn access(_: &mut Registry) -> Vec<NamedAccess> {
        NamedAccess::of::<Self>(ParamKind::Inserted(C::NAME))
    }

    fn bind(world: &mut World) -> ReaderPosition {
        world.add_inserted_reader::<C>()
    }

    fn borrow<'r>(
        state: &'r mut ReaderPosition,
        run: &SystemRun<'r>,
    ) -> Result<Option<Inserted<'r, C>>, MissingResource> {
        Ok(Some(Inserted::granted(run.split, state)))
    }

    fn item<'a>(borrowed: &'a mut Option<Inserted<'_, C>>, _: Version) -> Inserted<'a, C> {
        borrowed.take().expect("the gains were taken twice in one run")
    }
}

impl<C: Component> sealed::Sealed for Removed<'_, C> {}
impl<C: Component> SystemParam for Removed<'_, C> {
    type Item<'a> = Removed<'a, C>;
    const READS_LOGS: bool = true;
    type State = ReaderPosition;
    type Borrowed<'r> = Option<Removed<'r, C>>;

    fn access(_: &mut Registry) -> Vec<NamedAccess> {
        NamedAccess::of::<Self>(ParamKind::Removed(C::NAME))
    }

    fn bind(world: &mut World) -> ReaderPosition {
        world.add_removed_reader::<C>()
    }

    fn borrow<'r>(
        state: &'r mut ReaderPosition,
        run: &SystemRun<'r>,
    ) -> Result<Option<Removed<'r, C>>, MissingResource> {
        Ok(Some(Removed::granted(run.split, state)))
    }

    fn item<'a>(borrowed: &'a mut Option<Removed<'_, C>>, _: Version) -> Removed<'a, C> {
        borrowed.take().expect("the losses were taken twice in one run")
    }
}

impl sealed::Sealed for Despawned<'_> {}
impl SystemParam for Despawned<'_> {
    type Item<'a> = Despawned<'a>;
    const READS_LOGS: bool = true;
    type State = ReaderPosition;
    type Borrowed<'r> = Option<Despawned<'r>>;

    fn access(_: &mut Registry) -> Vec<NamedAccess> {
        NamedAccess::of::<Self>(ParamKind::Despawned)
    }

    fn bind(world: &mut World) -> ReaderPosition {
        world.add_despawned_reader()
    }

    fn borrow<'r>(
        state: &'r mut ReaderPosition,
        run: &SystemRun<'r>,
    ) -> Result<Option<Despawned<'r>>, MissingResource> {
        Ok(Some(Despawned::granted(run.split, state)))
    }

    fn item<'a>(borrowed: &'a mut Option<Despawned<'_>>, _: Version) -> Despawned<'a> {
        borrowed.take().expect("the despawned entities were taken twice in one run")
    }
}
