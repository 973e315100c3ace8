//! A few rows in each of 26 archetypes: the cost of very short loops.

use phalanx::prelude::*;

use super::Program;
use super::components::{Data, world};
use super::proof::{doubled, full_archetypes, sum_of_data};

/// Archetypes, each with a marker of its own.
pub const ARCHETYPES: usize = 26;

/// Rows of each.
pub const ROWS: usize = 20;

/// Doubles every datum.
#[kernel]
pub fn double(data: &mut [Data]) {
    for d in data {
        d.0 *= 2.0;
    }
}

/// Doubles every datum of whole vectors, as `padded` returns them.
#[kernel]
pub fn double_vectors(data: &mut [Data]) {
    let (vectors, rest) = data.as_chunks_mut::<VECTOR_ROWS>();
    for vector in vectors {
        vector.iter_mut().for_each(|d| d.0 *= 2.0);
    }
    rest.iter_mut().for_each(|d| d.0 *= 2.0);
}

/// One float doubled in every row.
pub struct FragmentedIter {
    pub world: World,
}

impl FragmentedIter {
    /// [`ROWS`] rows of each archetype.
    pub fn new(chunk: ChunkSize) -> Self {
        let mut world = world(chunk);
        spawn_fragments(&mut world);
        Self { world }
    }
}

impl Program for FragmentedIter {
    fn pass(&mut self) {
        for data in self.world.query_mut::<&mut Data>().padded() {
            double_vectors(data);
        }
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        full_archetypes(&self.world, ARCHETYPES)?;
        doubled(sum_of_data(&self.world), ARCHETYPES * ROWS, passes)
    }
}

/// Declares the markers and spawns [`ROWS`] rows with each, archetype by archetype.
macro_rules! fragments {
    ($($marker:ident)*) => {
        /// The markers: one float each, so that every archetype has a column of its own.
        mod marker {
            use phalanx::prelude::*;
            $(
                #[derive(Clone, Copy, Debug, Pod, Zeroable)]
                #[repr(transparent)]
                pub(super) struct $marker(pub(super) f32);
            )*
            impl_component!($($marker),*);
        }

        fn spawn_fragments(world: &mut World) {
            $(world.spawn_batch((0..ROWS).map(|_| (marker::$marker(0.0), Data(1.0))));)*
        }
    };
}

fragments! { A B C D E F G H I J K L M N O P Q R S T U V W X Y Z }
