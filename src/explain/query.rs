//! What a query would touch: archetypes, chunks, rows, columns and cache lines.

use core::fmt;

use crate::archetype::Archetype;
use crate::component::Registry;
use crate::line::LINE_BYTES;
use crate::query::{Filter, Query, Rule, Survey, Terms, Visit};

use super::text::{list, short};

/// What one pass of a query would touch, and why; see [`Query::explain`].
///
/// `Display` prints the whole pass, then the first 8 archetypes that match and the first 8 that do
/// not.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
/// # component!(Health);
/// # let mut world = World::new();
/// world.spawn_batch((0..5000).map(|_| Health(1.0)));
/// let explanation = world.query_mut::<&mut Health>().explain();
/// assert_eq!((explanation.chunks(), explanation.lines()), (2, 313));
/// assert_eq!((explanation.bytes_used(), explanation.bytes_loaded()), (20_000, 20_032));
/// println!("{explanation}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryExplanation {
    /// Components that terms read, in the order of the terms.
    pub reads: Vec<&'static str>,
    /// Components that terms write, in the order of the terms.
    pub writes: Vec<&'static str>,
    /// Whether a term asks for the [`Entity`](crate::Entity) of each row. Entities lie beside the
    /// chunks, 8 bytes a row in one array an archetype, and count in no figure below.
    pub entities: bool,
    /// Whether slices are rounded up to whole vectors, which touch more lines.
    pub padded: bool,
    /// The archetypes that match, in the order of the walk; also those without rows.
    pub matched: Vec<MatchedArchetype>,
    /// The archetypes that do not match.
    pub skipped: Vec<SkippedArchetype>,
}

/// An archetype that a query matches.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
/// # component!(Health);
/// # let mut world = World::new();
/// world.spawn_batch((0..5000).map(|_| Health(1.0)));
/// let before = world.version();
/// let explanation = world.query::<&Health>().changed_since(before).explain();
/// let matched = &explanation.matched[0];
/// assert_eq!((matched.chunks, matched.chunks_skipped, matched.rows), (0, 2, 0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedArchetype {
    /// Its number, as [`World::archetypes`](crate::World::archetypes) counts them.
    pub archetype: usize,
    /// The names of its components, in the order of their columns.
    pub components: Vec<&'static str>,
    /// Rows of the chunks that are visited.
    pub rows: usize,
    /// Chunks that are visited.
    pub chunks: usize,
    /// Chunks that filters by version pass over.
    pub chunks_skipped: usize,
    /// The columns that the query cuts from it, each once.
    pub columns: Vec<TouchedColumn>,
}

/// A column that a query cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TouchedColumn {
    /// The component's name.
    pub component: &'static str,
    /// Bytes of one row; zero for a tag.
    pub row_bytes: usize,
    /// Whether the query writes it.
    pub written: bool,
    /// Bytes of the rows that are visited.
    pub bytes_used: u64,
    /// Cache lines that the slices lie in, over all chunks that are visited.
    pub lines: u64,
}

/// An archetype that a query does not match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedArchetype {
    /// Its number, as [`World::archetypes`](crate::World::archetypes) counts them.
    pub archetype: usize,
    /// The names of its components, in the order of their columns.
    pub components: Vec<&'static str>,
    /// Its rows.
    pub rows: usize,
    /// Every condition that it fails; at least one.
    pub mismatches: Vec<Mismatch>,
}

/// A condition of a query that an archetype fails.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
/// # component!(Health);
/// # let mut world = World::new();
/// world.spawn(Health(1.0));
/// let explanation = world.query::<Entity>().without::<Health>().explain();
/// assert_eq!(explanation.skipped[0].mismatches[0].to_string(), "has Health");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// It lacks this component.
    Misses(&'static str),
    /// It has this component.
    Has(&'static str),
    /// It has none of these components.
    NoneOf(Vec<&'static str>),
}

/// `misses Position`, `has Frozen`, `none of A, B`: names without the path of their module.
impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misses(name) => write!(f, "misses {}", short(name)),
            Self::Has(name) => write!(f, "has {}", short(name)),
            Self::NoneOf(names) => write!(f, "none of {}", list(names, "nothing")),
        }
    }
}

impl Mismatch {
    fn new(broken: &Rule) -> Self {
        match broken {
            Rule::Has(one) => Self::Misses(one.name),
            Rule::Lacks(one) => Self::Has(one.name),
            Rule::HasAny(some) => Self::NoneOf(some.iter().map(|one| one.name).collect()),
        }
    }
}

