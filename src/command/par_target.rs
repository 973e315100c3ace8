//! The targets into which a parallel pass records.

use core::iter::zip;

use crate::logs::{EventBuffer, EventBuffers, EventWriter};

use super::buffer::CommandBuffer;
use super::command_writer::CommandWriter;
use super::commands::Commands;
use super::writers::CommandWriters;

/// A target of [`ParChunks::record`](crate::chunks::ParChunks::record): [`CommandBuffer`] or
/// [`Commands`], [`EventWriter`], or a tuple of two or three of these.
///
/// | target | argument of the body for each chunk |
/// | --- | --- |
/// | `&mut Commands`, `&mut CommandBuffer` | `&mut CommandWriter` |
/// | `&mut EventWriter<E>`, `&mut EventBuffer<E>` | `&mut EventBuffer<E>` |
/// | `(A, B)`, `(A, B, C)` | a tuple of the writers of `A`, `B` and `C` |
///
/// The trait is sealed: these are all targets.
#[diagnostic::on_unimplemented(
    message = "a parallel pass cannot record into `{Self}`",
    note = "it records into `&mut Commands`, `&mut CommandBuffer`, `&mut EventWriter<E>`, and tuples of two or three of these"
)]
pub trait ParTarget: sealed::Sealed {
    /// The writer that the body of the pass gets for each chunk.
    type Writer<'a>: Send;
    /// The writers of all chunks. Dropping them appends their records, in the order of the chunks.
    #[doc(hidden)]
    type Writers<'a>
    where
        Self: 'a;
    #[doc(hidden)]
    fn open(&mut self, chunks: usize) -> Self::Writers<'_>;
    #[doc(hidden)]
    fn each<'a>(writers: &'a mut Self::Writers<'_>) -> Vec<Self::Writer<'a>>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! commands {
    ($target:ty) => {
        impl sealed::Sealed for &mut $target {}
        impl ParTarget for &mut $target {
            type Writer<'a> = &'a mut CommandWriter;
            type Writers<'a>
                = CommandWriters<'a>
            where
                Self: 'a;

            fn open(&mut self, chunks: usize) -> CommandWriters<'_> {
                self.par_writers(chunks)
            }

            fn each<'a>(writers: &'a mut CommandWriters<'_>) -> Vec<&'a mut CommandWriter> {
                writers.iter_mut().collect()
            }
        }
    };
}

commands!(CommandBuffer);
commands!(Commands<'_>);

macro_rules! events {
    ($target:ty) => {
        impl<E: Send + 'static> sealed::Sealed for &mut $target {}
        impl<E: Send + 'static> ParTarget for &mut $target {
            type Writer<'a> = &'a mut EventBuffer<E>;
            type Writers<'a>
                = EventBuffers<'a, E>
            where
                Self: 'a;

            fn open(&mut self, chunks: usize) -> EventBuffers<'_, E> {
                self.split(chunks)
            }

            fn each<'a>(writers: &'a mut EventBuffers<'_, E>) -> Vec<&'a mut EventBuffer<E>> {
                writers.as_mut_slice().iter_mut().collect()
            }
        }
    };
}

events!(EventBuffer<E>);
events!(EventWriter<'_, E>);

impl<A: ParTarget, B: ParTarget> sealed::Sealed for (A, B) {}
impl<A: ParTarget, B: ParTarget> ParTarget for (A, B) {
    type Writer<'a> = (A::Writer<'a>, B::Writer<'a>);
    type Writers<'a>
        = (A::Writers<'a>, B::Writers<'a>)
    where
        Self: 'a;

    fn open(&mut self, chunks: usize) -> Self::Writers<'_> {
        (self.0.open(chunks), self.1.open(chunks))
    }

    fn each<'a>(writers: &'a mut Self::Writers<'_>) -> Vec<Self::Writer<'a>> {
        zip(A::each(&mut writers.0), B::each(&mut writers.1)).collect()
    }
}

impl<A: ParTarget, B: ParTarget, C: ParTarget> sealed::Sealed for (A, B, C) {}
impl<A: ParTarget, B: ParTarget, C: ParTarget> ParTarget for (A, B, C) {
    type Writer<'a> = (A::Writer<'a>, B::Writer<'a>, C::Writer<'a>);
    type Writers<'a>
        = (A::Writers<'a>, B::Writers<'a>, C::Writers<'a>)
    where
        Self: 'a;

    fn open(&mut self, chunks: usize) -> Self::Writers<'_> {
        (self.0.open(chunks), self.1.open(chunks), self.2.open(chunks))
    }

    fn each<'a>(writers: &'a mut Self::Writers<'_>) -> Vec<Self::Writer<'a>> {
        let (a, b) = (A::each(&mut writers.0), B::each(&mut writers.1));
        zip(zip(a, b), C::each(&mut writers.2)).map(|((a, b), c)| (a, b, c)).collect()
    }
}
