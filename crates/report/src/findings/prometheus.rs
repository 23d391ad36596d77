//! Metrics in Prometheus's text format, for node_exporter's textfile collector.
//!
//! Source: Prometheus "Exposition formats", version 0.0.4.

use super::Listed;
use crate::check_document::Summary;
use crate::nagios::exact_seconds;
use crate::prometheus::{Family, escaped as label};
use stack::Verdict;

/// The head of the metric that has a sample for each finding.
pub(super) const HEAD: &str = "# HELP straddle_finding A finding of straddle check.\n\
                               # TYPE straddle_finding gauge\n";

/// One sample; none of a target without a verdict, which the counts have.
pub(super) fn sample(listed: &Listed<'_>) -> Option<String> {
    let finding = listed.finding?;
    Some(format!(
        "straddle_finding{{target=\"{}\",layer=\"{}\",rule=\"{}\",severity=\"{}\"}} 1\n",
        label(&listed.target),
        label(&listed.layer),
        finding.code,
        finding.severity.word()
    ))
}

/// The counts of targets by their verdicts, and the time that the check took.
pub(super) fn tail(summary: &Summary) -> String {
    let mut targets = Family::gauge("straddle_targets", "Targets by their verdict.");
    for verdict in Verdict::ALL {
        targets.put(&[("verdict", verdict.word())], &summary.verdicts.of(verdict));
    }
    let mut time = Family::gauge("straddle_check_duration_seconds", "Time that the check took.");
    time.put(&[], &exact_seconds(summary.elapsed_ns));
    targets.text() + &time.text()
}
