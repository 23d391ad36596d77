//! Kind of drive that peers share: model and firmware; of virtual disks also the capacity, which
//! clouds and hypervisors tie speed to.

use stack::drive::is_virtual_model;
use units::prefix::Size;

/// Buses of virtual disks without a model, by the kernel's names for the disks.
///
/// Source: Linux, `drivers/block/{virtio_blk,xen-blkfront}.c`.
const BUSES: [(&str, &str); 2] = [("xvd", "Xen"), ("vd", "virtio")];

/// Facts of a drive that a file has.
#[derive(Clone, Copy, Debug)]
pub(super) struct DriveFacts<'a> {
    /// The kernel's name.
    pub(super) name: Option<&'a str>,
    pub(super) model: Option<&'a str>,
    pub(super) firmware: Option<&'a str>,
    pub(super) capacity_bytes: Option<u64>,
}

impl DriveFacts<'_> {
    /// The kind in words: `SSD 960, firmware XCV1`, `virtio disks of 100 GiB`; `None` where the
    /// facts do not tell the drive from others.
    pub(super) fn kind(&self) -> Option<String> {
        let capacity = self.capacity_bytes.map(Size);
        match (self.model, self.firmware) {
            (Some(model), firmware) if is_virtual_model(model) => {
                let firmware = firmware.map(|it| format!(", firmware {it}")).unwrap_or_default();
                Some(format!("{model}{firmware}, disks of {}", capacity?))
            }
            (Some(model), Some(firmware)) => Some(format!("{model}, firmware {firmware}")),
            (None, _) => {
                let name = self.name?;
                let (_, bus) = BUSES.iter().find(|(start, _)| name.starts_with(start))?;
                Some(format!("{bus} disks of {}", capacity?))
            }
            (Some(_), None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_virtual_disk_has_peers_of_its_size_and_another_drive_of_its_firmware() {
        let kind = |name, model, firmware, capacity_bytes| {
            DriveFacts { name, model, firmware, capacity_bytes }.kind()
        };
        let size = Some(100 << 30);
        let told = |text: &str| Some(text.to_owned());
        assert_eq!(kind(Some("vda"), None, None, size), told("virtio disks of 100 GiB"));
        assert_eq!(kind(Some("xvdb"), None, None, size), told("Xen disks of 100 GiB"));
        assert_eq!(kind(Some("vda"), None, None, None), None);
        assert_eq!(kind(Some("sda"), None, Some("1"), size), None);
        assert_eq!(kind(Some("sda"), Some("SSD"), Some("1"), size), told("SSD, firmware 1"));
        assert_eq!(kind(Some("sda"), Some("SSD"), None, size), None);
        let cloud = Some("Amazon Elastic Block Store");
        let told = told("Amazon Elastic Block Store, firmware 1.0, disks of 100 GiB");
        assert_eq!(kind(Some("nvme1n1"), cloud, Some("1.0"), size), told);
    }
}
