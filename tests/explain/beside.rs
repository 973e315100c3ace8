//! Data beside the columns: enable bits, line versions and values of chunks.

use phalanx::prelude::*;

#[test]
fn values_of_chunks_are_listed_and_what_they_skip_is_not_visited() {
    #[component]
    struct Lamp(f32);
    #[component]
    struct Brightest {
        level: f32,
        row: u32,
        is_known: u32,
    }
    let mut world = World::new();
    world.spawn_batch((0..5_000).map(|i| (Lamp(i as f32), PerChunk::<Brightest>::TAG)));
    for (lamps, mut brightest) in world.query_mut::<(&Lamp, PerChunkMut<Brightest>)>() {
        brightest.level = lamps[lamps.len() - 1].0;
    }
    let explained = world.explain();
    let archetype = explained.archetypes.iter().find(|archetype| archetype.rows > 0).unwrap();
    let [lamp, brightest] = &archetype.columns[..] else { panic!("two columns") };
    assert_eq!((&lamp.attachments[..], brightest.attachments[0].amount), (&[][..], 12));
    let text = archetype.to_string();
    assert!(
        text.contains("Brightest (per chunk) has a value of 12 bytes for each chunk"),
        "{text}"
    );
    let bright = world.query::<&Lamp>().where_chunk(|b: &Brightest| b.level > 4_100.0);
    let bright = bright.explain();
    assert_eq!((bright.rows(), bright.chunks(), bright.chunks_skipped()), (904, 1, 1));
}

#[test]
fn lines_that_did_not_change_are_not_visited() {
    #[component(lines)]
    struct Lamp(f32);
    let mut world = World::new();
    let lamps = world.spawn_batch((0..5_000).map(|i| Lamp(i as f32))).to_vec();
    let since = world.version();
    let mut written = world.lookup_mut::<Lamp>();
    for i in [3, 40, 4_999] {
        written.get_mut(lamps[i]).unwrap().0 = 0.0;
    }
    let changed =
        world.query::<(Entity, &Lamp)>().filter_since::<ChangedLines<Lamp>>(since).explain();
    assert_eq!((changed.rows(), changed.lines(), changed.bytes_used()), (3, 3, 12));
    let explained = world.explain();
    let lamp = explained.archetypes.iter().find(|archetype| archetype.rows > 0).unwrap();
    // Three words of 8 bytes per 64 rows, and one per chunk, in two chunks.
    assert_eq!(lamp.columns[0].attachments[0].amount, 2 * (1 + 3 * 4_096 / 64) * 8);
    let text = lamp.to_string();
    assert!(text.contains("Lamp has versions of rows: 3,088 bytes"), "{text}");
}

#[test]
fn rows_that_are_disabled_are_counted_and_not_visited() {
    #[component(enableable)]
    struct Lamp(f32);
    let mut world = World::new();
    let lamps = world.spawn_batch((0..5_000).map(|i| Lamp(i as f32))).to_vec();
    let visited = |world: &World| {
        let lamps = world.query::<&Lamp>().explain();
        (lamps.rows(), lamps.chunks(), lamps.chunks_skipped())
    };
    assert_eq!(visited(&world), (5_000, 2, 0));
    for lamp in &lamps[..100] {
        world.set_enabled::<Lamp>(*lamp, false).unwrap();
    }
    assert_eq!(visited(&world), (4_900, 2, 0));
    let explained = world.explain();
    let lamp = explained.archetypes.iter().find(|archetype| archetype.rows > 0).unwrap();
    assert_eq!(lamp.columns[0].attachments[0].amount, 100);
    assert!(lamp.to_string().contains("Lamp is disabled in 100 rows"), "{lamp}");
    for lamp in &lamps[4_096..] {
        world.set_enabled::<Lamp>(*lamp, false).unwrap();
    }
    assert_eq!(visited(&world), (3_996, 1, 1), "the second chunk has no row left");
    let bits = world.query::<Enabled<Lamp>>().explain();
    assert_eq!((bits.rows(), bits.lines()), (5_000, 0), "bits are not in chunks");
}
