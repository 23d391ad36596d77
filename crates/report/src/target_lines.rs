//! The view for many targets: one line for each, in columns, and a closing line that counts them.

use anstyle::Style;

use crate::check_document::{LayerReport, Target};
use crate::colored_line::{Flow, GAP, Line, NAME, PLAIN, gapped, severity_style};
use crate::quantity_words::ViewWords;
use crate::target_outcome::{self, TargetOutcome};
use crate::text::{shorten, shorten_middle, width};
use crate::view_options::Look;
use stack::{LayerType, Verdict};

/// Names are not shortened below this; where that does not fit, they get lines of their own.
const NAME_SHORTEST: usize = 24;
/// The reason or the distance of a misalignment is not shortened below this.
const PLACE_SHORTEST: usize = 16;
/// More of it is shown where there is room left.
const PLACE_WANTED: usize = 40;
/// Title of a target is not shortened below this, but left out.
const WHAT_SHORTEST: usize = 12;

/// One line for each target, in columns that fit them all.
#[must_use]
pub fn lines(targets: &[Target], look: &Look) -> String {
    let made: Vec<TextRow> = targets.iter().map(|target| TextRow::of(target, look)).collect();
    rows(&made, look)
}

/// Rows that were made with the same `look`, in columns that fit them all.
#[must_use]
pub fn rows(rows: &[TextRow], look: &Look) -> String {
    let words = ViewWords { look };
    let columns = Columns::of(rows, look);
    let mut page = String::new();
    for row in rows {
        row.write(&columns, words, &mut page);
    }
    page
}

/// Text about one target.
#[derive(Clone, Debug)]
pub struct TextRow {
    name: String,
    what: String,
    outcome: TargetOutcome,
    /// By how much it first goes wrong and where, or why its verdict is not known.
    place: String,
    /// The rule that decides the verdict, and the worst where that is another of more weight.
    code: String,
    code_style: Style,
}

impl TextRow {
    /// Returns what is said of `target`.
    #[must_use]
    pub fn of(target: &Target, look: &Look) -> TextRow {
        let words = ViewWords { look };
        let named = target_outcome::named(target);
        let worst = target_outcome::worst(target);
        TextRow {
            name: words.text(&target.target),
            what: what(target, words),
            outcome: TargetOutcome::of(target),
            place: place(target, words),
            code: (named.iter())
                .map(|it| format!("{} {}", words.text(&it.code), it.severity.word()))
                .collect::<Vec<_>>()
                .join(", "),
            code_style: worst.map_or(PLAIN, |finding| severity_style(finding.severity)),
        }
    }

    fn write(&self, columns: &Columns, words: ViewWords<'_>, page: &mut String) {
        let ellipsis = words.glyphs().ellipsis;
        let mut line = Line::default();
        if columns.broken {
            let pieces = [
                (NAME, self.name.clone()),
                (self.outcome.style(), self.outcome.words().to_owned()),
                (PLAIN, self.place.clone()),
                (self.code_style, self.code.clone()),
            ];
            indented(words).write(line, pieces, page);
        } else {
            line.push(NAME, &shorten_middle(&self.name, columns.name, ellipsis));
            if columns.what > 0 {
                line.advance(columns.what_at(), 0);
                line.push(PLAIN, &shorten(&self.what, columns.what, ellipsis));
            }
            line.advance(columns.verdict_at(), 0);
            line.push(self.outcome.style(), self.outcome.words());
            line.advance(columns.place_at(), 0);
            line.push(PLAIN, &shorten(&self.place, columns.place, ellipsis));
            line.advance(columns.code_at(), 0);
            line.push(self.code_style, &self.code);
            line.end(page);
        }
    }
}