impl<Q: Terms, F: Filter> Query<'_, Q, F> {
    /// What one pass of this query would touch: archetypes, chunks, rows and cache lines, and why
    /// each other archetype is left out. Stamps nothing and advances no clock; the query can run
    /// afterwards. O(archetypes + chunks of those that match).
    ///
    /// # Panics
    ///
    /// If the query has started.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Position([f32; 3]);
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Frozen;
    /// # component!(Position, Frozen);
    /// let mut world = World::new();
    /// world.spawn_batch((0..1000).map(|_| Position([0.0; 3])));
    /// world.spawn((Position([0.0; 3]), Frozen));
    /// let explanation = world.query::<&Position>().without::<Frozen>().explain();
    /// // 1000 rows of 12 bytes are 187.5 lines: one chunk of 16 KiB has room for 1360 rows.
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
        let named = |writes| {
            let those = survey.accesses.iter().filter(move |access| access.writes() == writes);
            those.filter_map(|access| access.name()).collect()
        };
        let mut explanation = Self {
            reads: named(false),
            writes: named(true),
            entities: survey.accesses.iter().any(|access| access.name().is_none()),
            padded: survey.padded,
            matched: Vec::new(),
            skipped: Vec::new(),
        };
        for (number, surveyed) in survey.archetypes.iter().enumerate() {
            let archetype = surveyed.archetype;
            let components = component_names(archetype, survey.registry);
            match &surveyed.visit {
                Ok(visit) => {
                    let columns = touched(archetype, &components, visit, survey.padded);
                    explanation.matched.push(MatchedArchetype {
                        archetype: number,
                        components,
                        rows: visited_rows(archetype, visit).map(|rows| rows as usize).sum(),
                        chunks: visit.chunks.len(),
                        chunks_skipped: archetype.list().chunk_count() as usize
                            - visit.chunks.len(),
                        columns,
                    });
                }
                Err(broken) => explanation.skipped.push(SkippedArchetype {
                    archetype: number,
                    components,
                    rows: archetype.len(),
                    mismatches: broken.iter().map(|rule| Mismatch::new(rule)).collect(),
                }),
            }
        }
        explanation
    }

    fn columns(&self) -> impl Iterator<Item = &TouchedColumn> {
        self.matched.iter().flat_map(|archetype| &archetype.columns)
    }

    /// Rows that a pass visits: what `.rows().count()` would answer.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.matched.iter().map(|archetype| archetype.rows).sum()
    }

    /// Chunks that a pass visits: its turns.
    #[must_use]
    pub fn chunks(&self) -> usize {
        self.matched.iter().map(|archetype| archetype.chunks).sum()
    }

    /// Chunks of matching archetypes that filters by version pass over.
    #[must_use]
    pub fn chunks_skipped(&self) -> usize {
        self.matched.iter().map(|archetype| archetype.chunks_skipped).sum()
    }

    /// The least number of cache lines, 64 bytes each, that a pass over all slices must touch: for
    /// each column of each chunk visited, the bytes of its rows rounded up to lines. Columns only:
    /// neither entities, nor the versions that filters compare, nor what the walk itself reads.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.columns().map(|column| column.lines).sum()
    }

    /// The lines among them that belong to columns which the query writes.
    #[must_use]
    pub fn lines_written(&self) -> u64 {
        self.columns().filter(|column| column.written).map(|column| column.lines).sum()
    }

    /// Bytes of the visited rows in the columns of the query.
    #[must_use]
    pub fn bytes_used(&self) -> u64 {
        self.columns().map(|column| column.bytes_used).sum()
    }

    /// Bytes of the lines: what must come from memory for [`bytes_used`](Self::bytes_used).
    #[must_use]
    pub fn bytes_loaded(&self) -> u64 {
        self.lines() * LINE_BYTES as u64
    }

    /// Lines for each row; zero if there is no row.
    #[must_use]
    pub fn lines_per_row(&self) -> f64 {
        match self.rows() {
            0 => 0.0,
            rows => self.lines() as f64 / rows as f64,
        }
    }
}

/// Rows of each chunk that is visited.
fn visited_rows(archetype: &Archetype, visit: &Visit) -> impl Iterator<Item = u32> {
    visit.chunks.iter().map(|&chunk| archetype.list().rows(chunk))
}

fn touched(
    archetype: &Archetype,
    components: &[&'static str],
    visit: &Visit,
    padded: bool,
) -> Vec<TouchedColumn> {
    let layout = archetype.list().layout();
    let cut = |rows| if padded { layout.padded(rows) } else { rows };
    let touched = |&(number, written): &(u16, bool)| {
        let column = layout.columns()[usize::from(number)];
        let rows = || visited_rows(archetype, visit);
        TouchedColumn {
            component: components[usize::from(number)],
            row_bytes: column.size as usize,
            written,
            bytes_used: rows().map(|rows| u64::from(rows) * u64::from(column.size)).sum(),
            lines: rows().map(|rows| column.lines(cut(rows))).sum(),
        }
    };
    visit.columns.iter().map(touched).collect()
}

/// The names of an archetype's components, in the order of their columns.
fn component_names(archetype: &Archetype, registry: &Registry) -> Vec<&'static str> {
    archetype.components().iter().map(|&id| registry.info(id).name()).collect()
}
