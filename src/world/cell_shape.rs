//! Access to a component of one entity: one cell, one for each field of a split component, or the
//! value of a sparse one.

use crate::component::{
    AnyComponent, Columnar, Component, InSet, SparseComponent, Split, SplitComponent, SplitMut,
    Whole,
};
use crate::entity::Entity;
use crate::query::{IncludeHidden, Query, TermParts, assert_unaliased};
use crate::store::EntityError;

use super::sparse::SparseRef;
use super::world::World;

/// The result of [`World::get`]: a `&C`, a `C` if the component is split, or a [`SparseRef`] if it
/// is sparse.
pub type Cell<'w, C> = <<C as AnyComponent>::Shape as CellShape<C>>::Cell<'w>;

/// The result of [`World::get_mut`]: a `&mut C`, or a [`SplitMut`] if the component is split.
pub type CellMut<'w, C> = <<C as AnyComponent>::Shape as CellShape<C>>::CellMut<'w>;

/// Reads and writes a component of one entity.
#[doc(hidden)]
pub trait CellShape<C> {
    /// See [`Cell`].
    type Cell<'w>;
    /// See [`CellMut`].
    type CellMut<'w>;
    /// See [`World::get`].
    fn get(world: &World, entity: Entity) -> Result<Self::Cell<'_>, EntityError>;
    /// See [`World::get_mut`]. The id must not be reserved.
    fn get_mut(world: &mut World, entity: Entity) -> Result<Self::CellMut<'_>, EntityError>;
}

impl<C: Component> CellShape<C> for Whole<C> {
    type Cell<'w> = &'w C;
    type CellMut<'w> = &'w mut C;

    #[inline]
    fn get(world: &World, entity: Entity) -> Result<&C, EntityError> {
        let Ok(place) = world.store.entities().locate(entity) else {
            return Err(world.lacking(entity, C::NAME));
        };
        let archetype = world.archetype(place);
        match archetype.column(world.store.registry().id::<C>()) {
            Some(column) => Ok(archetype.list().cell(usize::from(column), place.row())),
            None => Err(world.lacking(entity, C::NAME)),
        }
    }

    #[inline]
    fn get_mut(world: &mut World, entity: Entity) -> Result<&mut C, EntityError> {
        let place = world.store.entities().locate(entity)?;
        let id = world.store.registry().id::<C>();
        let (archetypes, clock) = world.store.in_place();
        let archetype = archetypes.into_archetype(place.archetype());
        let Some(column) = archetype.column(id) else {
            return Err(EntityError::lacks(entity, C::NAME, !archetype.is_gone()));
        };
        // Only now: an error must leave the world unchanged.
        *clock = clock.next();
        let now = *clock;
        Ok(archetype.cell(column, place.row(), now))
    }
}

impl<S: SplitComponent<Parts: TermParts>> CellShape<S> for Split<S>
where
    S: Columnar + AnyComponent<Shape = Self>,
{
    type Cell<'w> = S;
    type CellMut<'w> = SplitMut<'w, S>;

    fn get(world: &World, entity: Entity) -> Result<S, EntityError> {
        let row = Query::<&S>::shared(&world.store).filter::<IncludeHidden>().into_row(entity);
        row.map_err(|_| world.lacking(entity, S::NAME))
    }

    fn get_mut(world: &mut World, entity: Entity) -> Result<SplitMut<'_, S>, EntityError> {
        const { assert_unaliased::<&mut S>() };
        let is_alive = world.contains(entity);
        let row =
            Query::<&mut S>::exclusive(&mut world.store).filter::<IncludeHidden>().into_row(entity);
        row.map_err(|_| EntityError::lacks(entity, S::NAME, is_alive))
    }
}

impl<S: SparseComponent> CellShape<S> for InSet<S> {
    type Cell<'w> = SparseRef<'w, S>;
    type CellMut<'w> = &'w mut S;

    #[inline]
    fn get(world: &World, entity: Entity) -> Result<SparseRef<'_, S>, EntityError> {
        world.sparse_ref(entity).ok_or_else(|| world.lacking(entity, S::NAME))
    }

    #[inline]
    fn get_mut(world: &mut World, entity: Entity) -> Result<&mut S, EntityError> {
        let is_alive = world.contains(entity);
        let value = world.store.write_sparse::<S>().and_then(|set| set.get_mut(entity));
        value.ok_or_else(|| EntityError::lacks(entity, S::NAME, is_alive))
    }
}
