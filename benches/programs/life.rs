//! Conway's Life on a torus, one entity a cell, with neighbours found by entity.

use phalanx::prelude::*;

use super::Program;
use super::components::world;
use super::proof::same;
use super::random::random;

/// Whether a cell lives: 1 or 0.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct Alive(pub u8);

/// The eight cells around a cell.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct Neighbours(pub [Entity; 8]);

impl_component!(Alive as "bench.alive", Neighbours as "bench.neighbours");

/// A world of cells, each with its neighbours.
pub fn neighbours_world(chunk: ChunkSize, width: usize, height: usize) -> World {
    let mut world = world(chunk);
    let cells = start(width * height).into_iter().map(|cell| (Alive(cell), Neighbours::zeroed()));
    let entities = world.spawn_batch(cells).to_vec();
    for (cell, neighbours) in world.query_mut::<&mut Neighbours>().rows().enumerate() {
        neighbours.0 = around(width, height, cell).map(|i| entities[i as usize]);
    }
    world
}

/// All next states are computed from the world, and afterwards written to it.
pub fn look_up(world: &mut World, next: &mut [u8]) {
    let states = world.lookup::<Alive>();
    let mut rest = &mut *next;
    for (alive, neighbours) in world.query::<(&Alive, &Neighbours)>() {
        let next = rest.split_off_mut(..alive.len()).expect("as many as there are cells");
        for ((next, alive), around) in next.iter_mut().zip(alive).zip(neighbours) {
            let neighbours = around.0.iter().map(|&cell| states.get(cell).expect("alive").0).sum();
            *next = next_state(alive.0, neighbours);
        }
    }
    let mut rest = &*next;
    for alive in world.query_mut::<&mut Alive>() {
        let next = rest.split_off(..alive.len()).expect("as many as there are cells");
        scalars_mut(alive).copy_from_slice(next);
    }
}

/// Generations by [`look_up`].
pub struct LookUpLife {
    world: World,
    next: Vec<u8>,
    width: usize,
}

impl LookUpLife {
    /// A torus of `width` times `height` cells.
    pub fn new(chunk: ChunkSize, width: usize, height: usize) -> Self {
        let world = neighbours_world(chunk, width, height);
        Self { world, next: vec![0; width * height], width }
    }
}

impl Program for LookUpLife {
    fn pass(&mut self) {
        look_up(&mut self.world, &mut self.next);
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        let (width, height) = (self.width, self.next.len() / self.width);
        let want =
            (0..passes).fold(start(width * height), |cells, _| reference(width, height, &cells));
        let cells = cells_of(&self.world);
        let wrong = cells.iter().zip(&want).filter(|(cell, want)| cell != want).count();
        same("the number of cells", cells.len(), want.len())?;
        same("the number of wrong cells", wrong, 0)
    }
}

/// The number of living cells around a cell.
#[component]
pub struct Count(u8);

/// Disabled in dead cells.
#[component(enableable)]
pub struct Living;

/// Cells, with the dead ones disabled, and the systems of a generation.
pub struct Switched {
    world: World,
    generation: Schedule,
}

impl Switched {
    pub fn new(chunk: ChunkSize, width: usize, height: usize) -> Self {
        let mut world = world(chunk);
        let start = start(width * height);
        let cell = |_| (Count(0), Neighbours::zeroed(), Living);
        let entities = world.spawn_batch((0..start.len()).map(cell)).to_vec();
        for (cell, neighbours) in world.query_mut::<&mut Neighbours>().rows().enumerate() {
            neighbours.0 = around(width, height, cell).map(|i| entities[i as usize]);
        }
        for (entity, _) in entities.iter().zip(start).filter(|(_, alive)| *alive == 0) {
            world.set_enabled::<Living>(*entity, false).expect("a cell");
        }
        let mut generation = Schedule::new();
        generation.add((count, live)).chain();
        Self { world, generation }
    }

    /// One generation.
    pub fn step(&mut self) {
        self.generation.run(&mut self.world).expect("no system fails");
    }

    /// All cells, in order.
    pub fn cells(&self) -> Vec<u8> {
        let living = self.world.query::<Enabled<Living>>();
        living.iter().flat_map(|living| living.into_iter().map(u8::from)).collect()
    }
}

/// Living cells count themselves in their neighbours.
fn count(living: Query<&Neighbours, With<Living>>, mut counts: LookupMut<Count>) {
    for around in living.iter().flatten() {
        for &cell in &around.0 {
            counts.get_mut(cell).expect("a cell").0 += 1;
        }
    }
}

