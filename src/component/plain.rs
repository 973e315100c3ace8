//! The condition of components and their fields.

use core::fmt;

use bytemuck::{CheckedBitPattern, NoUninit, Zeroable};

/// Plain data: the condition of a component and of each of its fields.
///
/// All bytes of a value are initialised, zeros are a value, and bytes can be checked for being one.
/// So rows can be copied, hashed and recorded as bytes, padding rows can be zero, and no destructor
/// runs. The traits come from [`bytemuck`]; every type that has them is plain data.
///
/// Plain are numbers, `bool`, `char`, [`Entity`](crate::Entity), the types that
/// [`#[component]`](crate::component) defines in columns or with `sparse, plain`, and every
/// [`Pod`](bytemuck::Pod) type. An
/// array is plain only if its elements are `Pod`, but [`#[component]`](crate::component) takes an
/// array of any plain type as a field. Types with a destructor and references are not plain.
///
/// ```
/// use phalanx::Plain;
///
/// fn is_plain<T: Plain>() {}
/// is_plain::<bool>();
/// is_plain::<[f32; 3]>();
/// is_plain::<phalanx::Entity>();
/// ```
///
/// ```compile_fail,E0277
/// fn is_plain<T: phalanx::Plain>() {}
/// is_plain::<String>(); // it can be a field of a `#[component(sparse)]`
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not plain data, and components are",
    label = "not plain data",
    note = "plain data are numbers, `bool`, `char`, `Entity`, arrays of these, types with `#[component]`, and every type that is `Pod`",
    note = "write `#[component]` above a struct or an enum of your own, too, or derive `Clone, Copy, Pod, Zeroable` on it with `#[repr(C)]`",
    note = "for a `String`, a `Vec` or a `Box` write `#[component(sparse)]`, which stores the component beside the chunks, or keep it in a resource; another entity is an `Entity`, or `Entity::NULL` instead of an `Option`"
)]
pub trait Plain: NoUninit + Zeroable + CheckedBitPattern + Send + Sync {}

// Without the attribute an error would name one of the bounds instead of this trait.
#[diagnostic::do_not_recommend]
impl<T: NoUninit + Zeroable + CheckedBitPattern + Send + Sync> Plain for T {}

/// Prints bytes as a value of `T`, or as bytes if they are not a value.
pub(super) fn format_as<T: Plain + fmt::Debug>(
    bytes: &[u8],
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    match bytemuck::checked::try_pod_read_unaligned::<T>(bytes) {
        Ok(value) => fmt::Debug::fmt(&value, f),
        Err(_) => write!(f, "{bytes:02x?}"),
    }
}
