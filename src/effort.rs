//! The number of cases that random tests try.

/// The number of cases or rounds of a random test: `few`, or a multiple of it.
///
/// A plain `cargo test` runs few, so that it ends soon, and `PHALANX_TEST_EFFORT=16` runs sixteen
/// times the number. The environment takes precedence, also under Miri.
///
/// # Panics
///
/// If the variable is not a number from 1 on.
#[track_caller]
pub(crate) fn effort(few: u32) -> u32 {
    const VARIABLE: &str = "PHALANX_TEST_EFFORT";
    let Ok(text) = std::env::var(VARIABLE) else { return few };
    match text.parse() {
        Ok(times @ 1..) => few.saturating_mul(times),
        Ok(0) => panic!("{VARIABLE}=0: a test that tries nothing proves nothing; 1 is the least"),
        Err(error) => panic!("{VARIABLE}={text}: {error}"),
    }
}
