//! Result types with their schema, and how they are shown: tree, JSON, JUnit, SARIF.
//!
//! Everything that a command found stands in a [`Document`]; every format is a view of it. Nothing
//! here computes a verdict, and nothing reads anything.

pub mod document;
mod footer;
mod forest;
mod json;
mod junit;
mod line;
mod lines;
mod look;
mod outcome;
mod sarif;
#[cfg(feature = "schema")]
mod schema;
mod sectors;
mod text;
mod tree;
mod uri;
mod words;

pub use document::{
    Cost, Document, Fact, Finding, Layer, Misalignment, Problem, Refusal, Severity, Summary,
    Target, UnitFact, Verdict, Verdicts,
};
pub use json::{SUMMARY_SCHEMA, TARGET_SCHEMA, element, head, summary_line, tail, target_line};
pub use junit::junit;
pub use lines::lines;
pub use look::{Look, Shape};
pub use outcome::is_bad;
pub use sarif::{RuleInfo, sarif};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use tree::tree;

/// The closing lines of the views for people, when `shown` of the targets were shown.
#[must_use]
pub fn closing(summary: &Summary, shown: u64, shape: Shape, look: &Look) -> String {
    let words = words::Words { look };
    match shape {
        Shape::Tree => footer::of_trees(summary, shown, words),
        Shape::Lines => footer::of_lines(summary, shown, words),
    }
}
