//! Reports of a drive about its cache, its protection and its wear, read from a kernel's tree.

use device::KernelTree;
use device::answer::{self, Question};
use format::Parsed;
use format::identify::ata_health;
use format::identify::{NoAnswer, nvme_health};
use units::{Known, Source};

use super::evidence::{DriveWord, Medium, Protection};
use super::nvme_warnings::warnings;
use super::smart_attributes;
use stack::drive::KernelDrive;

/// Returns the reports of the disk that the kernel calls `name`, as far as `tree` can ask it.
#[must_use]
pub fn drive_word(tree: &dyn KernelTree, name: &str) -> DriveWord {
    let drive = KernelDrive::read(tree, name);
    let said = &drive.said;
    let medium = match (said.rotates(), said.turns_per_minute()) {
        (_, Some(turns)) => Medium::Rotating(turns),
        (Some(false), None) => Medium::Solid,
        // NVMe is never anything else.
        _ if said.controller.value().is_some() => Medium::Solid,
        _ => Medium::Unknown,
    };
    let volatile_cache = match (said.controller.value(), said.ata.value()) {
        (Some(controller), _) => Known::yes(controller.volatile_cache, Source::Identify),
        (None, Some(ata)) => match ata.write_cache {
            Some(on) => Known::yes(on, Source::Identify),
            None => Known::no("IDENTIFY DEVICE does not say"),
        },
        (None, None) => Known::no("the drive was not asked, or does not answer"),
    };
    let mut word = DriveWord {
        is_virtual: drive.is_virtual,
        medium,
        volatile_cache,
        protection: Protection::Unknown,
        protection_source: String::new(),
        life_used_percent: Known::no("the drive does not answer"),
        warnings: Vec::new(),
    };
    let controller = said.controller.value().is_some();
    if controller {
        of_nvme(&mut word, asked(tree, name, Question::NvmeHealth, nvme_health::health));
    } else if let Some(ata) = said.ata.value() {
        let model = ata.model.to_string();
        let health = asked(tree, name, Question::AtaHealth, ata_health::health);
        smart_attributes::of_ata(&mut word, &model, health);
    } else if word.is_virtual {
        let reason = "a virtual disk reports nothing about its media";
        word.protection_source = reason.to_owned();
        word.life_used_percent = Known::no(reason);
    } else {
        let reason = said.ata.reason().unwrap_or("the drive was not asked");
        word.protection_source = reason.to_owned();
        word.life_used_percent = Known::no(reason);
    }
    word
}

fn asked<T>(
    tree: &dyn KernelTree,
    name: &str,
    question: Question,
    read: impl Fn(&[u8]) -> Result<Parsed<T>, NoAnswer>,
) -> Result<T, String> {
    let text = tree.read(&answer::of_drive(name, question)).map_err(|error| error.to_string())?;
    let bytes = answer::to_bytes(&text).ok_or("its answer holds no hexadecimal bytes")?;
    read(&bytes).map(|parsed| parsed.value).map_err(|error| error.to_string())
}

fn of_nvme(word: &mut DriveWord, health: Result<nvme_health::Health, String>) {
    match health {
        Ok(health) => {
            let log = "NVMe log page 02h";
            (word.protection, word.protection_source) = match health.backup_failed {
                true => (Protection::Failed, format!("{log}, critical warning bit 4")),
                false => (
                    Protection::Unknown,
                    format!("{log} reports no failed backup, as it would where there is none"),
                ),
            };
            word.life_used_percent = Known::yes(health.used_percent, Source::Identify);
            word.warnings = warnings(&health);
        }
        Err(reason) => {
            word.protection_source = reason.clone();
            word.life_used_percent = Known::no(reason);
        }
    }
}

#[cfg(test)]
mod tests {
    use device::MemoryTree;

    use super::*;

    fn word() -> DriveWord {
        drive_word(&MemoryTree::new(), "sda")
    }

    #[test]
    fn an_nvme_drive_names_a_failed_backup_and_a_clear_bit_says_nothing() {
        let page = |warning: u8, used: u8| {
            let mut page = [0; nvme_health::ANSWER_BYTES];
            (page[0], page[3], page[5]) = (warning, 100, used);
            nvme_health::health(&page).unwrap().value
        };
        let mut word = word();
        of_nvme(&mut word, Ok(page(16, 120)));
        assert_eq!(
            (word.protection, word.life_used_percent.value()),
            (Protection::Failed, Some(&120))
        );
        of_nvme(&mut word, Ok(page(0, 5)));
        assert_eq!(word.protection, Protection::Unknown);
    }

    #[test]
    fn a_virtual_disk_says_nothing_and_why() {
        let tree = MemoryTree::new()
            .with_link("/sys/block/vda/device/subsystem", "/sys/bus/virtio")
            .with_file("/sys/block/vda/queue/rotational", "1");
        let word = drive_word(&tree, "vda");
        assert!(word.is_virtual);
        assert_eq!((word.medium, word.protection), (Medium::Unknown, Protection::Unknown));
        assert!(word.protection_source.contains("virtual disk"));
        assert_eq!(word.life_used_percent.value(), None);
    }

    #[test]
    fn a_drive_is_asked_for_its_health_in_its_own_language() {
        let mut page = [0; 512];
        (page[0], page[3], page[5]) = (16, 90, 7);
        let controller = {
            let mut bytes = vec![0_u8; 4096];
            bytes[24..29].copy_from_slice(b"Model");
            bytes[525] = 1;
            bytes
        };
        let at = |question| answer::of_drive("nvme0n1", question);
        let tree = MemoryTree::new()
            .with_file(&at(Question::NvmeController), &answer::to_text(&controller))
            .with_file(&at(Question::NvmeHealth), &answer::to_text(&page));
        let word = drive_word(&tree, "nvme0n1");
        assert_eq!(word.medium, Medium::Solid);
        assert_eq!(word.volatile_cache.value(), Some(&true));
        assert_eq!(word.protection, Protection::Failed);
        assert_eq!(word.life_used_percent.value(), Some(&7));
    }
}
