//! The trace for people: the way down, a row for each extent, the total, the cost.

use std::fmt;

use stack::{LayerType, UnitKind};
use units::Source;
use units::number::wide;

use super::{Trace, TraceCopy, TraceCost, TraceEffort, TraceEnd, TraceExtent, TraceShare};
use crate::check_document::Fact;
use crate::quantity_words::{self, ViewWords, count};
use crate::text::{fitted, hang, wrap};
use crate::view_options::Look;

/// Number of rows shown; `--json` has them all.
const ROWS_MAX: usize = 40;
/// The column of places on the drive, which stand on lines of their own where they are too long.
const PLACE: usize = 4;
/// Blanks before such a line.
const INDENT: &str = "    ";
/// Key of the fact that says how long an untorn write may be.
const UNTORN_KEY: &str = "atomic-write-max-bytes";
/// Number of copies of a piece shown.
const COPIES_MAX: usize = 4;

/// The whole trace as text, with its last line feed. A refused one is empty: errors are not data.
#[must_use]
pub fn table(trace: &Trace, look: &Look) -> String {
    if trace.envelope.refusal.is_some() {
        return String::new();
    }
    let view = TraceText { trace, words: ViewWords { look } };
    let mut rest = view.total();
    if let Some(cost) = &trace.cost {
        rest += &view.cost(cost, trace.length_bytes);
    }
    let fits = |text: &str| -> String {
        text.lines().map(|line| hang(line, look.limit()) + "\n").collect()
    };
    fits(&view.head()) + &view.rows() + &fits(&rest)
}

struct TraceText<'a> {
    trace: &'a Trace,
    words: ViewWords<'a>,
}

