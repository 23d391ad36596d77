//! Samples of a host that others may have too.

use super::super::facts::{self, Setting};
use super::super::phrase::say;
use super::super::source::{Content, Source};
use crate::bench::{Action, Bench, Experiment, Sync};
use crate::fsync::{Fsync, FsyncRow};

/// Names that many machines have.
const NO_NAMES: [&str; 3] = ["localhost", "localhost.localdomain", "(none)"];
/// The most latencies of one file that are compared.
const SAMPLES_MAX: usize = 500;

/// A latency of one host.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) place: Place,
    pub(super) kind: Kind,
    pub(super) median_ns: u64,
    pub(super) p99_ns: Option<u64>,
}

/// Place where something was measured.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The host, or the file where that names none.
    pub(super) host: String,
    /// Kind of work measured on it.
    pub(super) path: String,
}

/// Properties that peers share: all of it is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    pub(super) model: String,
    pub(super) firmware: String,
    /// Work that was done.
    pub(super) work: String,
    /// True if each of them is a durable write.
    pub(super) is_durable: bool,
}

/// Samples that one file has to compare.
pub(super) enum Told {
    /// Nothing that hosts are compared by.
    Nothing,
    /// Latencies of a drive of which nobody knows what it is: it is nobody's peer.
    Unknown(Place),
    /// Latencies, each with what was done.
    Some(Vec<Sample>),
}

/// Work, whether it is a durable write, and its latencies.
struct Work {
    name: String,
    is_durable: bool,
    median_ns: u64,
    p99_ns: Option<u64>,
}

/// The latencies of one file that others may have too.
pub(super) fn told(source: &Source) -> Told {
    let (setting, path, works) = match &source.content {
        Content::Bench(bench) => (facts::of_bench(bench), &bench.target.path, of_bench(bench)),
        Content::Fsync(fsync) => (facts::of_fsync(fsync), &fsync.target.path, of_fsync(fsync)),
        Content::Check(_)
        | Content::Compare(_)
        | Content::Probe(_)
        | Content::Trace(_)
        | Content::Simulation(_)
        | Content::Published(_) => return Told::Nothing,
    };
    if works.is_empty() {
        return Told::Nothing;
    }
    let Setting { host, model, firmware, .. } = setting;
    let place = Place { host: named(host, &source.name), path: say(path) };
    let (Some(model), Some(firmware)) = (model, firmware) else { return Told::Unknown(place) };
    let sample = |Work { name, is_durable, median_ns, p99_ns }| {
        let kind =
            Kind { model: model.clone(), firmware: firmware.clone(), work: name, is_durable };
        Sample { place: place.clone(), kind, median_ns, p99_ns }
    };
    Told::Some(works.into_iter().map(sample).collect())
}

/// The baselines: what a drive does where nothing is misaligned.
fn of_bench(bench: &Bench) -> Vec<Work> {
    let seen = |experiment: &Experiment| {
        let arm = experiment.arms.first().filter(|arm| arm.count > 0)?;
        let workload = &experiment.workload;
        Some(Work {
            name: format!("{}, {}", say(&experiment.title), say(&arm.name)),
            is_durable: workload.action != Action::Read && workload.sync != Sync::None,
            median_ns: arm.median_ns,
            p99_ns: arm.p99_ns,
        })
    };
    bench.experiments.iter().filter_map(seen).take(SAMPLES_MAX).collect()
}

fn of_fsync(fsync: &Fsync) -> Vec<Work> {
    let seen = |row: &FsyncRow| {
        let name = format!("{}, {}", say(&row.label), say(&row.id));
        Some(Work { name, is_durable: true, median_ns: row.median_ns?, p99_ns: row.p99_ns })
    };
    fsync.rows.iter().filter_map(seen).take(SAMPLES_MAX).collect()
}

/// The host's name, or the file's where it has none of its own.
fn named(told: Option<String>, file: &str) -> String {
    // As it was given: files of many hosts may have one name in many directories.
    told.filter(|name| !NO_NAMES.contains(&name.as_str())).unwrap_or_else(|| say(file))
}
