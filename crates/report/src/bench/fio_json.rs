//! A result in the shape of fio's JSON: a job for each experiment and arm.
//!
//! Two things differ in meaning:
//! - the latency of a write holds the sync that belongs to it, as with fio's `sync=dsync`; `sync`
//!   counts only what was seen apart, which is nothing;
//! - each job has an object `straddle` beside fio's keys: experiment, arm, shift, verdict, ratio.

use serde_json::{Value, json};

use super::{Arm, Bench, Experiment, OperationDirection, Sync, WorkloadOrder};
use crate::fio_job::{FioJob, FioLatencies, fio_document};

/// The result as fio's JSON, with its line feed. Experiments that ran commands have no place in
/// it: see [`fio_json_left_out`].
#[must_use]
pub fn fio_json(bench: &Bench) -> String {
    let jobs: Vec<Value> = (bench.experiments.iter().enumerate())
        .filter(|(_, experiment)| is_io(experiment))
        .flat_map(|(group, experiment)| {
            experiment.arms.iter().map(move |arm| job(group, experiment, arm).json())
        })
        .collect();
    fio_document(&bench.envelope, json!({}), jobs, disk_util(bench))
}

/// The titles of the experiments that [`fio_json`] leaves out: they ran commands, of which fio's
/// shape has no notion.
#[must_use]
pub fn fio_json_left_out(bench: &Bench) -> Vec<String> {
    let left_out = bench.experiments.iter().filter(|experiment| !is_io(experiment));
    left_out.map(|experiment| crate::text::one_line(&experiment.title)).collect()
}

fn is_io(experiment: &Experiment) -> bool {
    matches!(experiment.workload.action, OperationDirection::Read | OperationDirection::Write)
}

fn job(group: usize, experiment: &Experiment, arm: &Arm) -> FioJob {
    let workload = &experiment.workload;
    let sync = workload.sync.word();
    let comparison = experiment.comparisons.iter().find(|one| one.arm == arm.name);
    FioJob {
        name: format!("{}: {}", experiment.title, arm.name),
        group,
        action: workload.action,
        is_random: workload.order == Some(WorkloadOrder::Random),
        depth: workload.depth,
        is_direct: workload.direct,
        sync: match workload.sync {
            Sync::Fsync | Sync::Fdatasync => Some((sync, workload.sync_every.to_string())),
            Sync::Sync | Sync::Dsync => Some(("sync", sync.to_owned())),
            Sync::None => None,
        },
        block_bytes: workload.operation_bytes,
        blocks: 1,
        operations_per_second: arm.operations_per_second,
        latencies: FioLatencies::new(arm.count, (arm.least_ns, arm.greatest_ns), &arm.histogram),
        counts_syncs: false,
        own: json!({
            "experiment": experiment.title,
            "arm": arm.name,
            "role": arm.role,
            "shift_bytes": arm.shift_bytes,
            "verdict": experiment.verdict,
            "ratio": comparison.map(|one| one.interval.ratio),
            "low": comparison.map(|one| one.interval.low),
            "high": comparison.map(|one| one.interval.high),
        }),
    }
}

/// The drive's counters over all arms, where it is one drive and it was counted. Merges of reads
/// and of writes are not told apart and left out, as is the time that it was in use.
fn disk_util(bench: &Bench) -> Value {
    let arms = bench.experiments.iter().flat_map(|experiment| &experiment.arms);
    let counts: Vec<_> = arms.filter_map(|arm| arm.drive.as_ref()).collect();
    let (Some(name), false) = (&bench.target.drive, counts.is_empty()) else { return json!([]) };
    let [mut reads, mut writes] = [0_u64; 2];
    for count in counts {
        reads = reads.saturating_add(count.reads);
        writes = writes.saturating_add(count.writes);
    }
    json!([{ "name": name, "read_ios": reads, "write_ios": writes }])
}
