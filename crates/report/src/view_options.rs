//! Options of the views for people. The binary fills them in from options, terminal and locale;
//! the views ask nobody else.

/// Options of the human views.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Columns of the terminal; `None` when unknown, which is taken as 100. Below 40 counts as 40.
    pub width: Option<usize>,
    /// Draw with ASCII only and escape every other character: for `TERM=dumb` and locales that are
    /// not UTF-8.
    pub ascii: bool,
    /// Put the number of bytes beside every size.
    pub bytes: bool,
    /// Show evidence, units with their sources, facts and damage.
    pub explain: bool,
}

impl Look {
    /// The columns to fit, at least 40.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.width.unwrap_or(100).max(40)
    }

    /// The columns to fit; no limit where a program reads it.
    pub(crate) fn limit(&self) -> usize {
        self.width.map_or(usize::MAX, |_| self.columns())
    }

    /// The characters to draw with.
    pub(crate) fn glyphs(&self) -> &'static Glyphs {
        if self.ascii { &ASCII } else { &UNICODE }
    }
}

/// Shape of a human view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ViewShape {
    /// A tree for each target.
    #[default]
    Tree,
    /// A line for each target.
    Lines,
}

/// The characters that a tree is drawn with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Glyphs {
    /// Before a layer that has later siblings.
    pub(crate) fork: &'static str,
    /// Before the last of several siblings.
    pub(crate) end: &'static str,
    /// Past a layer that has later siblings.
    pub(crate) bar: &'static str,
    /// Points at the first bad layer.
    pub(crate) marker: &'static str,
    /// Stands for what was left out of a text.
    pub(crate) ellipsis: &'static str,
    /// The micro sign.
    pub(crate) micro: &'static str,
}

const UNICODE: Glyphs =
    Glyphs {
        fork: "├─ ", end: "└─ ", bar: "│  ", marker: "◀", ellipsis: "…", micro: "µ"
    };

const ASCII: Glyphs =
    Glyphs { fork: "|- ", end: "`- ", bar: "|  ", marker: "<-", ellipsis: "...", micro: "u" };
