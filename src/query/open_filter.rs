//! A filter with the sparse sets of which it compares versions.
//!
//! ```text
//!  a system ── granted ──► OpenFilter ── find ──► with all versions, for a pass or a look
//!  a world ─── new ──────►   none known    in the sets of the terms, then in the store
//! ```
//!
//! Filters that compare no versions of sets are the filter alone.

use core::ops::Deref;

use crate::archetype::ChunkMeta;
use crate::component::SparseComponent;
use crate::entity::Entity;
use crate::storage::{ColumnRef, EnableRules, NewerRows, RowMask, SetBlocks};
use crate::store::{BlockSource, SetsMut, SparseSets, TermSets, WatchedBlocks, WatchedSets};

use super::filter::Filter;
use super::store_borrow::{Mode, ReadBorrow};
use super::terms::{HeldOf, OpenOf, Terms};

/// The versions that a filter compares, as far as they are known.
type BlocksOf<'w, F> = <<F as Filter>::Sets as WatchedSets>::Blocks<'w>;

/// The locks of the sparse sets of a filter of a system.
type WatchGuardsOf<'r, F> = <<F as Filter>::Sets as WatchedSets>::Guards<'r>;

/// The locks of the sparse sets of a query of a system.
pub(crate) type GuardsOf<'r, Q, F> =
    (<<Q as Terms>::Sets as TermSets>::Guards<'r>, WatchGuardsOf<'r, F>);

/// Locks the sparse sets of a query, for a run of a system.
///
/// # Panics
///
/// If another system accesses a set of a term.
pub(crate) fn lock<Q: Terms, F: Filter>(sets: &SparseSets) -> GuardsOf<'_, Q, F> {
    // The terms first: they may hold the lock of the set that the filter watches.
    (Q::Sets::lock(sets), F::Sets::lock(sets))
}

/// A filter, and the versions of sparse sets that it compares.
#[derive(Debug)]
pub(super) struct OpenFilter<'w, F: Filter> {
    filter: F,
    blocks: BlocksOf<'w, F>,
}

impl<F: Filter> Clone for OpenFilter<'_, F> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: Filter> Copy for OpenFilter<'_, F> {}

impl<F: Filter> Deref for OpenFilter<'_, F> {
    type Target = F;

    #[inline]
    fn deref(&self) -> &F {
        &self.filter
    }
}

impl<'w, F: Filter> OpenFilter<'w, F> {
    /// The filter without versions.
    #[inline]
    pub(super) fn new(filter: F) -> Self {
        Self { filter, blocks: BlocksOf::<'w, F>::default() }
    }

    /// The filter of a query of a system.
    #[inline]
    pub(super) fn granted(filter: F, guards: &'w WatchGuardsOf<'_, F>) -> Self {
        Self { filter, blocks: F::Sets::granted(guards) }
    }

    /// Both filters.
    #[inline]
    pub(super) fn and<G: Filter>(self, filter: G) -> OpenFilter<'w, (F, G)> {
        OpenFilter {
            filter: (self.filter, filter),
            blocks: (self.blocks, BlocksOf::<'w, G>::default()),
        }
    }

    /// The same filter for a shorter time.
    #[inline]
    pub(super) fn shorten<'s>(&self) -> OpenFilter<'s, F>
    where
        'w: 's,
    {
        OpenFilter { filter: self.filter, blocks: F::Sets::shorten(self.blocks) }
    }

    /// The filter with the versions that a source knows.
    #[inline]
    fn find(self, mut source: impl BlockSource<'w>) -> Self {
        Self { blocks: F::Sets::find(self.blocks, &mut source), ..self }
    }

    /// The filter for a pass with the sets of its terms.
    #[inline]
    pub(super) fn with_open<Q: Terms>(self, open: &OpenOf<'w, Q>) -> Self {
        if F::Sets::ANY { self.find(OpenTerms::<Q>(open)) } else { self }
    }

    /// The filter for a look, with the sets that terms hold.
    #[inline]
    pub(super) fn with_held<Q: Terms>(self, held: &'w HeldOf<'_, Q>) -> Self {
        if F::Sets::ANY { self.find(HeldTerms::<Q>(held)) } else { self }
    }

    /// The filter of an exclusive store, the sets of which its terms have taken or `held`.
    #[inline]
    pub(super) fn with_store<Q: Terms>(
        self,
        held: &HeldOf<'_, Q>,
        store: Option<&mut SetsMut<'w>>,
    ) -> Self {
        match store {
            Some(store) if F::Sets::ANY => self.find(Untaken::<Q> { held, store }),
            _ => self,
        }
    }

    /// The filter of an exclusive store without terms.
    pub(super) fn with_sets(self, sets: &'w mut SparseSets) -> Self {
        if !F::Sets::ANY {
            return self;
        }
        self.with_store::<()>(&(), Some(&mut sets.each()))
    }

    /// The filter of a store that is borrowed shared, after its terms were asked. Without one no
    /// set is left to be found.
    ///
    /// # Panics
    ///
    /// In a system, if its query does not name the component.
    #[inline]
    pub(super) fn with_shared(self, borrow: Option<ReadBorrow<'w>>) -> Self {
        if F::Sets::ANY { self.find(SharedStore(borrow)) } else { self }
    }

    /// [`Filter::newer_rows`].
    #[inline]
    pub(super) fn newer_rows(
        &self,
        beside: ChunkMeta<'w>,
        watched: &mut &[ColumnRef],
        chunk: (u32, &'w [Entity]),
    ) -> NewerRows<'w> {
        self.filter.newer_rows(beside, watched, chunk, self.blocks)
    }
}

/// The rows of a chunk that are visible to a query that chooses rows.
#[inline]
pub(super) fn seen_rows<'w, F: Filter>(
    filter: &OpenFilter<'w, F>,
    (rules, mut watched): (&'w EnableRules, &[ColumnRef]),
    beside: ChunkMeta<'w>,
    ((chunk, rows), capacity): ((u32, u32), usize),
) -> RowMask<'w> {
    let mask = RowMask::new(rules, beside.attachments, chunk, rows);
    match F::BY_LINES {
        0 => mask,
        _ => {
            let start = chunk as usize * capacity;
            let entities = &beside.entities[start..start + rows as usize];
            mask.in_lines(filter.newer_rows(beside, &mut watched, (chunk, entities)))
        }
    }
}

