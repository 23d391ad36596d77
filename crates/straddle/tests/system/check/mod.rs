//! `straddle check` as a user runs it, on disks and images that the field's own tools make.

mod articles;
mod baselines;
mod command;
mod contradictions;
mod formats;
mod harmless;
mod history;
mod images;
mod interrupted_output;
mod kept;
mod labels;
mod leaf;
mod left_over;
mod lost;
mod media;
mod monitor_examples;
pub(crate) mod monitors;
mod names;
mod recognized;
pub(crate) mod run;
mod specified_disk;
mod stale;
mod stripes;
mod together;
mod usual_tools;

/// Every format of check.
pub(crate) const FORMATS: [&str; 12] = [
    "table",
    "json",
    "jsonl",
    "junit",
    "sarif",
    "github",
    "gitlab",
    "markdown",
    "csv",
    "prometheus",
    "nagios",
    "npd",
];
