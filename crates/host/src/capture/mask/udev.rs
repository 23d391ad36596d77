//! Records of udev about a block device: lines `E:KEY=VALUE`, and links and times, which are left
//! out.

use super::replacements::Secrets;

const IDENTIFIERS: [&str; 15] = [
    "DM_UUID",
    "ID_FS_UUID",
    "ID_FS_UUID_ENC",
    "ID_FS_UUID_SUB",
    "ID_NVME_SERIAL",
    "ID_PART_ENTRY_UUID",
    "ID_PART_TABLE_UUID",
    "ID_SCSI_SERIAL",
    "ID_SERIAL",
    "ID_SERIAL_SHORT",
    "ID_WWN",
    "ID_WWN_VENDOR_EXTENSION",
    "ID_WWN_WITH_EXTENSION",
    "MD_UUID",
    "DM_SERIAL",
];

/// Keys whose values say how a disk is made and used.
const KEPT: [&str; 36] = [
    "DM_NAME",
    "DM_SUSPENDED",
    "DM_UDEV_DISABLE_OTHER_RULES_FLAG",
    "ID_ATA",
    "ID_ATA_ROTATION_RATE_RPM",
    "ID_ATA_SATA",
    "ID_ATA_SATA_SIGNAL_RATE_GEN1",
    "ID_ATA_SATA_SIGNAL_RATE_GEN2",
    "ID_ATA_WRITE_CACHE",
    "ID_ATA_WRITE_CACHE_ENABLED",
    "ID_BUS",
    "ID_FS_BLOCKSIZE",
    "ID_FS_LASTBLOCK",
    "ID_FS_SIZE",
    "ID_FS_TYPE",
    "ID_FS_USAGE",
    "ID_FS_VERSION",
    "ID_MODEL",
    "ID_PART_ENTRY_DISK",
    "ID_PART_ENTRY_FLAGS",
    "ID_PART_ENTRY_NUMBER",
    "ID_PART_ENTRY_OFFSET",
    "ID_PART_ENTRY_SCHEME",
    "ID_PART_ENTRY_SIZE",
    "ID_PART_ENTRY_TYPE",
    "ID_PART_TABLE_TYPE",
    "ID_REVISION",
    "ID_SCSI",
    "ID_TYPE",
    "ID_USB_DRIVER",
    "ID_USB_MODEL",
    "ID_USB_REVISION",
    "ID_VENDOR",
    "MD_DEVICES",
    "MD_LEVEL",
    "MD_METADATA",
];

fn entries(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| line.strip_prefix("E:")?.split_once('='))
}

/// Takes note of the identifiers.
pub(super) fn learn(secrets: &mut Secrets, text: &str) {
    for (key, value) in entries(text) {
        match key {
            "DM_UUID" => secrets.learn_parts(value),
            key if IDENTIFIERS.contains(&key) => secrets.learn(value),
            _ => {}
        }
    }
}

/// The lines whose keys are known to be harmless, and those of identifiers, masked.
pub(super) fn masked(secrets: &mut Secrets, text: &str) -> String {
    let mut out = String::new();
    for (key, value) in entries(text) {
        let value = match key {
            // The types of GPT's partitions are the same everywhere.
            "ID_PART_ENTRY_TYPE" => value.to_owned(),
            "DM_UUID" => secrets.in_text(value),
            key if IDENTIFIERS.contains(&key) => secrets.whole(value),
            key if KEPT.contains(&key) => secrets.in_text(value),
            _ => continue,
        };
        out.push_str("E:");
        out.push_str(key);
        out.push('=');
        out.push_str(&value);
        out.push('\n');
    }
    out
}
