//! Access to a component of one entity: one cell, one for each field of a split component, or the
//! value of a sparse one.

use crate::component::{
    AnyComponent, Columnar, Component, InSet, ManyRelation, SparseComponent, Split, SplitComponent,
    SplitMut, Targets, Whole, assert_writable,
};
use crate::entity::{Entity, Location};
use crate::query::{IncludeHidden, Query, TermParts, assert_unaliased};
use crate::store::EntityError;

use super::sparse_ref::SparseRef;
use super::targets_mut::TargetsMut;
use super::world::World;

/// The result of [`World::get`]: a `&C`, a `C` if the component is split, or a [`SparseRef`] if it
/// is sparse: of the [`Targets`] if `C` is a relation to many.
pub type Cell<'w, C> = <<C as AnyComponent>::Shape as CellShape<C>>::Cell<'w>;

/// The result of [`World::get_mut`]: a `&mut C`, a [`SplitMut`] if the component is split, or a
/// [`TargetsMut`] if it is a relation to many.
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

    #[inline(always)]
    fn get(world: &World, entity: Entity) -> Result<&C, EntityError> {
        match find(world, entity) {
            Some(cell) => Ok(cell),
            None => look_up(world, entity),
        }
    }

    #[inline(always)]
    fn get_mut(world: &mut World, entity: Entity) -> Result<&mut C, EntityError> {
        match find_mut(world, entity) {
            Ok(cell) => Ok(cell),
            Err(world) => look_up_mut(world, entity),
        }
    }
}

/// The row and the column of a component of an entity with a near slot, if the hint of the
/// component's type is valid in this world, and its id is below 512.
#[inline(always)]
fn near_place<C: Component>(world: &World, entity: Entity) -> Option<(Location, u16)> {
    let place = world.store.entities().locate_near(entity)?;
    let archetype = world.store.archetypes().as_slice().get(place.archetype().index())?;
    let column = archetype.near_column(world.store.registry().hinted::<C>()?)?;
    Some((place, column))
}

/// The cell at a [`near_place`].
#[inline]
fn find<C: Component>(world: &World, entity: Entity) -> Option<&C> {
    let (place, column) = near_place::<C>(world, entity)?;
    world.archetype(place).list().find_cell(usize::from(column), place.row())
}

/// The cell at a [`near_place`], or the world.
#[inline]
fn find_mut<C: Component>(world: &mut World, entity: Entity) -> Result<&mut C, &mut World> {
    match near_place::<C>(world, entity) {
        Some(place) => Ok(cell_mut(world, place)),
        None => Err(world),
    }
}

/// The cell of a row and a column, for writing.
#[inline(always)]
fn cell_mut<C: Component>(world: &mut World, (place, column): (Location, u16)) -> &mut C {
    let (archetypes, clock) = world.store.in_place();
    *clock = clock.next();
    archetypes.into_archetype(place.archetype()).cell(column, place.row(), *clock)
}

/// The cell of any entity and component, or the reason why there is none.
#[cold]
#[inline(never)]
fn look_up<C: Component>(world: &World, entity: Entity) -> Result<&C, EntityError> {
    let (place, column) = place_of::<C>(world, entity)?;
    Ok(world.archetype(place).list().cell(usize::from(column), place.row()))
}

/// [`look_up`] for writing. An error leaves the world unchanged.
#[cold]
#[inline(never)]
fn look_up_mut<C: Component>(world: &mut World, entity: Entity) -> Result<&mut C, EntityError> {
    let place = place_of::<C>(world, entity)?;
    Ok(cell_mut(world, place))
}

/// The row and the column of a component of an entity.
fn place_of<C: Component>(world: &World, entity: Entity) -> Result<(Location, u16), EntityError> {
    let id = world.store.registry().id::<C>();
    let place = world.store.entities().locate(entity).ok();
    let found = place.and_then(|place| Some((place, world.archetype(place).column(id)?)));
    found.ok_or_else(|| world.lacking(entity, C::NAME))
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
        const { assert_writable::<S>() };
        let is_alive = world.contains(entity);
        let value = world.store.sparse_value_mut(entity);
        value.ok_or_else(|| EntityError::lacks(entity, S::NAME, is_alive))
    }
}

/// A relation to many by its own name: the list of its targets.
impl<R: ManyRelation> CellShape<R> for InSet<Targets<R>> {
    type Cell<'w> = SparseRef<'w, Targets<R>>;
    type CellMut<'w> = TargetsMut<'w, R>;

    #[inline]
    fn get(world: &World, entity: Entity) -> Result<SparseRef<'_, Targets<R>>, EntityError> {
        world.sparse_ref(entity).ok_or_else(|| world.lacking(entity, R::NAME))
    }

    fn get_mut(world: &mut World, entity: Entity) -> Result<TargetsMut<'_, R>, EntityError> {
        let set = world.store.write_sparse::<Targets<R>>();
        if !set.is_some_and(|set| set.contains(entity)) {
            return Err(world.lacking(entity, R::NAME));
        }
        let (set, number, rows) = world.store.sparse_mut();
        Ok(TargetsMut::new((set, number), rows, entity))
    }
}
