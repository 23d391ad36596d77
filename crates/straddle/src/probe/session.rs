//! One run of `straddle probe`: what was asked, of which machine, with which seed.

use host::Interrupt;

use crate::arguments::Probe;
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::printer::Printer;
use crate::world::clock::Clock;

/// State that all parts of a run share.
pub(super) struct Session<'a> {
    pub(super) probe: &'a Probe,
    /// Without what was measured before: that is what is asked.
    pub(super) inspected: InspectedMachine,
    pub(super) interrupt: Interrupt,
    pub(super) seed: u64,
    pub(super) clock: &'a dyn Clock,
    pub(super) printer: Printer,
}
