//! Text of a measurement for people, and the lines that all measurements have: the run, its dry
//! run, its notes, why it ended.

use crate::bench::figure_rounding::time;
use crate::bench::grid::{Cell, cell, labeled, prose, quiet};
use crate::colored_line::{BAD, NAME};
use crate::envelope::Envelope;
use crate::quantity_words::ViewWords;
use crate::refusal::Refusal;
use crate::view_options::Look;

/// The text so far.
pub(crate) struct TextPage<'a> {
    pub(crate) words: ViewWords<'a>,
    pub(crate) limit: usize,
    pub(crate) text: String,
}

impl<'a> TextPage<'a> {
    pub(crate) fn new(look: &'a Look) -> TextPage<'a> {
        TextPage { words: ViewWords { look }, limit: look.columns(), text: String::new() }
    }

    pub(crate) fn prose(&mut self, head: Cell, text: &str) {
        prose(head, text, self.limit, &mut self.text);
    }

    pub(crate) fn labeled(&mut self, label: &str, pieces: Vec<Cell>) {
        labeled(label, pieces, self.limit, &mut self.text);
    }

    /// Writes who measured, when, on which kernel and host, and with which words and seed.
    pub(crate) fn run(&mut self, envelope: &Envelope, elapsed_ns: u64, seed: u64) {
        let (words, run) = (self.words, &envelope.run);
        let known = |text: Option<&str>| match text.unwrap_or_default() {
            "" => "not known".to_owned(),
            text => words.text(text),
        };
        let pieces = [
            format!("straddle {}", words.text(&envelope.version)),
            format!("kernel {}", known(run.kernel.as_deref())),
            format!("host {}", known(run.host.as_deref())),
            format!("started {}", known(Some(&run.started))),
            format!("took {}", time(elapsed_ns, words)),
            format!("seed {seed}"),
        ];
        self.labeled("run", pieces.map(cell).to_vec());
        let command: Vec<String> = run.command.iter().map(|word| words.text(word)).collect();
        if !command.is_empty() {
            self.labeled("command", vec![cell(command.join(" "))]);
        }
    }

    /// Writes the end of a dry run: what would be measured, the notes, and that nothing was.
    pub(crate) fn planned(&mut self, heading: &str, items: &[String], notes: &[String]) {
        self.prose(quiet(""), heading);
        let width = items.len().to_string().len();
        for (number, item) in (1_u64..).zip(items) {
            self.labeled(&format!("{number:>width$}"), vec![cell(self.words.text(item))]);
        }
        self.notes(notes);
        self.prose(quiet(""), "dry run: nothing was written, nothing was measured");
    }

    /// Writes what a reader should know.
    pub(crate) fn notes<'n>(&mut self, notes: impl IntoIterator<Item = &'n String>) {
        for note in notes {
            self.prose((NAME, "note:".to_owned()), &self.words.text(note));
        }
    }

    /// Writes why it ended early, and what to do.
    pub(crate) fn refusal(&mut self, refusal: Option<&Refusal>) {
        let Some(refusal) = refusal else { return };
        self.prose((BAD, "error:".to_owned()), &self.words.text(&refusal.message));
        if let Some(hint) = &refusal.hint {
            self.prose((NAME, "hint:".to_owned()), &self.words.text(hint));
        }
    }
}
