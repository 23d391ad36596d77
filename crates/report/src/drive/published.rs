//! Published numbers beside the models', for people.

use ::drive::published::LineOrigin;

use super::{Published, PublishedLine, PublishedStanding};
use crate::bench::grid::{Sheet, SheetRow, cell, labeled, prose, quiet};
use crate::view_options::Look;

/// Beginning of the note where nothing explains a number.
const NO_CAUSE: &str = "no cause found";
/// From here on digits after the point say nothing.
pub(crate) const HUGE: f64 = 1e6;

/// All lines by their articles, what is outside with its reason, and how many are where.
#[must_use]
pub fn published_table(published: &Published, look: &Look) -> String {
    let mut page = String::new();
    let mut rest = &published.lines[..];
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|line| line.article == first.article).count();
        let (lines, others) = rest.split_at(count);
        prose(cell(&first.article), "", look.columns(), &mut page);
        of_article(lines, look, &mut page);
        page.push('\n');
        rest = others;
    }
    let errors =
        |line: &PublishedLine| Some((line.served_error_percent?.abs(), line.bound_percent));
    let served: Vec<(f64, f64)> = published.lines.iter().filter_map(errors).collect();
    if !served.is_empty() {
        let within = served.iter().filter(|(error, bound)| error <= bound).count();
        let bound = served[0].1;
        let bounds = match served.iter().all(|(_, other)| *other == bound) {
            true => format!("{bound} % of what was published"),
            false => "their bounds".to_owned(),
        };
        let text = format!("of {} measured numbers are within {bounds}", served.len());
        prose(cell(within.to_string()), &text, look.columns(), &mut page);
        return page;
    }
    let count = |standing| published.lines.iter().filter(|it| it.standing() == standing).count();
    let (within, fitted) = (count(PublishedStanding::Within), count(PublishedStanding::Fitted));
    let counted = published.lines.len() - fitted;
    let mut text = format!("of {counted} numbers that count are within their bounds");
    // A range is wide, so that it says less than a number of its own.
    let points = published.lines.iter().filter(|line| {
        line.published_max <= line.published && line.standing() != PublishedStanding::Fitted
    });
    let points: Vec<&PublishedLine> = points.collect();
    let inside = points.iter().filter(|line| line.within).count();
    let ranges = counted - points.len();
    if ranges > 0 {
        let (all, in_ranges) = (points.len(), within - inside);
        text.push_str(&format!(
            " ({inside} of {all} single numbers, {in_ranges} of {ranges} ranges)"
        ));
    }
    let unknown = |line: &&PublishedLine| {
        let note = line.note.as_deref().unwrap_or_default();
        line.standing() == PublishedStanding::Explained && note.starts_with(NO_CAUSE)
    };
    let unknown = published.lines.iter().filter(unknown).count();
    let of_label = |label| published.lines.iter().filter(move |line| line.label == label).count();
    for (number, words) in [
        (count(PublishedStanding::Explained) - unknown, "outside, with the reason above"),
        (unknown, "outside, and no cause is known"),
        (count(PublishedStanding::Outside), "outside for no stated reason"),
        (of_label(LineOrigin::Calibrated), "calibrated: the profile was set to that number"),
        (fitted, "fitted, which do not count"),
    ] {
        if number > 0 {
            text.push_str(&format!("; {number} {words}"));
        }
    }
    prose(cell(within.to_string()), &text, look.columns(), &mut page);
    page
}

fn of_article(lines: &[PublishedLine], look: &Look, page: &mut String) {
    if lines.iter().any(|line| line.served.is_some()) {
        return of_served(lines, look, page);
    }
    let row = |line: &PublishedLine| SheetRow {
        group: String::new(),
        cells: vec![
            line.what.clone(),
            range(line),
            published_number(line.model),
            line.unit.clone(),
            error(line),
            line.label.word().to_owned(),
            line.drive.clone().unwrap_or_default(),
        ],
    };
    let heads = &["", "published", "model", "unit", "error", "label", "drive"];
    let rows = lines.iter().map(row).collect();
    Sheet { heads, droppable: &[6, 5], rows }.write(look.columns(), page);
    let mut notes = lines.iter().filter(|line| line.note.is_some()).peekable();
    if notes.peek().is_some() {
        prose(quiet("notes, and why figures are outside their bounds"), "", look.columns(), page);
    }
    for line in notes {
        let note = line.note.as_deref().unwrap_or_default();
        labeled(&line.what, vec![cell(note)], look.columns(), page);
    }
}

/// The same with what was measured on served drives.
fn of_served(lines: &[PublishedLine], look: &Look, page: &mut String) {
    let row = |line: &PublishedLine| SheetRow {
        group: String::new(),
        cells: vec![
            line.what.clone(),
            line.unit.clone(),
            range(line),
            published_number(line.model),
            error_percent(line),
            line.served.map(published_number).unwrap_or_default(),
            line.served_error_percent.map(|error| format!("{error:+.1} %")).unwrap_or_default(),
        ],
    };
    let heads = &["", "unit", "published", "simulated", "error", "served", "error"];
    Sheet { heads, droppable: &[], rows: lines.iter().map(row).collect() }
        .write(look.columns(), page);
}

/// By how much the model is above, and the bound where that is outside of it.
fn error(line: &PublishedLine) -> String {
    let error = error_percent(line);
    match line.within || line.label == LineOrigin::Fitted {
        true => error,
        false => format!("{error} (allowed: {} %)", line.bound_percent),
    }
}

/// By how much the model is above, with a sign and a digit after the point.
pub(crate) fn error_percent(line: &PublishedLine) -> String {
    match line.error_percent {
        error if error.abs() < HUGE => format!("{error:+.1} %"),
        huge => format!("{} %", published_number(huge)),
    }
}

/// Returns what was published, with both ends of a range.
pub(crate) fn range(line: &PublishedLine) -> String {
    let low = published_number(line.published);
    match line.published_max > line.published {
        true => format!("{low} to {}", published_number(line.published_max)),
        false => low,
    }
}

/// A published number with the digits that it has where people publish it.
pub(crate) fn published_number(value: f64) -> String {
    match value.abs() {
        huge if huge >= 1e9 => format!("{value:.2e}"),
        below if below < 10.0 => format!("{value:.3}"),
        below if below < 1000.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
