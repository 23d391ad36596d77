//! Recognizes disks that the software of a host makes up.
//!
//! Sources: the buses of Linux `drivers/{virtio,xen,hv}`, and the names that QEMU, VMware,
//! VirtualBox, Hyper-V, Google and Amazon give their disks.

use device::KernelTree;
use units::DiskText;

const BUSES: [&str; 3] = ["virtio", "xen", "vmbus"];
const NAMES: [&str; 7] = ["QEMU", "VMware", "VBOX", "Msft", "Virtual", "Google", "Amazon Elastic"];

/// A provider whose disk promises what no field of the standard says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloudDisk {
    /// A volume of EBS or the instance storage of Amazon EC2.
    Amazon,
    /// A managed disk of Azure behind NVMe.
    Azure,
}

impl CloudDisk {
    /// Returns the provider of the disk that has this model, where only that provider's have it.
    /// Hyper-V names its own disks as Azure does behind SCSI, so those are none.
    #[must_use]
    pub fn of(model: &str) -> Option<CloudDisk> {
        let rows = [
            ("Amazon Elastic Block Store", CloudDisk::Amazon),
            ("Amazon EC2 NVMe Instance Storage", CloudDisk::Amazon),
            ("MSFT NVMe Accelerator", CloudDisk::Azure),
        ];
        rows.into_iter().find(|(start, _)| model.starts_with(start)).map(|(_, disk)| disk)
    }
}

/// Returns whether a disk with this model is virtual: hypervisors and clouds name theirs so.
#[must_use]
pub fn is_virtual_model(model: &str) -> bool {
    NAMES.iter().any(|name| model.contains(name)) || CloudDisk::of(model).is_some()
}

/// Returns whether the kernel's name of a disk is that of a ZFS volume.
fn is_zvol(name: &str) -> bool {
    let number = name.strip_prefix("zd").unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Name of the ZFS volume that the disk `name` is: `tank/vm`, where udev made its link; `None` for
/// any other disk.
///
/// Source: OpenZFS `udev/rules.d/60-zvol.rules.in` (the link `zvol/POOL/VOLUME`).
pub(super) fn zvol(tree: &dyn KernelTree, name: &str) -> Option<DiskText> {
    let number = tree.read(&format!("/sys/block/{name}/dev")).unwrap_or_default();
    let known = tree.read(&format!("/run/udev/data/b{}", number.trim())).unwrap_or_default();
    let volume = known.lines().find_map(|line| line.strip_prefix("S:zvol/"));
    is_zvol(name).then(|| DiskText::from(volume.unwrap_or_default()))
}

/// Why the kernel's word that a disk turns is no word about its media; `None` where it is.
pub(super) fn why_not_its_own(tree: &dyn KernelTree, name: &str) -> Option<&'static str> {
    if name.starts_with("loop") {
        return Some("it is a loop device, whose media are those of its file");
    }
    if is_zvol(name) {
        return Some("it is a ZFS volume, whose media are those of its pool");
    }
    is_virtual(tree, name).then_some("it is a virtual disk, whose media are the host's")
}

/// Returns whether the disk that the kernel calls `name` is virtual: by the bus that it is on, or
/// by what hypervisors call theirs. What such a disk says of its media is the host's choice.
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
