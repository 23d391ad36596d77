//! Devices and files that the kernel itself writes for others: it opens some that no process has.
//!
//! Source: Linux `drivers/nvme/target/configfs.c`, `drivers/target/target_core_configfs.c`,
//! `Documentation/usb/mass-storage.rst`.

use std::path::Path;

use device::KernelTree as _;

use crate::LiveTree;
use crate::claim::forbidden_uses::{Sought, Use, User};

const CONFIG: &str = "/sys/kernel/config";

/// A kind of service: its module, who it is, and where the path of what it serves is told; `*` is
/// any name.
const SERVICES: [(&str, &str, &str); 3] = [
    ("nvmet", "the kernel's NVMe target", "nvmet/subsystems/*/namespaces/*/device_path"),
    ("target_core_mod", "the kernel's SCSI target", "target/core/*/*/udev_path"),
    ("usb_f_mass_storage", "a USB gadget of the kernel", "usb_gadget/*/functions/*/*/file"),
];

/// The first of `sought` that the kernel serves.
///
/// # Errors
/// With the reason, where a service runs and does not say what it serves.
pub(super) fn first(tree: &LiveTree, sought: &Sought) -> Result<Option<User>, String> {
    for (module, who, pattern) in SERVICES {
        if tree.list(&format!("/sys/module/{module}")).is_err() {
            continue;
        }
        if tree.list(CONFIG).map_or(true, |names| names.is_empty()) {
            return Err(format!("{who} is loaded, and {CONFIG} does not show what it serves"));
        }
        let paths = below(tree, CONFIG, pattern).into_iter();
        let mut served = paths.filter_map(|file| tree.read(&file).ok());
        if let Some(what) = served.find_map(|path| sought.at(Path::new(path.trim()))) {
            return Ok(Some(User { who: who.to_owned(), pid: None, what, how: Use::Served }));
        }
    }
    Ok(None)
}

/// The paths below `directory` that fit `pattern`.
fn below(tree: &LiveTree, directory: &str, pattern: &str) -> Vec<String> {
    let (first, rest) = pattern.split_once('/').unwrap_or((pattern, ""));
    let names = match first {
        "*" => tree.list(directory).unwrap_or_default(),
        name => vec![name.to_owned()],
    };
    let paths = names.into_iter().map(|name| format!("{directory}/{name}"));
    match rest {
        "" => paths.collect(),
        rest => paths.flat_map(|path| below(tree, &path, rest)).collect(),
    }
}
