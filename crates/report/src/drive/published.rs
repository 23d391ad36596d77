//! Published numbers beside the models', for people: the verdict, then a table for each article.

use ::drive::published::{LineOrigin, TURNS, source_of};

use super::list::indented;
use super::{Published, PublishedLine, PublishedStanding};
use crate::bench::grid::{Sheet, SheetRow, cell, prose, quiet};
use crate::view_options::Look;

/// Beginning of the note where nothing explains a number.
const NO_CAUSE: &str = "no cause found";
/// Words of a note on a cause that somebody else keeps.
const NOT_PUBLISHED: &str = "not published";
/// From here on digits after the point say nothing.
const HUGE: f64 = 1e6;

/// The verdict, then each article's lines, what is outside with its reason, and notes.
#[must_use]
pub fn published_table(published: &Published, look: &Look) -> String {
    let mut page = String::new();
    for sentence in verdict(&published.lines) {
        prose(cell(sentence), "", look.columns(), &mut page);
    }
    for lines in published.lines.chunk_by(|one, next| one.article == next.article) {
        page.push('\n');
        of_article(lines, look.columns(), &mut page);
    }
    page
}

/// Count of the numbers within their bounds, and of the others.
fn verdict(lines: &[PublishedLine]) -> Vec<String> {
    let served = || lines.iter().filter(|line| line.served.is_some());
    match served().next() {
        Some(first) => {
            let (within, all) = within(served());
            let bounds = match served().all(|line| line.bound_percent == first.bound_percent) {
                true => format!("{} % of what was published", first.bound_percent),
                false => "their bounds".to_owned(),
            };
            vec![format!("{within} of {all} measured numbers are within {bounds}")]
        }
        None => model_verdict(lines),
    }
}

/// Number of lines within their bounds, and of all that count.
fn within<'a>(lines: impl Iterator<Item = &'a PublishedLine>) -> (usize, usize) {
    let groups: Vec<Group> = lines.map(group).filter(|group| *group != Group::Fitted).collect();
    (groups.iter().filter(|group| **group == Group::Within).count(), groups.len())
}

fn model_verdict(lines: &[PublishedLine]) -> Vec<String> {
    // A range is wide, so that it says less than a number of its own.
    let (single, singles) = within(lines.iter().filter(|line| !is_range(line)));
    let (range, ranges) = within(lines.iter().filter(|line| is_range(line)));
    let mut first = format!("{} of {} numbers are within bounds", single + range, singles + ranges);
    if ranges > 0 {
        first += &format!(": {single} of {singles} single numbers, {range} of {ranges} ranges");
        let within = lines.iter().filter(|line| group(line) == Group::Within);
        let beyond = within.filter(|line| is_beyond(line)).count();
        if beyond > 0 {
            first += &format!(" ({beyond} beyond an end, but not by more than allowed)");
        }
    }
    let is_unknown = |line: &PublishedLine| {
        let note = line.note.as_deref().unwrap_or_default();
        note.starts_with(NO_CAUSE) || note.contains(NOT_PUBLISHED)
    };
    let outside = |wanted, unknown| {
        let of = |line: &&PublishedLine| line.standing() == wanted && is_unknown(line) == unknown;
        lines.iter().filter(of).count()
    };
    let outside = [
        (outside(PublishedStanding::Explained, false), "for a reason that was found"),
        (outside(PublishedStanding::Explained, true), "without a known cause"),
        (outside(PublishedStanding::Outside, false), "without a stated reason"),
    ];
    let outside = outside.iter().filter(|(count, _)| *count > 0);
    let outside: Vec<String> = outside.map(|(count, words)| format!("{count} {words}")).collect();
    let (others, all) = within(lines.iter().filter(|line| line.label != LineOrigin::Calibrated));
    let calibrated =
        format!("these set values of drives; without them {others} of {all} are within");
    let labels = [
        (LineOrigin::Predicted, "set no value of a drive"),
        (LineOrigin::Calibrated, &calibrated),
        (LineOrigin::Fitted, "not counted"),
    ];
    let labels = labels.iter().filter_map(|(label, meaning)| {
        let count = lines.iter().filter(|line| line.label == *label).count();
        (count > 0).then(|| format!("{}: {count} ({meaning})", label.word()))
    });
    let labels: Vec<String> = labels.collect();
    let outside = (!outside.is_empty()).then(|| format!("outside: {}", outside.join(", ")));
    std::iter::once(first).chain(outside).chain([labels.join("; ")]).collect()
}

