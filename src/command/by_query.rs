//! Commands on all that a query matches by then.

use core::panic::Location;

use crate::bundle::Bundle;
use crate::entity::Entity;
use crate::query::{CONFLICT, Filter, Terms, conflicts};
use crate::storage::LayoutError;
use crate::world::{InsertError, RowValues, World};

use super::buffer::CommandBuffer;

/// How many entities were changed, and the first that could not be.
type Outcome = (usize, Result<(), (Entity, LayoutError)>);

impl CommandBuffer {
    /// Records that everything that `Q` and `F` match at playback gets the components of `bundle`.
    /// A barrier.
    ///
    /// Components decide: [`Changed`](crate::Changed) and [`Added`](crate::Added) compare with a
    /// version that a command does not have, and do not compile.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Frozen;
    /// # component!(Health, Frozen);
    /// # let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.insert_where::<&Health, Without<Frozen>, _>(Frozen);
    /// world.apply(&mut buffer).unwrap();
    /// assert!(world.has::<Frozen>(entity));
    /// # Ok::<(), phalanx::EntitiesExhausted>(())
    /// ```
    #[track_caller]
    pub fn insert_where<Q: Terms, F: Filter, B: Bundle>(&mut self, bundle: B) {
        assert_by_components::<Q, F>();
        let change = insert_matches::<Q, F, B>;
        self.recorder.by_query::<(), B>(&bundle, change, Location::caller());
    }

    /// Records that everything that `Q` and `F` match at playback loses those components of `B` that
    /// it has. A barrier.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Frozen;
    /// # component!(Health, Frozen);
    /// # let mut world = World::new();
    /// let entity = world.spawn((Health(1.0), Frozen));
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.remove_where::<&Health, (), Frozen>();
    /// world.apply(&mut buffer).unwrap();
    /// assert!(!world.has::<Frozen>(entity));
    /// # Ok::<(), phalanx::EntitiesExhausted>(())
    /// ```
    #[track_caller]
    pub fn remove_where<Q: Terms, F: Filter, B: Bundle>(&mut self) {
        assert_by_components::<Q, F>();
        let change = remove_matches::<Q, F, B>;
        self.recorder.by_query::<B, ()>(&(), change, Location::caller());
    }

    /// Records the end of everything that `Q` and `F` match at playback. A barrier.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Bullet;
    /// # component!(Bullet);
    /// # let mut world = World::new();
    /// world.spawn_batch([Bullet; 100]);
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.despawn_where::<&Bullet, ()>();
    /// world.apply(&mut buffer).unwrap();
    /// assert!(world.is_empty());
    /// # Ok::<(), phalanx::EntitiesExhausted>(())
    /// ```
    #[track_caller]
    pub fn despawn_where<Q: Terms, F: Filter>(&mut self) {
        assert_by_components::<Q, F>();
        self.recorder.by_query::<(), ()>(&(), despawn_matches::<Q, F>, Location::caller());
    }
}

/// A compile error for a query that a command cannot ask.
const fn assert_by_components<Q: Terms, F: Filter>() {
    const { assert!(!conflicts::<Q>(), "{}", CONFLICT) };
    const {
        assert!(
            !F::BY_CHUNK,
            "a command by query is decided by components: `Changed` and `Added` have no version to compare with, drop them"
        );
    };
}

fn insert_matches<Q: Terms, F: Filter, B: Bundle>(world: &mut World, mut value: &[u8]) -> Outcome {
    let bundle = B::load(&mut value);
    change_matches::<Q, F>(world, |world, entity| world.insert(entity, bundle))
}

fn remove_matches<Q: Terms, F: Filter, B: Bundle>(world: &mut World, _: &[u8]) -> Outcome {
    let store = &mut world.store;
    let removed = store.bundles.id::<B>(&mut store.source.registry);
    let nothing = store.bundles.set_id(&[]);
    change_matches::<Q, F>(world, |world, entity| {
        let values = RowValues { bytes: &[], starts: &[] };
        world.merge(entity, (removed, nothing), values).map(|_| ())
    })
}

fn despawn_matches<Q: Terms, F: Filter>(world: &mut World, _: &[u8]) -> Outcome {
    change_matches::<Q, F>(world, |world, entity| Ok(world.despawn(entity)?))
}

/// Changes everything that a query matches, one by one.
fn change_matches<Q: Terms, F: Filter>(
    world: &mut World,
    mut change: impl FnMut(&mut World, Entity) -> Result<(), InsertError>,
) -> Outcome {
    let archetypes = world.store.source.matching::<Q, F>();
    let matches: Vec<Entity> = archetypes.flat_map(|a| a.entities.iter().copied()).collect();
    let (mut changed, mut first) = (0, Ok(()));
    for entity in matches {
        match change(world, entity) {
            Ok(()) => changed += 1,
            Err(InsertError::Layout(error)) => first = first.and(Err((entity, error))),
            Err(InsertError::NoSuchEntity(_)) => unreachable!("what a query matches is alive"),
        }
    }
    (changed, first)
}
