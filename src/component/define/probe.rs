//! Questions about types whose names a macro knows, but not what they are.

use core::marker::PhantomData;

use bytemuck::Pod;

use crate::component::plain::Plain;

/// A type that says whether it is `Pod`.
pub trait Defined {
    /// [`Bool`].
    type IsPod;
}

/// A constant as a type.
#[derive(Debug)]
pub struct Bool<const IS: bool>;

/// Answers questions about a type, as [`Fallback`] does for types that fail the conditions here.
#[derive(Debug)]
pub struct Probe<T>(PhantomData<T>);

/// The answers about types that fail the conditions of [`Probe`].
pub trait Fallback<T> {
    /// Whether the type is `Pod`.
    const IS_POD: bool = false;
    /// Whether the type is [`Plain`].
    const IS_PLAIN: bool = false;
    /// Whether the type is an array of a [`Plain`] one.
    const IS_ARRAY: bool = false;

    /// The type's default value, or else `zero`.
    fn default_or(zero: T) -> T {
        zero
    }
}

impl<T> Fallback<T> for Probe<T> {}

impl<T> Fallback<T> for ArrayProbe<T> {}

/// Answers whether a type is an array. Apart from [`Probe`], because many arrays are [`Plain`] too.
#[derive(Debug)]
pub struct ArrayProbe<T>(PhantomData<T>);

impl<T: Plain, const N: usize> ArrayProbe<[T; N]> {
    /// Whether the type is an array of a [`Plain`] one.
    pub const IS_ARRAY: bool = true;
}

impl<T: Pod> Probe<T> {
    /// Whether the type is `Pod`.
    pub const IS_POD: bool = true;
}

impl<T: Plain> Probe<T> {
    /// Whether the type is [`Plain`].
    pub const IS_PLAIN: bool = true;
}

impl<T: Default> Probe<T> {
    /// The type's default value, or else `zero`.
    pub fn default_or(_zero: T) -> T {
        T::default()
    }
}

/// A compile error for a type that is not plain data.
pub const fn assert_plain<T: Plain>() {}
