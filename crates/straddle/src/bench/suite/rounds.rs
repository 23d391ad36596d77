//! The rounds of one file system: each arm goes through all steps. A step is done on a file system
//! that was just mounted, and ends when it is unmounted, so that nothing of it stays in a cache
//! uncounted.

use std::path::Path;
use std::time::Instant;

use device::Counters as _;
use host::{DiskStats, FileLoad, FileStep, PrivateMounts};
use measure::{Experiment, PairStep, Stop};
use report::bench::Experiment as Document;

use super::row::SuiteRow;
use super::volume::OpenVolume;
use crate::bench::document::{self, About, ArmRecord};
use crate::bench::plan::{self, PlannedArm};
use crate::bench::progress::BenchProgressLine;
use crate::bench::scratch_file::ScratchFile;
use crate::bench::session::Session;
use crate::bench::shifted::{self, Region};
use crate::shared::halt::Halt;

/// The most rounds unless the user says otherwise.
pub(crate) const ROUNDS: u32 = 20;
/// Most bytes that one round writes to one device beside its files, about.
const OVERHEAD_BYTES: u64 = 64 << 20;

/// The steps in their order, each as a person says it; the first makes the file system.
pub(super) const STEPS: [(Option<FileStep>, &str); 5] = [
    (None, "make the file system"),
    (Some(FileStep::Unpack), "unpack a tree"),
    (Some(FileStep::Copy), "copy a large file"),
    (Some(FileStep::Read), "read both"),
    (Some(FileStep::Delete), "delete both"),
];

/// All rounds of one file system.
pub(super) struct Rounds<'a> {
    pub(super) load: &'a FileLoad,
    pub(super) line: SuiteRow,
    pub(super) mounts: &'a PrivateMounts,
    pub(super) ground: &'a ScratchFile,
    pub(super) region: Region,
    pub(super) arms: &'a [PlannedArm],
}

/// Results of one step.
struct Course {
    experiment: Experiment,
    seen: Vec<ArmRecord>,
    times: Vec<u64>,
}

impl Rounds<'_> {
    /// Runs rounds until all steps have their answer or a bound is reached.
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Vec<Document>, Halt> {
        let mut courses: Vec<Course> = STEPS.iter().map(|_| self.course(session)).collect();
        let title = format!("{} at sectors 40 and 34", self.line.name());
        let mut progress = BenchProgressLine::start(session, &title);
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
            progress.show(session, &PairStep { pairs: rounds.into(), median: judged(first) });
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
            seen: vec![ArmRecord::default(); self.arms.len()],
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
        let volume =
            self.line.in_volume.then(|| OpenVolume::make(device.node(), &session.interrupt));
        let volume = volume.transpose()?;
        let node = volume.as_ref().map_or(device.node(), OpenVolume::node).to_owned();
        let number = self.ground.place.counted;
        let mut counters = number.and_then(|number| DiskStats::open(number).ok());
        let mut count = || counters.as_mut().and_then(|counters| counters.counts().ok());
        let mut buffer = Vec::new();
        for (course, (step, name)) in courses.iter_mut().zip(STEPS) {
            let before = count();
            course.times[arm] = if let Some(step) = step {
                self.step(session, (step, name), &node, &mut buffer)?
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

    /// Does a step after the making; returns how long it took, in nanoseconds, the unmount included
    /// and the mount not.
    fn step(
        &self,
        session: &Session<'_>,
        (step, name): (FileStep, &str),
        device: &Path,
        buffer: &mut Vec<u8>,
    ) -> Result<u64, Halt> {
        let recipe = self.line.recipe();
        let mut mounted = recipe.mount(self.mounts, device)?;
        let begun = Instant::now();
        let done = self.load.act(step, mounted.path(), buffer);
        let unmounted = mounted.unmount();
        let took = begun.elapsed();
        done.map_err(|error| {
            let message = format!("cannot {name} on {}: {error}", recipe.name);
            Halt::hinted(message, session.longer_scratch())
        })?;
        unmounted?;
        Ok(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX))
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
        let written = |seen: &ArmRecord| seen.counts.map_or(0, |counts| counts.written_bytes());
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

/// The bytes that one file system's rounds write at most, about.
fn round_bytes(load: &FileLoad) -> u64 {
    let held = u64::try_from(load.tree.size().1 + load.large.len()).unwrap_or(u64::MAX);
    held.saturating_add(OVERHEAD_BYTES)
}
