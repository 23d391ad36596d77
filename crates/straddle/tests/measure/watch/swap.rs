//! Pages that are swapped out.

use testkit::{need_loops, need_tools, scratch::text, tool};

use super::volume::{Device, Volume};
use super::watching::{Culprit, Watching, first_cause};
use super::writer::Writer;

/// Has its own pages swapped out again and again (MADV_PAGEOUT).
const SWAPPED: &str = "
length = 4 << 20
pages = mmap.mmap(-1, length, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
while goes_on():
    for at in range(0, length, 8192):
        pages[at] = 1
    pages.madvise(21)
";

/// Swap that is in use; off when dropped.
struct Swap(String);

impl Swap {
    fn on(path: &str) -> Swap {
        tool::run("mkswap", &[path]);
        tool::run("swapon", &[path]);
        Swap(path.to_owned())
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        let _ = tool::output("swapoff", &[&self.0]);
    }
}

#[test]
fn swap_on_a_shifted_partition_and_in_a_file_is_named() {
    need_loops!();
    need_tools!("sfdisk", "partx", "mkswap", "swapon", "mkfs.ext4", "python3");
    on_a_partition();
    in_a_file();
}

fn on_a_partition() {
    let device = Device::new(64 << 20);
    let partition = device.partition("dos", 2049);
    let _swap = Swap::on(text(&partition));
    let watching = Watching::start(device.node(), &[]);
    let _writer = Writer::named("swapped", SWAPPED, &[]);
    let layer = format!("swap on {}p1", device.name());
    let culprit = Culprit { process: "swapped", layer: &layer, region: "swap", file: None };
    let document = watching.shows(&culprit, 0.8);
    assert_eq!(first_cause(&document, "shifted")["offset_bytes"], 512);
}

fn in_a_file() {
    let volume = Volume::ext4(4096);
    let file = volume.path().join("swapfile");
    std::fs::write(&file, vec![0; 32 << 20]).expect("a file can be written");
    tool::run("chmod", &["600", text(&file)]);
    tool::run("sync", &["--file-system", text(&file)]);
    let _swap = Swap::on(text(&file));
    let watching = Watching::start(volume.node(), &["--on", "granule=16K"]);
    let _writer = Writer::named("swapped", SWAPPED, &[]);
    let layer = volume.layer("ext4");
    let culprit =
        Culprit { process: "swapped", layer: &layer, region: "swap", file: Some(text(&file)) };
    watching.shows(&culprit, 0.8);
}
