//! A world that a second one follows, in another process and over a socket, while messages are lost
//! and overtake each other.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin replicate
//! cargo run --release -p phalanx-examples --bin replicate -- --form xor --loss 30 --reorder 30
//! cargo run --release -p phalanx-examples --bin replicate -- --spoil 100
//! ```
//!
//! - [`game`] is the simulation of the sender: things that walk and rest, and sparks;
//! - [`sender`] sends each frame as the difference from the last acknowledged one;
//! - [`mirror`] is the other process: it reads, restores its world, and answers with the hash;
//! - [`link`] loses messages and makes them late, the same ones in every run;
//! - [`wire`] is the socket; [`xor`] is a form that is smaller than a delta;
//! - [`tally`] adds up sizes.
//!
//! The README beside this file has the measurements. Except for times, all output is the same for
//! the same arguments.

#![forbid(unsafe_code)]

mod game;
mod link;
mod mirror;
mod sender;
mod tally;
mod wire;
mod xor;

use clap::Parser;
use game::Game;
use link::Conditions;
use phalanx::Level;
use phalanx_examples::options::number;
use phalanx_examples::program;
use sender::Sender;
use std::error::Error;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use wire::{Form, Wire};

/// Runs a game, and a mirror of it in another process that receives the changes.
#[derive(Parser)]
#[command(name = "replicate", allow_negative_numbers = true)]
struct Options {
    /// Things at first, from 1 to 1000000
    #[arg(long, value_name = "N", default_value = "20000", value_parser = number(1..=1_000_000))]
    entities: u32,
    /// Of a hundred things, the number that walk
    #[arg(long, value_name = "N", default_value = "10", value_parser = number(0..=100))]
    moving: u32,
    /// Walking things have a tag, so that they do not lie among resting ones
    #[arg(long)]
    apart: bool,
    /// Frames to run
    #[arg(long, value_name = "N", default_value = "300", value_parser = number(1..=1_000_000))]
    frames: u32,
    /// Frames a second, to 1000 [default: no limit]
    #[arg(long, value_name = "N", value_parser = number(1..=1000))]
    rate: Option<u32>,
    /// The form in which frames are sent
    #[arg(long, value_enum, default_value = "delta")]
    form: Form,
    /// Of a hundred messages, the number that are lost, to 100
    #[arg(long, value_name = "N", default_value = "10", value_parser = number(0..=100))]
    loss: u32,
    /// Of a hundred messages, the number that are late by one to four frames
    #[arg(long, value_name = "N", default_value = "10", value_parser = number(0..=100))]
    reorder: u32,
    /// Frames that a message is on its way, to 10
    #[arg(long, value_name = "N", default_value = "2", value_parser = number(0..=10))]
    latency: u32,
    /// The seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Let the mirror change a value in this frame, to see that it is found
    #[arg(long, value_name = "FRAME")]
    spoil: Option<u32>,
    /// The program of the mirror, which may be built for another processor [default: this one]
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// The port at which a sender listens: this is its mirror
    #[arg(long, hide = true)]
    mirror: Option<u16>,
}

fn main() -> ExitCode {
    program::start(run)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    Level::try_current()?;
    if let Some(port) = options.mirror {
        return mirror::run(port, options.spoil);
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .map_err(|error| format!("cannot listen at a port of this machine: {error}"))?;
    let port = listener.local_addr()?.port();
    let program = options.program.clone().map_or_else(std::env::current_exe, Ok)?;
    let mut process = Process::start(&program, port, options.spoil)
        .map_err(|error| program::cannot("start", &program, error))?;
    let wire = Wire::accept(&listener, &mut process.0).map_err(|error| wire::explain(&error))?;
    let Options { entities, moving, apart, frames, form, loss, reorder, latency, seed, .. } =
        *options;
    let conditions = Conditions { loss, reorder, latency };
    let mut sender =
        Sender::new(Game::new(entities, (moving, apart), seed), wire, (form, conditions, seed));
    let step = options.rate.map_or(Duration::ZERO, |rate| Duration::from_secs(1) / rate);
    for _ in 0..frames {
        let start = Instant::now();
        sender.frame()?;
        thread::sleep(step.saturating_sub(start.elapsed()));
    }
    sender.end()?;
    Ok(write(&mut io::stdout().lock(), options, &sender)?)
}

fn write(out: &mut impl Write, options: &Options, sender: &Sender) -> io::Result<()> {
    let Options { moving, frames, form, latency, .. } = options;
    let [(lost, late), (acks_lost, acks_late)] = sender.troubles();
    let entities = sender.game.world.len();
    writeln!(out, "{entities} entities, {moving} of 100 things walk; frames are sent as {form}")?;
    writeln!(
        out,
        "of {frames} frames {lost} lost, {late} late, {} overtaken; of their acknowledgements \
         {acks_lost} lost, {acks_late} late",
        sender.overtaken,
    )?;
    writeln!(
        out,
        "a latency of {latency} frames; {} frames sent whole: nothing was acknowledged lately\n",
        sender.whole,
    )?;
    if sender.whole < *frames {
        write_sizes(out, sender)?;
    }
    let there_and_back = sender.sizes.sent.milliseconds();
    writeln!(
        out,
        "{there_and_back:.2} ms to the mirror, which reads, restores and hashes, and back"
    )?;
    let acknowledged = sender.acknowledged;
    writeln!(out, "{frames} frames: the mirror agreed at every one of {acknowledged} acknowledged")
}

/// The sizes of the frames that could be sent as a difference.
fn write_sizes(out: &mut impl Write, sender: &Sender) -> io::Result<()> {
    let head = ["bytes a frame", "of a dump", "largest", "ms"];
    writeln!(out, "{:<15}{:>15}{:>12}{:>12}{:>10}", "", head[0], head[1], head[2], head[3])?;
    let whole = sender.sizes.dump.mean();
    for (name, size) in sender.rows() {
        let (mean, largest, ms) = (size.mean(), size.largest(), size.milliseconds());
        #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
        let part = 100.0 * mean as f64 / whole as f64;
        writeln!(out, "{name:<15}{mean:>15}{part:>10.1} %{largest:>12}{ms:>10.2}")?;
    }
    writeln!(out)
}

/// The process of the mirror, which ends with this one.
struct Process(Child);

impl Process {
    fn start(program: &Path, port: u16, spoil: Option<u32>) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(["--mirror", &port.to_string()]).stdin(Stdio::null()).stdout(Stdio::null());
        command.args(spoil.map(|frame| format!("--spoil={frame}")));
        command.spawn().map(Self)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The child needs no orderly end, and may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
