//! `cargo xtask soak plan`: disks with data, made from seeds; the script of each one's plan is
//! typed on a copy, and nothing but what was meant has changed.

use std::path::Path;

use testkit::disks::{Trial, TrialCounts};

use super::soak_directory::SoakSite;
use crate::options::Options;
use crate::trials::trials;

/// Disks tried at once.
const WORKERS: usize = 2;

/// Tries so many disks; how many failed.
///
/// # Errors
/// When straddle cannot be built, or there is no place for disks.
pub(super) fn run(options: &Options<'_>, count: u64) -> anyhow::Result<usize> {
    let first = options.count("--seed", 1)?;
    let place = SoakSite::of(options)?;
    let seeds = first..=first + count - 1;
    println!("{count} disks, seeds {first} to {}", seeds.end());
    let memory = Path::new("/dev/shm");
    let directory = if memory.is_dir() { memory } else { &place.directory };
    let (mut all, mut changed, mut refused, mut failed) = (TrialCounts::default(), 0_u64, 0_u64, 0);
    let trial = |_: &(), seed| Ok(Trial::new(&place.program, directory, seed).run());
    trials(&[()], seeds, WORKERS, trial, |_, _, tried| match tried {
        Ok(seen) => {
            all.moved += seen.moved;
            all.kills += seen.kills;
            all.refusals += seen.refusals;
            all.unmended += seen.unmended;
            changed += u64::from(seen.changed);
            refused += u64::from(seen.refused);
        }
        Err(fault) => {
            println!("{fault}");
            failed += 1;
        }
    })?;
    println!(
        "{count} disks: {changed} changed, {} partitions moved, {} kills survived, {} wrong disks \
         refused, {refused} without a plan, {} lines about what stays; {failed} failed",
        all.moved, all.kills, all.refusals, all.unmended,
    );
    Ok(failed)
}
