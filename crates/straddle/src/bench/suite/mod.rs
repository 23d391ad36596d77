//! `bench --suite`: file systems on a device whose data starts where sector 40 of a disk is, and on
//! one that starts at sector 34, as old partitioners did: make, unpack, copy, read, delete.
//!
//! All arms use the same part of the drive, one after the other, in an order that coins decide.
//! If there is device-mapper, ext4 in a volume of LVM is one more file system.
//! Each step is an experiment of its own; they run in step.

mod row;
mod steps;
mod volume;

use device::Counters as _;
use host::{DiskStats, FileLoad, PrivateMounts, SeededTree, seeded_bytes};
use measure::{Experiment, Role, Step, Stop};
use report::bench::Experiment as Document;
use units::random::Random;

pub(super) use self::row::{Row, lines};
use self::steps::{Bench as Steps, STEPS};
use self::volume::Volume;
use super::document::{self, About, Seen};
use super::plan::{self, Arm, Budget};
use super::progress::Progress;
use super::scratch_file::ScratchFile;
use super::session::Session;
use super::shifted::{self, Region};
use crate::bench::results::Results;
use crate::shared::halt::Halt;
use crate::shared::printer::shown;

/// The sectors of 512 bytes at which a partition starts in the aligned and the shifted arm.
const START_ALIGNED: u64 = 40;
const START_SHIFTED: u64 = 34;
const SECTOR_BYTES: u64 = 512;
/// Files of a made tree; with their sizes about those of a source tree of 24 MiB.
const MADE_FILES: u64 = 2_000;
/// The length of the large file.
const LARGE_BYTES: usize = 16 << 20;
/// The most rounds of one file system unless the user says otherwise.
pub(super) const ROUNDS: u32 = 20;
/// Longest time that one file system may take unless the user says otherwise, in nanoseconds.
const SUITE_NS: u64 = 120_000_000_000;
/// Most bytes that one round writes to one device beside its files, about.
const OVERHEAD_BYTES: u64 = 64 << 20;
/// Most bytes that one round writes to one device with the tree that a seed makes, about.
const ARM_BYTES: u64 = 128 << 20;
/// The arms of the suite.
const ARMS: usize = 3;
/// Above the least device of a file system, for its files.
const ROOM_BYTES: u64 = 84 << 20;

/// Returns what the suite may use for these file systems.
pub(super) fn budget(lines: &[Row], rounds: u32) -> Budget {
    let scratch_bytes = scratch_bytes(lines);
    let many = u64::try_from(lines.len() * ARMS).unwrap_or(u64::MAX);
    let rounds_bytes = many.saturating_mul(rounds.into()).saturating_mul(ARM_BYTES);
    Budget {
        scratch_bytes,
        written_bytes: scratch_bytes.saturating_add(rounds_bytes),
        comparison_ns: SUITE_NS,
    }
}

/// Returns how long the scratch file must be for these file systems, in bytes.
fn scratch_bytes(lines: &[Row]) -> u64 {
    let least = lines.iter().map(|line| line.recipe().device_bytes_min).max().unwrap_or(0);
    (least + ROOM_BYTES).next_multiple_of(1 << 20)
}

/// The arms: where a partition starts.
fn arms(unit_bytes: u64) -> Vec<Arm> {
    let off = |start: u64| (start * SECTOR_BYTES) % unit_bytes;
    let arm =
        |name: &str, role, start| Arm { name: name.to_owned(), role, shift_bytes: off(start) };
    vec![
        arm("start 40", Role::Baseline, START_ALIGNED),
        arm("start 34", Role::Shifted, START_SHIFTED),
        arm("start 40 again", Role::Control, START_ALIGNED),
    ]
}

/// The bytes that one file system's rounds write at most, about.
fn round_bytes(load: &FileLoad) -> u64 {
    let held = u64::try_from(load.tree.size().1 + load.large.len()).unwrap_or(u64::MAX);
    held.saturating_add(OVERHEAD_BYTES)
}

/// Runs the suite for each file system.
pub(super) fn run(
    session: &mut Session<'_>,
    ground: &ScratchFile,
    mounts: &PrivateMounts,
    lines: &[Row],
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

/// All rounds of one file system.
struct Rounds<'a> {
    load: &'a FileLoad,
    line: Row,
    mounts: &'a PrivateMounts,
    ground: &'a ScratchFile,
    region: Region,
    arms: &'a [Arm],
}

/// Results of one step.
struct Course {
    experiment: Experiment,
    seen: Vec<Seen>,
    times: Vec<u64>,
}

