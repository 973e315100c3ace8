//! Reads any bytes as a snapshot: it can be restored, or reading it is an error.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use phalanx_fuzz::{signed, use_up, world};

static WRITTEN: LazyLock<Vec<u8>> = LazyLock::new(|| {
    world().snapshot().expect("no buffers").to_bytes().expect("teams have a name")
});

fuzz_target!(|input: &[u8]| {
    let mut world = world();
    // The bytes as given, without a matching checksum.
    let _ = world.read_snapshot(input);
    let hash = world.hash();
    match world.read_snapshot(&signed(input, &WRITTEN)) {
        Ok(state) => {
            assert_eq!(world.hash(), hash, "reading changes nothing");
            world.restore(&state).expect("it was read here");
            use_up(&mut world);
        }
        Err(error) => drop(error.to_string()),
    }
});
