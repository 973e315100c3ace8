//! Passes over all matches of a query: every way to write and to read.

use std::sync::Mutex;

use phalanx::Query;
use phalanx::prelude::*;

use crate::filtered;
use crate::filters::Only;
use crate::operations::Way;
use crate::outcome::{DONE, Fault, IDLE, Outcome, PANICKED, panic_as_told, told};
use crate::parts::{Part, Set, Shape};
use crate::trial::Trial;

/// Runs an expression with one of four component types as `$P`. More would take too long to build.
#[macro_export]
macro_rules! with_column {
    ($n:expr, $P:ident => $run:expr) => {
        $crate::with_part!(@ $n % 4, $P => $run; 0 Mark, 1 Odd, 2 Four, 3 Line)
    };
}

/// The visited entities in order, and whether the pass panicked on purpose.
type Visited = (Vec<Entity>, bool);

/// Runs a pass that writes one value everywhere.
fn write_all<P: Part, F: Filter>(
    query: Query<'_, (Entity, &mut P), F>,
    way: Way,
    number: u32,
) -> Visited {
    let mut seen = Vec::new();
    let value = P::part(number);
    let mut visit = |entities: &[Entity], column: &mut [P]| {
        column.fill(value);
        seen.extend_from_slice(entities);
    };
    match way {
        Way::Slices => {
            for (entities, column) in query {
                visit(entities, column);
            }
        }
        Way::Padded => {
            for (entities, column) in query.padded() {
                let rows = entities.len();
                assert!((rows..rows + VECTOR_ROWS).contains(&column.len()), "padding of {rows}");
                let is_whole =
                    column.len().is_multiple_of(VECTOR_ROWS) || column.len() < VECTOR_ROWS;
                assert!(is_whole, "{} rows with padding", column.len());
                visit(entities, column);
            }
        }
        Way::Rows => {
            for (entity, part) in query.rows() {
                visit(&[entity], std::slice::from_mut(part));
            }
        }
        Way::Chunks => {
            let mut rows = 0;
            for chunk in query.chunks() {
                assert_eq!(chunk.first_row(), rows, "rows before a chunk");
                rows += chunk.len();
                let (entities, column) = chunk.slices();
                visit(entities, column);
            }
        }
        Way::ForEach => query.into_iter().for_each(|(entities, column)| visit(entities, column)),
        Way::EveryOther => {
            let mut turn = 0;
            query.for_each_chunk(|(entities, column)| {
                turn += 1;
                if turn % 2 == 0 {
                    return Modified::No;
                }
                visit(entities, column);
                Modified::Yes
            });
        }
        Way::Parallel if cfg!(miri) => {
            query.into_iter().for_each(|(entities, column)| visit(entities, column))
        }
        Way::Parallel => return (write_in_parallel(query, value), false),
        Way::Panics(chunks) => {
            let mut turn = 0;
            let run = told(|| {
                query.for_each_chunk(|(entities, column)| {
                    visit(entities, column);
                    turn += 1;
                    if turn > chunks {
                        panic_as_told();
                    }
                });
            });
            return (seen, run.is_err());
        }
        Way::Ends(chunks) => {
            query.into_iter().take(chunks).for_each(|(entities, column)| visit(entities, column));
        }
    }
    (seen, false)
}

/// Runs a pass on any number of threads. Returns the visited entities, sorted.
fn write_in_parallel<P: Part, F: Filter>(
    query: Query<'_, (Entity, &mut P), F>,
    value: P,
) -> Vec<Entity> {
    let all = Mutex::new(Vec::new());
    query.par().for_each_chunk(|(entities, column): (&[Entity], &mut [P])| {
        column.fill(value);
        all.lock().expect("no thread panics").extend_from_slice(entities);
    });
    let mut seen = all.into_inner().expect("no thread panics");
    seen.sort_unstable();
    seen
}

impl Trial {
    /// The chunks that a query of `set` visits, with their entities.
    pub(crate) fn matched(&self, only: Only, set: Set) -> Vec<((usize, usize), Vec<Entity>)> {
        let lists = &self.model.lists;
        let chunks = only.chunks(lists, set, self.now());
        let rows = |at: &(usize, usize)| lists.lists[at.0].rows(at.1).to_vec();
        chunks.into_iter().map(|at| (at, rows(&at))).collect()
    }

