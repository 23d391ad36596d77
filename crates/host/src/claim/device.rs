//! One block device, as sysfs describes it.

use super::SECTOR_BYTES;
use super::refusal::ClaimRefusal;
use super::world::{Number, World};
use device::TreeError;

/// A block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Device {
    pub(super) number: Number,
    /// As the kernel calls it.
    pub(super) name: String,
    /// Place where sysfs describes it.
    pub(super) directory: String,
}

impl Device {
    /// The device of this number.
    ///
    /// # Errors
    /// [`ClaimRefusal::Unknown`] when sysfs does not show it.
    pub(super) fn numbered(
        world: &impl World,
        (major, minor): Number,
    ) -> Result<Device, ClaimRefusal> {
        let link = world.tree().link(&format!("/sys/dev/block/{major}:{minor}"));
        let directory = link.map_err(|error| ClaimRefusal::Unknown {
            device: format!("block device {major}:{minor}"),
            reason: error.to_string(),
        })?;
        Device::at(world, directory)
    }

    /// The device that the kernel calls `name`.
    pub(super) fn named(world: &impl World, name: &str) -> Result<Device, ClaimRefusal> {
        let link = world.tree().link(&format!("/sys/class/block/{name}"));
        Device::at(world, link.map_err(|error| unknown(name, &error))?)
    }

    /// The device whose directory in sysfs is `directory`.
    fn at(world: &impl World, directory: String) -> Result<Device, ClaimRefusal> {
        let name = last(&directory).to_owned();
        let unknown = |reason: String| ClaimRefusal::Unknown { device: node(&name), reason };
        let text = world.tree().read(&format!("{directory}/dev"));
        let text = text.map_err(|error| unknown(error.to_string()))?;
        let number = parsed(&text).ok_or_else(|| unknown(format!("{directory}/dev holds none")))?;
        Ok(Device { number, name, directory })
    }

    /// Its usual node.
    pub(super) fn node(&self) -> String {
        node(&self.name)
    }

    /// The path of its usual node.
    pub(super) fn path(&self) -> String {
        format!("/dev/{}", self.name.replace('!', "/"))
    }

    /// The character devices through which the same disk is read and written: SCSI's generic one
    /// and its successor, NVMe's generic one.
    pub(super) fn characters(&self, world: &impl World) -> Vec<Number> {
        let tree = world.tree();
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
    pub(super) fn word(&self, world: &impl World, name: &str) -> Result<String, ClaimRefusal> {
        let text = world.tree().read(&format!("{}/{name}", self.directory));
        text.map(|text| text.trim().to_owned()).map_err(|error| unknown(&self.name, &error))
    }

    /// A number of sectors that sysfs says of it, in bytes.
    ///
    /// # Errors
    /// [`ClaimRefusal::Unknown`] when it does not.
    pub(super) fn bytes(&self, world: &impl World, name: &str) -> Result<u64, ClaimRefusal> {
        let text = self.word(world, name)?;
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
    pub(super) fn length_bytes(&self, world: &impl World) -> Result<u64, ClaimRefusal> {
        self.bytes(world, "size")
    }

    /// The metadata of the arrays in it, where it is a container of such: of an array in one the
    /// kernel says `external:/md127/0`, or `external:-md127/0`.
    pub(super) fn container_of(&self, world: &impl World) -> Option<String> {
        let word = world.tree().read(&format!("{}/md/metadata_version", self.directory)).ok()?;
        let metadata = word.trim().strip_prefix("external:")?;
        (!metadata.starts_with(['/', '-'])).then(|| metadata.to_uppercase())
    }

    /// Returns whether it is a partition.
    pub(super) fn is_partition(&self, world: &impl World) -> bool {
        world.tree().read(&format!("{}/partition", self.directory)).is_ok()
    }

    /// The disk that it is a partition of.
    pub(super) fn disk(&self, world: &impl World) -> Result<Option<Device>, ClaimRefusal> {
        if !self.is_partition(world) {
            return Ok(None);
        }
        let parent = self.directory.rsplit_once('/').map_or("", |(parent, _)| parent);
        Device::at(world, parent.to_owned()).map(Some)
    }

    /// Returns what a directory of links to devices leads to; nothing where it is not there, as
    /// `holders` of a partition that can have none.
    ///
    /// # Errors
    /// [`ClaimRefusal::Unknown`] when one of them is not described.
    pub(super) fn linked(
        &self,
        world: &impl World,
        directory: &str,
    ) -> Result<Vec<Device>, ClaimRefusal> {
        match world.tree().list(&format!("{}/{directory}", self.directory)) {
            Ok(names) => names.iter().map(|name| Device::named(world, name)).collect(),
            Err(TreeError::Missing { .. }) => Ok(Vec::new()),
            Err(error) => Err(unknown(&self.name, &error)),
        }
    }
}

/// The number in `text`: `8:1`.
pub(super) fn parsed(text: &str) -> Option<Number> {
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
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
pub(super) fn disks(world: &impl World) -> Vec<String> {
    let names = world.tree().list("/sys/block").unwrap_or_default();
    let hidden = |name: &String| {
        world.tree().read(&format!("/sys/block/{name}/hidden")).is_ok_and(|text| text.trim() == "1")
    };
    names.into_iter().filter(|name| !hidden(name)).collect()
}
