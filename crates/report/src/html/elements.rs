//! Building blocks of the page: texts, chips, tables, lists.

use maud::{Markup, html};

use crate::bench::figure_rounding;
use crate::quantity_words::ViewWords;
pub(super) use crate::text::say;
use crate::view_options::Look;

/// Words for sizes and times on the page.
const LOOK: Look = Look { width: None, ascii: false, bytes: false, explain: true };

/// Numbers in the words of the other views.
pub(super) fn words() -> ViewWords<'static> {
    ViewWords { look: &LOOK }
}

/// A time to three digits.
pub(super) fn time(nanoseconds: u64) -> String {
    figure_rounding::time(nanoseconds, words())
}

/// A time that may not be known.
pub(super) fn time_or_unknown(nanoseconds: Option<u64>) -> String {
    nanoseconds.map_or_else(|| figure_rounding::UNKNOWN.to_owned(), time)
}

/// Tone: a color that repeats what the words beside it say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tone {
    Plain,
    Good,
    /// There is no verdict.
    Unknown,
    Care,
    Bad,
}

impl Tone {
    /// Class of an element in this tone.
    pub(super) fn word(self) -> &'static str {
        match self {
            Tone::Plain => "plain",
            Tone::Good => "good",
            Tone::Unknown => "unknown",
            Tone::Care => "care",
            Tone::Bad => "bad",
        }
    }
}

/// A word or two in a frame.
pub(super) fn chip(tone: Tone, text: &str) -> Markup {
    html! { span.chip.(tone.word()) { (or_unknown(text)) } }
}

/// A text of a file; a sign where it says nothing.
pub(super) fn or_unknown(text: &str) -> String {
    if text.trim().is_empty() { figure_rounding::UNKNOWN.to_owned() } else { say(text) }
}

/// Names and what they stand for; a name without a value is left out.
pub(super) fn pairs(rows: &[(&str, Option<String>)]) -> Markup {
    html! {
        dl {
            @for (name, value) in rows {
                @if let Some(value) = value {
                    div { dt { (name) } dd { (value) } }
                }
            }
        }
    }
}

/// Run, machine and method of a result: what is read last, folded on a screen and open on paper.
pub(super) fn folded(title: &str, content: &Markup) -> Markup {
    html! { details { summary { (title) } (content) } }
}

/// `and 12 more, which are in the file`; nothing for none.
pub(super) fn more(left_out: usize, what: &str) -> Markup {
    html! {
        @if left_out > 0 {
            p.quiet { "And " (left_out) " more " (what) ", which are in the file." }
        }
    }
}

/// Why something was not done, and what to do: `word` in a frame, the message, the hint.
pub(super) fn refused(word: &str, message: &str, hint: Option<&str>) -> Markup {
    html! {
        p { (chip(Tone::Unknown, word)) " " (say(message)) }
        @if let Some(hint) = hint { p { strong { "Next: " } (say(hint)) } }
    }
}

/// Returns what a reader should know, each in a sentence.
pub(super) fn notes(notes: &[String]) -> Markup {
    const NOTES: usize = 20;
    html! {
        @if !notes.is_empty() {
            ul.notes { @for note in notes.iter().take(NOTES) { li { (say(note)) } } }
        }
        (more(notes.len().saturating_sub(NOTES), "notes"))
    }
}
