//! Ready-made run conditions, [`every`] and [`on_event`], and the clock of fixed time steps,
//! [`FixedStep`].

use std::time::Duration;

use crate::logs::EventReader;

use super::param::Local;

/// A run condition that is `true` every `n`-th time it is evaluated, starting with the first.
///
/// It is not evaluated in a run in which an earlier condition is `false`: `run_if(every(3))` counts
/// runs, and `run_if(not_paused).run_if(every(3))` counts runs without pause. See
/// [`SystemEntry::run_if`](crate::schedule::SystemEntry::run_if).
///
/// # Panics
///
/// If `n` is zero.
///
/// ```
/// # use phalanx::prelude::*;
/// let mut world = World::new();
/// world.insert_resource(0u32);
/// let mut schedule = Schedule::new();
/// schedule.add(|mut count: ResMut<u32>| *count += 1).run_if(every(3));
/// for _ in 0..7 {
///     schedule.run(&mut world)?;
/// }
/// assert_eq!(*world.resource::<u32>().unwrap(), 3); // runs 1, 4 and 7
/// # Ok::<(), phalanx::schedule::ScheduleError>(())
/// ```
#[track_caller]
pub fn every(n: u32) -> impl FnMut(Local<'_, u32>) -> bool + Clone + Send + 'static {
    assert!(n > 0, "`every(0)` would never run: give at least 1");
    move |mut passed| {
        let is_due = *passed == 0;
        *passed = (*passed + 1) % n;
        is_due
    }
}

/// A run condition that is `true` if an event of type `E` was sent since it was last evaluated. It
/// reads the events, which the system can read as well: each reader reads all events.
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::schedule::on_event;
///
/// struct Resized { width: u32 }
///
/// fn layout(mut resizes: EventReader<Resized>) {
///     assert_eq!(resizes.read()[0].width, 80);
/// }
///
/// let mut world = World::new();
/// let mut schedule = Schedule::new();
/// schedule.add(layout).run_if(on_event::<Resized>);
/// schedule.run(&mut world)?;
/// assert!(!schedule.timings().systems[0].ran);
/// world.send(Resized { width: 80 });
/// schedule.run(&mut world)?;
/// assert!(schedule.timings().systems[0].ran);
/// # Ok::<(), phalanx::schedule::ScheduleError>(())
/// ```
pub fn on_event<E: Send + Sync + 'static>(mut events: EventReader<'_, E>) -> bool {
    !events.read().is_empty()
}

/// Turns frames of any length into steps of one length.
///
/// A simulation with steps of one length gives the same result for frames of any length. Time that
/// does not fill a step is kept for the next frame. After a long frame, at most
/// [`steps_max`](FixedStep::steps_max) steps run and the rest of the time is discarded, so that a
/// program that is too slow for real time does not lag further with every frame.
///
/// ```
/// # use phalanx::prelude::*;
/// use std::time::Duration;
///
/// let mut world = World::new();
/// world.insert_resource(0u32);
/// let mut physics = Schedule::new();
/// physics.add(|mut steps: ResMut<u32>| *steps += 1);
///
/// let mut clock = FixedStep::new(Duration::from_millis(10));
/// for frame in [4, 4, 4, 25].map(Duration::from_millis) {
///     for _ in 0..clock.advance(frame) {
///         physics.run(&mut world)?;
///     }
/// }
/// assert_eq!(*world.resource::<u32>().unwrap(), 3);
/// assert_eq!(clock.remainder(), Duration::from_millis(7));
/// # Ok::<(), phalanx::schedule::ScheduleError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedStep {
    step: Duration,
    steps_max: u32,
    remainder: Duration,
}

impl FixedStep {
    /// A clock with steps of this length, at most eight a frame.
    ///
    /// # Panics
    ///
    /// If `step` is zero.
    #[must_use]
    #[track_caller]
    pub const fn new(step: Duration) -> Self {
        assert!(!step.is_zero(), "the step is zero: give a longer `Duration`");
        Self { step, steps_max: 8, remainder: Duration::ZERO }
    }

    /// Sets the maximum number of steps a frame; the time beyond them is discarded.
    ///
    /// # Panics
    ///
    /// If `steps` is zero.
    ///
    /// ```
    /// use phalanx::schedule::FixedStep;
    /// use std::time::Duration;
    ///
    /// let mut clock = FixedStep::new(Duration::from_millis(10)).steps_max(2);
    /// assert_eq!(clock.advance(Duration::from_secs(60)), 2);
    /// assert_eq!(clock.remainder(), Duration::ZERO);
    /// ```
    #[must_use]
    #[track_caller]
    pub const fn steps_max(mut self, steps: u32) -> Self {
        assert!(steps > 0, "`steps_max(0)` would never step: give at least 1");
        self.steps_max = steps;
        self
    }

    /// Advances the clock by a frame. Returns the number of steps to run now.
    pub fn advance(&mut self, frame: Duration) -> u32 {
        let time = self.remainder.saturating_add(frame);
        let steps = time.as_nanos() / self.step.as_nanos();
        if steps > u128::from(self.steps_max) {
            self.remainder = Duration::ZERO;
            return self.steps_max;
        }
        let steps = u32::try_from(steps).expect("there are more steps than `steps_max`");
        self.remainder = time - self.step * steps;
        steps
    }

    /// The length of a step.
    #[must_use]
    pub const fn step(&self) -> Duration {
        self.step
    }

    /// The time that is kept for the next frame, less than a step.
    #[must_use]
    pub const fn remainder(&self) -> Duration {
        self.remainder
    }

    /// [`remainder`](FixedStep::remainder) as a fraction of a step, from 0 up to 1, to interpolate
    /// between the last step and the next.
    ///
    /// ```
    /// use phalanx::schedule::FixedStep;
    /// use std::time::Duration;
    ///
    /// let mut clock = FixedStep::new(Duration::from_millis(10));
    /// assert_eq!(clock.advance(Duration::from_millis(25)), 2);
    /// assert_eq!(clock.overstep(), 0.5);
    /// ```
    #[must_use]
    pub fn overstep(&self) -> f32 {
        self.remainder.as_secs_f32() / self.step.as_secs_f32()
    }
}
