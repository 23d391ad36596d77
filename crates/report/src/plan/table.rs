//! The plan for people: what changes, why, what it gains, what it leaves.

use super::{Layout, LayoutPartition};
use crate::look::Look;
use crate::words::Words;

/// The most partitions that are shown.
const ROWS_MAX: usize = 64;

/// The whole plan as text, with its last line feed. `script` is the command that prints the script.
/// A refused plan is empty: errors are not data.
#[must_use]
pub fn table(plan: &Layout, script: &str, look: &Look) -> String {
    if plan.refusal.is_some() {
        return String::new();
    }
    let view = View { plan, words: Words { look } };
    let mut text = view.head();
    text += &view.rows();
    for partition in plan.partitions.iter().filter(|one| one.changes()) {
        let number = partition.number;
        text += &view.said("why", &format!("partition {number}: {}", partition.why));
        if !partition.gain.is_empty() {
            text += &view.said("gain", &format!("partition {number}: {}", partition.gain));
        }
        for fix in &partition.fix_ups {
            text += &view.said("also", &format!("partition {number}: {fix}"));
        }
    }
    for line in &plan.unmended {
        text += &view.said("left", line);
    }
    if plan.changes {
        for line in &plan.afterwards {
            text += &view.said("then", line);
        }
        text += &view.said("next", script);
    }
    text
}

struct View<'a> {
    plan: &'a Layout,
    words: Words<'a>,
}

impl View<'_> {
    fn head(&self) -> String {
        let plan = self.plan;
        let target = self.words.text(&plan.target);
        let Some(kind) = &plan.table else {
            return format!("{target}: nothing to change: {}\n", self.words.text(&plan.instead));
        };
        let changed = plan.partitions.iter().filter(|one| one.changes()).count();
        let kind = self.words.text(kind);
        let verdict = if !plan.changes && plan.unmended.is_empty() {
            "nothing to change".to_owned()
        } else if !plan.changes {
            "nothing that a move would mend".to_owned()
        } else if plan.old_sector_bytes != plan.sector_bytes {
            format!(
                "the table is rewritten for sectors of {} bytes; {} of data move",
                plan.sector_bytes,
                self.words.size(plan.moved_bytes)
            )
        } else {
            format!(
                "{changed} of {} partitions change; {} of data move",
                plan.partitions.len(),
                self.words.size(plan.moved_bytes)
            )
        };
        let units: Vec<String> = (plan.units.iter())
            .map(|one| {
                format!("{} {}", self.words.text(&one.unit), self.words.exact(one.unit_bytes))
            })
            .collect();
        format!("{target}: {verdict}\n  {kind} table, aligned to: {}\n", units.join(", "))
    }

    fn rows(&self) -> String {
        if self.plan.partitions.is_empty() {
            return String::new();
        }
        let head = ["", "holds", "start sector", "", "sectors", "", "change"];
        let mut rows: Vec<[String; 7]> = vec![head.map(str::to_owned)];
        rows.extend(self.plan.partitions.iter().take(ROWS_MAX).map(|one| self.row(one)));
        let width = |column: usize| {
            rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..7).map(width).collect();
        let mut text = String::new();
        for row in &rows {
            let cells = row.iter().enumerate().map(|(column, cell)| {
                let pad = " ".repeat(widths[column] - cell.chars().count());
                // Numbers end below each other.
                if matches!(column, 0 | 2..=5) { pad + cell } else { cell.clone() + &pad }
            });
            let line: Vec<String> = cells.collect();
            text += &format!("  {}\n", line.join(" ").trim_end());
        }
        let more = self.plan.partitions.len().saturating_sub(ROWS_MAX);
        if more > 0 {
            text += &format!("  {more} more: --json lists them\n");
        }
        text
    }

    fn row(&self, one: &LayoutPartition) -> [String; 7] {
        let (old, new) = (self.plan.old_sector_bytes.max(1), self.plan.sector_bytes.max(1));
        let shown = |before: u64, after: u64| {
            let (before, after) = (before.div_euclid(old), after.div_euclid(new));
            let arrow = if before == after { String::new() } else { format!("-> {after}") };
            (before.to_string(), arrow)
        };
        let (start, new_start) = shown(one.old_start_bytes, one.new_start_bytes);
        let (length, new_length) = shown(one.old_length_bytes, one.new_length_bytes);
        let by = one.old_start_bytes.abs_diff(one.new_start_bytes);
        let change = if one.new_start_bytes > one.old_start_bytes {
            format!("up {}", self.words.exact(by))
        } else if one.moves() {
            format!("down {}", self.words.exact(by))
        } else if one.changes() {
            "end only".to_owned()
        } else {
            "stays".to_owned()
        };
        let holds = one.content.clone().unwrap_or_else(|| format!("({})", one.kind));
        let holds: String = self.words.text(&holds).chars().take(20).collect();
        [one.number.to_string(), holds, start, new_start, length, new_length, change]
    }

    /// A line that says one thing, wrapped, the rest below its beginning.
    fn said(&self, word: &str, text: &str) -> String {
        let text = self.words.text(text);
        let columns = self.words.look.columns().saturating_sub(7);
        let mut lines = vec![String::new()];
        for part in text.split(' ') {
            let line = lines.last_mut().expect("there is always a line");
            let room = line.chars().count() + 1 + part.chars().count() <= columns;
            if line.is_empty() {
                line.push_str(part);
            } else if room {
                line.push(' ');
                line.push_str(part);
            } else {
                lines.push(part.to_owned());
            }
        }
        format!("  {word:<4} {}\n", lines.join("\n       "))
    }
}
