//! Writes that a drive promises to keep whole when power fails.
//!
//! Sources: NVM Express Command Set Specification 1.1, "Atomic Operation"; Linux
//! `Documentation/ABI/stable/sysfs-block`, `drivers/nvme/host/core.c`
//! (`nvme_configure_atomic_write`: the kernel's limits follow from the namespace's, and a plain
//! write is the same command); `drivers/scsi/sd.c` (an atomic write is another command than a plain
//! one); Linux `block/blk-merge.c` (merging and splitting).

use stack::drive::{CloudDisk, KernelDrive};
use units::Known;
use units::prefix::Exact;

use super::page_layer::PageFate;
use super::volume::crosses;

const AMAZON: &str = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/storage-twp.html";
const AZURE: &str =
    "https://learn.microsoft.com/en-us/azure/virtual-machines/disks-torn-write-prevention";
const NVME: &str = "https://nvmexpress.org/specifications/ (NVM Command Set, Atomic Operation)";

/// Rule of a drive for writes that it never tears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Promise {
    /// Origin of the rule, in a few words.
    pub(super) by: &'static str,
    /// Document of the rule.
    pub(super) source: &'static str,
    /// The longest such write in bytes.
    pub(super) longest_bytes: u64,
    /// The shortest such write in bytes.
    shortest_bytes: u64,
    /// Such a write is a multiple of this long, in bytes.
    step_bytes: u64,
    /// True if such a write must start at a multiple of its length.
    is_natural: bool,
    /// Boundaries that it must not cross: their distance and the first, in bytes.
    boundaries: Vec<(u64, u64)>,
    /// True if the provider says that merging of neighboring pages does no harm.
    pub(super) allows_merges: bool,
}

/// A rule, or why there is none.
pub(super) type Claim = Result<Promise, (PageFate, String)>;

impl Promise {
    /// Returns whether each page is kept whole that starts `shift` past a multiple of a page.
    pub(super) fn keeps(&self, page: u64, shift: u64) -> bool {
        (self.shortest_bytes..=self.longest_bytes).contains(&page)
            && page.is_multiple_of(self.step_bytes)
            && (!self.is_natural || shift.is_multiple_of(page))
            && !self.boundaries.iter().any(|&(every, from)| crosses(page, shift, every, from))
    }

    /// Returns whether every write of at most `bytes` is kept whole, wherever it starts.
    pub(super) fn keeps_all(&self, bytes: u64) -> bool {
        bytes <= self.longest_bytes
            && self.shortest_bytes <= 1
            && self.step_bytes <= 1
            && !self.is_natural
            && self.boundaries.is_empty()
    }
}

/// Rules of `drive` under a kernel of this version, for pages of `page` bytes.
pub(super) fn claims(drive: &KernelDrive, page: u64, kernel: Option<(u32, u32)>) -> Vec<Claim> {
    let model = drive.identity.full_model.as_ref().or(drive.model.as_ref());
    let cloud = model.and_then(|model| CloudDisk::of(&model.to_string()));
    let own = match drive.name.starts_with("nvme") {
        true => of_nvme(drive, page),
        false => Err(of_others(drive)),
    };
    let cloud = match cloud {
        Some(CloudDisk::Amazon) => Some(of_amazon(drive)),
        Some(CloudDisk::Azure) => Some(of_azure(kernel)),
        None => None,
    };
    cloud.into_iter().chain([own]).collect()
}

fn unknown(reason: impl Into<String>) -> (PageFate, String) {
    (PageFate::Unknown, reason.into())
}

fn of_amazon(drive: &KernelDrive) -> Claim {
    let said = match &drive.said.namespace {
        Known::Yes(fact) => &fact.value,
        Known::No(reason) => return Err(unknown(format!("its NTWPU was not read: {reason}"))),
    };
    if let Some(problem) = drive.said.problems.first() {
        return Err(unknown(format!("its answer cannot be right: {problem}")));
    }
    let Some(fields) = said.amazon else { return Err(unknown("its LBA format is not known")) };
    Ok(Promise {
        by: "Amazon's NTWPU",
        source: AMAZON,
        longest_bytes: fields.unit_bytes,
        shortest_bytes: fields.granularity_bytes,
        step_bytes: fields.granularity_bytes,
        is_natural: true,
        boundaries: fields.boundary_bytes.map(|every| (every, 0)).into_iter().collect(),
        allows_merges: true,
    })
}

