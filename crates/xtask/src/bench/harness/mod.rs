//! `cargo xtask bench harness`: what the measuring loop itself costs, beside fio and beside a loop
//! that only makes the calls.
//!
//! All contestants of a round run one after the other, in an order that is drawn; ratios are taken
//! within a round. `docs/benchmark.md` says what is compared.

mod figures;
mod fio;
mod measuring_loop;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};
use host::{LoopDevice, LoopPlan};
use units::random::Random;

use self::figures::{better, costs, least, most, over, print, rates, users};
use self::measuring_loop::{LENGTH_BYTES, LoopResult};
use super::goals::{BARE_LEAST, FIO_RING_LEAST, FIO_RING_USER_MOST, FIO_SYNC_LEAST, NULL_NS_MOST};
use super::rounds::rounds;
use super::tools;
use crate::cargo;
use crate::options::Options;

/// Place where a tmpfs is mounted on every Linux with a C library (shm_open(3)).
const TMPFS: &str = "/dev/shm";

/// Runs the benchmark as `words` say and prints what it finds. Always `true`: a missed target is
/// said, and is no failure.
///
/// # Errors
/// When something cannot be built, made or run.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
    let options = Options::parse(words, &["--pairs", "--milliseconds"])?;
    let rounds = options.count("--pairs", 10)?;
    let time = Duration::from_millis(options.count("--milliseconds", 500)?);
    let program = cargo::released(&["xtask"])?.join("xtask");
    let room = tempfile::Builder::new().prefix("bench-").tempdir_in(TMPFS);
    let room = room.with_context(|| format!("cannot make a directory in {TMPFS}"))?;
    let path = room.path().join("file");
    fill(&path)?;
    tools::print_load();
    println!("{rounds} rounds of {} ms for each; median, least, greatest", time.as_millis());
    let mut harness =
        Harness { rounds, random: testkit::random(1), runner: Runner { program, time } };
    harness.sync(&path)?;
    harness.ring(&path)?;
    harness.null(&path)?;
    Ok(true)
}

/// Runs the loop called `name` and prints what each part of it did. Always `true`.
///
/// # Errors
/// When there is no such loop, or something fails.
pub(crate) fn run_loop(name: &str, path: &Path, milliseconds: u64) -> anyhow::Result<bool> {
    for done in measuring_loop::run(name, path, Duration::from_millis(milliseconds))? {
        let LoopResult { operations, wall_ns, user_ns, busy_ns } = done;
        println!("{operations} {wall_ns} {user_ns} {busy_ns}");
    }
    Ok(true)
}

fn fill(path: &Path) -> anyhow::Result<()> {
    let mut bytes = vec![0; usize::try_from(LENGTH_BYTES)?];
    let mut random = Random::new(1);
    for chunk in bytes.chunks_exact_mut(8) {
        chunk.copy_from_slice(&random.next_u64().to_le_bytes());
    }
    let file = File::create(path)?;
    file.write_all_at(&bytes, 0).with_context(|| format!("cannot write {}", path.display()))
}

/// The contest: how often each runs, and in which order.
struct Harness {
    rounds: u64,
    random: Random,
    runner: Runner,
}

/// Runs loops of this program and fio for a time.
struct Runner {
    program: PathBuf,
    time: Duration,
}

