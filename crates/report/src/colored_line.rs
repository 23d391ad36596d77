//! A line of colored text whose width is known, so that columns stay aligned under any color.
//!
//! Colors are always written; the binary strips them where they are not wanted. They only repeat
//! what the words say.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use crate::text;
use stack::{Severity, Verdict};

/// Ordinary text.
pub(crate) const PLAIN: Style = Style::new();
/// Names.
pub(crate) const NAME: Style = Style::new().bold();
/// Style of text that can be passed over: tree lines, labels, references.
pub(crate) const QUIET: Style = Style::new().dimmed();
/// Style of text that is as it should be.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Style of text that should be looked at.
pub(crate) const CARE: Style = AnsiColor::Yellow.on_default();
/// Style of text that is wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();

/// The style of a verdict.
pub(crate) fn verdict_style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Empty => PLAIN,
        Verdict::Aligned => GOOD,
        Verdict::Misaligned => BAD,
        Verdict::ChunkOnly | Verdict::Unknown | Verdict::NotExpressible | Verdict::Undefined => {
            CARE
        }
    }
}

/// The style of a severity.
pub(crate) fn severity_style(severity: Severity) -> Style {
    match severity {
        Severity::Info => NAME,
        Severity::Warning => CARE,
        Severity::Error => BAD,
    }
}

/// Blanks between columns, and between pieces that flow.
pub(crate) const GAP: usize = 2;

/// The width of a column with the gap behind it; nothing for an empty column.
pub(crate) fn gapped(width: usize) -> usize {
    if width == 0 { 0 } else { width + GAP }
}

/// One line under construction.
#[derive(Debug, Default)]
pub(crate) struct Line {
    painted: String,
    width: usize,
    gap: usize,
}

impl Line {
    /// A line that starts with quiet `text`.
    pub(crate) fn starting(text: &str) -> Line {
        let mut line = Line::default();
        line.push(QUIET, text);
        line
    }

    /// The column after the last one used.
    pub(crate) fn width(&self) -> usize {
        self.width + self.gap
    }

    /// Appends `text`. Blanks at the end wait for something to follow, so no line ends in blanks.
    pub(crate) fn push(&mut self, style: Style, text: &str) {
        let visible = text.trim_end_matches(' ');
        if !visible.is_empty() {
            self.painted.extend(std::iter::repeat_n(' ', self.gap));
            self.width += self.gap + text::width(visible);
            self.gap = 0;
            // Writing to a String cannot fail.
            let _ = write!(self.painted, "{style}{visible}{style:#}");
        }
        self.gap += text.len() - visible.len();
    }

    /// Moves to `column`, or `at_least` blanks on where that is passed already.
    pub(crate) fn advance(&mut self, column: usize, at_least: usize) {
        self.gap = (self.gap + at_least).max(column.saturating_sub(self.width));
    }

    /// Writes the line and a line feed.
    pub(crate) fn end(self, page: &mut String) {
        page.push_str(&self.painted);
        page.push('\n');
    }
}

/// Pieces one after the other on as few lines as they need.
pub(crate) struct Flow<'a> {
    /// Left of every line but the first.
    pub(crate) margin: &'a str,
    /// The column where every line but the first starts.
    pub(crate) indent: usize,
    /// The columns to fit.
    pub(crate) limit: usize,
}

impl Flow<'_> {
    /// Writes the pieces that are not empty, the first of them after what is in `line`.
    pub(crate) fn write(
        &self,
        mut line: Line,
        pieces: impl IntoIterator<Item = (Style, String)>,
        page: &mut String,
    ) {
        let mut fresh = true;
        for (style, text) in pieces.into_iter().filter(|(_, text)| !text.is_empty()) {
            let gap = if fresh { 0 } else { GAP };
            if !fresh && line.width() + gap + text::width(&text) > self.limit {
                line = self.next(line, page);
            } else {
                line.advance(0, gap);
            }
            let mut room = self.limit.saturating_sub(line.width());
            if text::width(&text) > room {
                // What is broken must fit the lines that follow, too.
                let indent = self.indent.max(text::width(self.margin));
                room = room.min(self.limit.saturating_sub(indent));
            }
            for (number, part) in text::wrap(&text, room).iter().enumerate() {
                if number > 0 {
                    line = self.next(line, page);
                }
                line.push(style, part);
            }
            fresh = false;
        }
        line.end(page);
    }

    fn next(&self, line: Line, page: &mut String) -> Line {
        line.end(page);
        let mut next = Line::starting(self.margin);
        next.advance(self.indent, 0);
        next
    }
}
