//! `drive simulate --profile`: what a workload costs on drives, at places.

use anyhow::{anyhow, bail};
use drive::profile::DriveProfile;
use drive::run::{
    FioStream, Job, Limits, Place, Replay, Seen, Source, Stream, run as run_jobs, streams,
};
use drive::{Model, Tally};
use measure::Histogram;
use report::drive::{
    SIMULATION_SCHEMA, SimulatedArm, SimulatedWork, Simulation, simulation_json, simulation_table,
};
use units::prefix::Size;
use units::text::escape;

use super::known;
use super::recorded::Recorded;
use crate::arguments::Simulate;
use crate::bench::read_job;
use crate::exit::Outcome;
use crate::printer;

/// What a host takes from a command to the next: a system call and an interrupt.
const TURNAROUND_NS: u64 = 10_000;

/// A drive, and what of its profile was changed.
struct Arm {
    profile: DriveProfile,
    changed: Vec<String>,
}

/// Simulates a workload on each drive at each place.
pub(super) fn run(asked: &Simulate) -> anyhow::Result<Outcome> {
    let workload = Workload::of(asked)?;
    let mut document = Simulation {
        schema: SIMULATION_SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: std::env::args_os().map(|word| escape(word.as_encoded_bytes())).collect(),
        seed: asked.seed,
        workload: workload.title.clone(),
        arms: Vec::new(),
        notes: workload.notes.clone(),
    };
    for arm in arms(asked)? {
        let logical_bytes = arm.profile.amount("logical_sector").unwrap_or(512);
        let shifts = match asked.shift.is_empty() {
            true => vec![logical_bytes],
            false => asked.shift.clone(),
        };
        for shift_bytes in std::iter::once(0).chain(shifts) {
            document.arms.push(workload.on(&arm, shift_bytes, asked)?);
        }
    }
    let first = document.arms.first().map_or(1.0, |arm| arm.operations_per_second);
    for arm in &mut document.arms {
        arm.ratio = first / arm.operations_per_second;
    }
    let text = match asked.json {
        true => simulation_json(&document),
        false => simulation_table(&document, &printer::look(false)),
    };
    printer::print(&text)?;
    Ok(Outcome::Clean)
}

/// Every drive as it is told, and once more for each change.
fn arms(asked: &Simulate) -> anyhow::Result<Vec<Arm>> {
    let mut arms = Vec::new();
    for word in &asked.profiles {
        let mut profile = known::named(word)?;
        for change in &asked.set {
            profile = changed(profile, change)?;
        }
        arms.push(Arm { profile: profile.clone(), changed: asked.set.clone() });
        for change in &asked.vary {
            let changes = [&asked.set[..], std::slice::from_ref(change)].concat();
            arms.push(Arm { profile: changed(profile.clone(), change)?, changed: changes });
        }
    }
    Ok(arms)
}

/// `profile` with `change`, which is `KEY=VALUE`.
fn changed(profile: DriveProfile, change: &str) -> anyhow::Result<DriveProfile> {
    let name = profile.name.clone();
    let told = escape(change.as_bytes());
    let Some((key, value)) = change.split_once('=') else {
        bail!("cannot change {name}: `{told}` is no KEY=VALUE\nhint: cache=0, for example");
    };
    let changed = profile.with(key.trim(), value.trim());
    let changed = changed
        .map_err(|why| anyhow!("cannot change {name}: {why}\nhint: straddle drive show {name}"))?;
    changed
        .model()
        .map_err(|fault| anyhow!("cannot change {name}: {fault}\nhint: choose {}", fault.wanted))?;
    Ok(changed)
}

/// What is done on each drive.
struct Workload {
    title: String,
    notes: Vec<String>,
    what: What,
}

/// Where its operations come from.
enum What {
    /// From the command line.
    Told,
    /// From a job file.
    Jobs(Vec<workload::Job>),
    /// From a trace.
    Recorded(Box<Recorded>),
}

impl Workload {
    fn of(asked: &Simulate) -> anyhow::Result<Workload> {
        if let Some(path) = &asked.job {
            let file = read_job(path)?;
            let titles: Vec<String> = file.jobs.iter().map(workload::Job::title).collect();
            let notes = file.remarks.iter().map(|remark| escape(remark.to_string().as_bytes()));
            return Ok(Workload {
                title: titles.join("; "),
                notes: notes.collect(),
                what: What::Jobs(file.jobs),
            });
        }
        if let Some(path) = &asked.trace {
            let recorded = Recorded::of(path)?;
            let (title, notes) = (recorded.title(), recorded.notes.clone());
            return Ok(Workload { title, notes, what: What::Recorded(Box::new(recorded)) });
        }
        let size = Size(asked.size);
        let order = if asked.random { "at random places" } else { "in order" };
        let (what, sync) = match (asked.read, asked.no_sync) {
            (true, _) => ("reads", ""),
            (false, true) => ("writes", ", without a flush"),
            (false, false) => ("writes", ", a flush behind each"),
        };
        let title = format!("{size} {what} {order}{sync}, depth {}", asked.depth);
        Ok(Workload { title, notes: Vec::new(), what: What::Told })
    }