impl TraceText<'_> {
    fn head(&self) -> String {
        let trace = self.trace;
        let words = self.words;
        let mut text = words.text(&trace.file);
        if let Some(bytes) = trace.file_bytes {
            text += &format!("  {}", words.size(bytes));
        }
        if (trace.offset_bytes, Some(trace.length_bytes)) != (0, trace.file_bytes) {
            let (offset, length) =
                (words.exact(trace.offset_bytes), words.exact(trace.length_bytes));
            text += &format!("  traced: {length} from {offset} on");
        }
        text.push('\n');
        for layer in trace.layers.iter().rev().skip(1) {
            let units = units_of(layer, words);
            let title = [words.text(&layer.title), units];
            let title: Vec<String> = title.into_iter().filter(|part| !part.is_empty()).collect();
            text += &format!("  on {}  {}\n", words.text(&layer.name), title.join(", "));
        }
        for note in &trace.envelope.notes {
            text += &format!("  note: {}\n", words.text(note));
        }
        text
    }

    fn rows(&self) -> String {
        let mut rows = vec![
            ["file byte", "length", "state", "file system byte", "on the drive", "alignment"]
                .map(str::to_owned)
                .to_vec(),
        ];
        rows.extend(self.trace.extents.iter().take(ROWS_MAX).map(|extent| self.row(extent)));
        if rows.len() == 1 {
            return "\nnothing to trace: the range is empty\n".to_owned();
        }
        let places: Vec<String> = rows.iter().map(|row| row[PLACE].clone()).collect();
        let limit = self.words.look.limit();
        let table = fitted(&mut rows, &[0, 1, 3], 2, limit, &[3, PLACE]);
        let mut text = "\n".to_owned();
        for ((line, place), row) in table.lines().zip(places).zip(&rows) {
            text += &format!("{line}\n");
            if row[PLACE].is_empty() && place != "-" {
                let indent = format!("\n{INDENT}");
                text += INDENT;
                text += &wrap(&place, limit.saturating_sub(INDENT.len())).join(&indent);
                text.push('\n');
            }
        }
        let shown = self.trace.extents.len().min(ROWS_MAX);
        let hidden = self.trace.extents.len() - shown;
        let more = wide(hidden) + self.trace.omitted_extents;
        if more > 0 {
            text += &format!("{more} more; --json lists them\n");
        }
        text
    }

    fn row(&self, extent: &TraceExtent) -> Vec<String> {
        let words = self.words;
        let mut state = extent.state.word().to_owned();
        if extent.shared {
            state += ", shared";
        }
        vec![
            extent.offset_bytes.to_string(),
            words.exact(extent.length_bytes),
            state,
            extent.physical_bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string()),
            self.place(extent),
            self.fits(extent),
        ]
    }

    /// `sda @ 1048576 (sector 2048)`, every copy, and how many pieces follow.
    fn place(&self, extent: &TraceExtent) -> String {
        if let Some(start) = extent.starts_at.first() {
            return format!("from {} on", self.copy(start));
        }
        if !extent.reason.is_empty() {
            return "-".to_owned();
        }
        let Some(piece) = extent.pieces.first() else { return "-".to_owned() };
        let shown = piece.copies.iter().take(COPIES_MAX).map(|copy| self.copy(copy));
        let mut text = shown.collect::<Vec<String>>().join(" = ");
        if text.is_empty() {
            text.push('-');
        }
        if piece.copies.len() > COPIES_MAX {
            text += " = ...";
        }
        let more = u64::try_from(extent.pieces.len().saturating_sub(1)).unwrap_or(u64::MAX);
        if more > 0 {
            let least = if extent.pieces_end_bytes.is_some() { "at least " } else { "" };
            text += &format!(" and {least}{} more", count(more, "piece"));
        }
        text
    }

    fn copy(&self, copy: &TraceCopy) -> String {
        let Some(step) = copy.path.last() else { return self.words.text(&copy.reason) };
        let sector = self.sector(step.layer, step.at_bytes);
        let sector = sector.map_or_else(String::new, |sector| format!(" (sector {sector})"));
        let at = format!("{} @ {}{sector}", self.name(step.layer), step.at_bytes);
        match copy.end {
            TraceEnd::Leaf => at,
            TraceEnd::Hole => "-".to_owned(),
            TraceEnd::Compressed | TraceEnd::Unknown => {
                format!("{at} ({})", self.words.text(&copy.reason))
            }
        }
    }

    /// The logical sector of a layer that starts at a byte; `None` where none does, or their size
    /// is unknown, as of a file.
    fn sector(&self, layer: u32, at_bytes: u64) -> Option<u64> {
        let found = self.trace.layers.iter().find(|one| one.id == layer)?;
        let unit =
            found.units.iter().find(|one| one.used && one.unit == UnitKind::LogicalSector)?;
        let bytes = unit.bytes.filter(|&bytes| bytes > 0 && at_bytes.is_multiple_of(bytes))?;
        Some(at_bytes.div_euclid(bytes))
    }

    fn name(&self, layer: u32) -> String {
        let found = self.trace.layers.iter().find(|one| one.id == layer);
        found.map_or_else(|| "?".to_owned(), |layer| self.words.text(&layer.name))
    }

    /// The units missed in a few words, or that all are met.
    fn fits(&self, extent: &TraceExtent) -> String {
        if extent.alignment.is_empty() {
            return "-".to_owned();
        }
        let missed: Vec<String> = (extent.alignment.iter())
            .filter(|share| share.misaligned_bytes > 0)
            .map(|share| format!("{} {}", share.unit.words(), self.off(share, extent)))
            .collect();
        if missed.is_empty() { "aligned".to_owned() } else { missed.join(", ") }
    }

    /// Distance or share by which the extent is off, with the parts where both the file system and
    /// its start are off.
    fn off(&self, share: &TraceShare, extent: &TraceExtent) -> String {
        match share.offsets_bytes.as_slice() {
            &[only] if share.aligned_bytes == 0 => {
                let exact = |bytes| self.words.exact(bytes);
                let unit = share.unit_bytes.max(1);
                let past = |from: u64, to: u64| (to % unit + unit - from % unit) % unit;
                let own = extent.physical_bytes.map_or(0, |at| past(extent.offset_bytes, at));
                let text = format!("off by {}", exact(only));
                if own == 0 || own == only {
                    return text;
                }
                let below = exact(past(own, only));
                format!("{text} ({below} below + {} in the file system)", exact(own))
            }
            _ => format!("{} off", part_of(share.misaligned_bytes, share)),
        }
    }

    fn total(&self) -> String {
        let total = &self.trace.total;
        let words = self.words;
        let mut parts = vec![count(total.extents, "extent")];
        parts.push(format!("{} placed", words.exact(total.placed_bytes)));
        if total.hole_bytes > 0 {
            parts.push(format!("{} in holes", words.exact(total.hole_bytes)));
        }
        let mut text = format!("\ntotal  {}\n", parts.join(", "));
        for unknown in &total.unknown {
            let (bytes, reason) = (words.exact(unknown.bytes), words.text(&unknown.reason));
            text += &format!("  unknown  {bytes}: {reason}\n");
        }
        if total.unvisited_bytes > 0 {
            let bytes = words.exact(total.unvisited_bytes);
            text += &format!("  unknown  {bytes}: in more pieces than are visited\n");
        }
        for share in &total.alignment {
            let assumed = if share.assumed { ", assumed" } else { "" };
            let unit = share.unit.words();
            let aligned = part_of(share.aligned_bytes, share);
            let mut line = format!(
                "  {unit} of {} ({}{assumed})  {aligned} aligned",
                words.exact(share.unit_bytes),
                self.name(share.layer)
            );
            if share.misaligned_bytes > 0 {
                let offsets = share.offsets_bytes.iter().map(|&bytes| words.exact(bytes));
                line += &format!(", off by {}", offsets.collect::<Vec<_>>().join(", "));
            }
            text += &line;
            text.push('\n');
        }
        text + &self.untorn()
    }

    /// The largest write to the file that is never torn, where one is guaranteed.
    fn untorn(&self) -> String {
        let is_it = |fact: &&Fact| &*fact.key == UNTORN_KEY;
        let fact = self.trace.facts.iter().find(is_it);
        let bytes = fact.and_then(|fact| fact.value.as_deref()?.parse().ok()).unwrap_or(0);
        match bytes {
            0 => String::new(),
            most => format!("  atomic writes  up to {}, with RWF_ATOMIC\n", self.words.exact(most)),
        }
    }

    fn cost(&self, cost: &TraceCost, range_bytes: u64) -> String {
        let size = self.words.exact(cost.io_bytes);
        if cost.ios == 0 {
            return format!("\ncost   the range is shorter than one I/O of {size}\n");
        }
        if cost.read.told_ios + cost.write.told_ios == 0 {
            let none =
                format!("\ncost   none of {} of {size} can be counted\n", count(cost.ios, "I/O"));
            return none
                + &self.effort("read ", &cost.read, "")
                + &self.effort("write", &cost.write, "");
        }
        let drawn = if cost.counted_ios < cost.ios {
            format!(" (a sample of {})", cost.counted_ios)
        } else {
            String::new()
        };
        let left = match range_bytes.saturating_sub(cost.ios.saturating_mul(cost.io_bytes)) {
            0 => String::new(),
            left => format!("; without the last {}", self.words.exact(left)),
        };
        let mut text = format!(
            "\ncost   average of one I/O of {size}, over {}{drawn}{left}\n",
            averaged(cost)
        );
        text += &self.effort("read ", &cost.read, "");
        let mut extra = String::new();
        for (number, what) in [
            (cost.writes_with_rmw, "need a read-modify-write"),
            (cost.writes_with_parity_rmw, "read old data or parity first"),
        ] {
            if number > 0 {
                extra +=
                    &format!("; {} {what}", quantity_words::share(number, cost.write.told_ios));
            }
        }
        text + &self.effort("write", &cost.write, &extra)
    }

    fn effort(&self, name: &str, effort: &TraceEffort, extra: &str) -> String {
        let mut text = String::new();
        if effort.told_ios > 0 {
            let mean = |number: u64| Mean::of(number, effort.told_ios);
            let mut moved = format!("{} read", mean(effort.granules_read).counted("granule"));
            if effort.granules_written > 0 {
                moved += &format!(", {} written", mean(effort.granules_written));
            }
            let mut parts = vec![moved];
            if effort.rmws > 0 {
                let rmws = mean(effort.rmws).counted("read-modify-write");
                parts = vec![format!("{rmws} ({})", parts.concat())];
            }
            if effort.parity_updates > 0 {
                parts.push(format!("{} parity updates", mean(effort.parity_updates)));
            }
            text += &format!("  {name}  {}{extra}\n", parts.join(", "));
        }
        for untold in &effort.untold {
            let reason = self.words.text(&untold.reason);
            text += &format!("  {name}  {} not counted: {reason}\n", count(untold.ios, "I/O"));
        }
        text
    }
}