/// Part of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Within,
    Outside,
    Fitted,
}

impl Group {
    fn title(self) -> &'static str {
        match self {
            Group::Within => "within bounds",
            Group::Outside => "outside bounds",
            Group::Fitted => "fitted, not counted",
        }
    }
}

/// The part in which `line` stands: by its measured number where it has one.
fn group(line: &PublishedLine) -> Group {
    match (line.served_error_percent, line.standing()) {
        (Some(error), _) if error.abs() <= line.bound_percent => Group::Within,
        (Some(_), _) => Group::Outside,
        (None, PublishedStanding::Fitted) => Group::Fitted,
        (None, PublishedStanding::Within) => Group::Within,
        (None, PublishedStanding::Explained | PublishedStanding::Outside) => Group::Outside,
    }
}

fn of_article(lines: &[PublishedLine], limit: usize, page: &mut String) {
    let Some(first) = lines.first() else { return };
    let mut drives = lines.iter().filter_map(|line| line.drive.as_deref());
    let drive = drives.next().filter(|drive| drives.all(|other| other == *drive));
    let shown = drive.filter(|drive| *drive != first.article);
    let shown = shown.map(|drive| format!("on {drive}")).unwrap_or_default();
    prose(cell(&first.article), &shown, limit, page);
    if let Some(source) = source_of(&first.article) {
        indented(source, limit, page);
    }
    table(lines, drive.is_none(), limit, page);
    let is_served = lines.iter().any(|line| line.served.is_some());
    if !is_served {
        reasons(lines, limit, page);
    }
}

/// The rows, those within their bounds first.
fn table(lines: &[PublishedLine], has_drives: bool, limit: usize, page: &mut String) {
    let is_served = lines.iter().any(|line| line.served.is_some());
    let mut sorted: Vec<&PublishedLine> = lines.iter().collect();
    sorted.sort_by_key(|line| group(line));
    let row = |line: &&PublishedLine| {
        let model = digits(line.model);
        let mut cells = vec![line.what.clone(), with_unit(line), model, error(line)];
        if is_served {
            let error = |percent| difference(line, line.served.unwrap_or(f64::NAN), percent);
            cells.push(line.served.map(digits).unwrap_or_default());
            cells.push(line.served_error_percent.map(error).unwrap_or_default());
        }
        cells.push(line.label.word().to_owned());
        if has_drives {
            cells.push(line.drive.clone().unwrap_or_default());
        }
        SheetRow { group: group(line).title().to_owned(), cells }
    };
    let rows = sorted.iter().map(row).collect();
    let (heads, droppable): (&[&str], &[usize]) = match is_served {
        true => {
            (&["", "published", "model", "error", "served", "error", "label", "drive"], &[6, 3])
        }
        false => (&["", "published", "model", "error", "label", "drive"], &[]),
    };
    let heads = if has_drives { heads } else { &heads[..heads.len() - 1] };
    let last = [heads.len() - 1];
    let droppable = if has_drives { [&last, droppable].concat() } else { droppable.to_vec() };
    Sheet { heads, droppable: &droppable, rows }.write(limit, page);
}

