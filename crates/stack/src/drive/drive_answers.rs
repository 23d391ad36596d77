//! The drive's own answers, in its own language, and its identity.

use device::KernelTree;
use device::answer::{self, Question};
use format::Parsed;
use format::identify::nvme_namespace_hints::{self, NamespaceHints};
use format::identify::{NoAnswer, Rotation, ata, nvme, scsi};
use units::{DiskText, Known, Source};

use super::sysfs::SysfsFiles;

/// The drive's own answers. Each is unknown where it was not asked, could not be, or refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// NVMe Identify Namespace.
    pub namespace: Known<nvme::Namespace>,
    /// NVMe Identify Namespace of the NVM command set.
    pub hints: Known<NamespaceHints>,
    /// NVMe Identify Controller.
    pub controller: Known<nvme::Controller>,
    /// SCSI READ CAPACITY (16).
    pub capacity: Known<scsi::Capacity>,
    /// SCSI block limits.
    pub limits: Known<scsi::BlockLimits>,
    /// SCSI block device characteristics.
    pub characteristics: Known<scsi::Characteristics>,
    /// ATA IDENTIFY DEVICE, behind a SCSI bridge too.
    pub ata: Known<ata::AtaIdentity>,
    /// The answers that cannot be right.
    pub problems: Vec<String>,
}

impl Said {
    /// Returns what `tree` has of the answers of the disk `name`. Pages that the kernel keeps as
    /// files of the device count as answers.
    pub(super) fn read(tree: &dyn KernelTree, name: &str, logical_bytes: Option<u64>) -> Said {
        let mut asked = Asked { tree, name, problems: Vec::new() };
        let namespace = asked.answer(Question::NvmeNamespace, None, nvme::namespace);
        let hints = match namespace.value() {
            Some(namespace) => asked.answer(Question::NvmeNvmNamespace, None, |bytes| {
                nvme_namespace_hints::hints(bytes, namespace)
            }),
            None => Known::no("what it counts in is not known without Identify Namespace"),
        };
        let controller = asked.answer(Question::NvmeController, None, nvme::controller);
        let capacity = asked.answer(Question::ScsiCapacity, None, scsi::capacity);
        let logical = capacity.value().and_then(|capacity| capacity.logical_bytes);
        let logical = logical.or(logical_bytes).unwrap_or(512);
        let limits = asked.answer(Question::ScsiBlockLimits, Some("vpd_pgb0"), |bytes| {
            scsi::block_limits(bytes, logical)
        });
        let page = Some("vpd_pgb1");
        let characteristics =
            asked.answer(Question::ScsiCharacteristics, page, scsi::characteristics);
        let ata = asked.answer(Question::AtaIdentify, None, ata::identity);
        let problems = asked.problems;
        Said { namespace, hints, controller, capacity, limits, characteristics, ata, problems }
    }

    /// Returns whether it has rotating media, where it says.
    #[must_use]
    pub fn rotates(&self) -> Option<bool> {
        let ata = self.ata.value().and_then(|ata| ata.rotation);
        let scsi = self.characteristics.value().and_then(|said| said.rotation);
        ata.or(scsi).map(|rotation| rotation != Rotation::None)
    }

    /// Its turns a minute, where it says.
    #[must_use]
    pub fn turns_per_minute(&self) -> Option<u16> {
        let ata = self.ata.value().and_then(|ata| ata.rotation);
        let scsi = self.characteristics.value().and_then(|said| said.rotation);
        match ata.or(scsi)? {
            Rotation::PerMinute(turns) => Some(turns),
            Rotation::None => None,
        }
    }

    /// Returns what is written whole or not at all when power fails, in bytes: the namespace's
    /// NAWUPF, or the controller's AWUPF.
    #[must_use]
    pub fn atomic_power_fail_bytes(&self) -> Option<u64> {
        let namespace = self.namespace.value()?;
        namespace.atomic.power_fail_bytes.or_else(|| {
            let blocks = u64::from(self.controller.value()?.atomic_power_fail_blocks);
            blocks.checked_mul(namespace.format?.data_bytes)
        })
    }
}

struct Asked<'a> {
    tree: &'a dyn KernelTree,
    name: &'a str,
    problems: Vec<String>,
}

impl Asked<'_> {
    fn answer<T>(
        &mut self,
        question: Question,
        page: Option<&str>,
        read: impl Fn(&[u8]) -> Result<Parsed<T>, NoAnswer>,
    ) -> Known<T> {
        let bytes = self.bytes(question).or_else(|reason| {
            let page = page.ok_or_else(|| reason.clone())?;
            let file = format!("/sys/block/{}/device/{page}", self.name);
            self.tree.bytes(&file).map_err(|_| reason)
        });
        match bytes.map(|bytes| read(&bytes)) {
            Ok(Ok(parsed)) => {
                let word = question.word();
                let problems = parsed.problems.into_iter();
                self.problems.extend(problems.map(|found| format!("{word}: {}", found.detail)));
                Known::yes(parsed.value, Source::Identify)
            }
            Ok(Err(error)) => Known::no(error.to_string()),
            Err(reason) => Known::no(reason),
        }
    }

    fn bytes(&self, question: Question) -> Result<Vec<u8>, String> {
        let path = answer::of_drive(self.name, question);
        let text = self.tree.read(&path).map_err(|error| error.to_string())?;
        answer::to_bytes(&text).ok_or_else(|| {
            format!("{} holds no hexadecimal bytes", units::text::escape(path.as_bytes()))
        })
    }
}

/// The drive's identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveIdentity {
    /// The vendor as the kernel gives it: `ATA` for all ATA disks.
    pub vendor: Option<DiskText>,
    /// The model in full, as the drive gives it; the kernel cuts that of ATA disks to 16
    /// characters.
    pub full_model: Option<DiskText>,
    /// The serial number.
    pub serial: Known<String>,
    /// The firmware's revision.
    pub firmware: Known<String>,
    /// The world-wide identifier.
    pub wwid: Known<String>,
}

impl DriveIdentity {
    pub(super) fn read(files: &SysfsFiles<'_>, said: &Said) -> DriveIdentity {
        let ata = said.ata.value();
        let nvme = said.controller.value();
        let model = nvme.map(|it| &it.model).or_else(|| ata.map(|it| &it.model)).cloned();
        let serial = nvme.map(|it| &it.serial).or_else(|| ata.map(|it| &it.serial));
        let firmware = nvme.map(|it| &it.firmware).or_else(|| ata.map(|it| &it.firmware));
        DriveIdentity {
            vendor: files.some_text("device/vendor"),
            full_model: model.filter(|model| !model.is_empty()),
            serial: first(files, &["device/serial", "serial"], serial),
            firmware: first(
                files,
                &["device/firmware_rev", "device/rev", "device/fwrev"],
                firmware,
            ),
            wwid: first(files, &["wwid", "device/wwid"], None),
        }
    }
}

/// Returns what the drive says, else the first of the files that is there and not empty.
fn first(files: &SysfsFiles<'_>, names: &[&str], said: Option<&DiskText>) -> Known<String> {
    if let Some(said) = said.filter(|said| !said.is_empty()) {
        return Known::yes(said.to_string(), Source::Identify);
    }
    let words = names.iter().map(|name| files.word(name));
    let found = words.into_iter().find(|word| word.value().is_some_and(|word| !word.is_empty()));
    found.unwrap_or_else(|| Known::no(format!("none of {} says it", names.join(", "))))
}
