//! One block device, as sysfs describes it.

use device::TreeError;
use rustix::fs::FileType;

use super::machine::ClaimWorld;
use super::number::{Number, parsed};
use super::refusal::ClaimRefusal;
use crate::{PathIdentity, Pinned};

/// The kernel counts lengths in these, whatever the device's own sectors are
/// (`Documentation/ABI/stable/sysfs-block`).
pub(super) const SECTOR_BYTES: u64 = 512;
/// Files in which drivers show a serial: virtio, MMC and others beside the disk, NVMe at the
/// controller.
const SERIALS: [&str; 3] = ["serial", "device/serial", "device/vpd_pg80"];
/// Files in which the kernel shows a world-wide name.
const WWNS: [&str; 2] = ["wwid", "device/wwid"];
/// The head of a page of vital product data.
const PAGE_HEAD_BYTES: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClaimedDevice {
    pub(super) number: Number,
    pub(super) name: String,
    /// Its directory in sysfs.
    pub(super) directory: String,
}

impl ClaimedDevice {
    /// The device of this number.
    ///
    /// # Errors
    /// [`ClaimRefusal::Unknown`] when sysfs does not show it.
    pub(super) fn numbered(
        machine: &impl ClaimWorld,
        (major, minor): Number,
    ) -> Result<ClaimedDevice, ClaimRefusal> {
        let link = machine.tree().link(&format!("/sys/dev/block/{major}:{minor}"));
        let directory = link.map_err(|error| ClaimRefusal::Unknown {
            device: format!("block device {major}:{minor}"),
            reason: error.to_string(),
        })?;
        ClaimedDevice::at(machine, directory)
    }

    /// The device that the kernel calls `name`.
    pub(super) fn named(
        machine: &impl ClaimWorld,
        name: &str,
    ) -> Result<ClaimedDevice, ClaimRefusal> {
        let link = machine.tree().link(&format!("/sys/class/block/{name}"));
        ClaimedDevice::at(machine, link.map_err(|error| unknown(name, &error))?)
    }

    /// The device whose directory in sysfs is `directory`.
    fn at(machine: &impl ClaimWorld, directory: String) -> Result<ClaimedDevice, ClaimRefusal> {
        let name = last(&directory).to_owned();
        let unknown = |reason: String| ClaimRefusal::Unknown { device: node(&name), reason };
        let text = machine.tree().read(&format!("{directory}/dev"));
        let text = text.map_err(|error| unknown(error.to_string()))?;
        let number = parsed(&text).ok_or_else(|| unknown(format!("{directory}/dev holds none")))?;
        Ok(ClaimedDevice { number, name, directory })
    }

    pub(super) fn node(&self) -> String {
        node(&self.name)
    }

    /// The path of its usual node.
    pub(super) fn path(&self) -> String {
        format!("/dev/{}", self.name.replace('!', "/"))
    }

    /// The character devices through which the same disk is read and written: SCSI's generic one
    /// and its successor, NVMe's generic one.
    pub(super) fn characters(&self, machine: &impl ClaimWorld) -> Vec<Number> {
        let tree = machine.tree();
        let scsi = ["scsi_generic", "bsg"].map(|kind| format!("{}/device/{kind}", self.directory));
        let listed = scsi.iter().flat_map(|directory| {
            let names = tree.list(directory).unwrap_or_default();
            names.into_iter().map(move |name| format!("{directory}/{name}/dev"))
        });
        let space = self.name.strip_prefix("nvme");
        let nvme = space.map(|space| format!("/sys/class/nvme-generic/ng{space}/dev"));
        let files = listed.chain(nvme);
        files.filter_map(|file| parsed(&tree.read(&file).ok()?)).collect()
    }

    /// A word that sysfs says of it.
    ///
    /// # Errors
    /// [`ClaimRefusal::Unknown`] when it does not.
    pub(super) fn word(
        &self,
        machine: &impl ClaimWorld,
        name: &str,
    ) -> Result<String, ClaimRefusal> {
        let text = machine.tree().read(&format!("{}/{name}", self.directory));
        text.map(|text| text.trim().to_owned()).map_err(|error| unknown(&self.name, &error))
    }

    /// A number of sectors that sysfs says of it, in bytes.
    ///
    /// # Errors
    /// [`ClaimRefusal::Unknown`] when it does not.
    pub(super) fn bytes(&self, machine: &impl ClaimWorld, name: &str) -> Result<u64, ClaimRefusal> {
        let text = self.word(machine, name)?;
        let length = text.parse::<u64>().ok().and_then(|sectors| sectors.checked_mul(SECTOR_BYTES));
        length.ok_or_else(|| ClaimRefusal::Unknown {
            device: self.node(),
            reason: format!("{}/{name} holds no length", self.directory),
        })
    }

