use super::*;
use crate::frame::{self, Census, Clock, Mover, TAGS, frame_rows};

frame_rows! { [] }

/// Movers with the same components, whatever their tags. Nothing refers to a mover, so none has an
/// id, and beacons are found by their numbers.
#[derive(Default)]
struct Table {
    positions: Vec<Position>,
    velocities: Vec<Velocity>,
    forces: Vec<Force>,
    healths: Vec<Health>,
    lives: Vec<Life>,
    targets: Vec<u32>,
    /// Empty where movers have none.
    poisons: Vec<Poison>,
    drags: Vec<Drag>,
}

struct World {
    tables: [Table; 3],
    beacons: Vec<Position>,
    signals: Vec<Signal>,
    mirrors: Vec<Mirror>,
    clock: Clock,
}

pub(crate) fn frame(h: &mut Harness, _: usize) {
    h.run("", World::new(), World::frame, |world| world.census());
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        h.run(
            "avx2",
            World::new(),
            // SAFETY: the processor has AVX2.
            |world| unsafe { frame_avx2(world) },
            |world| world.census(),
        );
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn frame_avx2(world: &mut World) {
    world.frame();
}

impl World {
    fn new() -> Self {
        let mut world = Self {
            tables: Default::default(),
            beacons: (0..frame::BEACONS).map(|i| Position::new(frame::beacon(i))).collect(),
            signals: vec![Signal(0); frame::BEACONS],
            mirrors: vec![Mirror(1); frame::BEACONS],
            clock: Clock::default(),
        };
        Mover::first().for_each(|mover| world.tables[mover.kind / TAGS].push(&mover));
        world
    }

    #[inline(always)]
    fn frame(&mut self) {
        // No closure: the compiler may leave one out of line, without the features of its caller.
        for table in &mut self.tables {
            table.frame(&self.beacons);
        }
        for number in self.clock.signals() {
            self.signals[number].0 += 1;
            // The beacons that changed are known.
            mirror_row(&mut self.mirrors[number], &self.signals[number]);
        }
        for mover in self.clock.born() {
            self.tables[mover.kind / TAGS].push(&mover);
        }
    }

    fn census(&self) -> Outcome {
        let mut census = Census::default();
        for table in &self.tables {
            for (row, life) in table.lives.iter().enumerate() {
                let (p, v) = (table.positions[row], table.velocities[row]);
                let vectors = [[p.x, p.y, p.z], [v.x, v.y, v.z]];
                census.mover(life.serial, life.left, table.healths[row].0, vectors);
            }
        }
        for (number, p) in self.beacons.iter().enumerate() {
            census.beacon([p.x, p.y, p.z], self.signals[number].0, self.mirrors[number].0);
        }
        census.outcome()
    }
}

impl Table {
    fn push(&mut self, mover: &Mover) {
        self.positions.push(Position::new(mover.position));
        self.velocities.push(Velocity::new(mover.velocity));
        self.forces.push(Force::new([0.0; 3]));
        self.healths.push(Health(mover.health));
        self.lives.push(Life { left: mover.left, serial: mover.serial });
        self.targets.push(mover.beacon as u32);
        match mover.kind / TAGS {
            0 => {}
            1 => self.poisons.push(Poison(mover.extra)),
            _ => self.drags.push(Drag(mover.extra)),
        }
    }

    #[inline(always)]
    fn frame(&mut self, beacons: &[Position]) {
        let Self { positions, velocities, forces, healths, lives, targets, poisons, drags } = self;
        for ((force, position), &target) in forces.iter_mut().zip(&*positions).zip(&*targets) {
            steer_row(force, position, &beacons[target as usize]);
        }
        velocities.iter_mut().zip(&*forces).for_each(|(v, f)| accelerate_row(v, f));
        velocities.iter_mut().zip(&*drags).for_each(|(v, d)| slow_row(v, d));
        positions.iter_mut().zip(&*velocities).for_each(|(p, v)| advance_row(p, v));
        positions.iter().zip(&mut *velocities).for_each(|(p, v)| bounce_row(p, v));
        healths.iter_mut().zip(&*poisons).for_each(|(h, p)| sicken_row(h, p));
        healths.iter_mut().for_each(heal_row);
        lives.iter_mut().for_each(age_row);
        for row in (0..lives.len()).rev() {
            if lives[row].left == 0 {
                positions.swap_remove(row);
                velocities.swap_remove(row);
                forces.swap_remove(row);
                healths.swap_remove(row);
                lives.swap_remove(row);
                targets.swap_remove(row);
                if !poisons.is_empty() {
                    poisons.swap_remove(row);
                }
                if !drags.is_empty() {
                    drags.swap_remove(row);
                }
            }
        }
    }
}