fn known(blocks: Option<&SetBlocks>) -> WatchedBlocks<'_> {
    blocks.map_or(WatchedBlocks::Unknown, WatchedBlocks::Known)
}

/// The sets of the terms in a pass.
struct OpenTerms<'a, 'w, Q: Terms>(&'a OpenOf<'w, Q>);

impl<'w, Q: Terms> BlockSource<'w> for OpenTerms<'_, 'w, Q> {
    fn blocks<S: SparseComponent>(&mut self) -> WatchedBlocks<'w> {
        known(Q::Sets::open_blocks::<S>(self.0))
    }
}

/// The sets that the terms of a query hold.
struct HeldTerms<'w, 'h, Q: Terms>(&'w HeldOf<'h, Q>);

impl<'w, Q: Terms> BlockSource<'w> for HeldTerms<'w, '_, Q> {
    fn blocks<S: SparseComponent>(&mut self) -> WatchedBlocks<'w> {
        known(Q::Mode::held_blocks::<Q::Sets, S>(self.0))
    }
}

/// The sets of an exclusive store that no term has taken.
struct Untaken<'a, 'h, 'w, Q: Terms> {
    held: &'a HeldOf<'h, Q>,
    store: &'a mut SetsMut<'w>,
}

impl<'w, Q: Terms> BlockSource<'w> for Untaken<'_, '_, 'w, Q> {
    fn blocks<S: SparseComponent>(&mut self) -> WatchedBlocks<'w> {
        if Q::Mode::held_blocks::<Q::Sets, S>(self.held).is_some() {
            return WatchedBlocks::Unknown;
        }
        self.store.share_blocks::<S>().map_or(WatchedBlocks::NoSet, WatchedBlocks::Known)
    }
}

/// The sets of a store that is borrowed shared and not split.
struct SharedStore<'w>(Option<ReadBorrow<'w>>);

impl<'w> BlockSource<'w> for SharedStore<'w> {
    fn blocks<S: SparseComponent>(&mut self) -> WatchedBlocks<'w> {
        let whole = self.0.filter(|borrow| borrow.access().is_none());
        let Some(borrow) = whole else {
            panic!(
                "a system that filters by changes of `{name}` must name it, or others could write \
                 it at the same time: add a term of it, such as `Option<&{name}>`, or the filter \
                 `Changed<{name}>` to the types of its query",
                name = S::NAME,
            )
        };
        borrow.store().lend_blocks::<S>().map_or(WatchedBlocks::NoSet, WatchedBlocks::Known)
    }
}
