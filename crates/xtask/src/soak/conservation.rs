//! `cargo xtask soak conservation`: disks made from seeds, with bytes at random outside of file
//! systems, go through script, apply and undo, convert and back; no byte is lost.

use std::path::Path;

use testkit::conservation::{ConservedCounts, conserved};

use super::soak_directory::SoakSite;
use crate::options::Options;
use crate::trials::trials;

/// Disks tried at once.
const WORKERS: usize = 2;

/// Tries so many disks; how many lost something, or how many ways show nothing.
///
/// # Errors
/// When straddle cannot be built, or a disk cannot be made.
pub(super) fn run(options: &Options<'_>, count: u64) -> anyhow::Result<usize> {
    let first = options.count("--seed", 1)?;
    let place = SoakSite::of(options)?;
    let memory = Path::new("/dev/shm");
    let directory = if memory.is_dir() { memory } else { &place.directory };
    let mut counts = ConservedCounts::default();
    let trial = |_: &(), seed| {
        conserved(&place.program, directory, seed).map_err(|error| anyhow::anyhow!(error))
    };
    trials(&[()], first..=first + count - 1, WORKERS, trial, |_, _, disk| {
        if !disk.faults.is_empty() {
            println!("{}\n    {}", disk.described, disk.faults.join("\n    "));
        }
        counts.add(&disk);
    })?;
    print!("{}", counts.table());
    let hollow = counts.hollow();
    if !hollow.is_empty() {
        println!("too few disks changed to show anything: {}", hollow.join(", "));
    }
    Ok(counts.faulty + hollow.len())
}
