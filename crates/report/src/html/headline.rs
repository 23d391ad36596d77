//! The verdict of one result as it is read first: a word, and the figure against its limit.

use maud::{Markup, html};

use super::elements::{Tone, chip};

/// Verdict of one result: its word, how good that is, and its figures, which may be empty.
#[derive(Clone, Debug)]
pub(super) struct Headline {
    pub(super) tone: Tone,
    pub(super) word: String,
    pub(super) figures: String,
}

impl Headline {
    pub(super) fn new(tone: Tone, word: impl Into<String>, figures: impl Into<String>) -> Headline {
        Headline { tone, word: word.into(), figures: figures.into() }
    }

    /// Large, as a first line, with `between` between the word and the figures.
    pub(super) fn large(&self, between: &str) -> Markup {
        html! {
            span.verdict.(self.tone.word()) { (self.word) }
            @if !self.figures.is_empty() { (between) " " span.against { (self.figures) } }
        }
    }

    /// Small, as the cell of a table.
    pub(super) fn small(&self) -> Markup {
        html! { (chip(self.tone, &self.word)) " " (self.figures) }
    }
}
