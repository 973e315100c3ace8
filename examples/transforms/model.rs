//! The world, and the systems that hand its chunks to the kernels of a form.

use crate::forms::{
    Fade, Form, LocalToWorld, Position, Rotation, Scale, Speed, Tint, Types, Velocity,
};
use phalanx::bytemuck::cast;
use phalanx::prelude::*;

/// Sets of components that a body may have: each of position, rotation and scale, or not.
pub(crate) const KINDS: usize = 8;

/// Chunks are large: several hundred rows, so that no call of a kernel is for a few.
const CHUNK: ChunkSize = ChunkSize::KIB_64;

/// No chunk has more rows with a matrix.
const ROWS_MAX: usize = 64 * 1024 / size_of::<[f32; 16]>();

/// A world with components of a form.
pub(crate) struct Model<F: Form> {
    pub(crate) world: World,
    identity: Identity<F>,
}

/// A column for each component that a body may lack: its values leave a matrix unchanged.
///
/// So one kernel serves all eight sets. The columns stay in the first-level cache.
struct Identity<F: Form> {
    positions: Vec<Position<F>>,
    rotations: Vec<Rotation<F>>,
    scales: Vec<Scale<F>>,
}

impl<F: Form> Model<F> {
    /// `bodies` bodies of eight kinds, and half that number of lamps. The matrices are zero.
    pub(crate) fn new(bodies: usize, seed: u64) -> Self {
        let mut world = World::builder().chunk_size(CHUNK).build();
        let of = |kind: usize| {
            (0..bodies).filter(move |i| i % KINDS == kind).map(move |i| Body::<F::Of>::new(i, seed))
        };
        world.spawn_batch(of(0).map(|b| b.matrix));
        world.spawn_batch(of(1).map(|b| (b.matrix, b.moves)));
        world.spawn_batch(of(2).map(|b| (b.matrix, b.turns)));
        world.spawn_batch(of(3).map(|b| (b.matrix, b.moves, b.turns)));
        world.spawn_batch(of(4).map(|b| (b.matrix, b.scale)));
        world.spawn_batch(of(5).map(|b| (b.matrix, b.moves, b.scale)));
        world.spawn_batch(of(6).map(|b| (b.matrix, b.turns, b.scale)));
        world.spawn_batch(of(7).map(|b| (b.matrix, b.moves, b.turns, b.scale)));
        world.spawn_batch((0..bodies / 2).map(|i| lamp::<F>(i, seed)));
        let identity = Identity {
            positions: vec![Default::default(); ROWS_MAX],
            rotations: vec![Default::default(); ROWS_MAX],
            scales: vec![Default::default(); ROWS_MAX],
        };
        Self { world, identity }
    }

    pub(crate) fn drift(&mut self, dt: f32) -> usize {
        let mut rows = 0;
        for (p, v) in self.world.query_mut::<(&mut Position<F>, &Velocity<F>)>() {
            rows += p.len();
            F::drift(p, v, dt);
        }
        rows
    }

    pub(crate) fn fade(&mut self, dt: f32) -> usize {
        let mut rows = 0;
        for (tint, fade) in self.world.query_mut::<(&mut Tint<F>, &Fade<F>)>() {
            rows += tint.len();
            F::fade(tint, fade, dt);
        }
        rows
    }

    pub(crate) fn spin(&mut self, dt: f32) -> usize {
        let mut rows = 0;
        for (rotation, speed) in self.world.query_mut::<(&mut Rotation<F>, &Speed)>() {
            rows += rotation.len();
            F::spin(rotation, speed, dt);
        }
        rows
    }

    /// Writes the matrices of bodies that have a position, a rotation or a scale.
    pub(crate) fn place(&mut self) -> usize {
        let mut all = 0;
        let Identity { positions, rotations, scales } = &self.identity;
        let bodies = self.world.query_mut::<Placed<F>>();
        for (matrices, p, r, s) in bodies.filter::<AnyOf<(Position<F>, Rotation<F>, Scale<F>)>>() {
            let rows = matrices.len();
            let p = p.unwrap_or_else(|| &positions[..rows]);
            let r = r.unwrap_or_else(|| &rotations[..rows]);
            let s = s.unwrap_or_else(|| &scales[..rows]);
            F::place(matrices, p, r, s);
            all += rows;
        }
        all
    }

    /// All matrices, in an order that depends on the number of bodies only.
    pub(crate) fn matrices(&self) -> Vec<[f32; 16]> {
        self.world.query::<&LocalToWorld<F>>().rows().map(|matrix| cast(*matrix)).collect()
    }
}

/// The columns that [`Model::place`] reads and writes.
type Placed<'a, F> = (
    &'a mut LocalToWorld<F>,
    Option<&'a Position<F>>,
    Option<&'a Rotation<F>>,
    Option<&'a Scale<F>>,
);

/// The possible components of a body.
struct Body<T: Types> {
    matrix: T::LocalToWorld,
    moves: (T::Position, T::Velocity),
    turns: (T::Rotation, Speed),
    scale: T::Scale,
}

impl<T: Types> Body<T> {
    fn new(i: usize, seed: u64) -> Self {
        let mut random = seed ^ (i as u64) << 32;
        let mut next = || 2.0 * unit(&mut random) - 1.0;
        let quaternion = [(); 4].map(|()| next());
        let norm = quaternion.map(|q| q * q).iter().sum::<f32>().sqrt();
        Self {
            matrix: Zeroable::zeroed(),
            moves: (cast([next(), next(), next()]), cast([next(), next(), next()])),
            turns: (cast(quaternion.map(|q| q / norm)), Speed(next())),
            scale: cast([next(), next(), next()].map(|s| 1.5 + s)),
        }
    }
}

fn lamp<F: Form>(i: usize, seed: u64) -> (Tint<F>, Fade<F>) {
    let mut random = seed ^ (i as u64) << 32;
    let mut floats = || cast([(); 4].map(|()| unit(&mut random)));
    (cast::<[f32; 4], _>(floats()), cast::<[f32; 4], _>(floats()))
}

/// A number from 0 to below 1, and the next state of the generator SplitMix64.
const fn unit(random: &mut u64) -> f32 {
    *random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *random;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 40) as f32 / (1 << 24) as f32
}
