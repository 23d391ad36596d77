//! Answers of drives in their own languages, asked through the kernel by passthrough.
//!
//! Only questions are sent: NVMe Identify and logs of health, SCSI INQUIRY and READ CAPACITY (16),
//! ATA IDENTIFY DEVICE, SMART READ DATA and READ LOG EXT. A VPD page that the kernel has read
//! already is taken from `/sys`, so that nothing is sent at all.

use std::os::fd::{AsFd as _, OwnedFd};

use device::answer::{self, Question};
use device::{KernelTree, TreeError};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::{nvme, scsi};

/// The bytes that the disk which the kernel calls `disk` answers to `question`.
///
/// # Errors
/// [`TreeError::Missing`] when it is no drive that knows the question's language, and
/// [`TreeError::Unreadable`] with what to do when it could not be asked, or refused.
pub(crate) fn ask(
    tree: &dyn KernelTree,
    disk: &str,
    question: Question,
) -> Result<Vec<u8>, TreeError> {
    let path = answer::of_drive(disk, question);
    let language = match question {
        Question::NvmeHealth | Question::NvmeOcpHealth => Question::NvmeController,
        Question::AtaHealth | Question::AtaStatistics => Question::AtaIdentify,
        question => question,
    };
    if !questions(tree, disk).contains(&language) {
        return Err(TreeError::Missing { path: units::text::escape(path.as_bytes()) });
    }
    answered(tree, disk, question).map_err(|reason| TreeError::Unreadable {
        path: units::text::escape(path.as_bytes()),
        reason,
    })
}

/// Returns the questions for the disk which the kernel calls `disk`, but for its health: none
/// unless it is an NVMe namespace or a SCSI disk, to which ATA disks and USB bridges belong.
pub(crate) fn questions(tree: &dyn KernelTree, disk: &str) -> Vec<Question> {
    // Other drivers do not call their disks so (drivers/scsi/sd.c, drivers/nvme/host/core.c).
    let is_asked = ["sd", "nvme"].iter().any(|name| disk.starts_with(name));
    if !is_asked || disk.contains(['/', '\0']) {
        return Vec::new();
    }
    let link = tree.link(&format!("/sys/class/block/{disk}/device/subsystem"));
    let subsystem = link.unwrap_or_default();
    let (_, subsystem) = subsystem.rsplit_once('/').unwrap_or_default();
    // The head of several paths belongs to the subsystem "nvme-subsystem".
    if subsystem.starts_with("nvme") {
        return vec![Question::NvmeNamespace, Question::NvmeNvmNamespace, Question::NvmeController];
    }
    // Type 0 is a disk, type 20 one with zones of its own command set.
    let kind = tree.read(&format!("/sys/class/block/{disk}/device/type")).unwrap_or_default();
    if subsystem != "scsi" || !matches!(kind.trim(), "0" | "20") {
        return Vec::new();
    }
    vec![
        Question::ScsiCapacity,
        Question::ScsiBlockLimits,
        Question::ScsiCharacteristics,
        Question::AtaIdentify,
    ]
}

fn answered(tree: &dyn KernelTree, disk: &str, question: Question) -> Result<Vec<u8>, String> {
    let page = match question {
        Question::ScsiBlockLimits => Some("vpd_pgb0"),
        Question::ScsiCharacteristics => Some("vpd_pgb1"),
        _ => None,
    };
    if let Some(page) = page {
        let file = format!("/sys/class/block/{disk}/device/{page}");
        if let Ok(bytes) = tree.bytes(&file).map_err(drop)
            && !bytes.is_empty()
        {
            return Ok(bytes);
        }
    }
    careful(tree, disk, question)?;
    let node = open(tree, disk)?;
    match question {
        Question::NvmeNamespace => nvme::identify_namespace(node.as_fd()),
        Question::NvmeNvmNamespace => nvme::identify_nvm_namespace(node.as_fd()),
        Question::NvmeController => nvme::identify_controller(node.as_fd()),
        Question::ScsiCapacity => scsi::capacity(node.as_fd()),
        Question::ScsiBlockLimits => scsi::vital_page(node.as_fd(), 0xb0),
        Question::ScsiCharacteristics => scsi::vital_page(node.as_fd(), 0xb1),
        Question::AtaIdentify => scsi::ata_identify(node.as_fd()),
        Question::NvmeHealth => nvme::health_log(node.as_fd()),
        Question::AtaHealth => scsi::ata_health(node.as_fd()),
        Question::NvmeOcpHealth => nvme::ocp_health_log(node.as_fd()),
        Question::AtaStatistics => scsi::ata_statistics(node.as_fd()),
    }
}

