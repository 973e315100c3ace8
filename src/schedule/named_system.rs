//! A system whose access is data: a query of names.

use core::any::{TypeId, type_name};
use core::fmt;

use core::ops::Range;
use std::sync::Arc;

use crate::command::CommandBuffer;
use crate::component::Registry;
use crate::store::{AccessRequest, NamedPlan, RequestKey};
use crate::world::{BytesError, NamedChunkMut, NamedQuery, World};

use super::entry::SystemEntry;
use super::name::FunctionName;
use super::order::OrderNode;
use super::param::SystemRun;
use super::param_access::{ParamAccess, ParamKind};
use super::schedule::Schedule;
use super::schedule_error::AliasingParameters;
use super::system::{DynSystem, NoResult};
use super::system_output::SystemError;
use super::systems::{Systems, sealed};

/// A system of a query that is data; made by [`NamedQuery::system`].
#[derive(Clone)]
#[must_use = "`Schedule::add` takes it"]
pub struct NamedSystem<F> {
    query: NamedQuery,
    function: F,
}

impl<F> fmt::Debug for NamedSystem<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedSystem").field("query", &self.query).finish_non_exhaustive()
    }
}

/// # Systems
impl NamedQuery {
    /// A system that calls `f` with the rows that the query matches, as
    /// [`ReflectMut::for_each_chunk`](crate::reflect::ReflectMut::for_each_chunk) does: for
    /// [`Schedule::add`].
    ///
    /// The query declares the access of the system: it runs in parallel with systems that do not
    /// write columns that it reads, and do not access columns that it writes, typed ones as well.
    /// The columns of a chunk are those of the query's terms, in their order; to write a column
    /// that it only reads is an error at the column. Columns that it writes are stamped in each
    /// chunk that is visited. A system that is not [named](crate::schedule::SystemEntry::named) has
    /// the names of the function around `f` and of the columns: `closure in main of mod.fuel`.
    ///
    /// Names are looked up when the schedule runs: components may be registered later than the
    /// system is added. If the world does not know one, the system fails with the [`BytesError`]
    /// that says so, all others run, and the next run looks for the name again, and at the access
    /// of all systems. A query with two columns of a component fails in the same way at each run.
    /// O(archetypes that match + chunks + runs) for a run, besides `f`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use phalanx::reflect::NamedQuery;
    ///
    /// #[component(name = "game.ship")]
    /// struct Ship { thrust: f32 }
    ///
    /// let mut world = World::new();
    /// world.reflect_mut().register_layout("mod.fuel", [("litres", "f32")])?;
    /// let ship = world.spawn(Ship { thrust: 0.5 });
    /// world.reflect_mut().insert(ship, [("mod.fuel", &9_f32.to_ne_bytes()[..])])?;
    ///
    /// let burn = NamedQuery::new().write("mod.fuel").read("game.ship").system(|chunk| {
    ///     let [fuel, ships] = chunk.columns_mut() else { unreachable!("two terms") };
    ///     let litres = fuel.bytes_mut().unwrap().as_chunks_mut().0;
    ///     for (litres, ship) in litres.iter_mut().zip(ships.values::<Ship>().unwrap()) {
    ///         *litres = (f32::from_ne_bytes(*litres) - ship.thrust).to_ne_bytes();
    ///     }
    /// });
    /// let mut schedule = Schedule::new();
    /// schedule.add(burn).named("burn");
    /// schedule.add(|ships: Query<&mut Ship>| ships.rows().for_each(|ship| ship.thrust *= 2.0));
    /// schedule.run(&mut world)?;
    /// let view = world.entity(ship)?;
    /// assert_eq!(view.component("mod.fuel").unwrap().bytes(), 8.5_f32.to_ne_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn system<F>(self, f: F) -> NamedSystem<F>
    where
        F: FnMut(&mut NamedChunkMut<'_>) + Send + 'static,
    {
        NamedSystem { query: self, function: f }
    }
}

/// The marker of a system of a query of names.
#[derive(Debug)]
pub struct ByName(());

impl<F> sealed::Sealed<ByName> for NamedSystem<F> {}
impl<F> Systems<ByName> for NamedSystem<F>
where
    F: FnMut(&mut NamedChunkMut<'_>) + Send + 'static,
{
    type Entry<'s> = SystemEntry<'s>;
    const ASSERT_VALID: () = ();

    fn push_all(self, schedule: &mut Schedule) -> Result<(), AliasingParameters> {
        let function = FunctionName::new(type_name::<F>());
        // Functions of one function around them have one name, and mostly different queries.
        let names: Vec<_> = self.query.names().collect();
        let name = match names.is_empty() {
            true => function.name.clone(),
            false => format!("{} of {}", function.name, names.join(", ")),
        };
        let id = Some(TypeId::of::<F>());
        let node = OrderNode { name, function, id, ..OrderNode::default() };
        let Self { query, function } = self;
        let system = NamedState { query, function, key: RequestKey::unique(), request: None };
        schedule.push(node, Box::new(system));
        Ok(())
    }

    fn entry(schedule: &mut Schedule, systems: Range<usize>) -> SystemEntry<'_> {
        SystemEntry::new(schedule, systems.start)
    }
}

/// The function with its request.
struct NamedState<F> {
    query: NamedQuery,
    function: F,
    key: RequestKey,
    /// In ids of the world that it is bound to, with its plan, or the reason why that world has
    /// none.
    request: Option<Result<(AccessRequest, Arc<NamedPlan>), BytesError>>,
}

impl<F> DynSystem<()> for NamedState<F>
where
    F: FnMut(&mut NamedChunkMut<'_>) + Send + 'static,
{
    fn bind(&mut self, world: &mut World) {
        if !matches!(self.request, Some(Ok(_))) {
            self.request = Some(self.query.request_in(world, self.key));
        }
    }

    fn is_bound(&self) -> bool {
        matches!(self.request, Some(Ok(_)))
    }

    fn unbind(&mut self) {
        self.request = None;
    }

    fn access(&self, registry: &mut Registry) -> Vec<ParamAccess> {
        let request = match &self.request {
            Some(Ok((request, _))) if request.is_of(registry) => request.clone(),
            _ => self.query.request_anywhere(registry, self.key),
        };
        vec![ParamAccess(ParamKind::Columns(request))]
    }

    fn run(&mut self, run: SystemRun<'_>) -> Result<(), NoResult> {
        let request = self.request.as_mut().expect("the system was not bound");
        let (request, plan) =
            request.as_mut().map_err(|error| NoResult::Failed(SystemError::new(error.clone())))?;
        let mut guard = run.split.grant(request, run.now);
        NamedChunkMut::visit_granted(&mut guard, Arc::make_mut(plan), &mut self.function);
        Ok(())
    }

    fn buffers(&mut self) -> Vec<&mut CommandBuffer> {
        Vec::new()
    }

    fn send_events(&mut self, _: &SystemRun<'_>, _: bool) {}

    fn held_bytes(&self) -> usize {
        0
    }

    fn compact(&mut self) {}
}
