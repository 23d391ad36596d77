//! Lines of a data sheet that a result of `probe` or `bench` gives.

use measure::Role;

use crate::bench::{BENCH_SCHEMA, Bench, Experiment, OperationDirection, Sync, WorkloadOrder};
use crate::probe::{PROBE_SCHEMA, Probe};
use crate::result_reader::{RESULT_BYTES_MAX, ResultFault, ResultText};

/// A line of a data sheet that was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredLine {
    /// Its name: `read_latency`; of one quantity there may be the names for several kinds of drive.
    pub key: &'static str,
    /// The number: bytes, nanoseconds, or turns a minute.
    pub amount: u64,
    /// The command that measured it.
    pub by: &'static str,
}

/// Bytes of the operations whose latency sheets give.
const PIECE_BYTES: u64 = 4096;

/// The lines that the result `text` says; none where it measured something else.
///
/// # Errors
/// When it is no result of `probe` or `bench`.
pub fn measured_lines(text: &str) -> Result<Vec<MeasuredLine>, ResultFault> {
    let opened = ResultText::open(text, &[PROBE_SCHEMA, BENCH_SCHEMA], RESULT_BYTES_MAX)?;
    match opened.schema {
        PROBE_SCHEMA => Ok(of_probe(&opened.read()?)),
        _ => Ok(of_bench(&opened.read()?)),
    }
}

fn of_probe(probe: &Probe) -> Vec<MeasuredLine> {
    let by = "straddle probe";
    let mut lines = Vec::new();
    if let Some(found) = &probe.answers.alignment.value {
        let line = |key| MeasuredLine { key, amount: found.bytes, by };
        lines.extend(["unit", "physical_sector"].map(line));
    }
    if let Some(turn) = &probe.answers.turn.value
        && let Some(rpm) = 60_000_000_000_u64.checked_div(turn.turn_ns)
    {
        // Spindles have round numbers of turns; the measured one is off by less.
        let amount = (rpm + 50) / 100 * 100;
        lines.push(MeasuredLine { key: "rpm", amount, by });
    }
    lines
}

fn of_bench(bench: &Bench) -> Vec<MeasuredLine> {
    bench.experiments.iter().filter_map(of_experiment).collect()
}

/// The latency of an aligned operation alone, where that was measured.
fn of_experiment(experiment: &Experiment) -> Option<MeasuredLine> {
    let workload = &experiment.workload;
    let is_alone = workload.depth == 1
        && workload.operation_bytes == Some(PIECE_BYTES)
        && workload.order == Some(WorkloadOrder::Random)
        && workload.direct;
    let key = match workload.action {
        OperationDirection::Read => "read_latency",
        OperationDirection::Write if workload.sync == Sync::None => "write_latency",
        _ => return None,
    };
    let aligned = experiment.arms.iter().find(|arm| arm.role == Role::Baseline)?;
    let line = MeasuredLine { key, amount: aligned.median_ns, by: "straddle bench" };
    (is_alone && aligned.median_ns > 0).then_some(line)
}
