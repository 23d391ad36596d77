//! The plan for people: what changes, why, what it gains, what it leaves.

use super::{Layout, LayoutPartition};
use crate::quantity_words::{ViewWords, count_of};
use crate::text::{fitted, hang, shorten};
use crate::view_options::Look;

/// The most partitions that are shown.
const ROWS_MAX: usize = 64;

/// The whole plan as text, with its last line feed. `steps` are what to type or do next, each on a
/// line of its own, never wrapped. A refused plan is empty: errors are not data.
#[must_use]
pub fn table(plan: &Layout, steps: &[String], look: &Look) -> String {
    if plan.envelope.refusal.is_some() {
        return String::new();
    }
    let view = PlanText { plan, words: ViewWords { look } };
    let mut text = view.head();
    text += &view.rows();
    let changed = || plan.partitions.iter().filter(|one| one.changes());
    text += &view.each("why", plan.partitions.iter(), |one| std::slice::from_ref(&one.why));
    text += &view.each("cost", changed(), |one| std::slice::from_ref(&one.gain));
    text += &view.each("also", changed(), |one| &one.fix_ups);
    for line in &plan.unmended {
        text += &view.said("remains", line);
    }
    if plan.changes {
        let steps: Vec<String> = steps.iter().map(|step| view.words.command(step)).collect();
        text += &format!("  next     {}\n", steps.join("\n           "));
        for line in &plan.afterwards {
            text += &view.said("then", line);
        }
    }
    text
}

struct PlanText<'a> {
    plan: &'a Layout,
    words: ViewWords<'a>,
}

