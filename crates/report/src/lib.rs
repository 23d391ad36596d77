//! Documents with their schemas, and how they are shown: tree, JSON, JUnit, SARIF, lists of
//! findings, monitors.
//!
//! Everything that a command found stands in a [`Document`]; every format is a view of it. Nothing
//! here computes a verdict, and nothing reads anything.

pub mod atomic;
pub mod bench;
mod changes;
pub mod check_document;
mod colored_line;
pub mod compare;
pub mod conversion;
mod device_facts;
pub mod drawing;
pub mod drive;
mod emit;
mod envelope;
mod findings;
mod fio_job;
mod footer;
pub mod fsync;
pub mod hostile;
pub mod html;
mod json;
mod junit;
mod layer_cells;
mod layer_order;
mod monitor_answer;
mod nagios;
mod npd;
pub mod plan;
pub mod probe;
mod prometheus;
mod quantity_words;
mod refusal;
mod result_reader;
mod run;
mod sarif;
#[cfg(feature = "schema")]
mod schema;
mod sectors;
mod target_lines;
mod target_outcome;
mod text;
mod text_blocks;
mod text_page;
mod textfile;
pub mod trace;
mod tree;
mod uri;
mod view_options;
pub mod watch;
mod worst_targets;

pub use changes::{
    Baseline, CHANGES_SCHEMA, Change, ChangeSummary, Changes, ComparedTarget, SeenValue,
    TargetChange, Trend, changes_closing, changes_headline, changes_json, changes_metrics,
    changes_tree, check_parse,
};
pub use check_document::{Document, Fact, Finding, LayerReport, Summary, Target, Verdicts};
pub use emit::{Consumer, emitted};
pub use envelope::Envelope;
pub use findings::FindingForm;
pub use json::{SUMMARY_SCHEMA, TARGET_SCHEMA, element, head, summary_line, tail, target_line};
pub use junit::{JUNIT_HEAD, JUNIT_TAIL, junit_open, junit_suite};
pub use monitor_answer::{MonitorAnswer, MonitorState};
pub use nagios::{Metric, PluginAnswer, headline, metrics, nagios, nagios_failure};
pub use npd::{NPD_BYTES, npd, npd_message};
pub use quantity_words::percent;
pub use refusal::{Refusal, RefusalKind};
pub use result_reader::{RESULT_BYTES_MAX, ResultFault};
pub use run::Run;
pub use sarif::{Notifications, RuleInfo, sarif_head, sarif_results};
#[cfg(feature = "schema")]
pub use schema::{DocumentSchema, SCHEMAS};
pub use target_lines::{TextRow, lines, rows};
pub use target_outcome::is_bad;
pub use text::{hang, wrap_words};
pub use text_blocks::Blocks;
pub use textfile::results_textfile;
pub use tree::tree;
pub use view_options::{Look, ViewShape};
pub use worst_targets::{Digest, Note};

/// The closing lines of the views for people, when `shown` of the targets were shown and the user
/// switched the rules with the codes `off` off.
#[must_use]
pub fn closing(
    summary: &Summary,
    shown: u64,
    off: &[&str],
    shape: ViewShape,
    look: &Look,
) -> String {
    let words = quantity_words::ViewWords { look };
    match shape {
        ViewShape::Tree => footer::of_trees(summary, shown, off, words),
        ViewShape::Lines => footer::of_lines(summary, shown, off, words),
    }
}
