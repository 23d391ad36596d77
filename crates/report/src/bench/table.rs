//! A result for people: what was written where, what each arm took, and how sure that is.
//!
//! One experiment is shown whole; of several each has a line, and is shown whole on request. Text
//! from the result cannot leave its line, and every line fits the width asked for.

use units::prefix::Size;

use super::arms::Arms;
use super::figure_rounding::{ratio_bounds, ratio_figure, time};
use super::grid::{Cell, Grid, cell, flowing, quiet};
use super::sentences::{predicted, regimes, verdict};
use super::{Bench, BenchTarget, Experiment, ScratchFacts, overview};
use crate::colored_line::{Line, NAME, QUIET};
use crate::quantity_words::{ViewWords, count, share};
use crate::text::width;
use crate::text_page::TextPage;
use crate::view_options::Look;

/// Place where figures at the right end of a line end at most.
const RIGHT_MAX: usize = 100;
/// Sector of the kernel's counters, in bytes. Source: `Documentation/block/stat.rst`.
const SECTOR_BYTES: u64 = 512;

/// The whole result as text, with its last line feed; colors only repeat what the words say.
#[must_use]
pub fn table(bench: &Bench, look: &Look) -> String {
    let mut page = TextPage::new(look);
    page.bench(bench);
    page.text
}

impl TextPage<'_> {
    fn bench(&mut self, bench: &Bench) {
        let words = self.words;
        if words.look.explain {
            self.bench_circumstances(bench);
        }
        // What all figures are of is said before them.
        let (first, notes) = bench
            .envelope
            .notes
            .split_at(usize::from(bench.target.cached).min(bench.envelope.notes.len()));
        self.notes(first);
        if let Some(scratch) = &bench.scratch {
            let line = scratch_line(scratch, &bench.target, words);
            self.prose(quiet(""), &line);
        }
        let several = bench.experiments.len() > 1;
        if several {
            overview::write(&bench.experiments, words, self.limit, &mut self.text);
        }
        if !several || words.look.explain {
            for experiment in &bench.experiments {
                if several {
                    self.text.push('\n');
                }
                self.experiment(experiment, &bench.target);
            }
        }
        self.notes(notes);
        self.refusal(bench.envelope.refusal.as_ref());
    }

    /// Adds what the figures depend on: target, kernel, seed.
    fn bench_circumstances(&mut self, bench: &Bench) {
        let words = self.words;
        let target = &bench.target;
        let mut on: Vec<Cell> = vec![(NAME, words.text(&target.path))];
        on.extend(target.layers.iter().map(|layer| cell(format!("on {}", words.text(layer)))));
        if on.iter().any(|(_, text)| !text.is_empty()) {
            flowing(on, self.limit, &mut self.text);
        }
        let granule =
            words.granule(target.granule_bytes, target.granule_origin_bytes, target.granule_source);
        let logical = target.logical_sector_bytes;
        let logical = logical.map(|bytes| format!("logical sector {}", words.exact(bytes)));
        let drive = [&target.drive, &target.model].into_iter().flatten().map(|one| words.text(one));
        let rotating = target.rotating.map(|yes| if yes { "rotates" } else { "does not rotate" });
        let pieces = drive
            .chain(rotating.map(str::to_owned))
            .chain(logical)
            .chain([format!("granule {granule}")]);
        self.labeled("drive", pieces.map(cell).collect());
        self.run(&bench.envelope, bench.elapsed_ns, bench.seed);
    }

    fn experiment(&mut self, experiment: &Experiment, target: &BenchTarget) {
        let words = self.words;
        self.title(experiment);
        Arms { experiment, words, limit: self.limit }.write(&mut self.text);
        if words.look.explain {
            self.details(experiment);
        }
        let (word, mut reason) = verdict(experiment, words);
        if let Some(stack) = &experiment.predicted {
            reason += &format!(" {}", predicted(stack, target.granule_bytes, words));
        }
        self.prose(word, &reason);
        if let Some(changed) = regimes(experiment, words) {
            self.prose(quiet(""), &changed);
        }
    }

    /// The title, and at the right end of the line what it took.
    fn title(&mut self, experiment: &Experiment) {
        let words = self.words;
        let title = words.text(&experiment.title);
        let written = match experiment.written_bytes {
            0 => "nothing written".to_owned(),
            bytes => format!("{} written", words.size(bytes)),
        };
        let pairs = count(experiment.pairs, "pair");
        let took = format!("{pairs}, {}, {written}", time(experiment.elapsed_ns, words));
        let right = self.limit.min(RIGHT_MAX);
        if width(&title) + 2 + width(&took) > right {
            let pieces = vec![(NAME, title), quiet(took)];
            return flowing(pieces, self.limit, &mut self.text);
        }
        let mut line = Line::default();
        line.push(NAME, &title);
        line.advance(right - width(&took), 0);
        line.push(QUIET, &took);
        line.end(&mut self.text);
    }

    /// Adds the details that `--explain` shows.
    fn details(&mut self, experiment: &Experiment) {
        let words = self.words;
        for comparison in &experiment.comparisons {
            let Some(mean) = comparison.clipped_mean else { continue };
            let pieces = vec![
                cell(words.text(&comparison.arm)),
                cell(ratio_figure(mean)),
                cell(ratio_bounds(mean)),
            ];
            self.labeled("mean ratio, outliers clipped", pieces);
        }
        let unit = match experiment.block_operations {
            0 | 1 => format!("one {}", words.text(&experiment.unit)),
            many => format!("one {} of {}", words.text(&experiment.unit), count(many, "operation")),
        };
        let seen = vec![
            cell(format!("each observation is {unit}")),
            cell(format!("{} left out as warm-up", count(experiment.discarded_pairs, "pair"))),
        ];
        self.labeled("method", seen);
        self.counters(experiment);
    }

    /// Adds the counts of the drive for each arm.
    fn counters(&mut self, experiment: &Experiment) {
        let words = self.words;
        let mut grid = Grid::default();
        let head = [
            "the drive counted",
            "reads",
            "sectors",
            "writes",
            "sectors",
            "merges",
            "flushes",
            "exact",
        ];
        grid.push(head.map(quiet).to_vec());
        let counted =
            experiment.arms.iter().filter_map(|arm| arm.drive.as_ref().map(|drive| (arm, drive)));
        let mut lists = Vec::new();
        for (arm, drive) in counted {
            let name = words.text(&arm.name);
            let flushes = drive.flushes.map_or("-".to_owned(), |flushes| flushes.to_string());
            let sectors = |bytes: u64| bytes.div_euclid(SECTOR_BYTES).to_string();
            let exact = share(drive.exact_operations, drive.seen_operations);
            let cells = [
                drive.reads.to_string(),
                sectors(drive.read_bytes),
                drive.writes.to_string(),
                sectors(drive.written_bytes),
                drive.merges.to_string(),
                flushes,
                exact,
            ];
            let named = |(value, title): (&String, &&str)| cell(format!("{value} {title}"));
            let list: Vec<Cell> = cells.iter().zip(&head[1..]).map(named).collect();
            lists.push((name.clone(), list));
            grid.push(std::iter::once(name).chain(cells).map(cell).collect());
        }
        if lists.is_empty() {
            let pieces = vec![cell("the drive's counters are not known")];
            self.labeled("drive", pieces);
        } else if grid.fits(self.limit) {
            grid.write(&mut self.text);
        } else {
            for (name, list) in lists {
                self.labeled(&format!("the drive counted, {name}:"), list);
            }
        }
    }
}

