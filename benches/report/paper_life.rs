//! Life in three storages: the sides of the paper's first figure.
//!
//! Archetypes have the states of the cells as a column, sparse components as a set of this library,
//! and the plain sparse set as the list of values of [`SparseSet`]. In each of them a frame finds
//! the neighbours by entity or by place. All next states are computed, and afterwards written.

use phalanx::prelude::*;

use crate::programs::life::{
    Alive, around, cells_of, look_up, neighbours_world, next_state, reference, start,
};
use crate::sparse_set::{Id, Ids, SparseSet};

/// Cells in one storage, with one way to find neighbours.
pub(crate) trait Cells {
    /// Computes the next generation.
    fn frame(&mut self);

    /// The state of each cell, in order.
    fn alive(&self) -> Vec<u8>;
}

/// The sides: the storages by entity, and in the same order by place.
pub(crate) fn sides(width: usize, height: usize) -> [Box<dyn Cells>; 6] {
    [
        Box::new(Columns::new(width, height)),
        Box::new(Components::new(width, height)),
        Box::new(Set::new(width, height)),
        Box::new(Placed(Columns::placed(width, height))),
        Box::new(Placed(Components::new(width, height))),
        Box::new(Placed(Set::new(width, height))),
    ]
}

/// Runs a frame of each side, and compares it with the rule.
pub(crate) fn check(sides: &mut [Box<dyn Cells>], width: usize, height: usize) {
    for (number, side) in sides.iter_mut().enumerate() {
        let want = reference(width, height, &side.alive());
        side.frame();
        assert!(side.alive() == want, "a frame of side {number}");
    }
}

/// Cells that find their neighbours by place.
struct Placed<C>(C);

/// The places of the eight cells around a cell, in the order of the query.
#[component]
struct Around([u32; 8]);

/// Cells as rows.
struct Columns {
    world: World,
    next: Vec<u8>,
    /// All states, of cells that are found by place.
    gathered: Vec<Alive>,
}

impl Columns {
    fn of(world: World) -> Self {
        Self { next: vec![0; world.len()], world, gathered: Vec::new() }
    }

    fn new(width: usize, height: usize) -> Self {
        Self::of(neighbours_world(ChunkSize::KIB_16, width, height))
    }

    fn placed(width: usize, height: usize) -> Self {
        let mut world = World::new();
        let cells = (0..).zip(start(width * height));
        world.spawn_batch(
            cells.map(|(cell, alive)| (Alive(alive), Around(around(width, height, cell)))),
        );
        Self::of(world)
    }
}

impl Cells for Columns {
    fn frame(&mut self) {
        look_up(&mut self.world, &mut self.next);
    }

    fn alive(&self) -> Vec<u8> {
        cells_of(&self.world)
    }
}

impl Cells for Placed<Columns> {
    fn frame(&mut self) {
        let Columns { world, next, gathered } = &mut self.0;
        gathered.clear();
        world.query::<&Alive>().copies().gather_into(gathered);
        let states = scalars::<u8>(gathered);
        let mut rest = &mut next[..];
        for (alive, around) in world.query::<(&Alive, &Around)>() {
            let next = rest.split_off_mut(..alive.len()).expect("as many as there are cells");
            for ((next, alive), around) in next.iter_mut().zip(alive).zip(around) {
                *next = next_by_place(states, alive.0, &around.0);
            }
        }
        let mut rest = &next[..];
        for alive in world.query_mut::<&mut Alive>() {
            let next = rest.split_off(..alive.len()).expect("as many as there are cells");
            scalars_mut(alive).copy_from_slice(next);
        }
    }

    fn alive(&self) -> Vec<u8> {
        self.0.alive()
    }
}

/// [`Alive`] as a sparse component.
#[component(sparse, plain)]
struct State(u8);
/// The entities around a cell.
#[component(sparse, plain)]
struct Neighbours([Entity; 8]);
/// The places of the cells around a cell, in the order of the sets.
#[component(sparse, plain)]
struct Places([u32; 8]);

/// Cells with sparse components only.
struct Components {
    world: World,
    next: Vec<u8>,
    /// All states, of cells that are found by place.
    gathered: Vec<u8>,
}

