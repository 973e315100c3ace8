//! The memory that a query touches: archetypes, chunks, rows, columns and cache lines.

use core::fmt;
use core::ops::Range;

use crate::archetype::Archetype;
use crate::component::Registry;
use crate::line::LINE_BYTES;
use crate::query::{Filter, Query, Survey, Terms, Visit};
use crate::store::{Obstacle, Rule};

use super::text::{list, short};

/// The memory that one pass of a query touches, with the reasons; see [`Query::explain`].
///
/// `Display` prints the totals of the pass, the first 8 archetypes that match, and the first 8 that
/// do not.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// # let mut world = World::new();
/// world.spawn_batch((0..5000).map(|_| Health(1.0)));
/// let explanation = world.query_mut::<&mut Health>().explain();
/// assert_eq!((explanation.chunks(), explanation.lines()), (2, 313));
/// assert_eq!((explanation.bytes_used(), explanation.bytes_loaded()), (20_000, 20_032));
/// println!("{explanation}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryExplanation {
    /// Components that the terms read, in the order of the terms.
    pub reads: Vec<&'static str>,
    /// Components that the terms write, in the order of the terms.
    pub writes: Vec<&'static str>,
    /// Whether a term reads the [`Entity`](crate::Entity) of each row. Entities are stored outside
    /// the chunks, in one array per archetype with 8 bytes a row, and no other figure counts them.
    pub entities: bool,
    /// Whether slices are rounded up to whole vectors, which may touch more lines.
    pub padded: bool,
    /// The archetypes that match, in the order of the pass, including archetypes without rows.
    pub matched: Vec<MatchedArchetype>,
    /// The archetypes that do not match.
    pub skipped: Vec<SkippedArchetype>,
}

/// An archetype that matches a query.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// # let mut world = World::new();
/// world.spawn_batch((0..5000).map(|_| Health(1.0)));
/// let before = world.version();
/// let explanation = world.query::<&Health>().changed_since(before).explain();
/// let matched = &explanation.matched[0];
/// assert_eq!((matched.chunks, matched.chunks_skipped, matched.rows), (0, 2, 0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedArchetype {
    /// Its number, as [`Reflect::archetypes`](crate::reflect::Reflect::archetypes) counts them.
    pub archetype: usize,
    /// The names of its components, in the order of their columns.
    pub components: Vec<&'static str>,
    /// Rows that a pass visits: the rows of visited chunks in which no component of the query is
    /// [disabled](crate::World::set_enabled).
    pub rows: usize,
    /// Visited chunks.
    pub chunks: usize,
    /// Chunks that filters by version skip, and chunks with disabled rows only.
    pub chunks_skipped: usize,
    /// The columns that the query borrows, each once.
    pub columns: Vec<TouchedColumn>,
}

/// A column that a query borrows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TouchedColumn {
    /// The component's name.
    pub component: &'static str,
    /// Bytes of one row; zero for a tag.
    pub row_bytes: usize,
    /// Whether the query writes it.
    pub written: bool,
    /// Bytes of the visited rows.
    pub bytes_used: u64,
    /// Cache lines of the slices, over all visited chunks.
    pub lines: u64,
    /// Runs of visited chunks that follow each other in memory: at each, hardware prefetchers begin
    /// again. Zero for a tag.
    pub streams: u64,
}

/// An archetype that does not match a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedArchetype {
    /// Its number, as [`Reflect::archetypes`](crate::reflect::Reflect::archetypes) counts them.
    pub archetype: usize,
    /// The names of its components, in the order of their columns.
    pub components: Vec<&'static str>,
    /// Its rows.
    pub rows: usize,
    /// Every condition that it does not meet; at least one.
    pub mismatches: Vec<Mismatch>,
}

