//! The answer, and a line for each layer that led to it.

use serde::Serialize;

use super::engine::PageEngine;
use super::live::LiveWrites;

/// Answer to "may torn-page protection be switched off?", the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum UntornAnswer {
    /// Every layer keeps each page whole.
    Yes,
    /// No layer is known to tear a page, and at least one does not report enough.
    Unknown,
    /// A layer may tear a page.
    No,
}

/// Fate of a page in one layer, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PageFate {
    /// It stays in one piece.
    Whole,
    /// The layer does not report enough.
    Unknown,
    /// It may be written in part.
    Torn,
}

units::words!(UntornAnswer);
units::words!(PageFate);

/// Role of a line's layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PageRole {
    /// The database engine.
    Engine,
    /// Its data files.
    Files,
    /// The file system that they are on.
    FileSystem,
    /// A partition, volume, array or container.
    Volume,
    /// The device at the bottom.
    Drive,
    /// Writes that the running server issued.
    Live,
}

/// One layer's line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PageLayer {
    /// Its role.
    pub role: PageRole,
    /// Its name, harmless to print.
    pub name: String,
    /// Fate of a page in it.
    pub fate: PageFate,
    /// Why, in one sentence without a full stop.
    pub reason: String,
    /// Document that the reason rests on; `null` where it rests on this machine alone.
    pub source: Option<String>,
}

/// State of a setting under a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum GuardState {
    /// It may be set so.
    Allowed,
    /// It must be set so before the protection is switched off; straddle did not look.
    Required,
    /// It must stay so.
    Keep,
}

units::words!(GuardState);

/// A setting of the engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuardSetting {
    /// Name and value, as the engine's configuration has them.
    pub setting: String,
    /// Its state.
    pub state: GuardState,
    /// Document of the engine that describes it.
    pub source: String,
}

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
    /// `LAYER: REASON` of the layer that decided; empty where the answer is yes.
    pub because: String,
    /// A line for each layer, the engine first; the line of the running server's writes last.
    pub layers: Vec<PageLayer>,
    /// Writes that were seen while the server ran; `null` where nobody asked, or where they could
    /// not be watched.
    pub live: Option<LiveWrites>,
    /// Settings of the engine under this answer.
    pub settings: Vec<GuardSetting>,
}

impl PageLayer {
    /// Returns a line without a document.
    pub(super) fn new(
        role: PageRole,
        name: impl Into<String>,
        (fate, reason): (PageFate, String),
    ) -> PageLayer {
        PageLayer { role, name: name.into(), fate, reason, source: None }
    }
}

impl UntornVerdict {
    /// Returns the verdict that follows from `layers`: the first torn one decides, else the first
    /// unknown one.
    pub(super) fn of(engine: PageEngine, page_bytes: u64, layers: Vec<PageLayer>) -> UntornVerdict {
        let worst = layers.iter().map(|line| line.fate).max().unwrap_or(PageFate::Unknown);
        let answer = match worst {
            PageFate::Whole => UntornAnswer::Yes,
            PageFate::Unknown => UntornAnswer::Unknown,
            PageFate::Torn => UntornAnswer::No,
        };
        let decisive = layers.iter().find(|line| line.fate == worst && worst != PageFate::Whole);
        let because = decisive.map(|line| format!("{}: {}", line.name, line.reason));
        UntornVerdict {
            answer,
            engine,
            page_bytes,
            because: because.unwrap_or_default(),
            layers,
            live: None,
            settings: engine.settings(answer),
        }
    }
}
