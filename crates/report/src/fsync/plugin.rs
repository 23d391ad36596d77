//! Durable writes as a monitor sees them: PASS is OK, WARN a warning, FAIL critical, and a missing
//! verdict unknown.

use durability::Grade;
use measure::engine_verdict::Fitness;
use stack::Severity;

use super::engine_verdict_view::{headline, word};
use super::{Fsync, FsyncRow, FsyncVerdict};
use crate::monitor_answer::MonitorAnswer;
use crate::nagios::{Metric, PluginAnswer, exact_seconds};
use crate::quantity_words::ViewWords;
use crate::view_options::Look;

/// Severity of what was found: an error for FAIL and for syncs that are not durable, a warning for
/// WARN and for suspect ones; `None` for nothing bad.
#[must_use]
pub fn fsync_severity(document: &Fsync) -> Option<Severity> {
    let grade = document.honesty.as_ref().map(|honesty| honesty.grade);
    let verdict = document.verdict.as_ref().map(|verdict| verdict.verdict);
    match (grade, verdict) {
        (Some(Grade::NotDurable), _) | (_, Some(Fitness::Fail)) => Some(Severity::Error),
        (Some(Grade::Suspect), _) | (_, Some(Fitness::Warn)) => Some(Severity::Warning),
        _ => None,
    }
}

/// Returns what a plugin says of `document`, where findings matter from `least` on.
#[must_use]
pub fn fsync_plugin(document: &Fsync, least: Option<Severity>) -> PluginAnswer {
    let found = fsync_severity(document).filter(|found| least.is_some_and(|least| *found >= least));
    let verdict = document.verdict.as_ref();
    let is_measured = document.rows.iter().any(|row| row.operations > 0);
    let is_look = document.rows.is_empty() && document.honesty.is_some();
    let unknown = !(is_measured || is_look)
        || verdict.is_some_and(|verdict| verdict.verdict == Fitness::NotEnough);
    let refusal = document.envelope.refusal.as_ref();
    PluginAnswer {
        answer: MonitorAnswer::of_measurement(found, refusal, unknown),
        headline: said(document),
        metrics: metrics(document),
    }
}

fn said(document: &Fsync) -> String {
    let look = Look::default();
    let words = ViewWords { look: &look };
    let path = words.text(&document.target.path);
    let (honesty, refusal) = (document.honesty.as_ref(), document.envelope.refusal.as_ref());
    match (&document.verdict, honesty, refusal) {
        (Some(verdict), ..) => {
            let engine = words.text(&verdict.engine);
            format!("{engine} in {path}: {}: {}", word(verdict.verdict), headline(verdict, words))
        }
        (None, _, Some(refusal)) => words.text(&refusal.message),
        (None, Some(honesty), None) => {
            format!("syncs in {path}: {}", words.text(&honesty.sentence))
        }
        (None, None, None) => format!("nothing was measured in {path}"),
    }
}

fn metrics(document: &Fsync) -> Vec<Metric> {
    let mut metrics: Vec<Metric> = document.verdict.as_ref().and_then(judged).into_iter().collect();
    metrics.extend(document.rows.iter().filter_map(row));
    let written = document.scratch.as_ref().map_or(0, |scratch| scratch.written_bytes);
    metrics
        .extend([Metric::bytes("written", written), Metric::seconds("time", document.elapsed_ns)]);
    metrics
}

/// The judged quantile with the engine's limits.
fn judged(verdict: &FsyncVerdict) -> Option<Metric> {
    let quantile = verdict.quantile.as_ref()?;
    let limit = |grade| {
        let found = verdict.limits.iter().find(|limit| limit.grade == grade);
        found.map(|limit| exact_seconds(limit.limit_ns))
    };
    let label = format!("p{}", quantile.quantile_percent);
    let (warn, critical) = (limit(Fitness::Warn), limit(Fitness::Fail));
    Some(Metric { warn, critical, ..Metric::latency(label, quantile.value_ns) })
}

/// The p99 of a row; its median where it has none.
fn row(row: &FsyncRow) -> Option<Metric> {
    let (name, value_ns) = match (row.p99_ns, row.median_ns) {
        (Some(p99_ns), _) => ("p99", p99_ns),
        (None, Some(median_ns)) => ("median", median_ns),
        (None, None) => return None,
    };
    Some(Metric::latency(format!("{}_{name}", row.id), value_ns))
}
