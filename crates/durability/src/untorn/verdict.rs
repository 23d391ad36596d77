//! The verdict: the answer, and what led to it.

use serde::Serialize;

use super::engine::PageEngine;
use super::live::LiveWrites;
use super::page_layer::{GuardSetting, PageFate, PageLayer, UntornAnswer};

/// The verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UntornVerdict {
    /// The answer.
    pub answer: UntornAnswer,
    /// The engine.
    pub engine: PageEngine,
    /// The page that decided, in bytes: the largest one where the answer is yes.
    pub page_bytes: u64,
    /// `LAYER: REASON` of each layer that gives this answer, joined by `; `; empty where it is yes.
    pub because: String,
    /// A line for each layer, the engine first; the line of the running server's writes last.
    pub layers: Vec<PageLayer>,
    /// Writes that were seen while the server ran; `null` where nobody asked, or where they could
    /// not be watched.
    pub live: Option<LiveWrites>,
    /// Settings of the engine under this answer.
    pub settings: Vec<GuardSetting>,
}

impl UntornVerdict {
    /// Returns the verdict that follows from `layers`: all that tear a page decide, else all that
    /// are unknown.
    pub(super) fn of(engine: PageEngine, page_bytes: u64, layers: Vec<PageLayer>) -> UntornVerdict {
        let worst = layers.iter().map(|line| line.fate).max().unwrap_or(PageFate::Unknown);
        let answer = match worst {
            PageFate::Whole => UntornAnswer::Yes,
            PageFate::Unknown => UntornAnswer::Unknown,
            PageFate::Torn => UntornAnswer::No,
        };
        let decisive = layers.iter().filter(|line| line.fate == worst && worst != PageFate::Whole);
        let mut because: Vec<String> = Vec::new();
        for line in decisive.map(|line| format!("{}: {}", line.name, line.reason)) {
            if !because.contains(&line) {
                because.push(line);
            }
        }
        UntornVerdict {
            answer,
            engine,
            page_bytes,
            because: because.join("; "),
            layers,
            live: None,
            settings: engine.settings(answer),
        }
    }
}
