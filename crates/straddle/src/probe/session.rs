//! One run of `straddle probe`: what was asked, of which machine, with which seed.

use host::Interrupt;
use report::probe::Refusal;

use crate::arguments::Probe;
use crate::shared::halt;
use crate::shared::inspected_machine::InspectedMachine;

/// State that all parts of a run share.
pub(super) struct Session<'a> {
    pub(super) probe: &'a Probe,
    /// Without what was measured before: that is what is asked.
    pub(super) inspected: InspectedMachine,
    pub(super) interrupt: Interrupt,
    pub(super) seed: u64,
}

/// A refusal that is no matter of safety.
pub(super) fn refused(message: impl Into<String>, hint: Option<&str>) -> Refusal {
    halt::refused(message, hint.map(str::to_owned))
}

/// Returns what was tried and came to no verdict.
pub(super) fn undecided(message: impl Into<String>, hint: Option<&str>) -> Refusal {
    halt::undecided(message, hint.map(str::to_owned))
}
