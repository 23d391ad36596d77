//! Findings as values to type into each tool.

use serde::{Deserialize, Serialize};

use super::{Answers, KernelVersion};

/// One tool and what to type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// The tool.
    pub tool: String,
    /// Text to type or write.
    pub value: String,
    /// Notes about it.
    pub note: Option<String>,
}

/// The largest ashift (OpenZFS, zpoolprops(7)).
const ASHIFT_MAX: u32 = 16;
/// A page of memory on most machines: file systems with larger blocks do not mount on older
/// kernels.
const PAGE_BYTES: u64 = 4096;
/// The largest block of XFS and of ext4 (mkfs.xfs(8), ext4(5)).
const BLOCK_BYTES_MAX: u64 = 64 << 10;
/// The largest sector of XFS (mkfs.xfs(8)).
const XFS_SECTOR_BYTES_MAX: u64 = 32 << 10;
/// The first kernel that mounts XFS with blocks larger than a page.
///
/// Source: <https://lwn.net/Articles/1009548/>.
const XFS_LARGE_BLOCKS: KernelVersion = KernelVersion { major: 6, minor: 12 };
/// The first kernel that mounts ext4 with blocks larger than a page.
///
/// Source: the series "ext4: enable block size larger than page size", merged for Linux 6.19.
const EXT4_LARGE_BLOCKS: KernelVersion = KernelVersion { major: 6, minor: 19 };
/// The most that `effective_io_concurrency` may be (PostgreSQL, "Resource Consumption").
const CONCURRENCY_MAX: u64 = 1000;
/// Sectors that mount options of XFS count (xfs(5)).
const MOUNT_SECTOR_BYTES: u64 = 512;

/// The machine on which the tools run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolHost {
    /// Its kernel; `None` where that is not known.
    pub kernel: Option<KernelVersion>,
    /// The physical sector that the kernel reports of the drive, in bytes: no more than what the
    /// drive writes untorn.
    pub physical_sector_bytes: Option<u64>,
}

