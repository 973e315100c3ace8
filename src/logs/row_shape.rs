//! The rows that have logs, by the places of their components.

use crate::component::{AnyComponent, Component, InSet, SparseComponent, Whole};
use crate::store::{EntityRows, LogSubject, RowKind};
use crate::world::World;

/// The value of component `C` in an entry of its logs: `C`, or of a sparse component
/// [`Logged`](SparseComponent::Logged).
pub(super) type Logged<C> = <<C as AnyComponent>::Shape as RowKind>::Value;

/// The place of a component that has logs.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "this component has no logs",
    label = "a split component is several columns, and a reader hands out whole values",
    note = "`World::get` reads a split component as a whole, and a query of `&Component` by column",
    note = "in generic code, the bound `Component` says that it is a column"
)]
pub trait RowShape: RowKind {
    /// The name of the component.
    const NAME: &'static str;

    /// The subject of its logs. From now on, changes are recorded.
    ///
    /// # Panics
    ///
    /// If another type of the world has the name of the component.
    fn subject(world: &mut World) -> LogSubject;
}

impl<C: Component> RowShape for Whole<C> {
    const NAME: &'static str = C::NAME;

    fn subject(world: &mut World) -> LogSubject {
        let id = world.store.registry_mut().register::<C>();
        LogSubject::Component(id.unwrap_or_else(|taken| taken.refuse()))
    }
}

impl<S: SparseComponent> RowShape for InSet<S> {
    const NAME: &'static str = S::NAME;

    fn subject(world: &mut World) -> LogSubject {
        world.store.note_sparse::<S>();
        LogSubject::Sparse
    }
}

impl RowShape for EntityRows {
    const NAME: &'static str = "";

    fn subject(_: &mut World) -> LogSubject {
        LogSubject::Entity
    }
}