impl Components {
    fn new(width: usize, height: usize) -> Self {
        let mut world = World::new();
        let cells = (0..).zip(start(width * height));
        let cells = cells.map(|(cell, state)| (State(state), Places(around(width, height, cell))));
        let entities = world.spawn_batch(cells).to_vec();
        for (cell, &entity) in entities.iter().enumerate() {
            let around = around(width, height, cell).map(|cell| entities[cell as usize]);
            world.insert(entity, Neighbours(around)).expect("a cell");
        }
        Self { world, next: Vec::new(), gathered: Vec::new() }
    }
}

impl Cells for Components {
    fn frame(&mut self) {
        let Self { world, next, .. } = self;
        world.run(|mut states: SparseMut<State>, neighbours: Sparse<Neighbours>| {
            let state = |cell| states.get(cell).expect("every cell has a state").0;
            next.clear();
            next.extend(neighbours.iter().map(|(cell, around)| {
                next_state(state(cell), around.0.iter().map(|&other| state(other)).sum())
            }));
            for ((cell, _), next) in neighbours.iter().zip(&*next) {
                states.get_mut(cell).expect("every cell has a state").0 = *next;
            }
        });
    }

    fn alive(&self) -> Vec<u8> {
        self.world.sparse::<State>().iter().map(|(_, state)| state.0).collect()
    }
}

impl Cells for Placed<Components> {
    /// Sets are in one order, as no cell was removed. The values of a set are slices of a length
    /// for each type, so the states are gathered first, as those of archetypes are.
    fn frame(&mut self) {
        let Components { world, next, gathered } = &mut self.0;
        gathered.clear();
        for (_, states) in world.sparse::<State>().blocks() {
            gathered.extend_from_slice(scalars(states));
        }
        next.clear();
        let mut states = gathered.iter();
        for (_, around) in world.sparse::<Places>().blocks() {
            let all = around.iter().zip(&mut states);
            next.extend(all.map(|(around, &state)| next_by_place(gathered, state, &around.0)));
        }
        let mut rest = &next[..];
        for (_, states) in world.sparse_mut::<State>().blocks_mut() {
            let next = rest.split_off(..states.len()).expect("as many as there are cells");
            scalars_mut(states).copy_from_slice(next);
        }
    }

    fn alive(&self) -> Vec<u8> {
        self.0.alive()
    }
}

/// Cells in sparse sets that have the necessary work of a library.
struct Set {
    alive: SparseSet<u8>,
    neighbours: SparseSet<[Id; 8]>,
    places: SparseSet<[u32; 8]>,
    next: Vec<u8>,
}

impl Set {
    fn new(width: usize, height: usize) -> Self {
        let mut ids = Ids::default();
        let entities: Vec<_> = (0..width * height).map(|_| ids.spawn()).collect();
        let (mut alive, mut neighbours, mut places) =
            (SparseSet::new(), SparseSet::new(), SparseSet::new());
        entities.iter().zip(start(width * height)).for_each(|(&id, state)| alive.insert(id, state));
        for (cell, &entity) in entities.iter().enumerate() {
            let around = around(width, height, cell).map(|cell| entities[cell as usize]);
            let place = |cell| alive.place(cell).expect("every cell has a state");
            places.insert(entity, around.map(place));
            neighbours.insert(entity, around);
        }
        Self { alive, neighbours, places, next: Vec::new() }
    }
}

impl Cells for Set {
    fn frame(&mut self) {
        self.next.clear();
        let state = |entity| *self.alive.get(entity).expect("every cell has a state");
        self.next.extend(self.neighbours.iter().map(|(entity, around)| {
            next_state(state(entity), around.iter().map(|&other| state(other)).sum())
        }));
        for ((entity, _), next) in self.neighbours.iter().zip(&self.next) {
            *self.alive.get_mut(entity).expect("every cell has a state") = *next;
        }
    }

    fn alive(&self) -> Vec<u8> {
        self.alive.values().to_vec()
    }
}

impl Cells for Placed<Set> {
    /// All lists have one order, as no cell was removed; libraries have groups of components for
    /// this.
    fn frame(&mut self) {
        let Set { alive, places, next, .. } = &mut self.0;
        next.clear();
        let states = alive.values();
        let all = states.iter().zip(places.values());
        next.extend(all.map(|(&state, around)| next_by_place(states, state, around)));
        alive.values_mut().copy_from_slice(next);
    }

    fn alive(&self) -> Vec<u8> {
        self.0.alive()
    }
}

/// The next state of a cell, from the places of the cells around it.
#[inline(always)]
fn next_by_place(states: &[u8], state: u8, around: &[u32; 8]) -> u8 {
    next_state(state, around.iter().map(|&place| states[place as usize]).sum())
}