fn indented(words: ViewWords<'_>) -> Flow<'static> {
    Flow { margin: "", indent: GAP, limit: words.look.columns() }
}

/// `sda1: by 1.5 KiB`; the layers of an image without its name, which stands before it.
fn place(target: &Target, words: ViewWords<'_>) -> String {
    if let Some(layer) = target_outcome::first_bad(target) {
        let file = target.target.rsplit('/').next().unwrap_or_default();
        let name = match layer.name.strip_prefix(file) {
            Some(rest) if rest.starts_with('#') => rest,
            _ => &layer.name,
        };
        let name = shorten_middle(&words.text(name), 40, words.glyphs().ellipsis);
        let Some(by) = &layer.misalignment else { return name };
        let distance = words.distance(layer, by);
        return format!("{name}: {}", distance.trim_start_matches([':', ' ']));
    }
    let not_known = [Verdict::Empty, Verdict::Undefined, Verdict::NotExpressible, Verdict::Unknown];
    if target.refusal.is_some() || !not_known.contains(&target.verdict) {
        return String::new();
    }
    let layer = target.layers.iter().find(|layer| layer.verdict == target.verdict);
    layer.map_or_else(String::new, |layer| words.text(&layer.reason))
}

/// Returns the title and size of the target's own device, else of its disk or image: not of what
/// lies beneath the file of a loop device, judged or not.
fn what(target: &Target, words: ViewWords<'_>) -> String {
    let layers = &target.layers;
    let node = target.target.strip_prefix("/dev/").unwrap_or(&target.target);
    let files: Vec<u32> =
        layers.iter().filter(|it| it.kind == LayerType::File).map(|it| it.id).collect();
    let own = layers.iter().find(|layer| layer.device.as_deref() == Some(node));
    let is_loop = |layer: &&LayerReport| layer.below.iter().any(|id| files.contains(id));
    let root = own.or_else(|| layers.iter().rfind(is_loop)).or_else(|| layers.first());
    let Some(root) = root else { return String::new() };
    let title = words.text(&root.title);
    match root.length_bytes {
        Some(length) if title.is_empty() => words.size(length),
        Some(length) => format!("{}, {title}", words.size(length)),
        None => title,
    }
}

/// The width of each column.
struct Columns {
    name: usize,
    what: usize,
    verdict: usize,
    place: usize,
    /// True if names stand on lines of their own.
    broken: bool,
}

impl Columns {
    fn of(rows: &[TextRow], look: &Look) -> Columns {
        let limit = look.columns();
        let widest = |cell: fn(&TextRow) -> &str| rows.iter().map(|row| width(cell(row))).max();
        let name = widest(|row| &row.name).unwrap_or(0);
        let what = widest(|row| &row.what).unwrap_or(0);
        // Nothing stands behind the words of a target that could not be judged.
        let judged = |row: &&TextRow| row.outcome != TargetOutcome::Refused;
        let verdict = rows.iter().filter(judged).map(|row| width(row.outcome.words())).max();
        let verdict = verdict.unwrap_or(0);
        let widest_place = widest(|row| &row.place).unwrap_or(0);
        let code = widest(|row| &row.code).unwrap_or(0);
        let left = limit.saturating_sub(gapped(verdict) + gapped(code));
        let most = left.saturating_sub(gapped(name.min(NAME_SHORTEST)) + GAP);
        let place = widest_place.min(PLACE_WANTED).min(most);
        let room = left.saturating_sub(gapped(place));
        let mut columns = Columns { name, what, verdict, place, broken: false };
        if gapped(name) + gapped(what) > room {
            let left = room.saturating_sub(gapped(name.min(NAME_SHORTEST)) + GAP);
            columns.what = if left < what.min(WHAT_SHORTEST) { 0 } else { what.min(left) };
            columns.name = name.min(room.saturating_sub(gapped(columns.what) + GAP));
        }
        columns.broken =
            columns.name < name.min(NAME_SHORTEST) || place < widest_place.min(PLACE_SHORTEST);
        // A reason takes what is left.
        let taken = gapped(columns.name) + gapped(columns.what) + GAP;
        // What is read by a program is not cut.
        columns.place = match look.width {
            Some(_) => widest_place.min(place.max(left.saturating_sub(taken))),
            None => widest_place,
        };
        columns
    }

    fn what_at(&self) -> usize {
        gapped(self.name)
    }

    fn verdict_at(&self) -> usize {
        self.what_at() + gapped(self.what)
    }

    fn place_at(&self) -> usize {
        self.verdict_at() + gapped(self.verdict)
    }

    fn code_at(&self) -> usize {
        self.place_at() + gapped(self.place)
    }
}
