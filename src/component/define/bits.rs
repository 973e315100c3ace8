//! Bytes that may be a value of a type that does not accept all bytes.

#![expect(unsafe_code, reason = "`bytemuck` has no such type, and its derive needs the fields")]

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::{ptr, slice};

use bytemuck::checked::try_pod_read_unaligned;
use bytemuck::{AnyBitPattern, NoUninit, Zeroable};

use super::probe::Part;
use crate::component::plain::Plain;

/// Bytes that may be a value of `T`, a type without uninitialised bytes.
#[derive(Debug)]
#[repr(transparent)]
pub struct Bits<T>(MaybeUninit<T>);

impl<T: Copy> Clone for Bits<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Copy> Copy for Bits<T> {}

// SAFETY: any bytes are a `MaybeUninit`.
unsafe impl<T: NoUninit> Zeroable for Bits<T> {}
// SAFETY: any bytes are a `MaybeUninit`, and a `NoUninit` type has no interior mutability.
unsafe impl<T: NoUninit> AnyBitPattern for Bits<T> {}

impl<T: NoUninit> Bits<T> {
    /// Whether the bytes at the offset of a field are a value of its type.
    ///
    /// # Panics
    ///
    /// If they end after the bytes of `T`.
    #[inline]
    pub fn is_valid<F>(&self, check: Check<F>, offset: usize, _: fn(&T) -> Part<F>) -> bool {
        // SAFETY: safe code makes a `Bits` only from initialised bytes or from zeros, and `T` has
        // no bytes that a copy could leave out.
        let bytes: &[u8] =
            unsafe { slice::from_raw_parts(ptr::from_ref(self).cast(), size_of::<T>()) };
        (check.is_valid)(&bytes[offset..][..size_of::<F>()])
    }
}

/// The check of the bytes of a field of type `F`.
#[derive(Debug)]
pub struct Check<F> {
    is_valid: fn(&[u8]) -> bool,
    about: PhantomData<fn(F) -> F>,
}

/// The check of a field, if its type is plain data.
#[must_use]
pub fn check<F, const IS_ARRAY: bool>() -> Check<F>
where
    Field<F, IS_ARRAY>: IsValid,
{
    Check { is_valid: Field::<F, IS_ARRAY>::is_valid, about: PhantomData }
}

/// A field of a component: `F` is plain data, or, if `IS_ARRAY`, an array of plain data. (Arrays
/// are plain themselves if any bytes are a value of their elements; `bytemuck` has no others.)
#[derive(Debug)]
pub struct Field<F, const IS_ARRAY: bool>(PhantomData<F>);

/// A field whose bytes can be checked.
pub trait IsValid {
    /// Whether these bytes are a value of the field.
    fn is_valid(bytes: &[u8]) -> bool;
}

impl<F: Plain> IsValid for Field<F, false> {
    #[inline]
    fn is_valid(bytes: &[u8]) -> bool {
        try_pod_read_unaligned::<F>(bytes).is_ok()
    }
}

impl<F: Plain, const N: usize> IsValid for Field<[F; N], true> {
    #[inline]
    fn is_valid(bytes: &[u8]) -> bool {
        let mut values = bytes.chunks_exact(size_of::<F>().max(1));
        values.all(|value| try_pod_read_unaligned::<F>(value).is_ok())
    }
}