    /// Its length in bytes.
    ///
    /// # Errors
    /// [`ClaimRefusal::Unknown`] when sysfs does not say it.
    pub(super) fn length_bytes(&self, machine: &impl ClaimWorld) -> Result<u64, ClaimRefusal> {
        self.bytes(machine, "size")
    }

    /// The metadata of the arrays in it, where it is a container of such: of an array in one the
    /// kernel says `external:/md127/0`, or `external:-md127/0`.
    pub(super) fn container_of(&self, machine: &impl ClaimWorld) -> Option<String> {
        let word = machine.tree().read(&format!("{}/md/metadata_version", self.directory)).ok()?;
        let metadata = word.trim().strip_prefix("external:")?;
        (!metadata.starts_with(['/', '-'])).then(|| metadata.to_uppercase())
    }

    /// Returns whether it is a partition.
    pub(super) fn is_partition(&self, machine: &impl ClaimWorld) -> bool {
        machine.tree().read(&format!("{}/partition", self.directory)).is_ok()
    }

    /// The disk that it is a partition of.
    pub(super) fn disk(
        &self,
        machine: &impl ClaimWorld,
    ) -> Result<Option<ClaimedDevice>, ClaimRefusal> {
        if !self.is_partition(machine) {
            return Ok(None);
        }
        let parent = self.directory.rsplit_once('/').map_or("", |(parent, _)| parent);
        ClaimedDevice::at(machine, parent.to_owned()).map(Some)
    }

    /// Returns the devices that a directory of links leads to; none where it is not there, as
    /// `holders` of a partition that can have none.
    ///
    /// # Errors
    /// [`ClaimRefusal::Unknown`] when one of them is not described.
    pub(super) fn linked(
        &self,
        machine: &impl ClaimWorld,
        directory: &str,
    ) -> Result<Vec<ClaimedDevice>, ClaimRefusal> {
        match machine.tree().list(&format!("{}/{directory}", self.directory)) {
            Ok(names) => names.iter().map(|name| ClaimedDevice::named(machine, name)).collect(),
            Err(TreeError::Missing { .. }) => Ok(Vec::new()),
            Err(error) => Err(unknown(&self.name, &error)),
        }
    }
}

/// The usual node of the device that the kernel calls `name`, where a slash is written as `!`.
pub(super) fn node(name: &str) -> String {
    format!("/dev/{}", units::text::escape(name.replace('!', "/").as_bytes()))
}

pub(super) fn unknown(name: &str, error: &TreeError) -> ClaimRefusal {
    ClaimRefusal::Unknown { device: node(name), reason: error.to_string() }
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The disks of this machine, as sysfs names them, without those that are another way to one.
pub(super) fn disks(machine: &impl ClaimWorld) -> Vec<String> {
    let names = machine.tree().list("/sys/block").unwrap_or_default();
    let hidden = |name: &String| {
        machine
            .tree()
            .read(&format!("/sys/block/{name}/hidden"))
            .is_ok_and(|text| text.trim() == "1")
    };
    names.into_iter().filter(|name| !hidden(name)).collect()
}

/// Returns the serial number that sysfs shows in `directory`; `None` where it shows none.
pub(super) fn serial<W: ClaimWorld>(machine: &W, directory: &str) -> Option<String> {
    SERIALS.into_iter().find_map(|name| {
        let bytes = machine.tree().bytes(&format!("{directory}/{name}")).ok()?;
        let page = name.ends_with("vpd_pg80");
        word(if page { bytes.get(PAGE_HEAD_BYTES..)? } else { &bytes })
    })
}

/// Returns the world-wide name that sysfs shows in `directory`; `None` where it shows none.
pub(super) fn wwn<W: ClaimWorld>(machine: &W, directory: &str) -> Option<String> {
    let read = |name| word(&machine.tree().bytes(&format!("{directory}/{name}")).ok()?);
    WWNS.into_iter().find_map(read)
}

/// The text in `bytes`; `None` where there is none.
fn word(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_matches(|letter: char| letter.is_whitespace() || letter == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns the number of the block device that `node` is of.
///
/// # Errors
/// [`ClaimRefusal::NotABlockDevice`].
pub(super) fn number_of(node: &Pinned) -> Result<Number, ClaimRefusal> {
    match node.identity() {
        PathIdentity::Block { major, minor } => Ok((major, minor)),
        PathIdentity::File { .. } => {
            let found = kind(node.kind());
            Err(ClaimRefusal::NotABlockDevice { node: node.given().to_owned(), found })
        }
    }
}

fn kind(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a regular file",
        FileType::Directory => "a directory",
        FileType::CharacterDevice => "a character device",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        _ => "of another kind",
    }
}
