//! Digest of many targets in little room: the worst first, and how many more there are.

use crate::check_document::{LayerReport, Target};
use crate::monitor_answer::{MonitorAnswer, MonitorState};
use crate::quantity_words::ViewWords;
use crate::target_outcome::{self, place};
pub(crate) use crate::text::clip;
use crate::view_options::Look;
use stack::{Severity, Verdict};

/// Rows kept. More do not fit into any monitor's message.
const KEPT: usize = 256;
/// A row's bytes at most.
const ROW_BYTES: usize = 480;

/// Text about one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub(crate) state: MonitorState,
    /// One harmless line.
    pub(crate) text: String,
}

impl Note {
    /// Returns what is said of `target`, where findings matter from `least` on; `None` where
    /// nothing matters.
    #[must_use]
    pub fn of(target: &Target, least: Option<Severity>, look: &Look) -> Option<Note> {
        let state = MonitorAnswer::of(target, least).state();
        let words = ViewWords { look };
        let what = match state {
            MonitorState::Ok => return None,
            MonitorState::Unknown => unknown(target),
            MonitorState::Warning | MonitorState::Critical => bad(target, words),
        };
        Some(Note::new(state, &format!("{}: {what}", target.target), words))
    }

    pub(crate) fn new(state: MonitorState, text: &str, words: ViewWords<'_>) -> Note {
        Note { state, text: clip(&words.text(text), ROW_BYTES) }
    }
}

/// Why there is no verdict on `target`.
pub(crate) fn unknown(target: &Target) -> String {
    if let Some(refusal) = &target.refusal {
        return refusal.message.clone();
    }
    // The topmost one decides; what is below it may be unknown and matter to nobody.
    let is_unknown = |layer: &&LayerReport| layer.verdict == Verdict::Unknown && !layer.not_judged;
    let layer = target.layers.iter().rfind(is_unknown);
    layer.map_or_else(
        || "unknown".to_owned(),
        |layer| match layer.reason.starts_with(&layer.name) {
            true => format!("unknown: {}", layer.reason),
            false => format!("unknown: {}: {}", layer.name, layer.reason),
        },
    )
}

fn bad(target: &Target, words: ViewWords<'_>) -> String {
    let mut parts = Vec::new();
    for finding in target_outcome::named(target) {
        parts.push(format!("{} {}: {}", finding.code, finding.severity.word(), finding.title));
    }
    if let Some(layer) = target_outcome::first_bad(target) {
        parts.push(format!("misaligned{}", place(layer, words)));
    }
    if target.findings.len() > 1 {
        parts.push(format!("{} findings", target.findings.len()));
    }
    parts.join("; ")
}

/// Notes on many targets: the worst are kept, all are counted.
#[derive(Clone, Debug, Default)]
pub struct Digest {
    notes: Vec<Note>,
    count: u64,
}

impl Digest {
    /// One note more.
    pub fn take(&mut self, note: Note) {
        self.count += 1;
        self.notes.push(note);
        if self.notes.len() >= 2 * KEPT {
            self.settle();
        }
    }

    /// Puts the worst first, those of one state in the order they came in, and drops what no
    /// message has room for.
    fn settle(&mut self) {
        self.notes.sort_by_key(|note| std::cmp::Reverse(note.state));
        self.notes.truncate(KEPT);
    }

    /// The notes, the worst first, and how many were taken.
    pub(crate) fn settled(mut self) -> (Vec<Note>, u64) {
        self.settle();
        (self.notes, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_notes_the_worst_are_kept_in_their_order() {
        let look = Look::default();
        let note = |state, text: &str| Note::new(state, text, ViewWords { look: &look });
        let mut digest = Digest::default();
        for number in 0..2000 {
            digest.take(note(MonitorState::Unknown, &format!("u{number}")));
        }
        digest.take(note(MonitorState::Critical, "c0"));
        digest.take(note(MonitorState::Warning, "w0"));
        digest.take(note(MonitorState::Critical, "c1"));
        let (notes, count) = digest.settled();
        let texts: Vec<&str> = notes.iter().take(4).map(|note| note.text.as_str()).collect();
        assert_eq!((texts, count), (vec!["c0", "c1", "w0", "u0"], 2003));
    }
}
