//! Writes to file systems: to files, journals, and by threads of the kernel for others.

use testkit::{Loop, need_loops, need_tools, scratch::text, tool};

use super::volume::{Device, EXT4, Volume};
use super::watching::{Culprit, Watching, writers};
use super::writer::Writer;

#[test]
fn direct_writes_of_blocks_below_the_granule_are_of_their_process_and_file() {
    need_loops!();
    need_tools!("mkfs.ext4", "python3");
    let volume = Volume::ext4(1024);
    let file = volume.file("pages");
    let watching = Watching::start(text(volume.path()), &[]);
    let _writer = Writer::direct("small-pages", &file, 1024, 1024);
    let layer = volume.layer("ext4");
    let culprit =
        Culprit { process: "small-pages", layer: &layer, region: "file", file: Some(&file) };
    let cause = watching.shows_cause(&culprit, 0.9, "small-blocks");
    assert_eq!((&cause["layer"], &cause["block_bytes"]), (&layer.into(), &1024.into()));
}

#[test]
fn a_journal_of_small_blocks_is_named_with_the_thread_that_writes_it() {
    need_loops!();
    need_tools!("mkfs.ext4", "python3");
    let volume = Volume::ext4(1024);
    let watching = Watching::start(volume.node(), &[]);
    // A name is metadata: nothing but the journal is written at once.
    let body = "
place, number = sys.argv[2], 0
directory = os.open(place, os.O_RDONLY)
while goes_on():
    os.close(os.open(f'{place}/{number % 100}', os.O_CREAT | os.O_WRONLY))
    os.fsync(directory)
    os.unlink(f'{place}/{number % 100}')
    number += 1
";
    let _writer = Writer::named("maker", body, &[text(volume.path())]);
    let (layer, process) = (volume.layer("ext4"), format!("jbd2/{}-8", volume.device.name()));
    let culprit = Culprit { process: &process, layer: &layer, region: "journal", file: None };
    watching.shows_cause(&culprit, 0.8, "journal-blocks");
}

#[test]
fn the_log_of_xfs_is_named() {
    need_loops!();
    need_tools!("mkfs.xfs", "python3");
    let volume = Volume::made(320 << 20, &["mkfs.xfs", "-q", "-f"]);
    let watching = Watching::start(volume.node(), &[]);
    // fsync(2) writes the log itself.
    let body = "
place, number = sys.argv[2], 0
while goes_on():
    file = os.open(f'{place}/{number % 100}', os.O_CREAT | os.O_WRONLY)
    os.fsync(file)
    os.close(file)
    os.unlink(f'{place}/{number % 100}')
    number += 1
";
    let _writer = Writer::named("maker", body, &[text(volume.path())]);
    let layer = volume.layer("xfs");
    let culprit = Culprit { process: "maker", layer: &layer, region: "journal", file: None };
    watching.shows_cause(&culprit, 0.8, "journal-blocks");
}

#[test]
fn what_a_thread_of_the_kernel_writes_back_is_named_by_its_file() {
    need_loops!();
    need_tools!("mkfs.ext4", "python3");
    let volume = Volume::ext4(1024);
    let file = volume.file("buffered");
    let watching = Watching::start(volume.node(), &[]);
    // syncfs(2) hands the pages to a worker; fsync(2) would write them itself.
    let body = "
file = os.open(sys.argv[2], os.O_RDWR)
while goes_on():
    for page in range(0, 256, 2):
        os.pwrite(file, b'y' * 1024, page * 4096)
    libc.syncfs(file)
";
    let _writer = Writer::named("buffering", body, &[&file]);
    let layer = volume.layer("ext4");
    let culprit = Culprit { process: "kworker", layer: &layer, region: "file", file: Some(&file) };
    watching.shows(&culprit, 0.6);
}

#[test]
fn a_file_of_btrfs_is_found_through_its_chunks() {
    need_loops!();
    need_tools!("mkfs.btrfs", "chattr", "python3");
    let volume = Volume::made(256 << 20, &["mkfs.btrfs", "-q", "-f"]);
    let path = volume.path().join("kept-in-place");
    std::fs::File::create(&path).expect("a file can be made");
    tool::run("chattr", &["+C", text(&path)]);
    let file = volume.file("kept-in-place");
    let watching = Watching::start(volume.node(), &["--on", "granule=16K"]);
    let _writer = Writer::direct("in-place", &file, 4096, 16384);
    let layer = volume.layer("btrfs");
    let culprit = Culprit { process: "in-place", layer: &layer, region: "file", file: Some(&file) };
    watching.shows_cause(&culprit, 0.8, "small-blocks");
}

