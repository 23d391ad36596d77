//! The first bad boundary to scale: the units that should hold the layer's writes, the layer where
//! it starts, and one write of a unit's length, which two units take.

use stack::{Misalignment, UnitKind, Verdict};

use super::boxes::flow;
use super::sheet::{Frame, Sheet};
use crate::check_document::{LayerReport, Target};
use crate::colored_line::{BAD, CARE, NAME, PLAIN, QUIET};
use crate::quantity_words::ViewWords;
use crate::sectors;
use crate::target_outcome::{self, TargetOutcome};
use crate::text::{clip, shorten, width};

/// Units that are drawn side by side.
const UNITS: usize = 3;
/// A unit takes a multiple of so many columns, 24 of 80: sectors of 512 bytes in 4 KiB are exact.
const STEP: usize = 4;

/// Layers under the bad one through which its address is followed.
const DEPTH_MAX: usize = 64;
/// The longest sentence, in bytes.
const SENTENCE_BYTES: usize = 400;
/// Columns before a sentence, with the word for what it says.
const LABEL: usize = 6;

/// Draws the first bad boundary of `target` below what is on `sheet`, or says that there is none.
pub(super) fn draw(target: &Target, sheet: &mut Sheet, words: ViewWords<'_>) {
    let bad = target_outcome::first_bad(target);
    let scale = bad.and_then(|layer| Scale::of(layer, sheet.columns, words));
    let mut said = match (&target.refusal, bad) {
        (Some(refusal), _) => vec![("", say(&refusal.message, words))],
        (None, Some(layer)) => wrong(target, layer, words),
        (None, None) => nothing_wrong(target, words),
    };
    if bad.is_some() && scale.is_none() {
        said.push(("", "Not magnified: the distance from the boundaries differs.".to_owned()));
    }
    for (label, sentence) in said {
        sheet.about += &format!("{} ", crate::text::sentence(&sentence));
        let indent = if label.is_empty() { 0 } else { LABEL };
        let lines = flow([(PLAIN, sentence)], sheet.columns - indent);
        sheet.line(0, sheet.rows, vec![(QUIET, label.to_owned())]);
        for (line, row) in lines.into_iter().zip(sheet.rows - 1..) {
            sheet.line(indent, row, line);
        }
    }
    if let Some(scale) = scale {
        scale.draw(target, sheet);
    }
}

/// The start of the first bad layer, the cost, and other bad layers.
fn wrong(target: &Target, bad: &LayerReport, words: ViewWords<'_>) -> Vec<(&'static str, String)> {
    let finding = target_outcome::deciding(target);
    let seen = finding.and_then(|finding| finding.evidence.first()).map(|it| say(it, words));
    let plain = || format!("{}: {}", say(&bad.name, words), words.verdict(bad));
    let cost = finding.and_then(|finding| finding.cost.as_ref());
    let cost = cost.map(|cost| say(&cost.sentence, words)).unwrap_or_default();
    let also = target.layers.iter().filter(|it| it.first_bad && it.id != bad.id);
    let also: Vec<String> = also.map(|it| say(&it.name, words)).collect();
    let also = if also.is_empty() { String::new() } else { format!("bad: {}", also.join(", ")) };
    let said = [
        ("seen", seen.unwrap_or_else(plain)),
        ("cost", cost),
        ("also", clip(&also, SENTENCE_BYTES)),
    ];
    said.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// That there is no bad boundary, and why a verdict is missing.
fn nothing_wrong(target: &Target, words: ViewWords<'_>) -> Vec<(&'static str, String)> {
    if matches!(target.verdict, Verdict::Aligned | Verdict::Empty) {
        return vec![("", "No bad boundary: nothing to magnify.".to_owned())];
    }
    let is_why = |it: &&LayerReport| it.verdict == target.verdict && !it.reason.is_empty();
    let why = target.layers.iter().find(is_why);
    let why =
        why.map(|it| ("why", format!("{}: {}", say(&it.name, words), say(&it.reason, words))));
    [("", "No bad boundary was found; not all were judged.".to_owned())]
        .into_iter()
        .chain(why)
        .collect()
}

/// The drawing of one boundary.
struct Scale<'a> {
    layer: &'a LayerReport,
    by: Misalignment,
    /// From the boundary to the layer's start, in bytes; less than a unit, and not 0.
    offset: u64,
    unit_columns: usize,
    words: ViewWords<'a>,
}

