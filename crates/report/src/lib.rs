//! Documents with their schemas, and how they are shown: tree, JSON, JUnit, SARIF, monitors.
//!
//! Everything that a command found stands in a [`Document`]; every format is a view of it. Nothing
//! here computes a verdict, and nothing reads anything.

mod answer;
pub mod bench;
mod blocks;
mod changes;
pub mod compare;
mod digest;
pub mod document;
pub mod drive;
mod envelope;
mod footer;
mod forest;
pub mod fsync;
pub mod hostile;
pub mod html;
mod json;
mod junit;
mod line;
mod lines;
mod look;
mod nagios;
mod npd;
mod outcome;
pub mod plan;
pub mod probe;
mod refusal;
mod result_text;
mod run;
mod sarif;
#[cfg(feature = "schema")]
mod schema;
mod sectors;
mod text;
pub mod trace;
mod tree;
mod uri;
mod words;

pub use answer::{MonitorAnswer, MonitorState};
pub use blocks::Blocks;
pub use changes::{
    Baseline, CHANGES_SCHEMA, Change, ChangeSummary, Changes, ComparedTarget, SeenValue,
    TargetChange, Trend, changes_closing, changes_headline, changes_json, changes_metrics,
    changes_tree, names_target,
};
pub use digest::{Digest, Note};
pub use document::{Document, Fact, Finding, LayerReport, NOT_JUDGED, Summary, Target, Verdicts};
pub use envelope::Envelope;
pub use json::{SUMMARY_SCHEMA, TARGET_SCHEMA, element, head, summary_line, tail, target_line};
pub use junit::{JUNIT_HEAD, JUNIT_TAIL, junit_suite};
pub use lines::{TextRow, lines, rows};
pub use look::{Look, ViewShape};
pub use nagios::{Metric, headline, metrics, nagios, nagios_failure};
pub use npd::{NPD_BYTES, npd, npd_message};
pub use outcome::is_bad;
pub use refusal::{Refusal, RefusalKind};
pub use result_text::{RESULT_BYTES_MAX, ResultFault};
pub use run::Run;
pub use sarif::{Notifications, RuleInfo, sarif_head, sarif_results};
#[cfg(feature = "schema")]
pub use schema::{DocumentSchema, SCHEMAS};
pub use tree::tree;

/// The closing lines of the views for people, when `shown` of the targets were shown.
#[must_use]
pub fn closing(summary: &Summary, shown: u64, shape: ViewShape, look: &Look) -> String {
    let words = words::ViewWords { look };
    match shape {
        ViewShape::Tree => footer::of_trees(summary, shown, words),
        ViewShape::Lines => footer::of_lines(summary, shown, words),
    }
}
