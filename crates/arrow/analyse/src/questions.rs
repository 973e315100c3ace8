//! The questions about the herd: in SQL, and as a loop over the columns of the world.

use crate::answer::{Answer, Value};
use crate::herd::{Energy, Kind, Position, Prey, Resting};
use phalanx::prelude::*;
use std::cmp::Reverse;

/// A question, and the loop that answers it too.
pub(crate) struct Question {
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
    pub(crate) by_loop: fn(&World) -> Answer,
}

/// Each uses another kind of column. Sums are of doubles on both sides, and none is zero: an empty
/// group would have no mean in SQL.
pub(crate) const QUESTIONS: &[Question] = &[
    Question {
        name: "animals by kind (an enum)",
        sql: "SELECT kind, count(*) FROM herd GROUP BY kind ORDER BY kind",
        by_loop: animals_by_kind,
    },
    Question {
        name: "energy of those at rest and not (a tag)",
        sql: "SELECT resting, count(*), avg(CAST(energy AS DOUBLE)) FROM herd \
              GROUP BY resting ORDER BY resting",
        by_loop: energy_by_resting,
    },
    Question {
        name: "a quarter of the meadow (fields)",
        sql: "SELECT count(*), avg(CAST(energy AS DOUBLE)) FROM herd \
              WHERE \"position.x\" >= 250 AND \"position.x\" < 750 \
              AND \"position.y\" >= 250 AND \"position.y\" < 750",
        by_loop: middle_quarter,
    },
    Question {
        name: "the ten with most energy (ids)",
        sql: "SELECT CAST(energy AS DOUBLE) AS energy, entity FROM herd \
              ORDER BY energy DESC, entity LIMIT 10",
        by_loop: strongest,
    },
    Question {
        name: "wolves and what they follow (a join)",
        sql: "SELECT target.kind, count(*), avg(sqrt(\
              power(CAST(wolf.\"position.x\" AS DOUBLE) - target.\"position.x\", 2) + \
              power(CAST(wolf.\"position.y\" AS DOUBLE) - target.\"position.y\", 2))) \
              FROM herd AS wolf JOIN herd AS target ON wolf.prey = target.entity \
              GROUP BY 1 ORDER BY 1",
        by_loop: wolves_and_prey,
    },
];

/// Counts and sums, of groups.
#[derive(Clone, Copy, Default)]
struct Mean {
    count: u64,
    sum: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
    }

    /// A count and a mean, as the last values of a row.
    fn values(self) -> [Value; 2] {
        [Value::Whole(self.count), Value::Number(self.sum / self.count as f64)]
    }
}

fn animals_by_kind(world: &World) -> Answer {
    let mut counts = [0; KINDS];
    for kinds in world.query::<&Kind>() {
        kinds.iter().for_each(|kind| counts[*kind as usize] += 1);
    }
    by_name(|kind| counts[kind as usize] > 0, |kind| vec![Value::Whole(counts[kind as usize])])
}

fn energy_by_resting(world: &World) -> Answer {
    let (mut resting, mut others) = (Mean::default(), Mean::default());
    for energies in world.query::<&Energy>().with::<Resting>() {
        energies.iter().for_each(|energy| resting.add(energy.0.into()));
    }
    for energies in world.query::<&Energy>().without::<Resting>() {
        energies.iter().for_each(|energy| others.add(energy.0.into()));
    }
    let row = |name: &str, mean: Mean| {
        let name = Value::Text(name.to_owned());
        [name].into_iter().chain(mean.values()).collect()
    };
    Answer(vec![row("false", others), row("true", resting)])
}

fn middle_quarter(world: &World) -> Answer {
    let (middle, mut mean) = (250.0..750.0, Mean::default());
    for (position, energy) in world.query::<(&Position, &Energy)>() {
        for ((x, y), energy) in position.x.iter().zip(position.y).zip(energy) {
            if middle.contains(x) && middle.contains(y) {
                mean.add(energy.0.into());
            }
        }
    }
    Answer(vec![mean.values().into()])
}

fn strongest(world: &World) -> Answer {
    // Ids are in descending order where energies are equal, so that the tenth is the least.
    let mut strongest: Vec<(f32, Reverse<u64>)> = Vec::new();
    for (entities, energies) in world.query::<(Entity, &Energy)>() {
        for (entity, energy) in entities.iter().zip(energies) {
            let row = (energy.0, Reverse(entity.to_bits()));
            if strongest.len() == 10 && row < strongest[9] {
                continue;
            }
            let place = strongest.partition_point(|&other| other > row);
            strongest.insert(place, row);
            strongest.truncate(10);
        }
    }
    let row =
        |(energy, id): (f32, Reverse<u64>)| vec![Value::Number(energy.into()), Value::Whole(id.0)];
    Answer(strongest.into_iter().map(row).collect())
}

fn wolves_and_prey(world: &World) -> Answer {
    let (kinds, mut means) = (world.lookup::<Kind>(), [Mean::default(); KINDS]);
    for (position, prey) in world.query::<(&Position, &Prey)>() {
        for ((x, y), prey) in position.x.iter().zip(position.y).zip(prey) {
            let target = world.get::<Position>(prey.0).expect("nothing dies");
            let distance = hypotenuse(
                f64::from(*x) - f64::from(target.x),
                f64::from(*y) - f64::from(target.y),
            );
            means[*kinds.get(prey.0).expect("all have a kind") as usize].add(distance);
        }
    }
    by_name(|kind| means[kind as usize].count > 0, |kind| means[kind as usize].values().into())
}

const KINDS: usize = 3;

/// A row for each kind in the herd, in the order of their names.
fn by_name(has: impl Fn(Kind) -> bool, values: impl Fn(Kind) -> Vec<Value>) -> Answer {
    let kinds = [("Deer", Kind::Deer), ("Hare", Kind::Hare), ("Wolf", Kind::Wolf)];
    let rows = kinds.into_iter().filter(|&(_, kind)| has(kind)).map(|(name, kind)| {
        let name = Value::Text(name.to_owned());
        [name].into_iter().chain(values(kind)).collect()
    });
    Answer(rows.collect())
}

fn hypotenuse(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}
