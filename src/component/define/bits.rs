//! Bytes that may be a value of a type that does not accept all bytes.
//!
//! `bytemuck` asks for a type of the same size and alignment that accepts any bytes. It is an array
//! of units of bytes, each as long as the alignment.

use core::marker::PhantomData;

use bytemuck::checked::try_pod_read_unaligned;
use bytemuck::{Pod, Zeroable};

use super::probe::Part;
use crate::component::plain::Plain;

/// Bytes that may be a value of a type with this alignment, which is `LEN` times as large.
pub type AlignedBytes<const ALIGN: usize, const LEN: usize> =
    [<Align<ALIGN> as Aligned>::Bytes; LEN];

/// An alignment.
#[derive(Debug)]
pub struct Align<const ALIGN: usize>;

/// An alignment that a type may have, with bytes for it.
pub trait Aligned {
    /// Bytes with this alignment, and no more of them than that.
    type Bytes: Pod;
}

macro_rules! units {
    ($($bytes:ident $align:literal,)*) => { $(
        #[doc = concat!("Bytes with an alignment of ", $align, ".")]
        #[derive(Clone, Copy, Debug, Pod, Zeroable)]
        #[repr(C, align($align))]
        pub struct $bytes([u8; $align]);

        impl Aligned for Align<$align> {
            type Bytes = $bytes;
        }
    )* };
}

// All alignments that Rust has.
units! {
    Bytes1 1, Bytes2 2, Bytes4 4, Bytes8 8, Bytes16 16, Bytes32 32, Bytes64 64, Bytes128 128,
    Bytes256 256, Bytes512 512, Bytes1024 1024, Bytes2048 2048, Bytes4096 4096, Bytes8192 8192,
    Bytes16384 16384, Bytes32768 32768, Bytes65536 65536, Bytes131072 131072, Bytes262144 262144,
    Bytes524288 524288, Bytes1048576 1048576, Bytes2097152 2097152, Bytes4194304 4194304,
    Bytes8388608 8388608, Bytes16777216 16777216, Bytes33554432 33554432, Bytes67108864 67108864,
    Bytes134217728 134217728, Bytes268435456 268435456, Bytes536870912 536870912,
}

/// Whether the bytes at the offset of a field of `T` are a value of its type.
///
/// # Panics
///
/// If they end after these bytes.
#[inline]
pub fn is_valid<T, F>(bytes: &[u8], check: Check<F>, offset: usize, _: fn(&T) -> Part<F>) -> bool {
    (check.is_valid)(&bytes[offset..][..size_of::<F>()])
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
