use super::*;
use crate::churn::{self, CHURN_ENTITIES, CHURN_KINDS, kind_of};

/// Tables of plain `Vec`s whose rows are found by an id: the place of each id, the id of each row,
/// and a list of free ids. An id has no generation.
struct Tables {
    tables: Vec<Table>,
    places: Vec<Place>,
    free: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Place {
    table: u32,
    row: u32,
}

#[derive(Clone, Default)]
struct Table {
    positions: Vec<Position>,
    velocities: Vec<Velocity>,
    ids: Vec<u32>,
}

impl Tables {
    fn new(tables: usize) -> Self {
        Self { tables: vec![Table::default(); tables], places: Vec::new(), free: Vec::new() }
    }

    fn spawn(&mut self, table: usize, serial: usize) -> u32 {
        let Table { positions, velocities, ids } = &mut self.tables[table];
        let place = Place { table: table as u32, row: ids.len() as u32 };
        let id = match self.free.pop() {
            Some(id) => {
                self.places[id as usize] = place;
                id
            }
            None => {
                self.places.push(place);
                self.places.len() as u32 - 1
            }
        };
        positions.push(Position::new(pos0(serial)));
        velocities.push(Velocity::new(vel0(serial)));
        ids.push(id);
        id
    }

    fn despawn(&mut self, id: u32) {
        let place = self.places[id as usize];
        let row = place.row as usize;
        let Table { positions, velocities, ids } = &mut self.tables[place.table as usize];
        positions.swap_remove(row);
        velocities.swap_remove(row);
        ids.swap_remove(row);
        if let Some(&moved) = ids.get(row) {
            self.places[moved as usize] = place;
        }
        self.free.push(id);
    }

    fn x(&self, id: u32) -> f32 {
        let Place { table, row } = self.places[id as usize];
        self.tables[table as usize].positions[row as usize].x
    }

    fn len(&self) -> usize {
        self.tables.iter().map(|table| table.ids.len()).sum()
    }
}

pub(crate) fn churn(h: &mut Harness, _: usize) {
    let mut tables = Tables::new(CHURN_KINDS);
    let spawn = |serial| tables.spawn(kind_of(serial), serial);
    let ids = (0..CHURN_ENTITIES).map(spawn).collect();
    churn::churn(
        h,
        "",
        (tables, ids),
        |tables, ids, replaced| {
            replaced.places.iter().for_each(|&place| tables.despawn(ids[place]));
            for (place, serial, kind) in replaced.births() {
                ids[place] = tables.spawn(kind, serial);
            }
        },
        |tables, id| tables.x(id),
        |tables| tables.len(),
    );
}

pub(crate) fn spawn_despawn(h: &mut Harness, _: usize) {
    churn::spawn_despawn(
        h,
        "",
        Tables::new(1),
        |tables, serial| tables.spawn(0, serial),
        Tables::despawn,
        |tables, id| tables.x(id),
        |tables| tables.len(),
    );
}
