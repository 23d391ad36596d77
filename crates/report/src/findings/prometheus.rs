//! Metrics in Prometheus's text format, for node_exporter's textfile collector.
//!
//! Source: Prometheus "Exposition formats", version 0.0.4.

use std::fmt::Write as _;

use super::Listed;
use crate::check_document::Summary;
use crate::text::prometheus_label as label;
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
    let mut text = "# HELP straddle_targets Targets by their verdict.\n\
                    # TYPE straddle_targets gauge\n"
        .to_owned();
    for verdict in Verdict::ALL {
        let count = summary.verdicts.of(verdict);
        let _ = writeln!(text, "straddle_targets{{verdict=\"{}\"}} {count}", verdict.word());
    }
    let milliseconds = summary.elapsed_ns / 1_000_000;
    let _ = write!(
        text,
        "# HELP straddle_check_milliseconds Time that the check took.\n\
         # TYPE straddle_check_milliseconds gauge\n\
         straddle_check_milliseconds {milliseconds}\n"
    );
    text
}