    pub(crate) fn write<P: Part>(&mut self, only: Only, way: Way, number: u32) -> Outcome {
        let mut chunks = self.matched(only, P::SET);
        let since = only.since(self.now());
        let (seen, panicked) = self.step(|side| {
            filtered!(side.world, query_mut::<(Entity, &mut P)>, only, since,
                q => write_all::<P, _>(q, way, number))
        });
        assert_eq!(panicked, matches!(way, Way::Panics(at) if at < chunks.len()), "a panic");
        match way {
            Way::Panics(last) => chunks.truncate(last + 1),
            Way::Ends(end) => chunks.truncate(end),
            Way::EveryOther => {
                let mut turn = 0;
                chunks.retain(|_| {
                    turn += 1;
                    turn % 2 == 1
                });
            }
            _ => {}
        }
        let mut expected: Vec<_> = chunks.iter().flat_map(|(_, rows)| rows).copied().collect();
        if way == Way::Parallel && !cfg!(miri) {
            expected.sort_unstable();
        }
        assert_eq!(seen, expected, "what a pass visits");
        let now = self.now();
        for ((number_of_list, chunk), rows) in chunks {
            self.model.lists.lists[number_of_list].chunks[chunk].write(P::SET, now);
            rows.into_iter().for_each(|entity| self.model.row_mut(entity).write(P::SET, number));
        }
        match (panicked, seen.is_empty()) {
            (true, _) => PANICKED,
            (false, true) => IDLE,
            (false, false) => DONE,
        }
    }

    pub(crate) fn read<P: Part>(&self, only: Only) -> Outcome {
        let expected: Vec<_> =
            self.matched(only, P::SET).into_iter().flat_map(|(_, rows)| rows).collect();
        let since = only.since(self.now());
        self.look(|world| {
            let len = filtered!(world, query::<(Entity, &P)>, only, since, q => q.count_rows());
            assert_eq!(len, expected.len(), "rows_len");
            let mut rows = expected.iter();
            filtered!(world, query::<(Entity, &P, Option<&Four>)>, only, since, q => {
                for (entity, part, four) in q.rows() {
                    assert_eq!(rows.next(), Some(&entity), "what a pass visits");
                    let row = &self.model.rows[&entity];
                    assert!(*part == P::part(row.numbers[P::INDEX]), "the value of {entity}");
                    let number = row.has(Four::SET).then(|| row.numbers[Four::INDEX]);
                    assert_eq!(four.map(|four| four.0), number, "the value of {entity}");
                }
            });
            assert_eq!(rows.next(), None, "a pass visits all");
        });
        if expected.is_empty() { IDLE } else { DONE }
    }

    /// Gathers a column and scatters other values into it, sometimes one too few.
    pub(crate) fn scatter<P: Part>(&mut self, only: Only, number: u32, short: bool) -> Outcome {
        let chunks = self.matched(only, P::SET);
        let since = only.since(self.now());
        let rows: Vec<_> = chunks.iter().flat_map(|(_, rows)| rows).copied().collect();
        let old: Vec<P> =
            rows.iter().map(|e| P::part(self.model.rows[e].numbers[P::INDEX])).collect();
        self.look(|world| {
            let gathered: Vec<P> = filtered!(world, query::<(Entity, &P)>, only, since,
                q => q.copies().gather::<P>());
            assert!(gathered == old, "gathered values");
            let entities =
                filtered!(world, query::<(Entity, &P)>, only, since, q => q.copies().entities());
            assert_eq!(entities, rows, "gathered entities");
            let offsets =
                filtered!(world, query::<(Entity, &P)>, only, since, q => q.copies().offsets());
            let lens = offsets.windows(2).map(|pair| pair[1] - pair[0]);
            assert!(lens.eq(chunks.iter().map(|(_, rows)| rows.len())), "offsets of chunks");
        });
        let numbers: Vec<u32> = (0u32..).take(rows.len()).map(|i| number.wrapping_add(i)).collect();
        let mut values: Vec<P> = numbers.iter().copied().map(P::part).collect();
        let is_short = short && values.pop().is_some();
        let scattered = self.step(|side| {
            filtered!(side.world, query_mut::<(&mut P, Entity)>, only, since,
                q => { let mut q = q; q.scatter::<P>(&values) })
        });
        assert_eq!(scattered.is_err(), is_short, "{scattered:?}");
        if let Err(error) = scattered {
            return error.word();
        }
        let now = self.now();
        for ((list, chunk), _) in chunks {
            self.model.lists.lists[list].chunks[chunk].write(P::SET, now);
        }
        for (entity, number) in rows.iter().zip(numbers) {
            self.model.row_mut(*entity).write(P::SET, number);
        }
        if rows.is_empty() { IDLE } else { DONE }
    }
}
