//! The rules of a relation to many, as a constant of the type of its lists.

use super::component_info::ComponentInfo;
use super::dense_values::DenseValues;
use super::links::Links;
use super::relation_rules::OnDelete;

/// The rules of a relation to many, and the functions that read and change its lists. `T` has the
/// targets of one source, and a value for each.
#[doc(hidden)]
#[derive(Debug)]
pub struct PairRules<T> {
    pub(crate) on_delete: OnDelete,
    /// The fields of a value as the definition names them.
    pub(crate) definition: &'static str,
    /// The layout of a value.
    pub(crate) info: fn() -> ComponentInfo,
    pub(crate) value_size: usize,
    pub(crate) links: fn(&T) -> &Links,
    pub(crate) links_mut: fn(&mut T) -> &mut Links,
    /// The number of values.
    pub(crate) values_len: fn(&T) -> usize,
    /// Removes a value: the last one takes its place.
    pub(crate) remove_value: fn(&mut T, usize),
    /// Adds a value of another list.
    pub(crate) push_value: fn(&mut T, &T, usize),
    /// Overwrites a value with one of another list.
    pub(crate) put_value: fn(&mut T, usize, &T, usize),
    /// Makes a vector a copy of some lists.
    pub(crate) copy: fn(&[T], &mut DenseValues<T>),
    /// The bytes of a value.
    pub(crate) value: fn(&T, usize) -> &[u8],
    /// The values of all lists, one after the other.
    pub(crate) bytes: fn(&[T]) -> Vec<u8>,
    /// Reads as many values as there are links. `None` if the bytes are not that many values.
    pub(crate) read: fn(&[u8], Vec<Links>) -> Option<Vec<T>>,
    pub(crate) shrink: fn(&mut T),
    /// The allocated memory of a list.
    pub(crate) list_bytes: fn(&T) -> usize,
}
