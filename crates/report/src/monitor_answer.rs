//! Result of a look, for whoever acts on it: an exit code, a monitor's state.

use crate::check_document::Target;
use crate::refusal::{Refusal, RefusalKind};
use serde::Serialize;
use stack::{Severity, Verdict};

/// Findings at or above the severity that matters, and whether everything was judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MonitorAnswer {
    /// The worst severity at or above the least one that matters; `None` where nothing is.
    pub found: Option<Severity>,
    /// True if at least one target could not be opened.
    pub unopened: bool,
    /// True if a verdict is missing for at least one target.
    pub unknown: bool,
}

impl MonitorAnswer {
    /// The answer for one target, where findings matter from `least` on; `None` for never.
    #[must_use]
    pub fn of(target: &Target, least: Option<Severity>) -> MonitorAnswer {
        let worst = target.findings.iter().map(|finding| finding.severity).max();
        MonitorAnswer {
            found: worst.filter(|_| least.is_some() && worst >= least),
            unopened: target
                .refusal
                .as_ref()
                .is_some_and(|refusal| refusal.kind != RefusalKind::NoVerdict),
            unknown: target.verdict == Verdict::Unknown,
        }
    }

    /// The answer of a measurement that `found` this, and ended in this `refusal` or in none.
    #[must_use]
    pub(crate) fn of_measurement(
        found: Option<Severity>,
        refusal: Option<&Refusal>,
        unknown: bool,
    ) -> MonitorAnswer {
        let kind = refusal.map(|refusal| refusal.kind);
        let fault = (kind == Some(RefusalKind::Fault)).then_some(Severity::Error);
        MonitorAnswer {
            found: found.max(fault),
            unopened: matches!(kind, Some(RefusalKind::Misuse | RefusalKind::Safety)),
            unknown: unknown || kind == Some(RefusalKind::NoVerdict),
        }
    }

    /// Both answers in one.
    pub fn merge(&mut self, other: MonitorAnswer) {
        self.found = self.found.max(other.found);
        self.unopened |= other.unopened;
        self.unknown |= other.unknown;
    }

    /// The state that a monitor shows.
    #[must_use]
    pub fn state(self) -> MonitorState {
        match (self.found, self.unopened || self.unknown) {
            (Some(Severity::Error), _) => MonitorState::Critical,
            (Some(Severity::Warning | Severity::Info), _) => MonitorState::Warning,
            (None, true) => MonitorState::Unknown,
            (None, false) => MonitorState::Ok,
        }
    }
}

/// A monitor's state, the best first.
///
/// State of a look: what is known to be bad wins over what is not known, and not known wins over
/// good: the order of `max_state_alt` in the Monitoring Plugins (`lib/utils_base.c`). Otherwise one
/// disk that cannot be read would hide the one that is known to be misaligned, or pass for a good
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum MonitorState {
    /// Everything was judged, and nothing that matters was found.
    Ok,
    /// Nothing that matters was found, but not everything was judged.
    Unknown,
    /// The worst that was found is no error.
    Warning,
    /// An error was found.
    Critical,
}

units::words!(MonitorState);

impl MonitorState {
    /// The number that plugins end with (Monitoring Plugins Guidelines, "Plugin Return Codes").
    #[must_use]
    pub fn plugin_code(self) -> u8 {
        match self {
            MonitorState::Ok => 0,
            MonitorState::Warning => 1,
            MonitorState::Critical => 2,
            MonitorState::Unknown => 3,
        }
    }
}
