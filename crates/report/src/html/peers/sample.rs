//! Samples of a host that others may have too.

use super::super::elements::say;
use super::super::run_facts::{self, RunFacts};
use super::super::source::{FileContent, ResultFile};
use super::drive_kind::DriveFacts;
use super::shared_cause::HostValues;
use crate::bench::{Bench, Experiment, OperationDirection, Sync};
use crate::fsync::{Fsync, FsyncRow};

/// Names that many machines have.
const NO_NAMES: [&str; 3] = ["localhost", "localhost.localdomain", "(none)"];
/// The most latencies of one file that are compared.
const SAMPLES_MAX: usize = 500;

/// A latency of one host.
#[derive(Clone, Debug)]
pub(super) struct HostSample {
    pub(super) place: MeasuredOn,
    pub(super) kind: PeerKind,
    pub(super) median_ns: u64,
    pub(super) p99_ns: Option<u64>,
    /// Bytes a second of others on the drive.
    pub(super) others_bytes_per_second: Option<u64>,
    /// Properties that its host may share with others.
    pub(super) values: HostValues,
}

/// Place where something was measured.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MeasuredOn {
    /// The host, or the file where that names none.
    pub(super) host: String,
    /// Kind of work measured on it.
    pub(super) path: String,
}

/// Properties that peers share: all of it is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PeerKind {
    /// Kind of drive, in words.
    pub(super) drive: String,
    /// Work that was done, and its name as the head of a column.
    pub(super) work: String,
    pub(super) head: String,
    /// True if each of them is a durable write.
    pub(super) is_durable: bool,
}

/// Samples that one file has to compare.
pub(super) enum FileSamples {
    /// Nothing that hosts are compared by.
    Nothing,
    /// Latencies of a drive of which nobody knows what it is: it is nobody's peer.
    Unknown(MeasuredOn),
    /// Latencies, each with what was done.
    Some(Vec<HostSample>),
}

/// Work, whether it is a durable write, and its latencies.
struct MeasuredWork {
    name: String,
    head: String,
    is_durable: bool,
    median_ns: u64,
    p99_ns: Option<u64>,
}

/// The latencies of one file that others may have too.
pub(super) fn told(source: &ResultFile) -> FileSamples {
    let (setting, path, (name, capacity_bytes, others), works) = match &source.content {
        FileContent::Bench(bench) => {
            let target = &bench.target;
            let drive = (&target.drive, target.capacity_bytes, target.others_bytes_per_second);
            (run_facts::of_bench(bench), &target.path, drive, of_bench(bench))
        }
        FileContent::Fsync(fsync) => {
            let target = &fsync.target;
            let drive = (&target.drive, target.capacity_bytes, target.others_bytes_per_second);
            (run_facts::of_fsync(fsync), &target.path, drive, of_fsync(fsync))
        }
        FileContent::Check(_)
        | FileContent::Compare(_)
        | FileContent::Probe(_)
        | FileContent::Trace(_)
        | FileContent::Simulation(_)
        | FileContent::Published(_)
        | FileContent::Torture(_) => return FileSamples::Nothing,
    };
    if works.is_empty() {
        return FileSamples::Nothing;
    }
    let RunFacts { host, model, firmware, kernel, machine, .. } = setting;
    let place = MeasuredOn { host: named(host, &source.name), path: say(path) };
    let facts = DriveFacts {
        name: name.as_deref(),
        model: model.as_deref(),
        firmware: firmware.as_deref(),
        capacity_bytes,
    };
    let Some(drive) = facts.kind() else {
        return FileSamples::Unknown(place);
    };
    let values = [("kernel", kernel), ("machine type", machine)];
    let values: HostValues =
        values.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let sample = |MeasuredWork { name, head, is_durable, median_ns, p99_ns }| {
        let kind = PeerKind { drive: drive.clone(), work: name, head, is_durable };
        let (place, values) = (place.clone(), values.clone());
        let others_bytes_per_second = others;
        HostSample { place, kind, median_ns, p99_ns, others_bytes_per_second, values }
    };
    FileSamples::Some(works.into_iter().map(sample).collect())
}

/// The baselines: what a drive does where nothing is misaligned.
fn of_bench(bench: &Bench) -> Vec<MeasuredWork> {
    let seen = |experiment: &Experiment| {
        let arm = experiment.arms.first().filter(|arm| arm.count > 0)?;
        let workload = &experiment.workload;
        Some(MeasuredWork {
            name: format!("{}, {}", say(&experiment.title), say(&arm.name)),
            head: say(&experiment.title),
            is_durable: workload.action != OperationDirection::Read && workload.sync != Sync::None,
            median_ns: arm.median_ns,
            p99_ns: arm.p99_ns,
        })
    };
    bench.experiments.iter().filter_map(seen).take(SAMPLES_MAX).collect()
}

fn of_fsync(fsync: &Fsync) -> Vec<MeasuredWork> {
    let seen = |row: &FsyncRow| {
        let name = format!("{}, {}", say(&row.label), say(&row.id));
        let (head, median_ns) = (say(&row.id), row.median_ns?);
        Some(MeasuredWork { name, head, is_durable: true, median_ns, p99_ns: row.p99_ns })
    };
    fsync.rows.iter().filter_map(seen).take(SAMPLES_MAX).collect()
}

/// The host's name, or the file's where it has none of its own.
fn named(told: Option<String>, file: &str) -> String {
    // As it was given: files of many hosts may have one name in many directories.
    told.filter(|name| !NO_NAMES.contains(&name.as_str())).unwrap_or_else(|| say(file))
}