/// Cells are born and die.
fn live(mut cells: Query<(&mut Count, EnabledMut<Living>)>) {
    for (counts, mut living) in cells.iter_mut() {
        living.update(|row, alive| next_state(u8::from(alive), counts[row].0) == 1);
        counts.fill(Count(0));
    }
}

/// The living cells have it.
#[component(sparse, plain)]
pub struct Inhabited;

/// Cells of which the living are a sparse set, and the systems of a generation.
pub struct Populated {
    world: World,
    cells: Vec<Entity>,
    generation: Schedule,
}

impl Populated {
    pub fn new(chunk: ChunkSize, width: usize, height: usize) -> Self {
        let mut world = world(chunk);
        let start = start(width * height);
        let empty = |_| (Count(0), Neighbours::zeroed());
        let cells = world.spawn_batch((0..start.len()).map(empty)).to_vec();
        for (cell, neighbours) in world.query_mut::<&mut Neighbours>().rows().enumerate() {
            neighbours.0 = around(width, height, cell).map(|i| cells[i as usize]);
        }
        for (&cell, _) in cells.iter().zip(start).filter(|(_, alive)| *alive == 1) {
            world.insert(cell, Inhabited).expect("a cell");
        }
        let mut generation = Schedule::new();
        generation.add((count_inhabited, leave, settle)).chain();
        Self { world, cells, generation }
    }

    /// One generation.
    pub fn step(&mut self) {
        self.generation.run(&mut self.world).expect("no system fails");
    }

    /// All cells, in order.
    pub fn cells(&self) -> Vec<u8> {
        let inhabited = self.world.sparse::<Inhabited>();
        self.cells.iter().map(|&cell| u8::from(inhabited.contains(cell))).collect()
    }
}

/// Living cells count themselves in their neighbours.
fn count_inhabited(living: Query<&Neighbours, With<Inhabited>>, mut counts: LookupMut<Count>) {
    for around in living.rows() {
        for &cell in &around.0 {
            counts.get_mut(cell).expect("a cell").0 += 1;
        }
    }
}

/// Living cells die: the walk is over them alone.
fn leave(
    counts: Lookup<Count>,
    mut inhabited: SparseMut<Inhabited>,
    mut dying: Local<Vec<Entity>>,
) {
    let dies = |&cell: &Entity| !matches!(counts.get(cell).expect("a cell").0, 2 | 3);
    dying.extend(inhabited.iter().map(|(cell, _)| cell).filter(dies));
    dying.drain(..).for_each(|cell| _ = inhabited.remove(cell));
}

/// Cells with three living neighbours live, whether they did or not.
fn settle(mut cells: Query<(Entity, &mut Count)>, mut inhabited: SparseMut<Inhabited>) {
    for (cells, counts) in cells.iter_mut() {
        for (&cell, _) in cells.iter().zip(&*counts).filter(|(_, count)| count.0 == 3) {
            inhabited.insert(cell, Inhabited).expect("a cell");
        }
        counts.fill(Count(0));
    }
}

/// All cells, in order.
pub fn cells_of(world: &World) -> Vec<u8> {
    world.query::<&Alive>().iter().flat_map(scalars::<u8>).copied().collect()
}

/// A soup of cells, half of them alive.
pub fn start(len: usize) -> Vec<u8> {
    let mut random = random(0xBEEF_CAFE_0001_0003);
    (0..len).map(|_| u8::from((random() >> 40) & 1 == 1)).collect()
}

/// The eight neighbours of a cell on the torus.
pub fn around(width: usize, height: usize, cell: usize) -> [u32; 8] {
    let (x, y) = (cell % width, cell / width);
    let (west, east) = ((x + width - 1) % width, (x + 1) % width);
    let (north, south) = ((y + height - 1) % height, (y + 1) % height);
    let there = [
        (west, north),
        (x, north),
        (east, north),
        (west, y),
        (east, y),
        (west, south),
        (x, south),
        (east, south),
    ];
    there.map(|(x, y)| u32::try_from(y * width + x).expect("few cells"))
}

/// The state of a cell with this number of live neighbours.
#[inline(always)]
pub fn next_state(alive: u8, neighbours: u8) -> u8 {
    u8::from(neighbours | alive == 3)
}

/// The next generation, directly by the rule.
pub fn reference(width: usize, height: usize, cells: &[u8]) -> Vec<u8> {
    let next = |(cell, &alive)| {
        let around = around(width, height, cell);
        let neighbours = around.iter().filter(|&&i| cells[i as usize] == 1).count();
        u8::from(if alive == 1 { matches!(neighbours, 2 | 3) } else { neighbours == 3 })
    };
    cells.iter().enumerate().map(next).collect()
}