/// Some USB sticks hang when they are asked what they do not know. So what is behind USB is asked
/// no VPD pages, as the kernel's usb-storage driver does, and nothing at all when it is removable,
/// as udev's rules do (`60-persistent-storage.rules`).
fn careful(tree: &dyn KernelTree, disk: &str, question: Question) -> Result<(), String> {
    let place = tree.link(&format!("/sys/class/block/{disk}")).unwrap_or_default();
    if !place.split('/').any(|part| part.starts_with("usb")) {
        return Ok(());
    }
    if tree.read(&format!("/sys/class/block/{disk}/removable")).is_ok_and(|text| text != "0") {
        return Err("it is a removable USB device, and some of those hang when asked".to_owned());
    }
    let page = matches!(question, Question::ScsiBlockLimits | Question::ScsiCharacteristics);
    if page {
        return Err(
            "the kernel holds no such page, and some USB devices hang when asked".to_owned()
        );
    }
    Ok(())
}

/// Opens the node of `disk`, for reading and without waiting for media, and makes sure that it is
/// that disk's.
fn open(tree: &dyn KernelTree, disk: &str) -> Result<OwnedFd, String> {
    // The kernel writes ! where a device's name has a slash.
    let node = format!("/dev/{}", disk.replace('!', "/"));
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = rustix::fs::open(&node, flags, Mode::empty()).map_err(|error| {
        let hint = match error {
            Errno::ACCESS | Errno::PERM => "; run as root",
            _ => "",
        };
        format!("{} cannot be opened: {error}{hint}", units::text::escape(node.as_bytes()))
    })?;
    let stat = rustix::fs::fstat(&file).map_err(|error| error.to_string())?;
    let number = format!("{}:{}", rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
    let expected = tree.read(&format!("/sys/class/block/{disk}/dev"));
    let is_block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    if !is_block || expected.as_deref() != Ok(number.as_str()) {
        return Err(format!("{} is another device", units::text::escape(node.as_bytes())));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use device::MemoryTree;

    use super::*;

    fn scsi(place: &str) -> MemoryTree {
        MemoryTree::new()
            .with_link("/sys/class/block/sda", place)
            .with_file(&format!("{place}/device/type"), "0")
            .with_file(&format!("{place}/dev"), "8:0")
            .with_link(&format!("{place}/device/subsystem"), "/sys/bus/scsi")
    }

    /// A tree whose links are looked up after others, as in a real one.
    fn linked(tree: MemoryTree, place: &str) -> MemoryTree {
        tree.with_link("/sys/class/block/sda/device/subsystem", "/sys/bus/scsi")
            .with_file(&format!("{place}/removable"), "1")
    }

    #[test]
    fn a_disk_is_asked_only_in_its_own_language() {
        let place = "/sys/devices/pci0/block/sda";
        let tree = linked(scsi(place), place);
        assert_eq!(questions(&tree, "sda").len(), 4);
        assert!(questions(&tree, "sdb").is_empty());
        assert!(questions(&tree, "../sda").is_empty());
        for question in [Question::NvmeNamespace, Question::NvmeNvmNamespace, Question::NvmeHealth]
        {
            let error = ask(&tree, "sda", question).unwrap_err();
            assert!(matches!(error, TreeError::Missing { .. }));
        }
    }

    #[test]
    fn a_page_that_the_kernel_holds_is_taken_from_its_file() {
        let place = "/sys/devices/pci0/block/sda";
        let tree =
            linked(scsi(place), place).with_file(&format!("{place}/device/vpd_pgb0"), "page");
        assert_eq!(ask(&tree, "sda", Question::ScsiBlockLimits).unwrap(), b"page");
    }

    #[test]
    fn a_usb_stick_is_asked_nothing() {
        let place = "/sys/devices/pci0/usb1/1-1/block/sda";
        let tree = linked(scsi(place), place);
        for question in [Question::ScsiCapacity, Question::AtaIdentify] {
            let error = ask(&tree, "sda", question).unwrap_err().to_string();
            assert!(error.ends_with("some of those hang when asked"), "{error}");
        }
    }

    #[test]
    fn a_disk_without_a_node_says_what_was_tried() {
        let place = "/sys/devices/pci0/block/sda";
        let tree = linked(scsi(place), place);
        for question in [Question::ScsiCapacity, Question::AtaHealth] {
            let error = ask(&tree, "sda", question).unwrap_err().to_string();
            assert!(error.contains("/dev/sda"), "{error}");
        }
    }
}