#[test]
fn a_file_on_a_partition_of_a_gpt_is_named_with_the_layer_on_the_partition() {
    need_loops!();
    need_tools!("mkfs.ext4", "sfdisk", "partx", "python3");
    let device = Device::new(256 << 20);
    let partition = device.partition("gpt", 2048);
    tool::run(EXT4[0], &[&EXT4[1..], &["-b", "1024", text(&partition)]].concat());
    let volume = device.mounted(&partition);
    let file = volume.file("pages");
    let watching = Watching::start(volume.node(), &[]);
    let _writer = Writer::direct("on-partition", &file, 1024, 1024);
    let layer = volume.layer("ext4") + "p1";
    let culprit =
        Culprit { process: "on-partition", layer: &layer, region: "file", file: Some(&file) };
    let document = watching.shows(&culprit, 0.9);
    let names: Vec<&str> = document["devices"][0]["traffic"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|layer| layer["kind"].as_str())
        .collect();
    assert_eq!(names, ["loop", "partition"], "{document:#}");
}

#[test]
fn the_image_of_a_loop_is_the_file_that_its_writes_arrive_in() {
    need_loops!();
    need_tools!("mkfs.ext4", "python3");
    let volume = Volume::ext4(1024);
    let image = volume.file("image");
    let inner = Loop::attach_direct(image.as_ref(), 512);
    let watching = Watching::start(volume.node(), &[]);
    let _writer = Writer::direct("inner-writer", text(inner.path()), 1024, 1024);
    let layer = volume.layer("ext4");
    let culprit = Culprit { process: "kworker", layer: &layer, region: "file", file: Some(&image) };
    let document = watching.shows(&culprit, 0.8);
    let traffic = document["devices"][0]["traffic"].as_array().expect("a list");
    assert_eq!(traffic[1]["name"], text(inner.path()).trim_start_matches("/dev/"), "{traffic:#?}");
    // Other files of the device are written too.
    assert!(traffic[0]["written_per_byte_above"].is_null(), "{traffic:#?}");
}

#[test]
fn a_deleted_file_that_is_open_still_is_named() {
    need_loops!();
    need_tools!("mkfs.ext4", "python3");
    let volume = Volume::ext4(1024);
    let file = volume.file("gone");
    let body = "
file = direct(sys.argv[2])
os.unlink(sys.argv[2])
write(file, 1024, 1024, 64)
";
    let watching = Watching::start(volume.node(), &[]);
    let _writer = Writer::named("deleter", body, &[&file]);
    let (layer, name) = (volume.layer("ext4"), format!("{file} (deleted)"));
    let culprit = Culprit { process: "deleter", layer: &layer, region: "file", file: Some(&name) };
    watching.shows(&culprit, 0.8);
}

#[test]
fn a_file_in_the_place_of_a_deleted_one_is_not_taken_for_it() {
    need_loops!();
    need_tools!("mkfs.ext4", "python3");
    let volume =
        Volume::made(8 << 20, &["mkfs.ext4", "-q", "-F", "-b", "1024", "-O", "^has_journal"]);
    // Each takes nearly all the room that there is, so the second lies where the first did.
    let body = "
def filled(path):
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    room = os.fstatvfs(file)
    os.write(file, b'z' * (room.f_bavail * room.f_bsize * 9 // 10))
    libc.syncfs(file)
    os.close(file)
    return direct(path)
for path in sys.argv[2:]:
    file = filled(path)
    write(file, 1024, 1024, 2048)
    os.close(file)
    os.unlink(path)
    sys.stdin.readline()
";
    let files = ["first", "second"].map(|name| format!("{}/{name}", text(volume.path())));
    let mut watching = Watching::start(volume.node(), &[]);
    let mut writer = Writer::named("replacing", body, &[&files[0], &files[1]]);
    let writes = |seen: &serde_json::Value, file: &str| -> u64 {
        let of = writers(seen).iter().filter(|writer| writer["file"].as_str() == Some(file));
        of.filter_map(|writer| writer["writes"].as_u64()).sum()
    };
    watching.until("the first is named", |seen| writes(seen, &files[0]) > 100);
    writer.say("next");
    watching.until("the second is named", |seen| writes(seen, &files[1]) > 100);
    let before = writes(watching.last(), &files[0]);
    watching.two_seconds();
    let document = watching.end();
    assert_eq!(writes(&document, &files[0]), before, "{document:#}");
}
