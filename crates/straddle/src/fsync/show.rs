//! What is printed, and what the process ends with.

use std::io;

use report::fsync::{self, FSYNC_PLAN_SCHEMA, Fsync as Document, FsyncPlan};
use units::prefix::Size;

use super::plan::Plan;
use super::session::Session;
use crate::arguments::{BenchFormat, Fsync, FsyncFailOn, FsyncRows};
use crate::exit::Outcome;
use crate::printer;

/// Says on standard error what is going to be written, before it is.
pub(super) fn forecast(session: &Session<'_>, plan: &Plan) {
    let forecast = &plan.forecast;
    printer::note(&format!(
        "writes at most {} in {}, for at most {} s; {}",
        Size(forecast.written_bytes_max),
        session.document.target.path,
        forecast.seconds_max,
        forecast.wear
    ));
    for sentence in &forecast.impact {
        printer::note(sentence);
    }
}

/// Prints what would be done.
pub(super) fn preview(session: &Session<'_>, plan: &Plan) -> io::Result<()> {
    let row = |row: &measure::durable::RowPlan| {
        let path = if row.way.is_direct { "direct" } else { "buffered" };
        format!("{}: {}, {path}", row.id, row.label.trim())
    };
    let document = FsyncPlan {
        schema: FSYNC_PLAN_SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        target: session.document.target.clone(),
        forecast: plan.forecast.clone(),
        rows: plan.rows.iter().map(row).collect(),
        notes: session.document.notes.clone(),
    };
    let text = match session.arguments.printed.format() {
        BenchFormat::Table => fsync::fsync_plan_text(&document, &printer::look(false)),
        BenchFormat::Json | BenchFormat::FioJson => fsync::fsync_plan_json(&document),
    };
    printer::print(&text)
}

/// Prints the result, and on standard error why there is none, or not all.
pub(super) fn result(
    arguments: &Fsync,
    document: &Document,
    signal: Option<i32>,
) -> io::Result<()> {
    if let Some(refusal) = &document.refusal {
        printer::refusal(&refusal.message, refusal.hint.as_deref());
    }
    if signal.is_some() {
        printer::interrupted();
    }
    match arguments.printed.format() {
        _ if arguments.dry_run => Ok(()),
        BenchFormat::Json => printer::print(&fsync::fsync_json(document)),
        // Without rows it would be a success with nothing in it.
        BenchFormat::FioJson if document.rows.is_empty() => Ok(()),
        BenchFormat::FioJson => printer::print(&fsync::fsync_fio_json(document)),
        BenchFormat::Table if document.rows.is_empty() && document.honesty.is_none() => Ok(()),
        BenchFormat::Table => {
            // Standard error has said it.
            let shown = Document { refusal: None, ..document.clone() };
            printer::print(&fsync::fsync_table(&shown, &printer::look(arguments.explain)))
        }
    }
}

/// What the process ends with.
pub(super) fn outcome(arguments: &Fsync, document: &Document, signal: Option<i32>) -> Outcome {
    if let Some(signal) = signal {
        return Outcome::Interrupted(signal);
    }
    if let Some(refusal) = &document.refusal {
        return if refusal.safety { Outcome::Refused } else { Outcome::Unanswered };
    }
    if arguments.dry_run {
        return Outcome::Clean;
    }
    let wanted = arguments.rows != FsyncRows::None;
    if wanted && document.rows.iter().all(|row| row.operations == 0) {
        return Outcome::Unanswered;
    }
    let grade = document.honesty.as_ref().map_or("", |honesty| honesty.grade.as_str());
    match (grade, arguments.fail_on) {
        (_, FsyncFailOn::Never) => {}
        ("not-durable", _) | ("suspect", FsyncFailOn::Warning) => return Outcome::Found,
        _ => {}
    }
    let Some(verdict) = &document.verdict else { return Outcome::Clean };
    match (verdict.verdict.as_str(), arguments.fail_on) {
        ("pass", _) => Outcome::Clean,
        ("warn", FsyncFailOn::Warning) => Outcome::Found,
        ("warn", _) => Outcome::Clean,
        ("fail", FsyncFailOn::Never) => Outcome::Clean,
        ("fail", _) => Outcome::Found,
        _ => Outcome::Unanswered,
    }
}
