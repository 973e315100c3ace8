//! Filters, on queries and on the model.

use crate::chance::Chance;
use crate::chunks::{Chunk, Lists, Stamp};
use crate::model::Row;
use phalanx::chunks::PerChunk;

use crate::parts::{
    Big, Bounds, Eight, Four, HIDDEN, Line, Mark, Part, SHARED, Set, Shape, Tag, Twelve,
};
use crate::profile::{Profile, Twin};

/// The number of filters that [`filtered!`] has.
const KINDS: usize = 12;

/// The number of filters by archetype alone, which come first.
const KINDS_BY_ARCHETYPE: usize = 7;

/// A filter by its number. Filters that compare versions look back by `age`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Only {
    pub(crate) kind: usize,
    pub(crate) age: Stamp,
}

/// The filters that choose rows: those in which [`Eight`] is enabled, and those with a [`Charge`].
pub(crate) const OF_ROWS: usize = KINDS;
pub(crate) const OF_CHARGES: usize = KINDS + 1;

impl Only {
    /// A filter for changes of entities, which may also choose rows.
    pub(crate) fn any_of_rows(chance: &mut Chance, profile: &Profile) -> Self {
        let only = Self::any(chance, profile);
        match chance.below(6) {
            0 => Self { kind: OF_ROWS, ..only },
            1 => Self { kind: OF_CHARGES, ..only },
            _ => only,
        }
    }

    pub(crate) fn any(chance: &mut Chance, profile: &Profile) -> Self {
        let kinds = if profile.twin == Twin::Resized { KINDS_BY_ARCHETYPE } else { KINDS };
        let age = match chance.below(4) {
            0 => chance.below(5),
            1 => chance.below(100),
            2 => chance.below(4_000),
            _ => usize::MAX,
        };
        Self { kind: chance.below(kinds), age: age as Stamp }
    }

    /// The version that the filter compares with.
    pub(crate) const fn since(self, now: Stamp) -> Stamp {
        now.saturating_sub(self.age)
    }

    /// Whether the filter lets a row of a chunk pass, if the chunk passes.
    pub(crate) fn chooses(self, row: &Row) -> bool {
        match self.kind {
            OF_ROWS => !row.is_off(),
            OF_CHARGES => row.charge.is_some(),
            _ => true,
        }
    }

    /// Whether the filter lets a chunk pass, in an archetype of these components.
    pub(crate) fn passes(self, set: Set, chunk: &Chunk, since: Stamp) -> bool {
        let has = |part: Set| set & part == part;
        let changed = |part: usize| set >> part & 1 == 1 && chunk.columns[part] > since;
        if set & HIDDEN != 0 && self.kind != 5 {
            return false;
        }
        match self.kind {
            0 | 5 | OF_CHARGES => true,
            1 => !has(Tag::SET) || has(Mark::SET) && !has(Four::SET),
            2 => has(Four::SET) && !has(Big::SET),
            3 => (has(Twelve::SET) || has(Tag::SET)) && !has(Line::SET),
            4 => has(Mark::SET),
            6 => has(SHARED) && !has(Mark::SET),
            7 => chunk.arrival > since,
            8 => changed(Four::INDEX),
            9 => changed(Line::INDEX) && !has(Tag::SET),
            10 => has(<PerChunk<Bounds>>::SET) && chunk.value % 2 == 1,
            OF_ROWS => has(Eight::SET),
            _ => changed(Twelve::INDEX) && chunk.arrival > since && has(Four::SET),
        }
    }

    /// The archetypes and chunks that have `set` and pass the filter, in the order of a query.
    pub(crate) fn chunks(self, lists: &Lists, set: Set, now: Stamp) -> Vec<(usize, usize)> {
        let since = lists.seen(self.since(now));
        let mut passing = Vec::new();
        for (number, list) in lists.lists.iter().enumerate().filter(|(_, l)| l.set & set == set) {
            let chunks = list.chunks.iter().enumerate();
            let chunks = chunks.filter(|(_, chunk)| self.passes(list.set, chunk, since));
            passing.extend(chunks.map(|(chunk, _)| (number, chunk)));
        }
        passing
    }
}

/// Runs an expression with a query `$q` of these terms, narrowed by a filter. The method `$query`
/// decides how the world is borrowed.
#[macro_export]
macro_rules! filtered {
    ($world:expr, $query:ident::<$terms:ty>, $only:expr, $since:expr, $q:ident => $run:expr) => {{
        use $crate::parts::{Big, Four, Line, Mark, Tag, Twelve};
        let since = phalanx::Version::from_bits($since);
        let $q = $world.$query::<$terms>();
        match $only.kind {
            0 => $run,
            1 => {
                let $q = $q.filter::<Or<(Without<Tag>, (With<Mark>, Not<With<Four>>))>>();
                $run
            }
            2 => {
                let $q = $q.with::<Four>().without::<Big>();
                $run
            }
            3 => {
                let $q = $q.filter::<AnyOf<(Twelve, Tag)>>().without::<Line>();
                $run
            }
            4 => {
                let $q = $q.with::<Mark>();
                $run
            }
            5 => {
                let $q = $q.filter::<IncludeHidden>();
                $run
            }
            6 => {
                let $q = $q.filter::<WithShared<$crate::shared::Team>>().without::<Mark>();
                $run
            }
            7 => {
                let $q = $q.filter_since::<Arrived>(since);
                $run
            }
            8 => {
                let $q = $q.changed_since::<Four>(since);
                $run
            }
            9 => {
                let $q = $q.changed_since::<Line>(since).without::<Tag>();
                $run
            }
            10 => {
                let $q = $q.where_chunk(|bounds: &$crate::parts::Bounds| bounds.0 % 2 == 1);
                $run
            }
            _ => {
                let $q =
                    $q.changed_since::<Twelve>(since).filter_since::<Arrived>(since).with::<Four>();
                $run
            }
        }
    }};
}

/// [`filtered!`] with the filters that choose rows as well.
#[macro_export]
macro_rules! chosen {
    ($world:expr, $query:ident::<$terms:ty>, $only:expr, $since:expr, $q:ident => $run:expr) => {
        if $only.kind == $crate::filters::OF_ROWS {
            let $q = $world.$query::<$terms>().with::<$crate::parts::Eight>();
            $run
        } else if $only.kind == $crate::filters::OF_CHARGES {
            let $q = $world.$query::<$terms>().with::<$crate::charges::Charge>();
            $run
        } else {
            $crate::filtered!($world, $query::<$terms>, $only, $since, $q => $run)
        }
    };
}