/// Returns what to type into tools on `host`; nothing for what was not found.
#[must_use]
pub fn tools(answers: &Answers, host: &ToolHost) -> Vec<Tool> {
    let mut tools = Vec::new();
    if let Some(found) = answers.alignment.value {
        let size = answers.size.value.map_or(found.bytes, |size| size.bytes);
        let only = answers.size.value.is_none();
        let note = only.then(|| "from the alignment alone: the size was not found".to_owned());
        granule(&mut tools, size.max(found.bytes), host, note.as_deref());
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
    if let Some(reads) = reads_at_once(answers) {
        depth(&mut tools, reads);
    }
    tools
}

/// Returns how many reads all of it has at once.
fn reads_at_once(answers: &Answers) -> Option<u64> {
    let found = answers.depth.value?;
    let members = if found.is_of_member { answers.members.value?.count } else { 1 };
    Some(found.reads.saturating_mul(members))
}

fn granule(tools: &mut Vec<Tool>, bytes: u64, host: &ToolHost, note: Option<&str>) {
    let shift = bytes.max(512).ilog2();
    let most = (shift > ASHIFT_MAX).then_some("more than ashift can say");
    let ashift = format!("-o ashift={}", shift.min(ASHIFT_MAX));
    put(tools, "zpool create", ashift, most.or(note));
    if bytes > PAGE_BYTES {
        large_blocks(tools, bytes, host);
    } else {
        put(tools, "mkfs.ext4", format!("-b {PAGE_BYTES}"), note);
        put(tools, "mkfs.xfs", format!("-s size={}", bytes.max(512)), note);
    }
    let least = bytes.max(PAGE_BYTES);
    put(tools, "ceph", format!("bluestore_min_alloc_size = {least}"), note);
    let seastar = "what differs from the kernel, in releases that read it";
    put(tools, "seastar io_properties", format!("physical_block_size: {bytes}"), Some(seastar));
}

/// File systems whose blocks are whole granules above a page, as far as the kernel mounts those.
fn large_blocks(tools: &mut Vec<Tool>, granule: u64, host: &ToolHost) {
    let block = granule.checked_next_power_of_two().unwrap_or(granule).min(BLOCK_BYTES_MAX);
    let short = match granule > BLOCK_BYTES_MAX {
        true => format!("; {block} is the largest block, and less than the granule"),
        false => String::new(),
    };
    let this = match host.kernel {
        Some(kernel) => format!("this kernel ({kernel})"),
        None => "a kernel of unknown version".to_owned(),
    };
    let mounts = |first| host.kernel.is_some_and(|kernel| kernel >= first);
    if mounts(EXT4_LARGE_BLOCKS) {
        let note = format!("Linux before {EXT4_LARGE_BLOCKS} cannot mount it{short}");
        put(tools, "mkfs.ext4", format!("-b {block}"), Some(&note));
    } else {
        let note = format!(
            "{this} may not mount larger blocks: this allocates data in granules, metadata in \
             blocks of {PAGE_BYTES}; from Linux {EXT4_LARGE_BLOCKS}: -b {block}{short}"
        );
        let value = format!("-b {PAGE_BYTES} -O bigalloc -C {}", granule.next_power_of_two());
        put(tools, "mkfs.ext4", value, Some(&note));
    }
    let is_untorn = block <= XFS_SECTOR_BYTES_MAX && host.physical_sector_bytes == Some(block);
    if mounts(XFS_LARGE_BLOCKS) && is_untorn {
        let note = format!("Linux before {XFS_LARGE_BLOCKS} cannot mount it{short}");
        put(tools, "mkfs.xfs", format!("-b size={block} -s size={block}"), Some(&note));
    } else if mounts(XFS_LARGE_BLOCKS) {
        let note = format!(
            "Linux before {XFS_LARGE_BLOCKS} cannot mount it; metadata stays in sectors of \
             {PAGE_BYTES}, since the drive does not report untorn writes of {block}{short}"
        );
        put(tools, "mkfs.xfs", format!("-b size={block} -s size={PAGE_BYTES}"), Some(&note));
    } else {
        let note = format!(
            "{this} may not mount larger blocks: this allocates data in granules where files are \
             long; from Linux {XFS_LARGE_BLOCKS}: -b size={block}{short}"
        );
        let kib = block.div_euclid(1024);
        put(tools, "mkfs.xfs", format!("-s size={PAGE_BYTES} -d su={kib}k,sw=1"), Some(&note));
    }
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

/// More than `reads` in flight wait before the drive, and are served no sooner.
fn depth(tools: &mut Vec<Tool>, reads: u64) {
    let note = "more in flight only wait: they lengthen each read and speed up none";
    put(tools, "fio", format!("--iodepth={reads}"), Some(note));
    let value = format!("effective_io_concurrency = {}", reads.min(CONCURRENCY_MAX));
    put(tools, "postgresql", value, Some(note));
}

fn put(tools: &mut Vec<Tool>, tool: &str, value: String, note: Option<&str>) {
    tools.push(Tool { tool: tool.to_owned(), value, note: note.map(str::to_owned) });
}

#[cfg(test)]
mod tests {
    use super::super::{FoundAlignment, FoundBytes, FoundCount, FoundDepth, ProbeAnswer};
    use super::*;

    fn found<T>(value: T) -> ProbeAnswer<T> {
        ProbeAnswer {
            value: Some(value),
            alpha: Some(0.01),
            said_by: Some("a test".to_owned()),
            why: None,
            reason: None,
        }
    }

    fn values(answers: &Answers) -> Vec<String> {
        values_on(answers, &ToolHost::default())
    }

    fn values_on(answers: &Answers, host: &ToolHost) -> Vec<String> {
        tools(answers, host)
            .into_iter()
            .map(|tool| format!("{} {}", tool.tool, tool.value))
            .collect()
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
                "mkfs.ext4 -b 4096 -O bigalloc -C 16384",
                "mkfs.xfs -s size=4096 -d su=16k,sw=1",
                "ceph bluestore_min_alloc_size = 16384",
                "seastar io_properties physical_block_size: 16384",
            ]
        );
    }

    #[test]
    fn blocks_above_a_page_follow_the_kernel_and_sectors_what_is_untorn() {
        let mut answers = Answers::not_tried("a test");
        answers.alignment = found(FoundAlignment { bytes: 16384, origin_bytes: 0 });
        for (release, physical, ext4, xfs) in [
            ("6.11.2", 4096, "-b 4096 -O bigalloc -C 16384", "-s size=4096 -d su=16k,sw=1"),
            ("6.12.1", 4096, "-b 4096 -O bigalloc -C 16384", "-b size=16384 -s size=4096"),
            ("6.18.0", 16384, "-b 4096 -O bigalloc -C 16384", "-b size=16384 -s size=16384"),
            ("6.19.0", 512, "-b 16384", "-b size=16384 -s size=4096"),
        ] {
            let kernel = KernelVersion::of_release(release);
            let host = ToolHost { kernel, physical_sector_bytes: Some(physical) };
            let said = values_on(&answers, &host);
            let wanted = [format!("mkfs.ext4 {ext4}"), format!("mkfs.xfs {xfs}")];
            assert_eq!(said[1..3], wanted, "{release}");
        }
    }

    #[test]
    fn a_granule_above_every_block_says_so() {
        let mut answers = Answers::not_tried("a test");
        answers.alignment = found(FoundAlignment { bytes: 128 << 10, origin_bytes: 0 });
        let kernel = KernelVersion::of_release("7.0");
        let found = tools(&answers, &ToolHost { kernel, physical_sector_bytes: None });
        let xfs = found.iter().find(|tool| tool.tool == "mkfs.xfs").unwrap();
        assert_eq!(xfs.value, "-b size=65536 -s size=4096");
        assert!(xfs.note.as_ref().unwrap().ends_with("less than the granule"));
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

    #[test]
    fn a_depth_of_each_member_is_told_for_all_of_them() {
        let mut answers = Answers::not_tried("a test");
        answers.depth = found(FoundDepth { reads: 32, is_of_member: false });
        assert_eq!(
            values(&answers),
            ["fio --iodepth=32", "postgresql effective_io_concurrency = 32"]
        );
        answers.depth = found(FoundDepth { reads: 32, is_of_member: true });
        assert_eq!(values(&answers), Vec::<String>::new(), "of how many members is not known");
        answers.members = found(FoundCount { count: 4 });
        assert_eq!(values(&answers)[0], "fio --iodepth=128");
    }
}
