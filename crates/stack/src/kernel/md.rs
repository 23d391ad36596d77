//! A running md array as the kernel describes it in `/sys/block/mdX/md`.
//!
//! Source: Linux `Documentation/admin-guide/md.rst`; `drivers/md/md.c` (the units of `offset`,
//! `size` and `component_size`).

use device::KernelTree;
use format::member::md::MdVersion;

/// The most members that are read.
const MEMBERS_MAX: usize = 1920;

/// A running array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MdNode {
    /// The level as in a superblock: 0, 1, 4, 5, 6, 10, -1 for linear.
    pub level: i32,
    /// The format of its members' metadata.
    pub version: MdVersion,
    /// The layout word.
    pub layout: u32,
    /// The chunk in bytes; 0 where there is none.
    pub chunk_bytes: u64,
    /// Members, spares not counted.
    pub raid_disks: u32,
    /// True if a reshape is under way.
    pub reshaping: bool,
    /// Its members.
    pub members: Vec<MdPart>,
}

/// A member of a running array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MdPart {
    /// The kernel's name of the device: `sda1`.
    pub device: String,
    /// Its place; `None` for a spare.
    pub slot: Option<u32>,
    /// Place where its data begins, in bytes.
    pub data_offset_bytes: u64,
    /// Length of it that the array uses, in bytes.
    pub data_bytes: u64,
}

impl MdNode {
    /// The array that the kernel calls `name`; `None` where it does not say enough, as for one that
    /// is not running.
    #[must_use]
    pub fn read(tree: &dyn KernelTree, name: &str) -> Option<MdNode> {
        let base = format!("/sys/block/{name}/md");
        let text = |file: &str| tree.read(&format!("{base}/{file}")).ok();
        let level = level(&text("level")?)?;
        let number = |file: &str| -> Option<u64> { text(file)?.split(' ').next()?.parse().ok() };
        let names = tree.list(&base).ok()?;
        let parts = names.iter().filter_map(|file| Some((file, file.strip_prefix("dev-")?)));
        // `component_size` counts KiB; 0 where the array uses all of each member.
        let used = number("component_size").and_then(|kib| kib.checked_mul(1024));
        let used = used.filter(|&bytes| bytes > 0 && level > 0);
        let members = parts
            .filter_map(|(file, device)| part(tree, &format!("{base}/{file}"), device))
            .map(|part| MdPart {
                data_bytes: used.map_or(part.data_bytes, |it| it.min(part.data_bytes)),
                ..part
            })
            .take(MEMBERS_MAX)
            .collect();
        let reshaping = text("reshape_position").is_some_and(|place| place.trim() != "none");
        Some(MdNode {
            level,
            version: version(tree, &text("metadata_version").unwrap_or_default()),
            layout: number("layout").and_then(|layout| u32::try_from(layout).ok()).unwrap_or(0),
            chunk_bytes: number("chunk_size").unwrap_or(0),
            raid_disks: u32::try_from(number("raid_disks")?).ok()?,
            reshaping,
            members,
        })
    }
}

fn level(word: &str) -> Option<i32> {
    match word.trim() {
        "linear" => Some(-1),
        word => word.strip_prefix("raid")?.parse().ok(),
    }
}

/// Returns whether the device with this directory is a container of external metadata (IMSM, DDF):
/// it holds the members of arrays, and no data. An array in it says `external:/md127/0` instead, or
/// `external:-md127/0` while it is read-only.
#[must_use]
pub fn is_container(tree: &dyn KernelTree, directory: &str) -> bool {
    let word = tree.read(&format!("{directory}/md/metadata_version")).unwrap_or_default();
    external(&word).is_some_and(|of| !of.starts_with(['/', '-']))
}

fn external(word: &str) -> Option<&str> {
    word.trim().strip_prefix("external:")
}

fn version(tree: &dyn KernelTree, word: &str) -> MdVersion {
    match word.trim() {
        "0.90" => MdVersion::V090,
        "1.0" => MdVersion::V10,
        "1.1" => MdVersion::V11,
        "1.2" => MdVersion::V12,
        word => external(word).map_or(MdVersion::Other, |of| written_by_others(tree, of)),
    }
}

/// The metadata of an array, which names its container: `/md127/0`.
fn written_by_others(tree: &dyn KernelTree, of: &str) -> MdVersion {
    let container = of.trim_start_matches(['/', '-']).split('/').next().unwrap_or_default();
    let word = tree.read(&format!("/sys/block/{container}/md/metadata_version"));
    match external(&word.unwrap_or_default()) {
        Some("imsm") => MdVersion::Imsm,
        Some("ddf") => MdVersion::Ddf,
        _ => MdVersion::Other,
    }
}

fn part(tree: &dyn KernelTree, base: &str, device: &str) -> Option<MdPart> {
    let text = |file: &str| tree.read(&format!("{base}/{file}")).ok();
    let number = |file: &str| -> Option<u64> { text(file)?.trim().parse().ok() };
    Some(MdPart {
        // The kernel writes `!` for a slash, as in all of sysfs.
        device: device.to_owned(),
        slot: text("slot")?.trim().parse().ok(),
        data_offset_bytes: number("offset")?.checked_mul(512)?,
        // `size` counts KiB.
        data_bytes: number("size")?.checked_mul(1024)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::MemoryTree;

    #[test]
    fn a_running_array_names_its_members_with_their_offsets() {
        let files = [
            ("level", "raid5"),
            ("layout", "2"),
            ("chunk_size", "65536"),
            ("component_size", "100000"),
            ("raid_disks", "3"),
            ("reshape_position", "none"),
            ("dev-sda1/slot", "0"),
            ("dev-sda1/offset", "2048"),
            ("dev-sda1/size", "128000"),
            ("dev-sdb1/slot", "none"),
            ("dev-sdb1/offset", "4096"),
            ("dev-sdb1/size", "128000"),
        ];
        let tree = files.iter().fold(MemoryTree::new(), |tree, (file, text)| {
            tree.with_file(&format!("/sys/block/md0/md/{file}"), text)
        });
        let array = MdNode::read(&tree, "md0").unwrap();
        assert_eq!((array.level, array.layout, array.chunk_bytes), (5, 2, 65536));
        assert_eq!(array.members[0].data_offset_bytes, 1 << 20);
        assert_eq!(array.members[0].data_bytes, 100_000 << 10, "the rest is not used");
        assert_eq!(array.members[1].slot, None);
        assert!(!array.reshaping);
    }

    #[test]
    fn an_array_that_does_not_run_is_none() {
        let tree = MemoryTree::new().with_file("/sys/block/md0/md/array_state", "clear");
        assert_eq!(MdNode::read(&tree, "md0"), None);
    }
}
