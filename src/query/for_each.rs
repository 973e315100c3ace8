//! Chunk loops whose body says whether it changed anything.

use core::marker::PhantomData;

use super::cursor::ChunkCursor;
use super::filter::Filter;
use super::query::Query;
use super::terms::Terms;

/// Whether a chunk's body changed what it was given as `&mut`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Touch {
    /// It did, or may have: the columns get a new version. What a body that returns `()` means.
    #[default]
    Touched,
    /// It did not: versions stay as they are, and change filters will pass the chunk over.
    Untouched,
}

impl From<()> for Touch {
    #[inline]
    fn from((): ()) -> Self {
        Self::Touched
    }
}

/// Stamps a chunk when it goes out of scope, and so also when the body panics: it may have
/// written half of the chunk by then.
struct StampOnDrop<'a, 'w, Q: Terms> {
    walk: &'a mut ChunkCursor<'w>,
    chunk: usize,
    touch: Touch,
    terms: PhantomData<fn() -> Q>,
}

impl<Q: Terms> Drop for StampOnDrop<'_, '_, Q> {
    #[inline]
    fn drop(&mut self) {
        if self.touch == Touch::Touched {
            self.walk.touch::<Q>(self.chunk);
        }
    }
}

impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    /// Calls `body` with the slices of each chunk.
    ///
    /// Like a `for` loop over the query, but the body may return [`Touch::Untouched`], and the
    /// versions of the columns it was given as `&mut` stay as they were. (A body that ends with a
    /// call whose value is something else ends with a `;`.) If the body panics, the chunk counts as
    /// touched.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..100).map(|_| Health(1.0)));
    /// let before = world.version();
    /// world.query_mut::<&mut Health>().for_each_chunk(|health| {
    ///     let mut touch = Touch::Untouched;
    ///     for h in health.iter_mut().filter(|h| h.0 > 1.0) {
    ///         h.0 = 1.0;
    ///         touch = Touch::Touched;
    ///     }
    ///     touch
    /// });
    /// assert_eq!(world.query::<&Health>().changed_since(before).count(), 0);
    /// ```
    #[inline]
    pub fn for_each_chunk<R: Into<Touch>>(mut self, mut body: impl FnMut(Q::Slices<'w>) -> R) {
        let (walk, filter, padded) = self.walk();
        while let Some(mut turn) = walk.turn::<Q, F>(filter, padded) {
            let slices = Q::cut(&mut turn.cutter, turn.entities);
            let chunk = turn.chunk;
            let mut stamp =
                StampOnDrop::<Q> { walk, chunk, touch: Touch::Touched, terms: PhantomData };
            stamp.touch = body(slices).into();
        }
    }
}
