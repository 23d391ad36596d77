//! Pages that are swapped out.

use testkit::{Swap, need_loops, need_tools, scratch::text, tool};

use super::volume::{Device, Volume};
use super::watching::{Culprit, Watching};
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
    let _swap = Swap::on(&partition).expect("the kernel swaps to it");
    let watching = Watching::start(device.node(), &[]);
    let _writer = Writer::named("swapped", SWAPPED, &[]);
    let layer = format!("swap on {}p1", device.name());
    let culprit = Culprit { process: "swapped", layer: &layer, region: "swap", file: None };
    let cause = watching.shows_cause(&culprit, 0.8, "shifted");
    assert_eq!(cause["offset_bytes"], 512);
}

fn in_a_file() {
    let volume = Volume::ext4(4096);
    let file = volume.path().join("swapfile");
    std::fs::write(&file, vec![0; 32 << 20]).expect("a file can be written");
    tool::run("chmod", &["600", text(&file)]);
    tool::run("sync", &["--file-system", text(&file)]);
    let _swap = Swap::on(&file).expect("the kernel swaps to it");
    let watching = Watching::start(volume.node(), &["--on", "granule=16K"]);
    let _writer = Writer::named("swapped", SWAPPED, &[]);
    let layer = volume.layer("ext4");
    let culprit =
        Culprit { process: "swapped", layer: &layer, region: "swap", file: Some(text(&file)) };
    watching.shows(&culprit, 0.8);
}
