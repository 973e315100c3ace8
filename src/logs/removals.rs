//! The log of lost components.

use core::marker::PhantomData;

use crate::entity::Entity;

use super::impl_row_log::impl_row_log;
use super::log_reader::LogReader;
use super::row_shape::Logged;

/// The log of the entities that lost component `C`, with the values: each loss is one entry.
///
/// # Which losses count
///
/// An entity loses a component when it is removed or exchanged for another, in any way, and when
/// the entity is despawned or the world is cleared. The value is the last one, outside of commands.
/// A [split
/// component](crate::component#split-components), which is several columns, has no reader.
///
/// A component that is overwritten is not lost, nor is a component whose entity gains or loses
/// others. [`flip`](crate::World::flip), [`compact`](crate::memory::MemoryMut::compact) and
/// [`retire_archetypes`](crate::memory::MemoryMut::retire_archetypes) cause no loss. Commands count
/// with their combined effect: a buffer that removes a component and inserts it again has
/// overwritten it, and an entity that the same commands spawn and despawn causes no loss, unless it
/// has [cleanup components](crate::component#cleanup-components). The value is the one from before
/// the commands, or one that they gave the entity: which one is not specified. The entities of
/// [`Despawns`](super::Despawns) are included if they had a `C`; a cleanup component is lost later,
/// when it is removed from the entity that is [`Gone`](crate::Gone).
///
/// An entity may be alive, may have a new `C`, and may be listed several times. The id of a
/// despawned entity is not used for a later entity, unless [`spawn_at`](crate::World::spawn_at)
/// does so.
///
/// The chunks that lost rows, without entities and values, are found by
/// [`Reordered`](crate::Reordered), which needs no reader. It does not report chunks without rows;
/// this log does.
///
/// # Sparse components
///
/// A [sparse component](crate::component#sparse-components) and a
/// [relation](crate::sparse::relation) have both logs, by the same rules: each value that comes is
/// a gain and each that goes is a loss, also by [`SparseMut`](crate::sparse::SparseMut), by the
/// rule `on_delete` of a relation, and where a target leaves the world. A new target overwrites the
/// relation: it is neither.
///
/// Entries are copies. Those of a type that is defined by `#[component(sparse, plain)]` or
/// `#[relation]` have the value, for a relation the target; those of other types, and of a relation
/// to many (`#[relation(many)]`), have `()` in its place.
///
/// Commands count with their combined effect between two barriers of their
/// [buffer](crate::CommandBuffer). A gain has the value that the entity has after them. An entity
/// that they spawn and despawn causes no entry, also if it has cleanup components. In a
/// world with relations, despawns separate commands on columns like barriers, and commands on
/// sparse components not.
///
/// ```
/// # use phalanx::prelude::*;
/// #[component(sparse)]
/// struct Name(String);
/// #[relation]
/// struct Target;
///
/// let mut world = World::new();
/// let (mut names, mut targets) =
///     (world.cursor::<Removals<Name>>(), world.cursor::<Removals<Target>>());
/// let enemy = world.spawn(Name("Mordred".to_owned()));
/// let archer = world.spawn(Target::of(enemy));
/// world.despawn(enemy)?;
/// assert_eq!(names.read(&world), (&[enemy][..], &[()][..]));
/// let (sources, relations) = targets.read(&world);
/// assert_eq!((sources, relations[0].target()), (&[archer][..], enemy));
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
///
/// # Cost
///
/// Without readers of losses or despawns, one branch for each structural change. With readers, an
/// entity and a value of `C` are copied for each loss, and each row that changes its components
/// costs a look-up for each component that has readers. A sparse component without readers costs a
/// branch for each value that comes or goes; one with readers costs, besides its entries, a look at
/// its notes in each call that despawns entities or changes any sparse component. It does not slow
/// changes of columns.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] #[derive(Debug, PartialEq)] struct Body(u32);
/// let mut world = World::new();
/// let mut lost = world.cursor::<Removals<Body>>();
/// let orcs = world.spawn_batch([Body(1), Body(2)]).to_vec();
/// world.remove::<Body>(orcs[1])?;
/// world.clear();
/// let (entities, values) = lost.read(&world);
/// assert_eq!((entities, values), (&[orcs[1], orcs[0]][..], &[Body(2), Body(1)][..]));
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
#[derive(Debug)]
pub struct Removals<C>(PhantomData<fn(C) -> C>);

/// Reads the entities that lost component `C`, with the values: each loss once, as two slices. For
/// objects outside of the world that belong to a component: a body in a physics engine, a voice, a
/// texture, an entry in an index.
///
/// [`Removals`] tells which losses count; [`LogReader`] has the methods.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Voice(u32);
/// struct Mixer(Vec<u32>);
///
/// fn silence(mut removed: Removed<Voice>, mut mixer: ResMut<Mixer>) {
///     let (_, voices) = removed.read();
///     for voice in voices {
///         mixer.0.retain(|playing| *playing != voice.0);
///     }
/// }
///
/// let mut world = World::new();
/// world.insert_resource(Mixer(vec![7, 8, 9]));
/// let orcs: Vec<_> = [7, 8, 9].map(|voice| world.spawn(Voice(voice))).into();
/// let mut schedule = Schedule::new();
/// schedule.add(silence);
/// schedule.run(&mut world)?; // it reads from its first run on
/// world.despawn(orcs[0])?;
/// world.remove::<Voice>(orcs[1])?;
/// schedule.run(&mut world)?;
/// assert_eq!(world.resource::<Mixer>().unwrap().0, [9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Removed<'s, C> = LogReader<'s, Removals<C>>;

impl_row_log! {
    impl [C] Log for Removals<C>;
    list: lost of C::Shape;
    access: "removals of ";
    items: (&'w [Entity], &'w [Logged<C>]) = |rows| rows;
}
