//! What was found, as the value to type into each tool.

use serde::{Deserialize, Serialize};

use super::Answers;

/// One tool and what to type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// The tool.
    pub tool: String,
    /// What to type or write.
    pub value: String,
    /// What should be known about it.
    pub note: Option<String>,
}

/// The largest ashift (OpenZFS, zpoolprops(7)).
const ASHIFT_MAX: u32 = 16;
/// A page of memory on most machines: blocks and sectors of file systems above it do not mount on
/// older kernels.
const PAGE_BYTES: u64 = 4096;
/// Sectors that mount options of XFS count (xfs(5)).
const MOUNT_SECTOR_BYTES: u64 = 512;

/// What to type into tools; nothing for what was not found.
#[must_use]
pub fn tools(answers: &Answers) -> Vec<Tool> {
    let mut tools = Vec::new();
    if let Some(found) = answers.alignment.value {
        let size = answers.size.value.map_or(found.bytes, |size| size.bytes);
        let only = answers.size.value.is_none();
        let note = only.then(|| "from the alignment alone: the size was not found".to_owned());
        granule(&mut tools, size.max(found.bytes), note.as_deref());
        if found.origin_bytes > 0 {
            let (bytes, origin) = (found.bytes, found.origin_bytes);
            let note = "or every layer above is misaligned, whatever its own sizes are";
            let start = format!("start partitions at multiples of {bytes} plus {origin} bytes");
            put(&mut tools, "parted", start, Some(note));
        }
    }
    if let (Some(chunk), Some(members)) = (answers.chunk.value, answers.members.value) {
        stripe(&mut tools, chunk.bytes, members.count);
    }
    tools
}

fn granule(tools: &mut Vec<Tool>, bytes: u64, note: Option<&str>) {
    let shift = bytes.max(512).ilog2();
    let most = (shift > ASHIFT_MAX).then_some("more than ashift can say");
    let ashift = format!("-o ashift={}", shift.min(ASHIFT_MAX));
    put(tools, "zpool create", ashift, most.or(note));
    let above = (bytes > PAGE_BYTES).then_some("the granule is larger than a page, which is most");
    put(tools, "mkfs.ext4", format!("-b {PAGE_BYTES}"), above.or(note));
    let sector = bytes.clamp(512, PAGE_BYTES);
    put(tools, "mkfs.xfs", format!("-s size={sector}"), above.or(note));
    let least = bytes.max(PAGE_BYTES);
    put(tools, "ceph", format!("bluestore_min_alloc_size = {least}"), note);
    let seastar = "what differs from the kernel, in releases that read it";
    put(tools, "seastar io_properties", format!("physical_block_size: {bytes}"), Some(seastar));
}

fn stripe(tools: &mut Vec<Tool>, chunk: u64, members: u64) {
    let parity = "counts all members that reads go round; with parity, take its disks off";
    let (stride, chunk_kib) = (chunk.div_euclid(PAGE_BYTES), chunk.div_euclid(1024));
    let width = stride.saturating_mul(members);
    let ext4 = format!("-b {PAGE_BYTES} -E stride={stride},stripe_width={width}");
    put(tools, "mkfs.ext4", ext4, Some(parity));
    put(tools, "mkfs.xfs", format!("-d su={chunk_kib}k,sw={members}"), Some(parity));
    let unit = chunk.div_euclid(MOUNT_SECTOR_BYTES);
    let mount = format!("-o sunit={unit},swidth={}", unit.saturating_mul(members));
    put(tools, "mount (xfs)", mount, Some("in sectors of 512 bytes"));
}

fn put(tools: &mut Vec<Tool>, tool: &str, value: String, note: Option<&str>) {
    tools.push(Tool { tool: tool.to_owned(), value, note: note.map(str::to_owned) });
}

#[cfg(test)]
mod tests {
    use super::super::{Answer, FoundAlignment, FoundBytes, FoundCount};
    use super::*;

    fn found<T>(value: T) -> Answer<T> {
        Answer {
            value: Some(value),
            alpha: Some(0.01),
            said_by: Some("a test".to_owned()),
            why: None,
            reason: None,
        }
    }

    fn values(answers: &Answers) -> Vec<String> {
        tools(answers).into_iter().map(|tool| format!("{} {}", tool.tool, tool.value)).collect()
    }

    #[test]
    fn each_tool_gets_the_size_in_its_own_words() {
        let mut answers = Answers::not_tried("a test");
        answers.alignment = found(FoundAlignment { bytes: 4096, origin_bytes: 0 });
        answers.size = found(FoundBytes { bytes: 16384 });
        assert_eq!(
            values(&answers),
            [
                "zpool create -o ashift=14",
                "mkfs.ext4 -b 4096",
                "mkfs.xfs -s size=4096",
                "ceph bluestore_min_alloc_size = 16384",
                "seastar io_properties physical_block_size: 16384",
            ]
        );
    }

    #[test]
    fn a_stripe_is_told_in_blocks_kibibytes_and_sectors() {
        let mut answers = Answers::not_tried("a test");
        answers.chunk = found(FoundBytes { bytes: 65536 });
        answers.members = found(FoundCount { count: 3 });
        assert_eq!(
            values(&answers),
            [
                "mkfs.ext4 -b 4096 -E stride=16,stripe_width=48",
                "mkfs.xfs -d su=64k,sw=3",
                "mount (xfs) -o sunit=128,swidth=384",
            ]
        );
        assert_eq!(values(&Answers::not_tried("a test")), Vec::<String>::new());
    }
}
