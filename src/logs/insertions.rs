//! The log of gained components.

use core::marker::PhantomData;

use crate::entity::Entity;

use super::impl_row_log::impl_row_log;
use super::log_reader::LogReader;
use super::row_shape::Logged;

/// The log of the entities that got component `C`, with the values: each gain is one entry.
///
/// # Which gains count
///
/// An entity gets a component when it is spawned with it, copied with it, or given it in any way,
/// if it had none before. The value is the value at that moment, or after the commands that gave
/// it. Overwriting a component is not a gain. The rules of [`Removals`](super::Removals) for merged
/// commands and for [sparse components](super::Removals#sparse-components) hold for gains as well,
/// and so do those of the [module](crate::logs) for the order, for readers, and for how long
/// entries are kept.
///
/// By the time of the read, an entity may have lost the component again or be despawned. To keep a
/// table of the entities that have a `C`, first read [`Removed`](super::Removed) and take out its
/// entities, and afterwards add the entities of [`Inserted`] that still have one, checked with
/// [`Lookup`](crate::Lookup), for a sparse component with [`Sparse`](crate::sparse::Sparse), and
/// for a relation with [`Relation::target`](crate::sparse::Relation::target). Entities that had one
/// before the reader began are found by a query.
///
/// # Cost
///
/// Without readers of any `Insertions`, one branch for each spawn and each move. With readers, an
/// entity and a value of `C` are copied for each gain, and each row that is spawned or changes its
/// components costs a look-up for each component that has readers.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] #[derive(Debug, PartialEq)] struct Health(f32);
/// let mut world = World::new();
/// let mut gained = world.cursor::<Insertions<Health>>();
/// let orc = world.spawn(Health(10.0));
/// world.insert(orc, Health(5.0))?; // no gain: it had one
/// let (entities, values) = gained.read(&world);
/// assert_eq!((entities, values), (&[orc][..], &[Health(10.0)][..]));
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
#[derive(Debug)]
pub struct Insertions<C>(PhantomData<fn(C) -> C>);

/// Reads the entities that got component `C`, with the values: each gain once, as two slices. A
/// system with this parameter does the work of a hook or an observer: it runs at its place in the
/// schedule, after the commands that have inserted the components, for all of them at once.
///
/// [`Insertions`] tells which gains count; [`LogReader`] has the methods.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Voice(u32);
/// fn play(mut inserted: Inserted<Voice>) {
///     let (entities, voices) = inserted.read();
///     for (entity, voice) in entities.iter().zip(voices) {
///         println!("{entity} plays {}", voice.0);
///     }
/// }
/// # let mut schedule = Schedule::new();
/// # schedule.add(play);
/// # schedule.run(&mut World::new())?;
/// # Ok::<(), ScheduleError>(())
/// ```
///
/// # Commands of a hook
///
/// No code runs in the middle of a structural change. The commands of a hook are applied at the
/// next sync point, as for any system, and hooks after it read the components that they insert: at
/// the latest in the next run. So hooks that insert components for each other take one step for
/// each sync point, and a cycle of such hooks never makes a run endless.
pub type Inserted<'s, C> = LogReader<'s, Insertions<C>>;

impl_row_log! {
    impl [C] Log for Insertions<C>;
    list: gained of C::Shape;
    access: "insertions of ";
    items: (&'w [Entity], &'w [Logged<C>]) = |rows| rows;
}
