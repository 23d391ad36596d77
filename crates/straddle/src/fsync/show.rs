//! What is printed, and what the process ends with.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::Context as _;
use report::Look;
use report::fsync::{self, FSYNC_PLAN_SCHEMA, Fsync as Document, FsyncPlan};
use units::prefix::Size;

use super::plan::Plan;
use super::session::Session;
use super::target::shown;
use crate::arguments::{BenchFormat, Colour, Fsync, FsyncFailOn, FsyncRows};
use crate::exit::Outcome;
use crate::honesty;
use crate::printer;

/// How text is laid out here.
fn look(explain: bool) -> Look {
    Look { width: Some(printer::width()), ascii: printer::is_ascii(), bytes: false, explain }
}

/// Says on standard error what is going to be written, before it is.
pub(super) fn forecast(session: &Session<'_>, plan: &Plan) {
    let forecast = &plan.forecast;
    printer::note(&format!(
        "writes at most {} in {}, for at most {} seconds; {}",
        Size(forecast.written_bytes_max),
        session.document.target.path,
        forecast.seconds_max,
        forecast.wear
    ));
    for sentence in &forecast.impact {
        printer::note(sentence);
    }
}

/// Says the same where only a few syncs are tried.
pub(super) fn look_only(session: &Session<'_>) {
    let directory = &session.document.target.path;
    let most = Size(honesty::WRITTEN_BYTES_MAX);
    printer::note(&format!("writes at most {most} to a file of its own in {directory}"));
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
    let text = match session.format() {
        BenchFormat::Table => fsync::fsync_plan_text(&document, &look(false)),
        BenchFormat::Json | BenchFormat::FioJson => fsync::fsync_plan_json(&document),
    };
    write(&text)
}

/// Prints the result, and on standard error why there is none, or not all.
pub(super) fn result(
    arguments: &Fsync,
    document: &Document,
    signal: Option<i32>,
) -> io::Result<()> {
    if let Some(refusal) = &document.refusal {
        let hint = refusal.hint.as_ref().map(|hint| format!("\nhint: {hint}"));
        printer::error(&format!("{}{}", refusal.message, hint.unwrap_or_default()));
    }
    if signal.is_some() {
        printer::note("interrupted; nothing is left behind");
    }
    let format = if arguments.json { BenchFormat::Json } else { arguments.format };
    match format {
        _ if arguments.dry_run => Ok(()),
        BenchFormat::Json => write(&fsync::fsync_json(document)),
        BenchFormat::FioJson => write(&fsync::fsync_fio_json(document)),
        BenchFormat::Table if document.rows.is_empty() && document.honesty.is_none() => Ok(()),
        BenchFormat::Table => {
            // Standard error has said it.
            let shown = Document { refusal: None, ..document.clone() };
            write(&fsync::fsync_table(&shown, &look(arguments.explain)))
        }
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut output = printer::output(Colour::Auto);
    output.write_all(text.as_bytes())?;
    output.flush()
}

/// Writes the whole result to a file.
pub(super) fn keep(path: &Path, document: &Document) -> anyhow::Result<()> {
    let write = || -> io::Result<()> {
        let mut file = File::create(path)?;
        file.write_all(fsync::fsync_json(document).as_bytes())?;
        file.sync_all()
    };
    // The chain must not hold the I/O error itself, which would be taken for standard output's.
    write()
        .map_err(|error| error.to_string())
        .map_err(anyhow::Error::msg)
        .with_context(|| format!("cannot write the result to {}", shown(path)))
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
