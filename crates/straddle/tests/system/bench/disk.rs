//! Block devices of the tests' own, with one thing or another on them.

use std::fs;
use std::path::{Path, PathBuf};

use device::{disk, pack};
use testkit::{Loop, Scratch, scratch::text, tool};

/// A loop device over a sparse image.
pub(crate) struct Disk {
    pub(crate) device: Loop,
    pub(crate) image: PathBuf,
    pub(crate) scratch: Scratch,
}

pub(crate) const DISK_BYTES: u64 = 80 << 20;

impl Disk {
    /// One of zeros.
    pub(crate) fn blank() -> Disk {
        let scratch = Scratch::new();
        let image = scratch.image("image", DISK_BYTES);
        Disk { device: Loop::attach(&image, 512), image, scratch }
    }

    /// One of zeros that were written, so that each has its place on a drive.
    pub(crate) fn solid() -> Disk {
        let disk = Disk::blank();
        let zeros = vec![0; 1 << 20];
        for at_bytes in (0..DISK_BYTES).step_by(zeros.len()) {
            disk.put(at_bytes, &zeros);
        }
        disk
    }

    /// One on which a tool put something: its words, before the node.
    pub(crate) fn made(words: &[&str]) -> Disk {
        let disk = Disk::blank();
        let arguments: Vec<&str> = words[1..].iter().copied().chain([disk.name()]).collect();
        tool::run(words[0], &arguments);
        disk
    }

    /// One that holds a head of `crates/format/tests/heads`.
    pub(crate) fn with_head(name: &str) -> Disk {
        let heads = Path::new(env!("CARGO_MANIFEST_DIR")).join("../format/tests/heads");
        let packed = fs::read(heads.join(format!("{name}.pack"))).expect("a head can be read");
        let whole = pack::unpack(&packed).expect("a head is a packed disk");
        let disk = Disk::blank();
        for range in pack::ranges(&packed).iter().filter(|range| range.end_bytes() <= DISK_BYTES) {
            let bytes = disk::read_vec(&whole, range.start_bytes(), range.length_bytes());
            disk.put(range.start_bytes(), &bytes.expect("a head holds it"));
        }
        disk
    }

    /// Writes bytes to the device.
    pub(crate) fn put(&self, at_bytes: u64, bytes: &[u8]) {
        use std::os::unix::fs::FileExt as _;

        let file = fs::File::options().write(true).open(self.name()).expect("it can be opened");
        file.write_all_at(bytes, at_bytes).expect("it can be written");
        file.sync_all().expect("it can be synced");
    }

    /// Its node.
    pub(crate) fn name(&self) -> &str {
        text(self.device.path())
    }

    /// Returns what identifies it: it has no serial, so that is its path with its length.
    pub(crate) fn confirmation(&self) -> String {
        confirmation(self.device.path())
    }

    /// A hash of all its bytes.
    pub(crate) fn hash(&self) -> String {
        tool::run("sha256sum", &[text(&self.image)])
    }
}

/// Returns what [`Disk::confirmation`] does, of any node.
pub(crate) fn confirmation(node: &Path) -> String {
    let bytes =
        tool::run("lsblk", &["--bytes", "--nodeps", "--noheadings", "-o", "SIZE", text(node)]);
    format!("{}={}", text(node), bytes.trim())
}

/// The labels of a ZFS pool's member. No tool that makes them is at hand. Source: "ZFS On-Disk
/// Specification", chapter 1.
pub(crate) fn zfs_label() -> Vec<u8> {
    let padded = |text: &str| {
        let mut bytes = [&length(text.len())[..], text.as_bytes()].concat();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    };
    let pair = |name: &str, kind: u32, value: &[u8]| {
        let body = [&padded(name), &kind.to_be_bytes()[..], &length(1), value].concat();
        [&length(body.len() + 8)[..], &length(body.len() + 8), &body].concat()
    };
    let number = |name, value: u64| pair(name, 8, &value.to_be_bytes());
    let pairs = [number("version", 5000), pair("name", 9, &padded("tank")), number("guid", 78)];
    [&[1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], &pairs.concat()[..], &[0; 8]].concat()
}

fn length(bytes: usize) -> [u8; 4] {
    u32::try_from(bytes).expect("a label is short").to_be_bytes()
}
