//! The possible answers, and a line for each layer that leads to one.

use serde::Serialize;

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
