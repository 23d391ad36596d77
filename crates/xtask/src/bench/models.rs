//! `cargo xtask bench drive`: how many commands drive models take in a second of one core of this
//! machine, with 32 in flight. What other programs take of the core does not count.

use std::process::Command as Process;

use anyhow::{Context as _, ensure};
use drive::profile::{DriveProfile, built_in};
use drive::{CommandKind, DriveCommand, DriveCompletion, Model};
use testkit::running_program::cpu_time;
use units::random::Random;

use super::goals::{ARRAY_RATE_LEAST, MODEL_RATE_LEAST};
use super::tools;
use crate::cargo;
use crate::options::Options;

/// Single drives and arrays: what the table calls them, the built-in profile, and the least number
/// of commands a second that they should take.
const MODELS: [(&str, &str, f64); 5] = [
    ("flash", "m4-256", MODEL_RATE_LEAST),
    ("512e disk", "hdd-7200-512e", MODEL_RATE_LEAST),
    ("RAID 0", "raid0-2x16k", ARRAY_RATE_LEAST),
    ("RAID 5", "raid5-5x64k", ARRAY_RATE_LEAST),
    ("RAID 6", "raid6-6x64k", ARRAY_RATE_LEAST),
];

/// A load: its name, the action, the distance from 4 KiB, and whether places are random.
type Load = (&'static str, CommandKind, u64, bool);

const WRITE: CommandKind = CommandKind::Write { fua: false };
const LOADS: [Load; 5] = [
    ("aligned sequential writes", WRITE, 0, false),
    ("misaligned sequential writes", WRITE, 1024, false),
    ("aligned random writes", WRITE, 0, true),
    ("misaligned random writes", WRITE, 1024, true),
    ("aligned random reads", CommandKind::Read, 0, true),
];

/// Builds these chores for release, and lets that build run [`simulate`]. `words` may be
/// `--commands N`.
///
/// # Errors
/// When it cannot be built or run, or a word is not known.
pub(super) fn run(words: &[&str]) -> anyhow::Result<bool> {
    let commands = Options::parse(words, &["--commands"])?.count("--commands", 1_000_000)?;
    tools::print_load();
    let program = cargo::released(&["xtask"])?.join("xtask");
    let status = Process::new(program).args(["simulate", &commands.to_string()]).status();
    Ok(status.context("cannot start what was built")?.success())
}

/// Gives each model `count` commands of each load, and prints how many it took in a second of a
/// core. Always `true`: a missed target is said, and is no failure.
///
/// # Errors
/// When a model cannot be, or a command fails.
pub(crate) fn simulate(count: u64) -> anyhow::Result<bool> {
    println!(
        "{count} commands of 4 KiB each, 32 in flight; the target is a million a second of a core, \
         half a million for arrays; and the most memory so far"
    );
    for (model, name, least) in MODELS {
        for load in LOADS {
            print((model, least), load, rate(profile(name)?.model()?, load, count)?);
        }
    }
    Ok(true)
}

/// The built-in profile called `name`.
///
/// # Errors
/// When there is none.
pub(crate) fn profile(name: &str) -> anyhow::Result<&'static DriveProfile> {
    let found = built_in().iter().find(|profile| profile.name == name);
    found.with_context(|| format!("no such built-in drive: {name}"))
}

fn print((model, least): (&str, f64), (name, ..): Load, rate: f64) {
    let missed = if rate < least { "   missed" } else { "" };
    let (rate, peak) = (rate / 1e6, peak_mib());
    println!("  {model:<10} {name:<30} {rate:6.2} million a second, {peak} MiB{missed}");
}

/// The most memory that this process has had, in MiB (`VmHWM`, proc_pid_status(5)); 0 where the
/// kernel does not say.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) >> 10
}

/// Returns how many commands `model` takes in a second of a core.
fn rate(model: impl Model, (_, action, shift, is_random): Load, count: u64) -> anyhow::Result<f64> {
    let (mut host, mut random) = (DepthHost::new(model), Random::new(1));
    let begun = cpu_time();
    for id in 0..count {
        let place = if is_random { random.below(PLACES) } else { id % PLACES };
        let offset_bytes = place * 4096 + shift;
        host.submit(DriveCommand { id, action, offset_bytes, length_bytes: 4096 })?;
    }
    Ok(count as f64 / (cpu_time() - begun).as_secs_f64())
}

/// Number of places of 4 KiB that are used: the first 64 GiB.
const PLACES: u64 = 1 << 24;
/// Number of commands in flight.
const DEPTH: usize = 32;

/// A host that keeps [`DEPTH`] commands in flight on a model.
struct DepthHost<M> {
    model: M,
    flying: usize,
    now_ns: u64,
    ended_ns: u64,
    done: Vec<DriveCompletion>,
}

impl<M: Model> DepthHost<M> {
    fn new(model: M) -> DepthHost<M> {
        DepthHost { model, flying: 0, now_ns: 0, ended_ns: 0, done: Vec::with_capacity(2 * DEPTH) }
    }

    /// Submits `command`, and waits until there is room for another.
    ///
    /// # Errors
    /// When a command fails, never ends, or is told to have ended before an earlier one.
    fn submit(&mut self, command: DriveCommand) -> anyhow::Result<()> {
        self.model.submit(command, self.now_ns, &mut self.done);
        self.flying += 1;
        self.collect()?;
        while self.flying >= DEPTH {
            self.now_ns = self.model.next_ns().context("a command never ends")?;
            self.model.advance(self.now_ns, &mut self.done);
            self.collect()?;
        }
        Ok(())
    }

    fn collect(&mut self) -> anyhow::Result<()> {
        for done in self.done.drain(..) {
            ensure!(done.outcome.is_ok(), "{done:?}");
            ensure!(done.at_ns >= self.ended_ns, "{done:?} is told after {} ns", self.ended_ns);
            (self.ended_ns, self.flying) = (done.at_ns, self.flying - 1);
        }
        Ok(())
    }
}
