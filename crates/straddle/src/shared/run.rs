//! This run, as documents tell it: the command line is this process's, the machine is the one that
//! is looked at.

use jiff::Timestamp;
use report::Run;
use units::text::escape;

use crate::shared::inspected_machine::InspectedMachine;

/// The run that began at `started` and looks at `inspected`: a captured machine has its own name
/// and kernel, as far as the capture tells them.
pub(crate) fn run(started: Timestamp, inspected: &InspectedMachine) -> Run {
    let told = |path: &str| {
        let text = inspected.tree().read(path).ok()?;
        Some(escape(text.trim().as_bytes())).filter(|text| !text.is_empty())
    };
    let words = std::env::args_os();
    Run {
        command: words.map(|word| escape(word.as_encoded_bytes())).collect(),
        started: started.to_string(),
        kernel: told("/proc/sys/kernel/osrelease"),
        host: told("/proc/sys/kernel/hostname"),
    }
}
