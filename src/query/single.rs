//! The only row of a query.

use core::error::Error;
use core::fmt;

use super::filter::Filter;
use super::per_chunk_terms::refuse_other_answers;
use super::query::Query;
use super::terms::Terms;

/// # The only row
impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    /// The only row: the player, the camera, the ball.
    ///
    /// Costs a pass over one row and [`count_rows`](Query::count_rows).
    ///
    /// # Errors
    ///
    /// If the query has no row, or more than one. No chunk is stamped.
    ///
    /// # Panics
    ///
    /// If a test of [`where_chunk`](Query::where_chunk) finds the row when rows are counted, and
    /// not when the row is taken.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Position(f32);
    /// # #[component] struct Player;
    /// # let mut world = World::new();
    /// world.spawn((Position(1.0), Player));
    /// world.spawn(Position(2.0));
    /// world.query_mut::<&mut Position>().with::<Player>().single()?.0 += 0.5;
    /// assert_eq!(world.query::<&Position>().with::<Player>().single()?.0, 1.5);
    /// assert!(world.query::<&Position>().single().is_err(), "there are two");
    /// # Ok::<(), phalanx::error::NotSingle>(())
    /// ```
    #[rustfmt::skip] // The compiler shows the line where a query that writes is used twice.
    pub fn single(self /* of a query that writes: `single_mut` does not */) -> Result<Q::Row<'w>, NotSingle> {
        let rows = self.count_rows();
        if rows != 1 {
            return Err(NotSingle { rows, terms: core::any::type_name::<Q>() });
        }
        Ok(self.rows().next().unwrap_or_else(|| refuse_other_answers("single")))
    }

    /// [`single`](Query::single) of a query that is needed again afterwards.
    ///
    /// # Errors
    ///
    /// As for [`single`](Query::single).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Position(f32);
    /// # #[component] struct Player;
    /// fn step(mut players: Query<&mut Position, With<Player>>) {
    ///     if let Ok(player) = players.single_mut() {
    ///         player.0 += 1.0;
    ///     }
    ///     players.rows().for_each(|position| position.0 = position.0.min(1.5));
    /// }
    /// # let mut world = World::new();
    /// world.spawn((Position(1.0), Player));
    /// let mut schedule = Schedule::new();
    /// schedule.add(step);
    /// schedule.run(&mut world)?;
    /// assert_eq!(world.query::<&Position>().single().unwrap().0, 1.5);
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    pub fn single_mut(&mut self) -> Result<Q::Row<'_>, NotSingle> {
        self.reborrow().single()
    }
}

/// A query that should have one row has none, or several.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NotSingle {
    /// The number of rows.
    pub rows: usize,
    /// The query's terms.
    pub terms: &'static str,
}

impl fmt::Display for NotSingle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, terms } = self;
        write!(f, "the query `{terms}` has {rows} rows that pass its filters, not one")?;
        match rows {
            0 => f.write_str(": spawn it first, check the filters, or ask with `is_empty`"),
            _ => f.write_str(": add a tag and a filter `with`, or iterate over `rows`"),
        }
    }
}

impl Error for NotSingle {}
