//! Sparse components: the parts that most programs do not name.
//!
//! [`#[component(sparse)]`](crate::component#sparse-components) defines one, and the calls of
//! [`World`](crate::World) take it like any component. [`#[relation]`](relation) defines one that
//! points at another entity, with `#[relation(many)]` at any number of them, its [`Targets`].
//!
//! | to … | use | cost |
//! | --- | --- | --- |
//! | read or write values by entity | [`Sparse`], [`SparseMut`] | O(1) |
//! | pass values to a kernel as slices | [`SparseBlocks`], [`SparseBlocksMut`] | O(values) |
//! | follow a relation in both directions | [`Relation`] | O(1) an end |
//! | … with many targets | [`Pairs`], [`Targets`] | O(1) an end |
//! | read a component of the target | [`TargetValues`] | O(rows) a pass |
//! | choose the parents of copied trees | [`CopyParents`] | O(copies) |

pub use crate::component::{
    ManyRelation, RelationComponent, SparseComponent, Targets, TreeRelation, relation,
};
pub use crate::query::{SparseSlice, SparseSliceIter};
pub use crate::world::{
    CopyParents, Levels, Pairs, Relation, RelationError, Sparse, SparseBlocks, SparseBlocksMut,
    SparseMut, SparseRef, TargetValues, TargetsMut, relate_batch,
};
