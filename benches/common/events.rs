//! Events: the cost of sending and reading one, beside a flat `Vec`.
//!
//! One system sends, another adds up the events; in `phalanx_two_writers` each of two systems sends
//! half, and the reader finds both halves in one slice. The limit pushes to a `Vec`, adds up and
//! clears it. `events_send` and `events_read` are the times of the systems as the schedule measures
//! them, including handing over and joining the events. `events` is a whole run, with the
//! schedule's own time. A unit is one event of eight bytes.

use std::hint::black_box;
use std::time::{Duration, Instant};

use phalanx::prelude::*;

use super::sides::{Side, Workload, partial, steady};
use super::world;

/// Numbers of events in a pass.
const SIZES: [usize; 2] = [1_000, 100_000];

/// An event.
#[derive(Clone, Copy)]
struct Hit {
    target: u32,
    damage: f32,
}

/// The sum of all damages and targets that were read.
#[derive(Default)]
struct Sum(f64);

impl Sum {
    fn add(&mut self, hits: &[Hit]) {
        let (mut targets, mut damage) = (0u64, 0.0f32);
        for hit in hits {
            targets += u64::from(hit.target);
            damage += hit.damage;
        }
        self.0 += targets as f64 + f64::from(damage);
    }

    /// Asserts the sum of `steps` passes over `len` events.
    #[track_caller]
    fn check(&self, len: usize, steps: u64) {
        let one = len as f64 * (len - 1) as f64 / 2.0 + len as f64;
        assert_eq!(self.0, one * steps as f64, "all events of {steps} passes");
    }
}

fn hit(i: usize) -> Hit {
    Hit { target: u32::try_from(black_box(i)).expect("few"), damage: 1.0 }
}

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    let of = |new: fn(usize) -> Workload| SIZES.map(new);
    [of(send), of(read), of(whole)].into_iter().flatten().collect()
}

/// A world and a schedule of writers and a reader.
struct Frame {
    world: World,
    schedule: Schedule,
    len: usize,
    runs: u64,
}

impl Frame {
    fn new(chunk: ChunkSize, len: usize, writers: usize) -> Self {
        let mut world = world(chunk);
        world.insert_resource(Sum::default());
        let mut schedule = Schedule::new();
        schedule.threads(1);
        for writer in 0..writers {
            let part = writer * len / writers..(writer + 1) * len / writers;
            schedule.add(move |mut hits: EventWriter<Hit>| {
                for i in part.clone() {
                    hits.send(hit(i));
                }
            });
        }
        schedule.add(|mut hits: EventReader<Hit>, mut sum: ResMut<Sum>| sum.add(hits.read()));
        Self { world, schedule, len, runs: 0 }
    }

    fn run(&mut self) {
        self.schedule.run(&mut self.world).expect("a valid schedule");
        self.runs += 1;
    }

    fn check(&mut self) {
        self.world.resource::<Sum>().expect("inserted").check(self.len, self.runs);
    }
}

/// A side that times the writers or the reader.
fn frame(chunk: ChunkSize, len: usize, writers: usize, times_reader: bool) -> impl Side {
    partial(
        Frame::new(chunk, len, writers),
        move |frame| {
            frame.run();
            let (writing, reading) = frame.schedule.timings().systems.split_at(writers);
            let timed = if times_reader { reading } else { writing };
            timed.iter().map(|system| system.total).sum()
        },
        Frame::check,
    )
}

/// A `Vec` of events, and the sum of the events read.
#[derive(Default)]
struct Flat {
    hits: Vec<Hit>,
    sum: Sum,
    len: usize,
    passes: u64,
}

impl Flat {
    fn new(len: usize) -> Self {
        Self { len, ..Self::default() }
    }

    /// Returns the times of sending and of reading.
    fn pass(&mut self) -> [Duration; 2] {
        let start = Instant::now();
        for i in 0..self.len {
            self.hits.push(hit(i));
        }
        let sent = start.elapsed();
        let start = Instant::now();
        self.sum.add(black_box(&self.hits));
        let read = start.elapsed();
        self.hits.clear();
        self.passes += 1;
        [sent, read]
    }

    fn check(&mut self) {
        self.sum.check(self.len, self.passes);
    }
}

fn send(len: usize) -> Workload {
    Workload::new("events_send", len, len)
        .limit(move || partial(Flat::new(len), |flat| flat.pass()[0], Flat::check))
        .phalanx("phalanx", move |chunk| frame(chunk, len, 1, false))
        .phalanx("phalanx_two_writers", move |chunk| frame(chunk, len, 2, false))
}

fn read(len: usize) -> Workload {
    Workload::new("events_read", len, len)
        .limit(move || partial(Flat::new(len), |flat| flat.pass()[1], Flat::check))
        .phalanx("phalanx", move |chunk| frame(chunk, len, 1, true))
        .phalanx("phalanx_two_writers", move |chunk| frame(chunk, len, 2, true))
}

fn whole(len: usize) -> Workload {
    Workload::new("events", len, len)
        .limit(move || steady(Flat::new(len), |flat| _ = flat.pass(), |flat, _| flat.check()))
        .phalanx("phalanx", move |chunk| {
            steady(Frame::new(chunk, len, 1), Frame::run, |frame, _| frame.check())
        })
        .phalanx("phalanx_two_writers", move |chunk| {
            steady(Frame::new(chunk, len, 2), Frame::run, |frame, _| frame.check())
        })
}
