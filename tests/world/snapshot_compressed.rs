//! States in LZ4 frames.

#[cfg(not(feature = "lz4"))]
#[test]
fn a_build_without_the_feature_says_so() {
    use phalanx::prelude::*;
    use phalanx::snapshot::ReadError;

    let frame = 0x184D_2204_u32.to_le_bytes();
    let error = World::new().read_snapshot(&frame).expect_err("it is compressed");
    assert_eq!(error, ReadError::Compressed);
    assert!(error.to_string().contains("`lz4`"));
}

#[cfg(feature = "lz4")]
mod with_the_feature {
    use phalanx::World;
    use phalanx::prelude::*;
    use phalanx::snapshot::ReadError;
    use phalanx::snapshot::{Snapshot, SnapshotReader};

    use crate::common::components::{Four, Twelve, small_world, sound};
    use crate::snapshot_steps::{Chance, Trace, change_or_share};

    fn compressed(state: &Snapshot) -> Vec<u8> {
        let mut frame = Vec::new();
        state.write_compressed(&mut frame).expect("a vector takes all");
        frame
    }

    /// A world with rows of numbers that repeat, and its state in a frame.
    fn world_and_frame(rows: u32) -> (World, Vec<u8>) {
        let mut world = small_world();
        world.spawn_batch((0..rows).map(|i| (Four(i / 10), Twelve([0; 3]))));
        let frame = compressed(&world.snapshot().expect("no buffers"));
        (world, frame)
    }

    #[test]
    fn states_and_deltas_in_frames_are_what_they_are_without() {
        let (mut world, mut chance) = (small_world(), Chance(4));
        for _ in 0..if cfg!(miri) { 5 } else { 300 } {
            change_or_share(&mut world, chance.below(usize::MAX) as u64, false);
        }
        let before = world.snapshot().expect("no buffers");
        let frame = compressed(&before);
        let mut state = world.read_snapshot(&frame).expect("it was written");
        assert_eq!(state.to_bytes(), before.to_bytes());

        change_or_share(&mut world, 3, false);
        let (plain, mut delta) = (before.delta(&mut world).expect("no buffers"), Vec::new());
        before.write_compressed_delta(&mut world, &mut delta).expect("a vector takes all");
        let mut by_plain = state.clone();
        state.read_delta(&mut world, &delta).expect("it was written");
        by_plain.read_delta(&mut world, &plain).expect("it was written");
        assert_eq!(state.to_bytes(), by_plain.to_bytes());
        let hash = world.hash();
        world.restore(&state).expect("it is of this world");
        assert_eq!(world.hash(), hash);
        sound(&world);

        let mut other = World::builder().chunk_size(ChunkSize::KIB_64).build();
        other.register::<Trace>();
        let reader = SnapshotReader::new(&mut other).skip_unknown();
        assert_eq!(reader.read(&frame).expect("it was written").len(), before.len());
    }

    #[test]
    fn frames_are_smaller() {
        let (mut world, frame) = world_and_frame(5_000);
        let state = world.read_snapshot(&frame).expect("it was written");
        assert!(frame.len() * 3 < state.bytes(), "{} of {}", frame.len(), state.bytes());
    }

    #[test]
    fn a_damaged_frame_is_an_error_or_the_same_state() {
        let (mut world, frame) = world_and_frame(if cfg!(miri) { 20 } else { 200 });
        let state = world.snapshot().and_then(|state| state.to_bytes()).expect("no buffers");
        let step = if cfg!(miri) { 211 } else { 3 };
        for len in (0..frame.len()).rev().step_by(step) {
            match world.read_snapshot(&frame[..len]) {
                Ok(read) => {
                    // Only the end mark of a frame may be missing.
                    assert!(len >= frame.len() - 4, "cut at {len}");
                    assert_eq!(read.to_bytes().as_ref(), Ok(&state));
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
        for at in (0..frame.len()).step_by(step) {
            for bits in if cfg!(miri) { &[0x10][..] } else { &[1, 0x10, 0x80, 0xFF] } {
                let mut frame = frame.clone();
                frame[at] ^= bits;
                if let Ok(read) = world.read_snapshot(&frame) {
                    assert_eq!(read.to_bytes().as_ref(), Ok(&state), "{bits} at {at}");
                }
            }
        }
    }

    #[test]
    fn more_after_a_frame_is_refused() {
        let (mut world, frame) = world_and_frame(100);
        for more in [&b"\0"[..], b"more", &frame] {
            let bytes = [&frame, more].concat();
            assert_eq!(world.read_snapshot(&bytes).unwrap_err(), ReadError::Frame);
        }
        let nothing = &frame[..4];
        assert_eq!(world.read_snapshot(nothing).unwrap_err(), ReadError::Frame);
    }

    #[test]
    fn a_frame_of_more_than_one_call_may_take_is_refused() {
        let (_, frame) = world_and_frame(5_000);
        let mut tight =
            World::builder().chunk_size(ChunkSize::KIB_4).request_bytes_max(40_000).build();
        tight.register::<(Four, Twelve)>();
        let error = tight.read_snapshot(&frame).expect_err("it is larger");
        assert_eq!(error, ReadError::TooLarge { bytes_max: 40_000 });
        assert!(error.to_string().contains("request_bytes_max"));
    }
}