impl Rounds<'_> {
    fn run(&self, session: &mut Session<'_>) -> Result<Vec<Document>, Halt> {
        let mut courses: Vec<Course> = STEPS.iter().map(|_| self.course(session)).collect();
        let title = format!("{} at sectors 40 and 34", self.line.name());
        let mut progress = Progress::start(session, &title);
        let bounds_ns = session.comparison_ns();
        let rounds_max = session.bench.pairs.unwrap_or(ROUNDS);
        let (begun_ns, mut rounds) = (session.elapsed_ns(), 0);
        let arm_bytes = round_bytes(self.load);
        let arms = u64::try_from(self.arms.len()).unwrap_or(u64::MAX);
        let stop = loop {
            let elapsed_ns = session.elapsed_ns().saturating_sub(begun_ns);
            if session.interrupt.is_raised() {
                break Stop::Interrupted;
            }
            let over = arm_bytes.saturating_mul(arms) > session.bytes_left();
            if rounds >= rounds_max || elapsed_ns >= bounds_ns || over {
                break Stop::Budget;
            }
            match self.round(session, &mut courses) {
                Ok(()) => {}
                Err(Halt::Interrupted) => break Stop::Interrupted,
                Err(halt) => {
                    progress.clear();
                    return Err(halt);
                }
            }
            session.wrote(arm_bytes.saturating_mul(arms));
            rounds += 1;
            if courses.iter().all(|course| course.experiment.standing().is_done) {
                break Stop::Rule;
            }
            let first = &courses[1].experiment;
            progress.show(session, &Step { pairs: rounds.into(), median: judged(first) });
        };
        progress.clear();
        let elapsed_ns = session.elapsed_ns().saturating_sub(begun_ns);
        let moved = self.ground.moved();
        let documents = courses.into_iter().zip(STEPS).map(|(course, (_, name))| {
            self.documented(course, name, stop, elapsed_ns, moved.as_deref())
        });
        Ok(documents.collect())
    }

    fn course(&self, session: &Session<'_>) -> Course {
        let plan = session.experiment(self.arms, plan::ALPHA);
        Course {
            experiment: Experiment::new(plan).expect("one baseline and a shift"),
            seen: vec![Seen::default(); self.arms.len()],
            times: vec![0; self.arms.len()],
        }
    }

    /// Every arm through every step.
    fn round(&self, session: &Session<'_>, courses: &mut [Course]) -> Result<(), Halt> {
        // One coin decides for all steps of a round, since an arm goes through them in one go.
        let order = courses[0].experiment.order().to_vec();
        for arm in order {
            self.arm(session, arm, courses)?;
        }
        for course in courses {
            let times = std::mem::replace(&mut course.times, vec![0; self.arms.len()]);
            course.experiment.record(&times);
        }
        Ok(())
    }

    fn arm(&self, session: &Session<'_>, arm: usize, courses: &mut [Course]) -> Result<(), Halt> {
        let device = shifted::attach(self.ground, self.region, self.arms[arm].shift_bytes)?;
        let volume = self.line.in_volume.then(|| Volume::make(device.node(), &session.interrupt));
        let volume = volume.transpose()?;
        let node = volume.as_ref().map_or(device.node(), Volume::node).to_owned();
        let number = self.ground.place.counted;
        let mut counters = number.and_then(|number| DiskStats::open(number).ok());
        let mut count = || counters.as_mut().and_then(|counters| counters.counts().ok());
        let mut buffer = Vec::new();
        for (course, (step, name)) in courses.iter_mut().zip(STEPS) {
            let before = count();
            course.times[arm] = if let Some(step) = step {
                let mut steps = Steps {
                    load: self.load,
                    recipe: self.line.recipe(),
                    mounts: self.mounts,
                    device: &node,
                    buffer: &mut buffer,
                };
                steps.step(step, name, session)?
            } else {
                let sector = self.ground.place.unit.length_bytes();
                self.line.recipe().make(&node, sector, &session.interrupt)?
            };
            if let (Some(before), Some(after)) = (before, count()) {
                course.seen[arm].add(&after.since(&before));
            }
            if step.is_none() {
                self.ground.settle()?;
            }
            if session.interrupt.is_raised() {
                return Err(Halt::Interrupted);
            }
        }
        if let Some(volume) = volume {
            volume.end()?;
        }
        let detached = device.detach();
        detached.map_err(Halt::from)
    }

    fn documented(
        &self,
        mut course: Course,
        name: &str,
        stop: Stop,
        elapsed_ns: u64,
        moved: Option<&str>,
    ) -> Document {
        if let Some(reason) = moved {
            course.experiment.void(reason);
        }
        let conclusion = course.experiment.finish(stop);
        let written = |seen: &Seen| seen.counts.map_or(0, |counts| counts.written_bytes());
        let written_bytes = course.seen.iter().map(written).sum::<u64>();
        let about = About {
            title: format!("{}: {name}", self.line.name()),
            unit: "step",
            block_operations: 1,
            workload: document::of_command(vec![self.line.name(), name.to_owned()]),
            arms: self.arms.to_vec(),
            seen: course.seen,
            elapsed_ns,
            written_bytes,
            predicted: None,
            turn_ns: None,
        };
        document::experiment(about, &course.experiment, conclusion)
    }
}

fn judged(experiment: &Experiment) -> measure::Interval {
    let judged = experiment.judged();
    let mut comparisons = experiment.standing().comparisons.iter();
    comparisons.find(|one| one.arm == judged).map_or(measure::Interval::UNKNOWN, |one| one.median)
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
        let all = [FileSystem::Ext4, FileSystem::Xfs, FileSystem::Btrfs].map(Row::plain);
        assert!(scratch_bytes(&all) > 300 << 20);
        assert!(scratch_bytes(&all[..1]) < 200 << 20);
    }
}
