//! Results that were found so far.

use report::bench::{BenchTarget, Experiment, Scratch};

/// Results so far, which are shown when the rest cannot be measured or the user has enough.
#[derive(Default)]
pub(crate) struct Results {
    pub(crate) target: BenchTarget,
    pub(crate) scratch: Option<Scratch>,
    pub(crate) experiments: Vec<Experiment>,
}
