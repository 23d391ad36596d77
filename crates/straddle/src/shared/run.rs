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
    // Linux `drivers/firmware/dmi-id.c`: text of the firmware's table, without the serial numbers.
    let machine =
        ["sys_vendor", "product_name"].map(|name| told(&format!("/sys/class/dmi/id/{name}")));
    let machine: Vec<String> = machine.into_iter().flatten().collect();
    Run {
        started: started.to_string(),
        kernel: told("/proc/sys/kernel/osrelease"),
        host: told("/proc/sys/kernel/hostname"),
        machine: (!machine.is_empty()).then(|| machine.join(" ")),
        ..anywhere()
    }
}

/// The run of a command whose answer is the same on every machine and at any time.
pub(crate) fn anywhere() -> Run {
    let words = std::env::args_os();
    let command = words.map(|word| escape(word.as_encoded_bytes())).collect();
    Run { command, ..Run::default() }
}
