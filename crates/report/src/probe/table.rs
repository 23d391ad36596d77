//! The result for people: each answer with what said it, or why there is none, then what to type.

use units::prefix::Size;

use super::{Answers, Probe, ProbeAnswer, Tool, next};
use crate::bench::figure_rounding::ratio_text;
use crate::bench::wear;
use crate::quantity_words::ViewWords;
use crate::text;
use crate::view_options::Look;

/// Place where the text of a row starts.
const COLUMN: usize = 11;

/// The whole result as text, with its last line feed.
#[must_use]
pub fn probe_table(probe: &Probe, look: &Look) -> String {
    let mut page =
        ProbeText { words: ViewWords { look }, limit: look.columns(), text: String::new() };
    page.probe(probe);
    page.text
}

struct ProbeText<'a> {
    words: ViewWords<'a>,
    limit: usize,
    text: String,
}

impl ProbeText<'_> {
    fn probe(&mut self, probe: &Probe) {
        self.target(probe);
        if probe.dry_run {
            self.plan(probe);
            return;
        }
        self.answers(&probe.answers);
        self.reported(probe);
        for tool in &probe.tools {
            self.row("type", &typed(tool));
        }
        match (&probe.kept.file, &probe.kept.reason) {
            (Some(file), _) => self.row("saved", &format!("{file}; straddle check uses it")),
            (None, Some(reason)) => self.row("saved", &format!("nothing: {reason}")),
            (None, None) => {}
        }
        if self.words.look.explain {
            self.comparisons(probe);
        }
        self.notes(probe);
        match next(probe).as_deref().map(|next| (next, next.split_once(": straddle "))) {
            Some((_, Some((what, command)))) => {
                self.row("next", &format!("{what}:"));
                // What is typed is not broken.
                let command = self.words.text(command);
                self.text.push_str(&format!("{:COLUMN$}straddle {command}\n", ""));
            }
            Some((next, None)) => self.row("next", next),
            None => {}
        }
    }

    fn target(&mut self, probe: &Probe) {
        let target = &probe.target;
        let on: Vec<String> = target.layers.iter().map(|layer| format!("on {layer}")).collect();
        self.row("target", &[vec![target.path.clone()], on].concat().join(", "));
        let firmware = target.firmware.as_ref().map(|firmware| format!("firmware {firmware}"));
        let known: Vec<String> = target.model.iter().cloned().chain(firmware).collect();
        if !known.is_empty() {
            self.row(
                "drive",
                &[target.drive.clone().into_iter().collect(), known].concat().join(", "),
            );
        }
        let what = match (target.writes, probe.target.length_bytes) {
            (_, 0) => return,
            (true, bytes) => format!("durable writes and reads within {}", Size(bytes)),
            (false, bytes) => format!("only reads, within {}; nothing was written", Size(bytes)),
        };
        self.row("method", &format!("{what}{}", spent(probe)));
    }

    fn plan(&mut self, probe: &Probe) {
        let spent = &probe.spent;
        self.row("wear", &wear(spent.bytes_max, probe.target.capacity_bytes));
        self.row("time", &format!("{} seconds at most", spent.seconds_max));
        self.notes(probe);
        self.text.push_str("dry run: nothing was written, nothing was measured\n");
    }

    fn answers(&mut self, answers: &Answers) {
        self.answer("alignment", &answers.alignment, |found| match found.origin_bytes {
            0 => format!("writes start at multiples of {}", Size(found.bytes)),
            origin => {
                format!("writes start at multiples of {} plus {origin} bytes", Size(found.bytes))
            }
        });
        self.answer("size", &answers.size, |found| {
            format!("and are multiples of {} long", Size(found.bytes))
        });
        self.answer("chunk", &answers.chunk, |found| Size(found.bytes).to_string());
        self.answer("members", &answers.members, |found| found.count.to_string());
        self.answer("depth", &answers.depth, |found| match found.is_of_member {
            true => format!("{} reads at once on each member", found.reads),
            false => format!("{} reads at once", found.reads),
        });
        self.answer("rotation", &answers.turn, |found| {
            let ms = |ns: u64| format!("{}.{:03} ms", ns.div_euclid(1_000_000), ns / 1000 % 1000);
            format!("{} ({} to {})", ms(found.turn_ns), ms(found.low_ns), ms(found.high_ns))
        });
        self.answer("RMW cost", &answers.turns, |found| {
            let bounds = format!("{:.2} to {:.2}", found.low_turns, found.high_turns);
            let rotations = if found.turns == 1 { "rotation" } else { "rotations" };
            format!(
                "a misaligned write takes {} {rotations} ({bounds}): {}",
                found.turns,
                found.policy.word()
            )
        });
    }

    fn answer<T>(&mut self, name: &str, answer: &ProbeAnswer<T>, shown: impl Fn(&T) -> String) {
        let Some(value) = &answer.value else {
            let reason = answer.reason.as_deref().unwrap_or_default();
            self.row(name, &format!("cannot tell: {reason}"));
            return;
        };
        let said_by = answer.said_by.as_deref().unwrap_or_default();
        let error = answer.alpha.map_or(String::new(), |alpha| {
            format!("; wrong with a probability of {alpha:.4} at most")
        });
        self.row(name, &format!("{}: {said_by}{error}", shown(value)));
    }

    fn reported(&mut self, probe: &Probe) {
        let reported = &probe.reported;
        let Some(bytes) = reported.physical_sector_bytes else { return };
        let verdict = match reported.physical_sector_lies {
            Some(true) => "but another granule was measured",
            Some(false) => "as measured",
            None => "neither confirmed nor refuted",
        };
        self.row("reported", &format!("physical_block_size is {bytes}, {verdict}"));
    }

    fn comparisons(&mut self, probe: &Probe) {
        for one in &probe.comparisons {
            let line = format!(
                "{} against {}: {}, {} ({} blocks)",
                one.arm,
                one.against,
                ratio_text(one.interval),
                one.reading.word(),
                one.blocks
            );
            self.row(one.panel.word(), &line);
        }
    }

    fn notes(&mut self, probe: &Probe) {
        for note in &probe.envelope.notes {
            self.row("note", note);
        }
        if let Some(refusal) = &probe.envelope.refusal {
            self.row("error", &refusal.message);
            if let Some(hint) = &refusal.hint {
                self.row("hint", hint);
            }
        }
    }

    /// A label and text that is wrapped behind it.
    fn row(&mut self, label: &str, line: &str) {
        let line = self.words.text(line);
        let room = self.limit.saturating_sub(COLUMN).max(20);
        for (number, part) in text::wrap(&line, room).into_iter().enumerate() {
            let label = if number == 0 { label } else { "" };
            self.text.push_str(format!("{label:<COLUMN$}{part}").trim_end());
            self.text.push('\n');
        }
    }
}

/// Returns what it took; empty before it ran.
fn spent(probe: &Probe) -> String {
    match (probe.dry_run, probe.spent.written_bytes) {
        (true, _) => String::new(),
        (false, 0) => format!("; seed {}", probe.seed),
        (false, bytes) => format!("; {} written, seed {}", Size(bytes), probe.seed),
    }
}

fn typed(tool: &Tool) -> String {
    let note = tool.note.as_ref().map_or(String::new(), |note| format!("   ({note})"));
    format!("{}: {}{note}", tool.tool, tool.value)
}
