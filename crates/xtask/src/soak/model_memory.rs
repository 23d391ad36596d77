//! `cargo xtask soak drive`: drive models for a hundred million commands. Their memory is what
//! their plan says, however long they run.

use std::process::Command as Process;

use anyhow::{Context as _, bail};
use drive::profile::DriveProfile;
use drive::{CommandKind, DriveCommand};
use testkit::run::cpu_time;
use units::random::Random;

use crate::bench::models::{self, DEPTH, DepthHost, PLACES};
use crate::options::Options;

/// A drive: its name, the built-in one that it is, and what is changed of that.
type Drive = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Flash, a 512e disk, an array of every level, and one behind a cache that does not forget.
const DRIVES: [Drive; 7] = [
    ("m4-256", "m4-256", &[]),
    ("hdd-7200-512e", "hdd-7200-512e", &[]),
    ("raid0-2x16k", "raid0-2x16k", &[]),
    ("raid10-4x16k", "raid0-2x16k", &[("level", "raid10"), ("members", "4"), ("copies", "2")]),
    ("raid5-5x64k", "raid5-5x64k", &[]),
    ("raid6-6x64k", "raid6-6x64k", &[]),
    ("raid5-bbu", "raid5-bbu", &[]),
];
/// After so many commands every table has its size.
const EARLY: u64 = 1_000_000;
/// By how much the peak of memory may grow after them.
const GROWTH_BYTES_MAX: u64 = 1 << 20;

/// Gives each drive `commands`, each in a process of its own, or in this one the drive that was
/// named; how many did not stay as large as they were after the first million.
///
/// # Errors
/// When one cannot be run.
pub(super) fn run(options: &Options<'_>, commands: u64) -> anyhow::Result<usize> {
    if let Some(name) = options.word("--model") {
        return Ok(usize::from(!run_one(name, commands)?));
    }
    println!(
        "{commands} commands each: writes on and off 4 KiB and in order, reads, forced writes, \
         discards, a flush after every 4096; {DEPTH} in flight"
    );
    println!("the peak of memory may grow by {} KiB after a million", GROWTH_BYTES_MAX >> 10);
    let own = std::env::current_exe().context("cannot find this program")?;
    let mut missed = 0;
    for (name, ..) in DRIVES {
        let words = ["soak", "drive", "--commands", &commands.to_string(), "--model", name];
        let status =
            Process::new(&own).args(words).status().context("cannot start this program again")?;
        match status.code() {
            Some(0) => {}
            Some(1) => missed += 1,
            _ => bail!("{name} failed: {status}"),
        }
    }
    Ok(missed)
}

/// Gives the drive called `name` `commands`, in this process, and prints how fast that was and how
/// much memory it took; whether that stayed as it was after the first million.
///
/// # Errors
/// When there is no such drive, a command fails, or /proc cannot be read.
fn run_one(name: &str, commands: u64) -> anyhow::Result<bool> {
    let (mut host, mut random) = (DepthHost::new(profile(name)?.model()?), Random::new(1));
    let mut run = |ids: std::ops::Range<u64>| {
        ids.into_iter().try_for_each(|id| host.submit(command(id, &mut random)))
    };
    let (begun, early) = (cpu_time(), commands.min(EARLY));
    run(0..early)?;
    let early_bytes = peak_bytes()?;
    run(early..commands)?;
    let seconds = (cpu_time() - begun).as_secs_f64();
    let late_bytes = peak_bytes()?;
    let is_flat = late_bytes - early_bytes <= GROWTH_BYTES_MAX;
    println!(
        "  {name:<14} {commands} commands, {:.2} million a second of a core, {:.0} s simulated; \
            peak {} KiB \
         after {}, {} KiB at the end: {}",
        commands as f64 / seconds / 1e6,
        host.now_ns() as f64 / 1e9,
        early_bytes >> 10,
        early,
        late_bytes >> 10,
        match is_flat {
            _ if commands <= EARLY => "too few to tell",
            true => "flat",
            false => "GROWS",
        }
    );
    Ok(is_flat)
}

/// The drive called `name`.
fn profile(name: &str) -> anyhow::Result<DriveProfile> {
    let known = DRIVES.iter().find(|(own, ..)| *own == name);
    let (_, built_in, changes) = known.with_context(|| format!("no such drive: {name}"))?;
    changes.iter().try_fold(models::profile(built_in)?.clone(), |profile, (key, value)| {
        profile.with(key, value).map_err(|why| anyhow::anyhow!("cannot make drive {name}: {why}"))
    })
}

/// The most memory that this process ever had, in bytes.
fn peak_bytes() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    Ok(crate::number(kib.context("/proc/self/status has no VmHWM in kB")?)? << 10)
}

/// Returns the command with the number `id`.
fn command(id: u64, random: &mut Random) -> DriveCommand {
    if id % 4096 == 4095 {
        return DriveCommand { id, action: CommandKind::Flush, offset_bytes: 0, length_bytes: 0 };
    }
    let write = CommandKind::Write { fua: false };
    let (action, is_random, shift_bytes) = match id % 16 {
        0..4 => (CommandKind::Read, true, 0),
        4..8 => (write, true, 0),
        8..12 => (write, false, 0),
        12 | 13 => (write, true, 512),
        14 => (CommandKind::Write { fua: true }, true, 0),
        _ => (CommandKind::Discard, true, 0),
    };
    let place = if is_random { random.below(PLACES) } else { id % PLACES };
    DriveCommand { id, action, offset_bytes: place * 4096 + shift_bytes, length_bytes: 4096 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drive_ends_a_few_commands_of_every_kind() {
        for (name, ..) in DRIVES {
            // Whether memory grows is not known here: other tests share it.
            assert!(run_one(name, 5000).is_ok(), "{name}");
        }
        assert!(run_one("no-such", 1).is_err());
    }
}
