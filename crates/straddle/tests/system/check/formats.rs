//! One guest in every image format: what the format decides, and what the content decides.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use testkit::{Scratch, need_tools, tool};

use super::run::{NO_VERDICT, check, partitioned, place, text};

const MIB: u64 = 1 << 20;

/// A format of QEMU, its options, the exit status of a check, and the verdict on a partition at
/// 1 MiB that is not allocated.
const FORMATS: [(&str, &str, i32, &str); 12] = [
    ("raw", "", 0, "aligned"),
    ("qcow2", "", 0, "aligned"),
    ("qcow2", "cluster_size=4K", 0, "aligned"),
    ("vhdx", "", 0, "aligned"),
    ("vpc", "subformat=fixed,force_size=on", 0, "aligned"),
    ("vmdk", "subformat=monolithicSparse", 0, "aligned"),
    ("vmdk", "subformat=twoGbMaxExtentSparse", 0, "aligned"),
    // Whatever is written is compressed.
    ("vmdk", "subformat=streamOptimized", 0, "not-expressible"),
    // Clusters go to the next free 512 bytes.
    ("qcow2", "cluster_size=512", 1, "not-expressible"),
    // A bitmap of 512 bytes moves each block on.
    ("vpc", "subformat=dynamic,force_size=on", 1, "misaligned"),
    // Blocks start after a map of 512 bytes, 1 KiB into the file.
    ("vdi", "", 1, "misaligned"),
    // Its bytes are not read.
    ("qed", "", NO_VERDICT, ""),
];

fn converted(scratch: &Scratch, guest: &Path, format: &str, options: &str) -> PathBuf {
    let target = scratch.path().join(format!("disk.{format}"));
    let mut arguments = vec!["convert", "-f", "raw", "-O", format];
    if !options.is_empty() {
        arguments.extend(["-o", options]);
    }
    arguments.extend([text(guest), text(&target)]);
    tool::run("qemu-img", &arguments);
    target
}

/// Writes one page into every 2 MiB from 1 MiB on, so that all blocks are allocated.
fn fill(guest: &Path) {
    let file = std::fs::File::options().write(true).open(guest).expect("it opens");
    let length = file.metadata().expect("it is there").len();
    for at in (MIB..length).step_by(1 << 21) {
        file.write_all_at(&[0x5a; 4096], at).expect("it can be written");
    }
}

/// Disks of 64 MiB with an aligned table: nothing else, ext4, and data everywhere.
fn guests(scratch: &Scratch) -> [PathBuf; 3] {
    let table = "label: dos\nstart=2048\n";
    let [bare, ext4, full] =
        ["bare", "ext4", "full"].map(|name| partitioned(scratch, name, 64 * MIB, table));
    let system = scratch.image("system", 63 * MIB);
    tool::run("mkfs.ext4", &["-q", "-F", "-b", "4096", text(&system)]);
    place(&system, &ext4, MIB);
    place(&system, &full, MIB);
    fill(&full);
    [bare, ext4, full]
}

/// Clusters that are not allocated are nowhere yet, but a gate asks about the disk that a guest is
/// going to write, and the format's rule says where that will be. So a fresh image is judged as a full one:
/// a build that passes while it is empty and fails after the first boot would help nobody. The
/// same content differs between two formats only where one of them does put data off the granule.
#[test]
fn an_image_is_judged_by_its_format_however_much_of_it_is_allocated() {
    need_tools!("sfdisk", "qemu-img", "mkfs.ext4");
    let scratch = Scratch::new();
    for guest in guests(&scratch) {
        for (format, options, status, _) in FORMATS {
            let checked = check(&[text(&converted(&scratch, &guest, format, options))]);
            let what = format!("{} in {format} {options}", guest.display());
            assert_eq!(checked.status, status, "{what}: {:?}", checked.findings());
        }
    }
}

#[test]
fn what_is_not_allocated_yet_is_judged_by_where_the_format_will_put_it() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = Scratch::new();
    let bare = partitioned(&scratch, "bare", 64 * MIB, "label: dos\nstart=2048\n");
    for (format, options, _, verdict) in FORMATS.into_iter().filter(|row| !row.3.is_empty()) {
        let image = converted(&scratch, &bare, format, options);
        let checked = check(&[text(&image), "--fail-on", "never"]);
        let found = checked.verdict("partition", "#1");
        assert_eq!(found, verdict, "{format} {options}: {:#}", checked.target);
        assert_eq!(checked.status, 0, "{format} {options}: {:#}", checked.target);
    }
}

/// Of a compressed image nothing has a place, but the guest's partition has one on the guest's disk.
#[test]
fn a_guest_that_starts_off_in_a_compressed_vmdk_is_found_and_no_layer_is_called_misaligned() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = Scratch::new();
    let guest = partitioned(&scratch, "guest", 64 * MIB, "label: dos\nstart=63\n");
    let image = converted(&scratch, &guest, "vmdk", "subformat=streamOptimized");
    let checked = check(&[text(&image)]);
    assert_eq!(checked.status, 1, "{:#}", checked.target);
    for (kind, name) in [("image-format", "vmdk"), ("partition", "#1")] {
        assert_eq!(checked.verdict(kind, name), "not-expressible", "{:#}", checked.target);
    }
    let found = [("ST102", "warning"), ("ST504", "info")];
    let found = found.map(|(code, severity)| (code.to_owned(), severity.to_owned()));
    assert_eq!(checked.findings(), found);
    let seen = checked.target["findings"][0]["evidence"][0].as_str().expect("it says why");
    assert!(seen.contains("3.5 KiB after a 4 KiB boundary of the guest's disk"), "{seen}");
    // Where the format gives no offsets for another reason.
    let image = converted(&scratch, &guest, "qcow2", "cluster_size=512");
    assert!(check(&[text(&image)]).has("ST102", "warning"));
}

/// The first block of a VHD of 1 GiB happens to be on a granule, and every eighth after it: neither
/// an image of which only that one is allocated, nor places 64 MiB apart, say that all is well.
#[test]
fn a_vhd_whose_first_block_is_aligned_is_found_by_the_others() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = Scratch::new();
    let guest = partitioned(&scratch, "guest", 1024 * MIB, "label: dos\nstart=2048\n");
    let fresh = check(&[text(&converted(&scratch, &guest, "vpc", "force_size=on"))]);
    assert!(fresh.has("ST501", "warning"), "{:?}", fresh.findings());
    assert_eq!(fresh.status, 1);
    let seen = fresh.target["findings"][0]["evidence"][0].as_str().expect("it says why");
    assert!(
        seen.contains("not allocated yet is judged by where its blocks would be appended"),
        "{seen}"
    );
    fill(&guest);
    let full = check(&[text(&converted(&scratch, &guest, "vpc", "force_size=on"))]);
    assert!(full.has("ST501", "warning"), "{:?}", full.findings());
    assert!(full.target["findings"][0]["cost"]["rmws"].as_u64() > Some(0));
    assert_eq!(full.status, 1);
}