/// `scratch: 64 MiB in /data, on sda at 1.49 TiB; nothing else is touched`.
fn scratch_line(scratch: &ScratchFacts, target: &BenchTarget, words: ViewWords<'_>) -> String {
    let mut line =
        format!("scratch: {} in {}", words.size(scratch.length_bytes), words.text(&scratch.place));
    let drive = target.drive.as_deref().map_or("the drive".to_owned(), |drive| words.text(drive));
    match scratch.drive_address_bytes {
        Some(address) => line += &format!(", on {drive} at {}", Size(address)),
        None => line += ", its place on the drive is not known",
    }
    if scratch.pieces > 1 {
        line += &format!(" in {}", count(scratch.pieces, "piece"));
    }
    if words.look.explain {
        line += &format!(", written in {}", time(scratch.prepared_ns, words));
    }
    if scratch.written_bytes > 0 {
        line += &format!("; {} written in all", words.size(scratch.written_bytes));
    }
    line + "; nothing else is touched"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scratch_line_says_where_and_that_nothing_else_is_touched() {
        let look = Look::default();
        let words = ViewWords { look: &look };
        let mut scratch = ScratchFacts {
            place: "/da\x1bta".to_owned(),
            length_bytes: 64 << 20,
            pieces: 1,
            drive_address_bytes: Some(1_638_275_325_952),
            prepared_ns: 1,
            written_bytes: 66 << 20,
        };
        let mut target = BenchTarget { drive: Some("sda".to_owned()), ..BenchTarget::default() };
        assert_eq!(
            scratch_line(&scratch, &target, words),
            "scratch: 64 MiB in /da\\u{1b}ta, on sda at 1.49 TiB; 66 MiB written in all; \
             nothing else is touched"
        );
        scratch.drive_address_bytes = None;
        (scratch.pieces, scratch.written_bytes) = (3, 0);
        target.drive = None;
        assert_eq!(
            scratch_line(&scratch, &target, words),
            "scratch: 64 MiB in /da\\u{1b}ta, its place on the drive is not known in 3 pieces; \
             nothing else is touched"
        );
    }
}