/// A condition of a query that an archetype does not meet.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// # let mut world = World::new();
/// world.spawn(Health(1.0));
/// let explanation = world.query::<Entity>().without::<Health>().explain();
/// assert_eq!(explanation.skipped[0].mismatches[0].to_string(), "has Health");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The archetype lacks this component.
    Misses(&'static str),
    /// The archetype has this component.
    Has(&'static str),
    /// The archetype has this hidden component, which the query does not name.
    Hidden(&'static str),
    /// The archetype has none of these components.
    NoneOf(Vec<&'static str>),
    /// No row of the archetype can pass this expression of [`Or`](crate::terms::Or) and
    /// [`Not`](crate::terms::Not).
    Fails(String),
}

/// Writes `misses Position`, `has Frozen`, `none of A, B`, `fails (no A or B)`, or `has Disabled,
/// which the query does not name`: names without their paths.
impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misses(name) => write!(f, "misses {}", short(name)),
            Self::Has(name) => write!(f, "has {}", short(name)),
            Self::Hidden(name) => write!(f, "has {}, which the query does not name", short(name)),
            Self::NoneOf(names) => write!(f, "none of {}", list(names, "nothing")),
            Self::Fails(expression) => write!(f, "fails {expression}"),
        }
    }
}

impl Mismatch {
    fn new(obstacle: &Obstacle<'_>) -> Self {
        match obstacle {
            Obstacle::Hidden(name) => Self::Hidden(name),
            Obstacle::Rule(Rule::Has(one)) => Self::Misses(one.name),
            Obstacle::Rule(Rule::Lacks(one)) => Self::Has(one.name),
            Obstacle::Rule(Rule::HasAny(some)) => {
                Self::NoneOf(some.iter().map(|one| one.name).collect())
            }
            Obstacle::Rule(Rule::Meets(expression)) => Self::Fails(expression.text(short)),
        }
    }
}

/// # Explanation
impl<Q: Terms, F: Filter> Query<'_, Q, F> {
    /// Explains the memory that one pass of this query touches: archetypes, chunks, rows and cache
    /// lines, and the reason why each other archetype does not match. Changes no version and does
    /// not advance the clock; the query can run afterwards. O(archetypes + chunks of matching
    /// archetypes).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Position([f32; 3]);
    /// # #[component] struct Frozen;
    /// let mut world = World::new();
    /// world.spawn_batch((0..1000).map(|_| Position([0.0; 3])));
    /// world.spawn((Position([0.0; 3]), Frozen));
    /// let explanation = world.query::<&Position>().without::<Frozen>().explain();
    /// // 1000 rows of 12 bytes are 187.5 lines. One chunk of 16 KiB has room for 1360 rows.
    /// assert_eq!((explanation.rows(), explanation.chunks(), explanation.lines()), (1000, 1, 188));
    /// let skipped = explanation.skipped.iter().find(|a| a.rows > 0).unwrap();
    /// assert_eq!(skipped.mismatches[0].to_string(), "has Frozen");
    /// ```
    #[must_use]
    pub fn explain(&self) -> QueryExplanation {
        QueryExplanation::new(&self.survey())
    }
}

impl QueryExplanation {
    fn new(survey: &Survey<'_>) -> Self {
        let accesses = || survey.accesses.iter().copied().flatten();
        let named = |writes| {
            let those = accesses().filter(move |access| access.writes() == writes);
            those.filter_map(|access| access.name()).collect()
        };
        let mut explanation = Self {
            reads: named(false),
            writes: named(true),
            entities: accesses().any(|access| access.is_entities()),
            padded: survey.padded,
            matched: Vec::new(),
            skipped: Vec::new(),
        };
        for (number, surveyed) in survey.archetypes.iter().enumerate() {
            let archetype = surveyed.archetype;
            let components = component_names(archetype, survey.registry);
            match &surveyed.visit {
                Ok(visit) => {
                    let columns = touched(archetype, survey, visit);
                    explanation.matched.push(MatchedArchetype {
                        archetype: number,
                        components,
                        rows: visit.rows,
                        chunks: visit.chunks.len(),
                        chunks_skipped: archetype.list().chunk_len() as usize - visit.chunks.len(),
                        columns,
                    });
                }
                Err(obstacles) => explanation.skipped.push(SkippedArchetype {
                    archetype: number,
                    components,
                    rows: archetype.len(),
                    mismatches: obstacles.iter().map(Mismatch::new).collect(),
                }),
            }
        }
        explanation
    }

    fn columns(&self) -> impl Iterator<Item = &TouchedColumn> {
        self.matched.iter().flat_map(|archetype| &archetype.columns)
    }