/// Why lines are outside their bounds, and what else a reader should know; lines that share a text
/// share it here.
fn reasons(lines: &[PublishedLine], limit: usize, page: &mut String) {
    let (outside, others): (Vec<_>, Vec<_>) =
        lines.iter().partition(|line| group(line) == Group::Outside);
    let named = |line: &&PublishedLine| {
        let note = line.note.as_deref().unwrap_or("no stated reason");
        (format!("{} (allowed: {})", line.what, bound(line)), note.to_owned())
    };
    notes("outside bounds, and why", outside.iter().map(named).collect(), lines.len(), limit, page);
    let noted = |line: &&PublishedLine| Some((line.what.clone(), line.note.clone()?));
    notes("notes", others.iter().filter_map(noted).collect(), lines.len(), limit, page);
}

/// Each text once, behind the names of the lines that share it; `all` is the number of all lines.
fn notes(
    title: &str,
    mut noted: Vec<(String, String)>,
    all: usize,
    limit: usize,
    page: &mut String,
) {
    if !noted.is_empty() {
        prose(quiet(title), "", limit, page);
    }
    while let Some((_, text)) = noted.first().cloned() {
        let of_text = noted.iter().filter(|(_, other)| *other == text);
        let names: Vec<&str> = of_text.map(|(name, _)| name.as_str()).collect();
        let names = if names.len() == all { "all".to_owned() } else { names.join("; ") };
        indented(&format!("{names}: {text}"), limit, page);
        noted.retain(|(_, other)| *other != text);
    }
}

/// Distance of the model from what was published: in turns if these are whole, else in percent.
pub(crate) fn error(line: &PublishedLine) -> String {
    difference(line, line.model, line.error_percent)
}

/// By how much it may be off: `10 %`, `0.05 %`; `none` of whole turns.
pub(crate) fn bound(line: &PublishedLine) -> String {
    match line.unit == TURNS {
        true => "none".to_owned(),
        false => format!("{} %", digits(line.bound_percent)),
    }
}

fn is_range(line: &PublishedLine) -> bool {
    line.published_max > line.published
}

/// Returns whether the model's number is beyond an end of a published range.
fn is_beyond(line: &PublishedLine) -> bool {
    is_range(line) && !(line.published..=line.published_max).contains(&line.model)
}

/// Returns what was published, with both ends of a range.
pub(crate) fn range(line: &PublishedLine) -> String {
    let low = digits(line.published);
    match is_range(line) {
        true => format!("{low} to {}", digits(line.published_max)),
        false => low,
    }
}

/// The same with its unit.
fn with_unit(line: &PublishedLine) -> String {
    match (range(line), line.unit.as_str()) {
        (one, TURNS) if one == "1" => "1 turn".to_owned(),
        (number, unit) => format!("{number} {unit}"),
    }
}

/// Distance of `number` from what was published, which is `percent`: in turns if these are whole;
/// `inside` a range.
fn difference(line: &PublishedLine, number: f64, percent: f64) -> String {
    if line.unit == TURNS {
        let turns = number - line.published;
        let sense = if turns > 0.0 { "more" } else { "less" };
        return match digits(turns.abs()).as_str() {
            "0" => "none".to_owned(),
            "1" => format!("1 turn {sense}"),
            count => format!("{count} turns {sense}"),
        };
    }
    match percent {
        inside if inside == 0.0 && is_range(line) => "inside".to_owned(),
        zero if zero.abs() < 0.05 => "0.0 %".to_owned(),
        error if error.abs() < HUGE => format!("{error:+.1} %"),
        huge => format!("{} %", digits(huge)),
    }
}

/// A number with about four digits, none of them a zero at the end of a fraction.
pub(crate) fn digits(value: f64) -> String {
    let scale = match value.abs() {
        huge if huge >= 1e9 => return format!("{value:.2e}"),
        below if below < 10.0 => 1e3,
        below if below < 100.0 => 1e2,
        below if below < 1000.0 => 10.0,
        _ => 1.0,
    };
    ((value * scale).round() / scale).to_string()
}
