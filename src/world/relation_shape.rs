//! Chooses the view of a relation: [`Relation`] for one target a source, [`Pairs`] for many.

use crate::component::{InSet, ManyRelation, RelationComponent, Shape, Targets};
use crate::store::ReadGuard;

use super::pairs::Pairs;
use super::relation::Relation;
use super::world::World;

/// The view of a relation `R`: see [`World::relation`].
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{R}` is not a relation",
    label = "not a relation",
    note = "define it as one: `#[relation(tree)] struct ChildOf;`, `#[relation] struct Target;` or `#[relation(many)] struct Likes {{ weight: f32 }}`"
)]
pub trait RelationShape<R>: Shape {
    type View<'w>;
    fn view(world: &World) -> Self::View<'_>;
}

impl<R: RelationComponent> RelationShape<R> for InSet<R> {
    type View<'w> = Relation<'w, R>;

    fn view(world: &World) -> Relation<'_, R> {
        world.store.note_guard();
        Relation::new(world.store.read_sparse().map(ReadGuard::Lock))
    }
}

impl<R: ManyRelation> RelationShape<R> for InSet<Targets<R>> {
    type View<'w> = Pairs<'w, R>;

    fn view(world: &World) -> Pairs<'_, R> {
        world.store.note_guard();
        Pairs::new(world.store.read_sparse().map(ReadGuard::Lock))
    }
}
