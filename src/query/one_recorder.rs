//! A marker that keeps a recorder of commands or events on one thread, and names the remedy.

use core::marker::PhantomData;

/// A field of each recorder, which several threads must not share.
///
/// Without it a recorder is `Sync`, and for a parallel loop that records the compiler says only
/// that the loop cannot borrow the captured recorder. An object of this trait is not `Sync`: the
/// compiler says that it "cannot be shared between threads safely", and names it.
pub(crate) type OneRecorder = PhantomData<dyn record_gives_each_chunk_a_writer + Send>;

/// The name stands in the first line of the compiler's message.
#[expect(non_camel_case_types, reason = "it is a sentence")]
pub(crate) trait record_gives_each_chunk_a_writer {}
