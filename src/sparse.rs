//! Sparse components: the parts that most programs do not name.
//!
//! [`#[component(sparse)]`](crate::component#sparse-components) defines one, [`Sparse`] and
//! [`SparseMut`] are its values as parameters of systems, and the calls of
//! [`World`](crate::World) take it like any component. For kernels, [`SparseBlocks`] and
//! [`SparseBlocksMut`] have the values as slices, block by block.
//!
//! [`#[relation]`](relation) defines one that points at another entity, [`Relation`] is such a
//! relation from both ends, and [`TargetValues`] are a component of the entities at the other end.
//! With `#[relation(many)]` it points at any number of entities, its [`Targets`], and [`Pairs`] is
//! such a relation from both ends. [`CopyParents`] are the targets of copied trees.

pub use crate::component::{
    ManyRelation, RelationComponent, SparseComponent, Targets, TreeRelation, relation,
};
pub use crate::query::{SparseSlice, SparseSliceIter};
pub use crate::world::{
    CopyParents, Levels, Pairs, Relation, RelationError, Sparse, SparseBlocks, SparseBlocksMut,
    SparseMut, SparseRef, TargetValues, TargetsMut, relate_batch,
};
