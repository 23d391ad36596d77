//! Conservation: no byte of a disk is lost, whichever way the disk is aligned or converted.
//!
//! Disks are made from a seed, with bytes at random in all places that no file system has. Each
//! goes through a script, `apply` and its undo, `convert` and back, and `convert` in place and its
//! undo. The oracle reads the tables with sfdisk, and shares no code with straddle.

mod dirt;
mod disk;
mod layout;
mod made_part;
mod oracle;
mod ways;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::Scratch;

/// Ways that a disk goes, in the order of [`ConservedDisk::fates`].
pub const WAYS: [&str; 6] = ["script", "apply", "undo", "convert", "convert back", "in place"];

/// Result of one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The disk is another one.
    Changed,
    /// There was nothing to change.
    Idle,
    /// The disk was refused, with this reason, without its numbers and names.
    Refused(String),
    /// An earlier way was refused.
    Untried,
}

/// A disk after all ways.
#[derive(Clone, Debug)]
pub struct ConservedDisk {
    /// Its seed.
    pub seed: u64,
    /// Fate in each of [`WAYS`].
    pub fates: [Fate; 6],
    /// Bytes that were lost, wrong refusals and failed checks.
    pub faults: Vec<String>,
    /// Table, contents and bytes of the disk, in words.
    pub described: String,
}

/// Makes the disk of `seed` in a directory of its own in `directory`, and takes copies of it
/// through every way of the binary `program`.
///
/// # Errors
/// When a tool that makes the disk fails.
pub fn conserved(program: &Path, directory: &Path, seed: u64) -> Result<ConservedDisk, String> {
    let scratch = Scratch::within(directory);
    let disk =
        disk::MadeDisk::new(&scratch, seed).map_err(|error| format!("seed {seed}: {error}"))?;
    let described = format!("seed {seed}: {}", disk.described());
    let (fates, faults) = ways::Ways::new(program, &scratch, &disk).run();
    Ok(ConservedDisk { seed, fates, faults, described })
}

/// Counts of many disks.
#[derive(Debug, Default)]
pub struct ConservedCounts {
    disks: u64,
    changed: [u64; 6],
    idle: [u64; 6],
    /// Of each way and reason: the number of disks, and the least seed.
    refused: [BTreeMap<String, (u64, u64)>; 6],
    /// Number of disks with a fault.
    pub faulty: usize,
}

impl ConservedCounts {
    /// Counts a disk.
    pub fn add(&mut self, disk: &ConservedDisk) {
        self.disks += 1;
        self.faulty += usize::from(!disk.faults.is_empty());
        for (way, fate) in disk.fates.iter().enumerate() {
            match fate {
                Fate::Changed => self.changed[way] += 1,
                Fate::Idle => self.idle[way] += 1,
                Fate::Refused(reason) => {
                    let seen = self.refused[way].entry(reason.clone()).or_insert((0, disk.seed));
                    *seen = (seen.0 + 1, seen.1.min(disk.seed));
                }
                Fate::Untried => {}
            }
        }
    }

    /// Ways in which fewer than one disk in ten changed: there, the harness shows nothing.
    #[must_use]
    pub fn hollow(&self) -> Vec<&'static str> {
        let few = WAYS.iter().zip(self.changed).filter(|(_, changed)| changed * 10 < self.disks);
        few.map(|(way, _)| *way).collect()
    }

    /// The counts as a table, with the reasons of refusals.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = format!("{:14}{:>9}{:>9}{:>9}\n", "way", "changed", "idle", "refused");
        for (way, name) in WAYS.iter().enumerate() {
            let refused: u64 = self.refused[way].values().map(|(count, _)| count).sum();
            let (changed, idle) = (self.changed[way], self.idle[way]);
            let _ = writeln!(text, "{name:14}{changed:9}{idle:9}{refused:9}");
        }
        for (way, name) in WAYS.iter().enumerate() {
            for (reason, (count, seed)) in &self.refused[way] {
                let _ = writeln!(text, "{name} refused {count}, as seed {seed}: {reason}");
            }
        }
        text
    }
}
