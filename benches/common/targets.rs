//! Values of targets: turrets that aim at places of random entities of another archetype.
//!
//! The limit is three flat `Vec`s and a fourth with the numbers of the targets. `phalanx` is a pass
//! with slices of the targets' places; `phalanx_lookup` looks up target and place of each row.

use std::hint::black_box;

use phalanx::prelude::*;
use phalanx::schedule::RunOnce;
use phalanx::sparse::Relation;

use super::programs::random::random_indices;
use super::sides::{Side, Workload, steady};
use super::world;

const TURRETS: usize = 100_000;

#[relation(name = "bench.aims_at")]
struct AimsAt;

#[component(name = "bench.aim.place")]
struct Place([f32; 3]);

/// The direction and the distance.
#[component(name = "bench.aim.aim")]
#[derive(PartialEq, Debug)]
struct Aim([f32; 4]);

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![
        Workload::new("targets_gathered", TURRETS, TURRETS)
            .limit(flat)
            .phalanx("phalanx", |chunk| {
                side(chunk, |targets: Relation<AimsAt>, places: Lookup<Place>, turrets: Turrets| {
                    targets.target_values(&places).for_each_chunk(
                        turrets,
                        |(aims, own), targets| {
                            for ((aim, own), target) in aims.iter_mut().zip(own).zip(targets) {
                                *aim = aimed(own, target);
                            }
                        },
                    );
                })
            })
            .phalanx("phalanx_lookup", |chunk| {
                side(chunk, |targets: Relation<AimsAt>, places: Lookup<Place>, turrets: Rows| {
                    for (turret, aim, own) in turrets.rows() {
                        let target = targets.target(turret).and_then(|one| places.get(one).ok());
                        if let Some(target) = target {
                            *aim = aimed(own, target);
                        }
                    }
                })
            }),
    ]
}

type Turrets<'w> = Query<'w, (&'static mut Aim, &'static Place)>;
type Rows<'w> = Query<'w, (Entity, &'static mut Aim, &'static Place)>;

fn place(number: usize) -> Place {
    Place([number as f32, (number % 100) as f32, 1.0])
}

#[inline(always)]
fn aimed(own: &Place, target: &Place) -> Aim {
    let [x, y, z] = [0, 1, 2].map(|axis| target.0[axis] - own.0[axis]);
    let distance = (x * x + y * y + z * z).sqrt();
    let near = 1.0 / distance.max(1e-3);
    Aim([x * near, y * near, z * near, distance])
}

/// The numbers of the targets.
fn targets() -> impl Iterator<Item = usize> {
    random_indices(TURRETS, TURRETS)
}

/// The places of turrets lie above those of their targets.
fn turret(number: usize) -> Place {
    let Place([x, y, z]) = place(number);
    Place([x, y, z + 50.0])
}

fn assert_aimed<'a>(aims: impl Iterator<Item = &'a Aim>) {
    let wanted = targets().enumerate().map(|(at, target)| aimed(&turret(at), &place(target)));
    assert!(aims.copied().eq(wanted), "an aim is wrong");
}

fn flat() -> impl Side {
    let own: Vec<_> = (0..TURRETS).map(turret).collect();
    let places: Vec<_> = (0..TURRETS).map(place).collect();
    let targets: Vec<u32> =
        targets().map(|target| u32::try_from(target).expect("few targets")).collect();
    steady(
        (own, places, targets, vec![Aim([0.0; 4]); TURRETS]),
        |(own, places, targets, aims)| {
            for ((aim, own), &target) in black_box(aims).iter_mut().zip(&*own).zip(&*targets) {
                *aim = aimed(own, &places[target as usize]);
            }
        },
        |(.., aims), _| assert_aimed(aims.iter()),
    )
}

fn side<M: 'static>(chunk: ChunkSize, aim: impl RunOnce<M, ()> + Copy) -> impl Side {
    let mut world = world(chunk);
    let places = world.spawn_batch((0..TURRETS).map(place)).to_vec();
    world.spawn_batch(
        targets()
            .enumerate()
            .map(|(at, target)| (turret(at), Aim([0.0; 4]), AimsAt::of(places[target]))),
    );
    steady(
        world,
        move |world| world.run(aim),
        |world, _| assert_aimed(world.query::<&Aim>().rows()),
    )
}