/// Somebody who does operations for a time.
#[derive(Clone, Copy)]
enum Contestant {
    /// A loop of ours, by name.
    Own(&'static str),
    /// fio with more options.
    Fio(&'static [&'static [&'static str]]),
}

impl Harness {
    fn sync(&mut self, path: &Path) -> anyhow::Result<()> {
        println!("pwrite of 4 KiB, one after the other through a file of 16 MiB on tmpfs");
        let [own, slow, fast] = self.run(
            path,
            [
                Contestant::Own("sync"),
                Contestant::Fio(&[fio::SYNC, fio::GETTIME]),
                Contestant::Fio(&[fio::SYNC, fio::CPU]),
            ],
        )?;
        print("our loop", &rates(&own), "operations a second");
        print("fio, --clocksource=clock_gettime", &rates(&slow), "operations a second");
        print("fio, --clocksource=cpu", &rates(&fast), "operations a second");
        let better = better(&rates(&slow), &rates(&fast), f64::max);
        least("our rate over fio's better", &over(&rates(&own), &better), FIO_SYNC_LEAST);
        self.bare(path)
    }

    fn bare(&mut self, path: &Path) -> anyhow::Result<()> {
        println!("the same beside a bare loop, 3,072 of one and of the other, in one process");
        let (mut own, mut bare) = (Vec::new(), Vec::new());
        rounds::<_, 1>(self.rounds, &mut self.random, |_| {
            let [ours, other] = self.runner.own("side-by-side", path)?[..] else {
                bail!("two loops run side by side");
            };
            own.push(ours);
            bare.push(other);
            Ok(())
        })?;
        print("our loop", &rates(&own), "operations a second");
        print("a bare loop", &rates(&bare), "operations a second");
        least("our rate over the bare loop's", &over(&rates(&own), &rates(&bare)), BARE_LEAST);
        Ok(())
    }

    fn ring(&mut self, path: &Path) -> anyhow::Result<()> {
        println!(
            "io_uring, 128 random direct reads of 4 KiB in flight, on a loop device over tmpfs"
        );
        if !host::is_root() {
            println!("  not measured: only root may make a loop device");
            return Ok(());
        }
        let file = File::options().read(true).write(true).open(path)?;
        let device = LoopDevice::attach(LoopPlan {
            file: file.as_fd(),
            offset_bytes: 0,
            length_bytes: LENGTH_BYTES,
            sector_bytes: None,
            direct: false,
            read_only: false,
            partitions: false,
        })?;
        let [own, single, batch] = self.run(
            device.node(),
            [
                Contestant::Own("uring"),
                Contestant::Fio(&[fio::RING]),
                Contestant::Fio(&[fio::RING, fio::BATCHED]),
            ],
        )?;
        print("our loop", &rates(&own), "operations a second");
        print("fio", &rates(&single), "operations a second");
        print("fio, batches of 32", &rates(&batch), "operations a second");
        print("our loop", &users(&own), "ns of user time an operation");
        print("fio", &users(&single), "ns of user time an operation");
        print("fio, batches of 32", &users(&batch), "ns of user time an operation");
        least("our rate over fio's", &over(&rates(&own), &rates(&single)), FIO_RING_LEAST);
        // Who waits for 32 completions at once makes fewer calls, and learns of 31 of them late:
        // its latencies are those of batches. Ours are looked at one by one, so this is no target.
        print("our rate over fio's in batches", &over(&rates(&own), &rates(&batch)), "");
        let lean = better(&users(&single), &users(&batch), f64::min);
        most("our user time over fio's lesser", &over(&users(&own), &lean), FIO_RING_USER_MOST);
        Ok(())
    }

    fn null(&mut self, path: &Path) -> anyhow::Result<()> {
        println!("a target that does nothing, with its two readings of the clock an operation");
        let contestants = ["null-cursor", "null", "null-deep", "clock"].map(Contestant::Own);
        let [next, one, deep, clock] = self.run(path, contestants)?;
        most(
            "our loop at depth 1, place after place, ns an operation",
            &costs(&next),
            NULL_NS_MOST,
        );
        most("our loop at depth 1, random places, ns an operation", &costs(&one), NULL_NS_MOST);
        most("our loop at depth 128, random places, ns an operation", &costs(&deep), NULL_NS_MOST);
        print("the two readings alone", &costs(&clock), "ns");
        Ok(())
    }

    /// Runs all contestants in each round; what each did, by round.
    fn run<const COUNT: usize>(
        &mut self,
        path: &Path,
        contestants: [Contestant; COUNT],
    ) -> anyhow::Result<[Vec<LoopResult>; COUNT]> {
        let runner = &self.runner;
        rounds(self.rounds, &mut self.random, |place| runner.once(path, contestants[place]))
    }
}

impl Runner {
    fn once(&self, path: &Path, contestant: Contestant) -> anyhow::Result<LoopResult> {
        match contestant {
            Contestant::Fio(options) => fio::run(path, self.time, options),
            Contestant::Own(name) => {
                self.own(name, path)?.pop().with_context(|| format!("the loop {name} did nothing"))
            }
        }
    }

    /// Returns what the parts of a loop of ours did, which is run by a process of its own.
    fn own(&self, name: &str, path: &Path) -> anyhow::Result<Vec<LoopResult>> {
        let time = self.time.as_millis().to_string();
        let mut command = Command::new(&self.program);
        let text = tools::answer(command.args(["loop", name]).arg(path).arg(time))?;
        let parts = text.lines().map(|line| {
            let numbers: Result<Vec<u64>, _> = line.split_whitespace().map(str::parse).collect();
            let [operations, wall_ns, user_ns, busy_ns] = numbers?[..] else {
                bail!("the loop {name} answered {line}");
            };
            Ok(LoopResult { operations, wall_ns, user_ns, busy_ns })
        });
        parts.collect()
    }
}