    /// What a job file or the command line does on `place`.
    fn streams(&self, place: Place, asked: &Simulate) -> anyhow::Result<Vec<FioStream>> {
        let What::Jobs(jobs) = &self.what else {
            let plain = match asked.read {
                true => Stream::reads(place, asked.size),
                false => Stream::writes(place, asked.size),
            };
            let flushed = if asked.read || asked.no_sync { plain } else { plain.flushed() };
            let stream = if asked.random { flushed.at_random(asked.seed) } else { flushed };
            return Ok(vec![FioStream { stream, lanes: asked.depth }]);
        };
        let mut all = Vec::new();
        for job in jobs {
            let clones = streams(job, place, asked.seed);
            all.extend(clones.map_err(|fault| {
                let name = escape(job.name.as_bytes());
                anyhow!("cannot simulate {name}: {fault}\nhint: change the job file")
            })?);
        }
        Ok(all)
    }

    /// What it costs on a drive at a place.
    fn on(&self, arm: &Arm, shift_bytes: u64, asked: &Simulate) -> anyhow::Result<SimulatedArm> {
        let mut model = arm.profile.model()?;
        let place = place(&*model, shift_bytes, asked)
            .map_err(|why| anyhow!("cannot simulate {}: {why}", arm.profile.name))?;
        if let What::Recorded(recorded) = &self.what {
            let need = recorded.layout.bytes();
            if need > place.length_bytes {
                bail!(
                    "cannot replay on {}: the trace reaches to {}, the drive to {}\n\
                     hint: take a larger drive: --set capacity=SIZE",
                    arm.profile.name,
                    Size(need),
                    Size(place.length_bytes)
                );
            }
            let (entries, sector) = (recorded.entries()?, model.logical_bytes());
            let mut replay = Replay::new(entries, &recorded.layout, place.start_bytes, sector);
            let job = Job { source: &mut replay, lanes: asked.depth, has_barriers: true };
            return Ok(simulated(&mut *model, arm, shift_bytes, &mut [job], asked));
        }
        let mut streams = self.streams(place, asked)?;
        let lanes: Vec<u16> = streams.iter().map(|one| one.lanes).collect();
        let sources = streams.iter_mut().map(|one| &mut one.stream as &mut dyn Source);
        let job = |(source, lanes)| Job { source, lanes, has_barriers: false };
        let mut jobs: Vec<Job<'_>> = sources.zip(lanes).map(job).collect();
        Ok(simulated(&mut *model, arm, shift_bytes, &mut jobs, asked))
    }
}

/// What `jobs` cost on the model of a drive.
fn simulated(
    model: &mut dyn Model,
    arm: &Arm,
    shift_bytes: u64,
    jobs: &mut [Job<'_>],
    asked: &Simulate,
) -> SimulatedArm {
    let limits =
        Limits { operations: asked.operations, time_ns: u64::MAX, turnaround_ns: TURNAROUND_NS };
    let (mut times, mut sum_ns, mut failed) = (Histogram::new(), 0, 0);
    let mut seen = |one: Seen| {
        times.record(one.took_ns());
        sum_ns += u128::from(one.took_ns());
        failed += u64::from(one.fault.is_some());
    };
    let elapsed_ns = run_jobs(model, jobs, limits, &mut seen);
    let operations = times.count();
    let mean_ns = sum_ns.checked_div(operations.into()).unwrap_or(0);
    SimulatedArm {
        drive: arm.profile.name.clone(),
        changed: arm.changed.clone(),
        shift_bytes,
        operations,
        failed,
        elapsed_ns,
        operations_per_second: real(operations) * 1e9 / real(elapsed_ns.max(1)),
        mean_ns: u64::try_from(mean_ns).unwrap_or(u64::MAX),
        p50_ns: times.percentile(50.0),
        p90_ns: times.percentile(90.0),
        p99_ns: times.percentile(99.0),
        max_ns: times.max(),
        ratio: 1.0,
        did: did(model.tally()),
    }
}

/// Where the workload is: from its start, shifted, to the end of the drive.
fn place(model: &dyn Model, shift_bytes: u64, asked: &Simulate) -> Result<Place, String> {
    let logical_bytes = model.logical_bytes();
    if !asked.size.is_multiple_of(logical_bytes) || !asked.start.is_multiple_of(logical_bytes) {
        return Err(format!(
            "operations of {} bytes from {} on are no whole logical sectors\n\
             hint: take multiples of {logical_bytes}",
            asked.size, asked.start
        ));
    }
    if !shift_bytes.is_multiple_of(logical_bytes) {
        return Err(format!(
            "a shift of {shift_bytes} bytes is no multiple of its logical sector\n\
             hint: take multiples of {logical_bytes}"
        ));
    }
    let start_bytes = asked.start.saturating_add(shift_bytes);
    // As many bytes for each shift, so that all do the same.
    let most = asked.shift.iter().copied().max().unwrap_or(logical_bytes).max(shift_bytes);
    let end = model.capacity_bytes().saturating_sub(asked.start.saturating_add(most));
    match end >= asked.size {
        true => Ok(Place { start_bytes, length_bytes: end }),
        false => Err(format!(
            "it ends at {} bytes\nhint: begin earlier with --start",
            model.capacity_bytes()
        )),
    }
}

fn did(tally: Tally) -> SimulatedWork {
    SimulatedWork {
        commands: tally.commands,
        medium_reads: tally.medium_reads,
        medium_writes: tally.medium_writes,
        rmw_reads: tally.rmw_reads,
        parity_rmws: tally.parity_rmws,
        seeks: tally.seeks,
        seek_ns: tally.seek_ns,
        wait_ns: tally.wait_ns,
        transfer_ns: tally.transfer_ns,
        busy_ns: tally.busy_ns,
        programs: tally.programs,
        erases: tally.erases,
    }
}

/// A count or a time as a real number, rounded beyond 2^53.
#[expect(clippy::cast_precision_loss, reason = "a rate is not exact")]
fn real(number: u64) -> f64 {
    number as f64
}