impl<'a> Scale<'a> {
    /// The drawing of where `layer` starts, `columns` wide; `None` where it has several distances.
    fn of(layer: &'a LayerReport, columns: usize, words: ViewWords<'a>) -> Option<Scale<'a>> {
        let by = layer.misalignment?;
        let offset = by.offset_bytes.filter(|offset| (1..by.unit_bytes).contains(offset))?;
        let unit_columns = (columns - 1).div_euclid(UNITS * STEP).max(1) * STEP;
        Some(Scale { layer, by, offset, unit_columns, words })
    }

    fn draw(&self, target: &Target, sheet: &mut Sheet) {
        let unit = self.unit_columns;
        let (start, is_exact) = self.start_column();
        let scale = if is_exact { "to scale" } else { "to scale, rounded to one column" };
        sheet.rows += 1;
        for line in flow([(NAME, format!("First bad boundary, {scale}"))], sheet.columns) {
            sheet.line(0, sheet.rows, line);
        }
        let row = sheet.rows;
        let top = row + 1;
        for (column, text) in self.boundaries(target) {
            sheet.line(column, row, vec![(QUIET, text)]);
        }
        let length = self.words.exact(self.by.unit_bytes);
        let name = format!("{length} {}", self.by.unit.words());
        let name = if width(&name) < unit { &name } else { self.by.unit.words() };
        for (number, left) in (0..UNITS).map(|number| (number, number * unit)) {
            // The write starts in the first one and ends in the second.
            let style = if number < 2 { CARE } else { QUIET };
            self.bar(sheet, [left, left + unit], top, style, name);
        }
        let layer = say(&self.layer.name, self.words);
        self.bar(sheet, [start, UNITS * unit], top + 2, BAD, &layer);
        let distance = self.words.exact(self.offset);
        if width(&distance) < start {
            let column = start - width(&distance) - 1;
            sheet.line(column, top + 3, vec![(BAD, distance)]);
        }
        self.bar(sheet, [start, start + unit], top + 4, NAME, &format!("{length} write"));
        let touched = format!("touches 2 {}s", self.by.unit.words());
        let beside = start + unit + 2;
        let (column, row) = match beside + width(&touched) < UNITS * unit {
            true => (beside, top + 5),
            false => (start.min(sheet.columns - width(&touched)), top + 7),
        };
        sheet.line(column, row, vec![(CARE, touched)]);
    }

    /// A frame of one row of text from column to column.
    fn bar(
        &self,
        sheet: &mut Sheet,
        [left, right]: [usize; 2],
        top: usize,
        style: anstyle::Style,
        text: &str,
    ) {
        let room = right - left - 1;
        let text = shorten(text, room, self.words.glyphs().ellipsis);
        let column = left + 1 + (room - width(&text)).div_euclid(2);
        sheet.line(column, top + 1, vec![(PLAIN, text)]);
        sheet.frame(Frame { left, right, top, bottom: top + 2, ticks: Vec::new(), style });
    }

    /// The column nearest to where the layer starts, but never one of a boundary, and whether that
    /// is exact.
    fn start_column(&self) -> (usize, bool) {
        let unit = u128::try_from(self.unit_columns).unwrap_or(1);
        let length = u128::from(self.by.unit_bytes);
        let place = u128::from(self.offset) * unit;
        let nearest = (place + length.div_euclid(2)).div_euclid(length);
        let column = usize::try_from(nearest).unwrap_or(1).clamp(1, self.unit_columns - 1);
        (column, place.is_multiple_of(length))
    }

    /// Text over each boundary, with its column: its address on the drive where that is known and
    /// fits, else its distance from the first one.
    fn boundaries(&self, target: &Target) -> impl Iterator<Item = (usize, String)> {
        let (words, room) = (self.words, self.unit_columns - 1);
        let distances = [0, 1, 2].map(|number| self.by.unit_bytes.saturating_mul(number));
        let mut texts = distances.map(|by| match by {
            0 => "boundary".to_owned(),
            by => format!("+{}", words.exact(by)),
        });
        if let Some((base, sector)) = self.base(target) {
            let at = distances.map(|by| base.saturating_add(by));
            let in_sectors = |at: u64| match at.is_multiple_of(sector) {
                true => format!("sector {}", at.div_euclid(sector)),
                false => words.exact(at),
            };
            let forms = [at.map(|at| words.place(at, sector)), at.map(in_sectors)];
            let fits = |form: &[String; UNITS]| form.iter().all(|text| width(text) <= room);
            texts = forms.into_iter().find(fits).unwrap_or(texts);
        }
        let texts = texts.map(|text| shorten(&text, room, words.glyphs().ellipsis));
        (0..).step_by(self.unit_columns).zip(texts)
    }

    /// The address of the first boundary drawn on the drive, and the bytes of its sector; `None`
    /// where the layer has no one address there.
    fn base(&self, target: &Target) -> Option<(u64, u64)> {
        let find = |id: u32| target.layers.iter().find(|it| it.id == id);
        let mut address = 0_u64;
        let mut layer = self.layer;
        for _ in 0..DEPTH_MAX {
            let [below] = layer.below[..] else { break };
            address = address.checked_add(layer.start_bytes?)?;
            layer = find(below)?;
        }
        let granule = layer.units.iter().find(|it| it.used && it.unit == UnitKind::Granule)?;
        let from_origin = address.checked_sub(granule.origin_bytes)?;
        let agrees = layer.below.is_empty()
            && self.by.unit == UnitKind::Granule
            && from_origin.checked_rem(self.by.unit_bytes) == Some(self.offset);
        let sector = sectors::logical(&target.layers).get(&layer.id).copied().unwrap_or(512);
        agrees.then(|| (address - self.offset, sector))
    }
}

/// Name of the target and how it fares.
pub(super) fn heading(target: &Target, words: ViewWords<'_>) -> [(anstyle::Style, String); 2] {
    let outcome = TargetOutcome::of(target);
    let first = target_outcome::first_bad(target);
    let place = first.map_or_else(String::new, |layer| target_outcome::place(layer, words));
    let name = format!("{}:", say(&target.target, words));
    [(NAME, name), (outcome.style(), format!("{}{place}", outcome.words()))]
}

/// A text of the document: one line of a bounded length.
fn say(text: &str, words: ViewWords<'_>) -> String {
    clip(&words.text(text), SENTENCE_BYTES)
}