impl PlanText<'_> {
    fn head(&self) -> String {
        let plan = self.plan;
        let target = self.words.text(&plan.target);
        let Some(kind) = &plan.table else {
            return format!("{target}: nothing to change: {}\n", self.words.text(&plan.instead));
        };
        let changed = plan.partitions.iter().filter(|one| one.changes()).count();
        let kind = self.words.text(kind);
        let verdict = if !plan.changes {
            plan.verdict().to_owned()
        } else if plan.partitions.iter().all(|one| one.old_length_bytes == 0) {
            format!("new table with {}", count_of(plan.partitions.len(), "partition"))
        } else if plan.old_sector_bytes != plan.sector_bytes {
            format!(
                "table to rewrite for {}-byte sectors; {} of data to move",
                plan.sector_bytes,
                self.words.size(plan.moved_bytes)
            )
        } else {
            format!(
                "{} to change; {} of data to move",
                count_of(changed, "partition"),
                self.words.size(plan.moved_bytes)
            )
        };
        let mut units: Vec<String> = (plan.units.iter())
            .map(|one| {
                let assumed = if one.assumed { " (assumed)" } else { "" };
                let bytes = self.words.exact(one.unit_bytes);
                format!("{} {bytes}{assumed}", self.words.text(&one.unit))
            })
            .collect();
        units.dedup();
        let units = if units.is_empty() {
            String::new()
        } else {
            format!("; aligned to: {}", units.join(", "))
        };
        let limit = self.words.look.columns();
        let lines = [format!("{target}: {verdict}"), format!("  {kind} table{units}")];
        lines.map(|line| hang(&line, limit) + "\n").concat()
    }

    /// Returns what is said of `partitions`, each sentence once, after the numbers of those that it
    /// is about.
    fn each<'b>(
        &self,
        word: &str,
        partitions: impl Iterator<Item = &'b LayoutPartition>,
        said: impl Fn(&'b LayoutPartition) -> &'b [String],
    ) -> String {
        let mut found: Vec<(&str, Vec<String>)> = Vec::new();
        for partition in partitions {
            for sentence in said(partition).iter().filter(|sentence| !sentence.is_empty()) {
                let number = partition.number.to_string();
                match found.iter_mut().find(|(other, _)| other == sentence) {
                    Some((_, numbers)) if numbers.contains(&number) => {}
                    Some((_, numbers)) => numbers.push(number),
                    None => found.push((sentence, vec![number])),
                }
            }
        }
        let line = |(sentence, numbers): (&str, Vec<String>)| {
            let numbers_said = numbers.join(", ");
            match sentence.strip_prefix("its ").filter(|_| numbers.len() > 1) {
                Some(rest) => self.said(word, &format!("partitions {numbers_said}: their {rest}")),
                None if numbers.len() > 1 => {
                    self.said(word, &format!("partitions {numbers_said}: {sentence}"))
                }
                None => self.said(word, &format!("partition {numbers_said}: {sentence}")),
            }
        };
        found.into_iter().map(line).collect()
    }

    fn rows(&self) -> String {
        if self.plan.partitions.is_empty() {
            return String::new();
        }
        let [start, length] = if self.is_in_sectors() {
            ["start sector", "  sectors"]
        } else {
            ["start", "  length"]
        };
        // Blanks keep what was and what will be of one column apart from the next.
        let head = ["", "type", "holds", start, "", length, "", "  change"];
        let mut rows: Vec<[String; 8]> = vec![head.map(str::to_owned)];
        rows.extend(self.plan.partitions.iter().take(ROWS_MAX).map(|one| self.row(one)));
        // Numbers end below each other.
        let limit = self.words.look.limit().saturating_sub(2);
        let rows = fitted(&mut rows, &[0, 3, 4, 5, 6], 1, limit, &[1, 2, 7]);
        let mut text: String = rows.lines().map(|line| format!("  {line}\n")).collect();
        let more = self.plan.partitions.len().saturating_sub(ROWS_MAX);
        if more > 0 {
            text += &format!("  {more} more: --json lists them\n");
        }
        text
    }

    /// True if sectors mean the same before and after; else bytes are shown.
    fn is_in_sectors(&self) -> bool {
        self.plan.old_sector_bytes == self.plan.sector_bytes && self.plan.sector_bytes > 0
    }

    fn row(&self, one: &LayoutPartition) -> [String; 8] {
        let sizes = |sizes: [u64; 2]| match self.is_in_sectors() {
            true => sizes.map(|bytes| bytes.div_euclid(self.plan.sector_bytes).to_string()),
            false => self.words.exact_pair(sizes),
        };
        let shown = |before: u64, after: u64| {
            let [old, new] = sizes([before, after]);
            (old, if before == after { String::new() } else { format!("-> {new}") })
        };
        let (start, new_start) = shown(one.old_start_bytes, one.new_start_bytes);
        let is_new = one.old_length_bytes == 0;
        let old_bytes = if is_new { one.new_length_bytes } else { one.old_length_bytes };
        let (length, new_length) = shown(old_bytes, one.new_length_bytes);
        let by = one.old_start_bytes.abs_diff(one.new_start_bytes);
        let change = if is_new {
            "new".to_owned()
        } else if one.new_start_bytes > one.old_start_bytes {
            format!("up {}", self.words.exact(by))
        } else if one.moves() {
            format!("down {}", self.words.exact(by))
        } else if one.changes() {
            "end only".to_owned()
        } else {
            "stays".to_owned()
        };
        let cut = |text: &str, most| shorten(&self.words.text(text), most, "");
        let kind = match &one.name {
            Some(name) => format!("\"{}\"", cut(name, 14)),
            None => cut(&one.kind, 16),
        };
        let holds = cut(one.content.as_deref().unwrap_or("-"), 14);
        let (length, change) = (format!("  {length}"), format!("  {change}"));
        [one.number.to_string(), kind, holds, start, new_start, length, new_length, change]
    }

    /// A line that says one thing, wrapped, the rest below its beginning.
    fn said(&self, word: &str, text: &str) -> String {
        hang(&format!("  {word:<7}  {}", self.words.text(text)), self.words.look.columns()) + "\n"
    }
}
