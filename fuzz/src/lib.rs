//! Code that the fuzz targets share. Each target runs one parser of `format::hostile`, or the whole
//! stack, on a packed disk, or reads a captured tree, a job file, a profile, what was kept of a
//! probe, a request file or a trace.

use testkit::memory::{self, Counting};

#[global_allocator]
static COUNTING: Counting = Counting;

/// The most memory that may be held at once, beside the disk itself, in bytes.
const MEMORY_BYTES_MAX: usize = 64 << 20;

/// Runs the parser called `name` on the disk that `packed` holds.
///
/// # Panics
/// When the parser does, or when it takes more than 64 MiB.
pub fn run(name: &str, packed: &[u8]) {
    watched(packed, || format::hostile::run(name, packed));
}

/// Reads the file that `packed` holds as a program or library.
///
/// # Panics
/// When the reader does, or when it takes more than 64 MiB.
pub fn elf(packed: &[u8]) {
    unpacked(packed, durability::hostile::elf);
}

/// Runs the seccomp filter that `packed` holds.
///
/// # Panics
/// When an answer breaks a promise, or takes more than 64 MiB.
pub fn seccomp(packed: &[u8]) {
    unpacked(packed, durability::hostile::seccomp);
}

fn unpacked(packed: &[u8], call: fn(&dyn device::Disk)) {
    if let Some(disk) = device::pack::unpack(packed) {
        watched(packed, || call(&disk));
    }
}

/// Asks the whole stack about the disk that `packed` holds.
///
/// # Panics
/// When anything asked does, or when that takes more than 64 MiB.
pub fn stack(packed: &[u8]) {
    watched(packed, || stack::hostile::run(packed));
}

/// Reads a captured tree from `text` and asks it for everything.
///
/// # Panics
/// When anything asked does, or when that takes more than 64 MiB.
pub fn manifest(text: &[u8]) {
    watched(text, || device::captured_tree::hostile(text));
}

/// Reads `text` as a job file.
///
/// # Panics
/// When the reader does, or when it takes more than 64 MiB.
pub fn job(text: &[u8]) {
    watched(text, || workload::hostile::job(text));
}

/// Reads `text` as an engine's profile.
///
/// # Panics
/// When the reader does, or when it takes more than 64 MiB.
pub fn profile(text: &[u8]) {
    watched(text, || workload::hostile::profile(text));
}

/// Reads `text` as what was kept of a probe.
///
/// # Panics
/// When the reader does, or when it takes more than 64 MiB.
pub fn measured(text: &[u8]) {
    watched(text, || report::hostile::measured(text));
}

/// Reads `records` as a file of requests.
///
/// # Panics
/// When the reader does, or when it takes more than 64 MiB.
pub fn raidtest(records: &[u8]) {
    watched(records, || workload::hostile::raidtest(records));
}

/// Reads `text` as an iolog.
///
/// # Panics
/// When the reader does, or when it takes more than 64 MiB.
pub fn iolog(text: &[u8]) {
    watched(text, || workload::hostile::iolog(text));
}

/// Reads `text` as what blkparse prints.
///
/// # Panics
/// When the reader does, or when it takes more than 64 MiB.
pub fn blkparse(text: &[u8]) {
    watched(text, || workload::hostile::blkparse(text));
}

/// Reads `records` as what blktrace writes.
///
/// # Panics
/// When the reader does, or when it takes more than 64 MiB.
pub fn blktrace(records: &[u8]) {
    watched(records, || workload::hostile::blktrace(records));
}

fn watched(packed: &[u8], code: impl FnOnce()) {
    let ((), peak_bytes) = memory::peak_of(code);
    // The unpacked disk counts too; a page of it takes at most 8 times the sector that it holds.
    let disk_bytes = packed.len().saturating_mul(9);
    let bytes = peak_bytes.saturating_sub(disk_bytes);
    assert!(bytes <= MEMORY_BYTES_MAX, "it took {bytes} bytes of memory");
}

/// Panics on an input that only a fuzzer that watches comparisons and branches finds soon.
///
/// # Panics
/// On that input.
pub fn canary(bytes: &[u8]) {
    let Some((magic, rest)) = bytes.split_first_chunk::<4>() else { return };
    if u32::from_le_bytes(*magic) == 0x5ad1_0fe5 && rest.first() == Some(&b'!') {
        panic!("the canary sings");
    }
}