    /// Rows that a pass visits: the result of `.rows().count()`.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.matched.iter().map(|archetype| archetype.rows).sum()
    }

    /// Chunks that a pass visits, one per turn.
    #[must_use]
    pub fn chunks(&self) -> usize {
        self.matched.iter().map(|archetype| archetype.chunks).sum()
    }

    /// Chunks of matching archetypes that version filters skip.
    #[must_use]
    pub fn chunks_skipped(&self) -> usize {
        self.matched.iter().map(|archetype| archetype.chunks_skipped).sum()
    }

    /// The least number of cache lines of 64 bytes that a pass over all slices touches: for each
    /// column of each visited chunk, the bytes of the rows that it visits rounded up to lines. (A
    /// [`masked`](crate::Query::masked) pass hands out all rows.) Entities, versions
    /// that filters compare, and the data of the walk itself are not counted.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.columns().map(|column| column.lines).sum()
    }

    /// The cache lines of [`lines`](Self::lines) in columns that the query writes.
    #[must_use]
    pub fn lines_written(&self) -> u64 {
        self.columns().filter(|column| column.written).map(|column| column.lines).sum()
    }

    /// Streams of a pass, over all columns: the number of times that hardware prefetchers begin
    /// again. One for each column and chunk if each chunk lies alone, one for each column and
    /// extent in long archetypes. Entities are not counted.
    #[must_use]
    pub fn streams(&self) -> u64 {
        self.columns().map(|column| column.streams).sum()
    }

    /// Bytes of the visited rows in the columns of the query.
    #[must_use]
    pub fn bytes_used(&self) -> u64 {
        self.columns().map(|column| column.bytes_used).sum()
    }

    /// Bytes of the cache lines: the traffic from memory for [`bytes_used`](Self::bytes_used).
    #[must_use]
    pub fn bytes_loaded(&self) -> u64 {
        self.lines() * LINE_BYTES as u64
    }

    /// Cache lines per row; zero without rows.
    #[must_use]
    pub fn lines_per_row(&self) -> f64 {
        match self.rows() {
            0 => 0.0,
            rows => self.lines() as f64 / rows as f64,
        }
    }
}

/// The cache lines of a column that some runs of rows of a chunk touch. Runs ascend.
fn lines_of(runs: impl Iterator<Item = Range<u32>>, row_bytes: u32) -> u64 {
    let (row_bytes, line) = (u64::from(row_bytes), LINE_BYTES as u64);
    let (mut lines, mut touched) = (0, 0);
    for run in runs.filter(|_| row_bytes > 0) {
        // A column begins at the start of a line. Two runs may share a line.
        let first = (u64::from(run.start) * row_bytes / line).max(touched);
        touched = (u64::from(run.end) * row_bytes).div_ceil(line);
        lines += touched.saturating_sub(first);
    }
    lines
}

fn touched(archetype: &Archetype, survey: &Survey<'_>, visit: &Visit) -> Vec<TouchedColumn> {
    let layout = archetype.list().layout();
    let runs = archetype.list().runs_of(&visit.chunks) as u64;
    let cut =
        |run: &Range<u32>| run.start..if survey.padded { layout.padded(run.end) } else { run.end };
    let touched = |&(number, written): &(u16, bool)| {
        let column = layout.columns()[usize::from(number)];
        TouchedColumn {
            component: survey.registry.info(archetype.components()[usize::from(number)]).name(),
            row_bytes: column.size as usize,
            written,
            bytes_used: visit.rows as u64 * u64::from(column.size),
            lines: visit.runs.iter().map(|runs| lines_of(runs.iter().map(cut), column.size)).sum(),
            streams: if column.size > 0 { runs } else { 0 },
        }
    };
    visit.columns.iter().map(touched).collect()
}

/// The names of an archetype's components, in the order of their columns, without the tags of
/// shared values.
fn component_names(archetype: &Archetype, registry: &Registry) -> Vec<&'static str> {
    let shown = archetype.components().iter().filter(|&&id| registry.shared_type(id).is_none());
    shown.map(|&id| registry.info(id).name()).collect()
}