fn of_azure(kernel: Option<(u32, u32)>) -> Claim {
    match kernel {
        Some(version) if version >= (6, 13) => Ok(Promise {
            by: "a promise of the provider, Azure, that the disk itself does not report",
            source: AZURE,
            longest_bytes: 16384,
            shortest_bytes: 8192,
            step_bytes: 8192,
            is_natural: true,
            boundaries: Vec::new(),
            allows_merges: false,
        }),
        Some(_) => {
            let reason = "Azure promises whole pages for Linux 6.13 or later only";
            Err((PageFate::Torn, reason.to_owned()))
        }
        None => {
            Err(unknown("Azure's promise needs Linux 6.13; this kernel's version is not known"))
        }
    }
}

/// The kernel's limit for `drive` and the paths to it, in bytes; `None` where the kernel tells
/// none.
fn kernel_bytes(drive: &KernelDrive) -> Option<u64> {
    let paths = drive.paths.iter().map(|path| &path.atomic_bytes);
    let told = paths.chain([&drive.atomic_bytes]).filter_map(|known| known.value().copied());
    told.min()
}

fn of_nvme(drive: &KernelDrive, page: u64) -> Claim {
    let kernel = kernel_bytes(drive);
    let limits = &drive.queue.atomic;
    let boundary = limits.boundary_bytes.value().copied().unwrap_or(0);
    if boundary > 0 && !boundary.is_power_of_two() {
        return Err(unknown(format!("the kernel's atomic_write_boundary_bytes is {boundary}")));
    }
    let mut boundaries = Vec::new();
    boundaries.extend((boundary > 0).then_some((boundary, 0)));
    let Some(said) = drive.said.namespace.value() else {
        let longest_bytes = kernel.ok_or_else(|| {
            let reason = drive.said.namespace.reason().unwrap_or_default();
            unknown(format!("its NAWUPF was not read: {reason}"))
        })?;
        let shortest = limits.unit_min_bytes.value();
        return Ok(Promise {
            by: "the kernel's atomic_write_unit_max_bytes",
            source: NVME,
            longest_bytes,
            shortest_bytes: *shortest.ok_or_else(|| unknown("its shortest write is not known"))?,
            step_bytes: 1,
            is_natural: true,
            boundaries,
            allows_merges: false,
        });
    };
    if let Some(problem) = drive.said.problems.first() {
        return Err(unknown(format!("its answer cannot be right: {problem}")));
    }
    if said.format.is_none() {
        return Err(unknown("its LBA format is not known"));
    }
    // AWUPF does not say in which format its blocks count: the smallest is the least.
    let smallest = said.formats.iter().map(|format| format.data_bytes).min().unwrap_or(0);
    let controller = drive.said.controller.value();
    let all = controller.map(|said| u64::from(said.atomic_power_fail_blocks) * smallest);
    let longest = said.atomic.power_fail_bytes.or(all);
    let longest_bytes = longest.ok_or_else(|| unknown("neither NAWUPF nor AWUPF is known"))?;
    if let Some(kernel) = kernel.filter(|&kernel| kernel < page && longest_bytes >= page) {
        let (own, kernel) = (Exact(longest_bytes), Exact(kernel));
        return Err(unknown(format!(
            "the drive reports that {own} are never torn, the kernel {kernel}"
        )));
    }
    let own = said.atomic.boundary_power_fail_bytes;
    boundaries.extend(own.map(|every| (every, said.atomic.boundary_offset_bytes)));
    Ok(Promise {
        by: "NAWUPF or AWUPF",
        source: NVME,
        longest_bytes,
        shortest_bytes: 1,
        step_bytes: 1,
        is_natural: false,
        boundaries,
        allows_merges: false,
    })
}

/// Why a drive that is not NVMe promises nothing for plain writes.
fn of_others(drive: &KernelDrive) -> (PageFate, String) {
    match &drive.atomic_bytes {
        Known::Yes(fact) if fact.value == 0 => {
            (PageFate::Torn, "the kernel reports no atomic writes".to_owned())
        }
        Known::Yes(fact) => {
            let most = Exact(fact.value);
            let text = "keeps writes whole only with RWF_ATOMIC, which the engine does not request";
            (PageFate::Torn, format!("{text} (up to {most})"))
        }
        Known::No(reason) => unknown(format!("does not promise whole writes: {reason}")),
    }
}

#[cfg(test)]
mod tests {
    use device::MemoryTree;

    use super::*;

    #[test]
    fn the_kernels_limit_is_that_of_the_path_with_the_least() {
        let file = |name: &str| format!("/sys/block/{name}/queue/atomic_write_unit_max_bytes");
        let tree = MemoryTree::new()
            .with_file(&file("nvme0n1"), "16384")
            .with_file(&file("nvme0c0n1"), "4096")
            .with_file(&file("nvme0c1n1"), "8192");
        assert_eq!(kernel_bytes(&KernelDrive::read(&tree, "nvme0n1")), Some(4096));
    }
}
