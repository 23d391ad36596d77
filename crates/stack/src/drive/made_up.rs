//! Whether a disk is one that the software of a host makes up.
//!
//! Sources: the buses of Linux `drivers/{virtio,xen,hv}`, and the names that QEMU, VMware,
//! VirtualBox, Hyper-V, Google and Amazon give their disks.

use device::KernelTree;

const BUSES: [&str; 3] = ["virtio", "xen", "vmbus"];
const NAMES: [&str; 7] = ["QEMU", "VMware", "VBOX", "Msft", "Virtual", "Google", "Amazon Elastic"];

/// Whether the disk that the kernel calls `name` is virtual: by the bus that it is on, or by what
/// hypervisors call theirs. What such a disk says of its media is the host's choice.
pub(super) fn is_virtual(tree: &dyn KernelTree, name: &str) -> bool {
    let base = format!("/sys/block/{name}/device");
    let bus = tree.link(&format!("{base}/subsystem")).unwrap_or_default();
    let bus = bus.rsplit('/').next().unwrap_or_default();
    if BUSES.contains(&bus) {
        return true;
    }
    let text = |file: &str| tree.read(&format!("{base}/{file}")).unwrap_or_default();
    let (vendor, model) = (text("vendor"), text("model"));
    let place = tree.link(&format!("/sys/block/{name}")).unwrap_or_default();
    let named = NAMES.iter().any(|word| vendor.contains(word) || model.contains(word));
    named || place.contains("/virtio")
}
