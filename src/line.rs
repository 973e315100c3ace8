//! The two sizes of alignment and padding: the cache line and the vector.
//!
//! Columns start on a cache line and their capacity is a whole number of vectors, so both constants
//! appear in the arithmetic of chunks, in the dense arrays of versions and in `.padded()` queries.

/// The bytes of a cache line.
///
/// 64 on x86-64 and on most AArch64 machines (Apple's have 128). A line of 64 bytes is also one
/// AVX-512 register, so a column that starts on a line is aligned for every existing vector load.
pub const LINE_BYTES: usize = 64;

/// The number of rows that divides every column's capacity: the lanes of the widest vector of
/// 4-byte lanes.
///
/// A kernel over a multiple of `VECTOR_ROWS` rows has no remainder loop at any
/// [`Level`](crate::Level), for components of any size that consist of scalars of 4 or 8 bytes: 16
/// rows of them are whole AVX-512 registers. 16 rows of one smaller scalar are a shorter vector of
/// 16 lanes, `u8x16` or `u16x16`.
///
/// ```
/// use phalanx::{LINE_BYTES, Level, VECTOR_ROWS};
///
/// assert!(Level::available().all(|level| level.lane_bytes() <= LINE_BYTES));
/// assert_eq!(VECTOR_ROWS * size_of::<f32>() % LINE_BYTES, 0);
/// ```
pub const VECTOR_ROWS: usize = 16;

const _: () = assert!(LINE_BYTES.is_power_of_two(), "offsets are rounded up to a line by masking");
const _: () =
    assert!(VECTOR_ROWS.is_power_of_two(), "row counts are rounded up to a vector by masking");
const _: () = assert!(
    VECTOR_ROWS * size_of::<f32>() == LINE_BYTES,
    "the widest vector of 4-byte lanes is exactly one line"
);