/// The I/Os of an average: `6 I/Os`, `80 of 1536 I/Os` where the others have no cost that can be
/// told, or `80 reads and 70 writes, of 1536 each`.
fn averaged(cost: &TraceCost) -> String {
    let all = count(cost.ios, "I/O");
    match (cost.read.told_ios, cost.write.told_ios) {
        (read, write) if read != write => {
            format!("{} and {}, of {} each", count(read, "read"), count(write, "write"), cost.ios)
        }
        (told, _) if told < cost.counted_ios => format!("{told} of {all}"),
        _ => all,
    }
}

fn units_of(layer: &super::TraceLayer, words: ViewWords<'_>) -> String {
    // The title of an array names its chunk.
    let is_named = |unit: &&stack::UnitFact| match unit.unit {
        UnitKind::Discard => true,
        UnitKind::Chunk => matches!(layer.kind, LayerType::MdArray | LayerType::LvmLv),
        _ => false,
    };
    let used = layer.units.iter().filter(|unit| unit.used && !is_named(unit));
    let phrase = |unit: &stack::UnitFact| {
        let bytes = words.exact(unit.bytes?);
        let assumed = if unit.source == Some(Source::Assumed) { " (assumed)" } else { "" };
        Some(format!("{} {bytes}{assumed}", unit.unit.words()))
    };
    used.filter_map(phrase).collect::<Vec<String>>().join(", ")
}

/// Returns what share `bytes` are of all that has a fit.
fn part_of(bytes: u64, fit: &TraceShare) -> String {
    quantity_words::share(bytes, fit.aligned_bytes.saturating_add(fit.misaligned_bytes))
}

/// A mean in tenths, printed with one decimal, none where it is whole.
#[derive(Clone, Copy)]
struct Mean(u128);

impl Mean {
    fn of(sum: u64, count: u64) -> Mean {
        Mean((u128::from(sum) * 10 + u128::from(count) / 2) / u128::from(count.max(1)))
    }

    fn counted(self, noun: &str) -> String {
        format!("{self} {noun}{}", if self.0 == 10 { "" } else { "s" })
    }
}

impl fmt::Display for Mean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % 10 {
            0 => (self.0 / 10).fmt(f),
            tenth => write!(f, "{}.{tenth}", self.0 / 10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_have_a_decimal_only_where_they_are_not_whole() {
        assert_eq!(Mean::of(9, 2).to_string(), "4.5");
        assert_eq!(Mean::of(8, 2).counted("granule"), "4 granules");
    }
}
