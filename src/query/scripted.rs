//! A filter of tests: an expression that is known only when the test runs.

use core::cell::RefCell;

use crate::archetype::ChunkMeta;
use crate::storage::ColumnRef;
use crate::store::{FilterExpression, RequirementsBuilder};
use crate::version::Version;

use super::filter::{Filter, StampAt, sealed};

/// The function that describes an expression.
pub(crate) type Script = Box<dyn Fn(&mut RequirementsBuilder<'_>) -> FilterExpression>;

thread_local! {
    static SCRIPTS: RefCell<[Option<Script>; 2]> = const { RefCell::new([None, None]) };
}

/// A filter by the expression that [`Scripted::set`] was given last. A world keeps the first that
/// it has seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scripted<const N: usize>;

impl<const N: usize> Scripted<N> {
    pub(crate) fn set(script: Script) {
        SCRIPTS.with_borrow_mut(|scripts| scripts[N] = Some(script));
    }
}

impl<const N: usize> sealed::Sealed for Scripted<N> {}
impl<const N: usize> Filter for Scripted<N> {
    const BY_CHUNK: bool = false;
    const BY_ROW: bool = true;
    const BY_MEMBERS: bool = true;
    type Sets = ();

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        let expression = SCRIPTS.with_borrow(|scripts| {
            scripts[N].as_ref().expect("the filter has no expression")(builder)
        });
        builder.expression(expression);
    }

    fn newer_than(_: Version) -> Self {
        Self
    }

    fn passes(&self, _: ChunkMeta<'_>, _: &mut &[ColumnRef], _: StampAt) -> bool {
        true
    }
}
