//! `bench --suite`: file systems on a device whose data starts where sector 40 of a disk is, and on
//! one that starts at sector 34, as old partitioners did: make, unpack, copy, read, delete.
//!
//! All arms use the same part of the drive, one after the other, in an order that coins decide.
//! If there is device-mapper, ext4 in a volume of LVM is one more file system.
//! Each step is an experiment of its own; they run in step.

mod rounds;
mod row;
mod volume;

use host::{FileLoad, PrivateMounts, SeededTree, seeded_bytes};
use measure::Role;
use units::random::Random;

pub(super) use self::rounds::ROUNDS;
use self::rounds::Rounds;
pub(super) use self::row::{SuiteRow, lines};
use super::method_budget::MethodBudget;
use super::plan::PlannedArm;
use super::scratch_file::ScratchFile;
use super::session::{Results, Session};
use super::shifted;
use crate::shared::halt::Halt;
use crate::shared::printer::shown;

/// The sectors of 512 bytes at which a partition starts in the aligned and the shifted arm.
const START_ALIGNED: u64 = 40;
const START_SHIFTED: u64 = 34;
const SECTOR_BYTES: u64 = 512;
/// Files of a made tree; with their sizes about those of a source tree of 32 MiB.
const MADE_FILES: u64 = 2_000;
/// The length of the large file.
const LARGE_BYTES: usize = 16 << 20;
/// Longest time that one file system may take unless the user says otherwise, in nanoseconds.
const SUITE_NS: u64 = 120_000_000_000;
/// Most bytes that one round writes to one device with the tree that a seed makes, about.
const ARM_BYTES: u64 = 128 << 20;
/// The arms of the suite.
const ARMS: usize = 3;
/// Above the least device of a file system, for its files.
const ROOM_BYTES: u64 = 84 << 20;

/// Returns what the suite may use for these file systems.
pub(super) fn budget(lines: &[SuiteRow], rounds: u32) -> MethodBudget {
    let scratch_bytes = scratch_bytes(lines);
    let many = u64::try_from(lines.len() * ARMS).unwrap_or(u64::MAX);
    let rounds_bytes = many.saturating_mul(rounds.into()).saturating_mul(ARM_BYTES);
    MethodBudget {
        scratch_bytes,
        written_bytes: scratch_bytes.saturating_add(rounds_bytes),
        comparison_ns: SUITE_NS,
    }
}

/// Returns how long the scratch file must be for these file systems, in bytes.
fn scratch_bytes(lines: &[SuiteRow]) -> u64 {
    let least = lines.iter().map(|line| line.recipe().device_bytes_min).max().unwrap_or(0);
    (least + ROOM_BYTES).next_multiple_of(1 << 20)
}

/// The arms: where a partition starts.
fn arms(unit_bytes: u64) -> Vec<PlannedArm> {
    let off = |start: u64| (start * SECTOR_BYTES) % unit_bytes;
    let arm = |name: &str, role, start| PlannedArm {
        name: name.to_owned(),
        role,
        shift_bytes: off(start),
    };
    vec![
        arm("start 40", Role::Baseline, START_ALIGNED),
        arm("start 34", Role::Shifted, START_SHIFTED),
        arm("start 40 again", Role::Control, START_ALIGNED),
    ]
}

/// Runs the suite for each file system.
pub(super) fn run(
    session: &mut Session<'_>,
    ground: &ScratchFile,
    mounts: &PrivateMounts,
    lines: &[SuiteRow],
    found: &mut Results,
) -> Result<(), Halt> {
    let load = load(session)?;
    let arms = arms(ground.place.unit.length_bytes());
    if arms[1].shift_bytes == arms[0].shift_bytes {
        let unit = ground.place.unit.length_bytes();
        let message = format!(
            "cannot shift partitions: sectors {START_SHIFTED} and {START_ALIGNED} have the same \
             offset in a granule of {unit} bytes"
        );
        return Err(Halt::refused(message, None));
    }
    let shift_bytes = arms.iter().map(|arm| arm.shift_bytes).max().unwrap_or(0);
    let regions = shifted::regions(session, ground, 1, shift_bytes)?;
    for &line in lines {
        let rounds = Rounds { load: &load, line, mounts, ground, region: regions[0], arms: &arms };
        found.experiments.extend(rounds.run(session)?);
        if session.interrupt.is_raised() {
            return Err(Halt::Interrupted);
        }
    }
    Ok(())
}

fn load(session: &Session<'_>) -> Result<FileLoad, Halt> {
    let mut random = Random::new(session.seed);
    let tree = match &session.bench.tree {
        None => SeededTree::made(MADE_FILES, &mut random),
        Some(root) => SeededTree::of(root).map_err(|error| {
            let message = format!("cannot read the tree {}: {error}", shown(root));
            Halt::hinted(
                message,
                "name a directory that you may read and that is smaller, or leave out --tree"
                    .to_owned(),
            )
        })?,
    };
    Ok(FileLoad { tree, large: seeded_bytes(LARGE_BYTES, &mut random) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::FileSystem;

    #[test]
    fn sector_34_is_a_kib_off_a_granule_of_4_kib_and_40_is_not() {
        let found: Vec<u64> = arms(4096).iter().map(|arm| arm.shift_bytes).collect();
        assert_eq!(found, [0, 1024, 0]);
    }

    #[test]
    fn the_scratch_file_holds_the_greatest_of_the_file_systems() {
        let all = [FileSystem::Ext4, FileSystem::Xfs, FileSystem::Btrfs].map(SuiteRow::plain);
        assert!(scratch_bytes(&all) > 300 << 20);
        assert!(scratch_bytes(&all[..1]) < 200 << 20);
    }
}
