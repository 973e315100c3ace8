//! Rows in the order of a key: sprites that are drawn from the farthest to the nearest.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin order
//! ```
#![allow(clippy::missing_assert_message, reason = "the lines above say it")]

use std::cmp::Reverse;

use phalanx::prelude::*;
use phalanx::rows::{ChunkBounds, SortKey, total_order};

#[component]
struct Depth(f32);
#[component]
struct Colour(u32);

struct FarToNear;

impl SortKey for FarToNear {
    type Columns = Depth;
    type Key = Reverse<i32>;

    fn key(depth: &Depth) -> Reverse<i32> {
        Reverse(total_order(depth.0))
    }
}

/// The columns lie in the order in which they are drawn, so this reads memory from front to back.
#[kernel]
fn draw(depths: &[Depth], colours: &[Colour], image: &mut [f32]) {
    for ((depth, colour), pixel) in depths.iter().zip(colours).zip(image) {
        *pixel = colour.0 as f32 / (1.0 + depth.0);
    }
}

fn sort(world: &mut World) -> usize {
    world.matching::<&Depth>().sort_by::<FarToNear>()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new();
    let sprites = (0..100_000).map(|i| (Depth((i * 7919 % 100_000) as f32), Colour(i)));
    let all = world.spawn_batch(sprites).to_vec();
    println!(
        "{} of {} rows have another place after the first sort",
        sort(&mut world),
        world.len()
    );

    // In each frame few sprites pass others. Only chunks that changed are read, and only rows that
    // pass others move.
    let (before, mut moved) = (world.version(), 0);
    for frame in 0..10 {
        for &entity in &all[frame * 100..][..100] {
            world.get_mut::<Depth>(entity)?.0 += 1.5;
        }
        moved += sort(&mut world);
    }
    let reordered = world.query::<&Depth>().filter_since::<Reordered>(before);
    println!("{moved} in ten more frames, in {} chunks", reordered.iter().count());
    assert!(moved <= 3_000 && sort(&mut world) == 0);

    // Nothing else is visited: the rows lie together, and each chunk knows its bounds.
    let depths = ChunkBounds::<FarToNear>::new();
    let near = FarToNear::key(&Depth(500.0))..;
    let near: Vec<_> = depths.between(world.query::<&Depth>(), near).into_iter().collect();
    let rows: usize = near.iter().map(|slice| slice.len()).sum();
    println!("{rows} are near, in {} slices", near.len());
    assert!(near.iter().copied().flatten().all(|depth| depth.0 <= 500.0));

    let mut image = vec![0.0; world.len()];
    let mut rest = &mut image[..];
    for (depths, colours) in world.query::<(&Depth, &Colour)>() {
        draw(depths, colours, rest.split_off_mut(..depths.len()).ok_or("too many rows")?);
    }
    assert_eq!(world.get::<Colour>(all[5])?.0, 5, "ids stay valid");
    assert!(world.query::<&Depth>().rows().is_sorted_by(|a, b| a.0 >= b.0));
    Ok(())
}
