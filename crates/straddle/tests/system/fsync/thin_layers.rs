//! Lack of room on layers below the file system, which it does not know: sparse images on file
//! systems that are nearly full. All three commands that make scratch files refuse.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use testkit::{Loop, Mount, Scratch, need_loops, need_tools, scratch::text, tool};

use super::free_space::{is_mended, straddle};

const COMMANDS: [&str; 3] = ["fsync", "bench", "probe"];
/// Nothing is written in the background, which would take space of the layer below.
const EXT4_OPTIONS: &str = "noinit_itable";
/// More than a file system takes for itself meanwhile, and less than any scratch file.
const TAKEN_BYTES_MAX: u64 = 1 << 20;
const EXT4: [&str; 6] = ["-q", "-F", "-J", "size=4", "-E", "nodiscard,lazy_itable_init=1"];

/// A file system on an image. It goes in this order.
struct OnImage {
    mount: Mount,
    _device: Loop,
}

impl OnImage {
    /// Made on the file `image`, and mounted on `place`.
    fn new(kind: &str, make: &[&str], image: &Path, place: &Path) -> OnImage {
        let device = Loop::attach(image, 512);
        let node = text(device.path()).to_owned();
        tool::run(&format!("mkfs.{kind}"), &[make, &[&node]].concat());
        let options = if kind == "ext4" { EXT4_OPTIONS } else { "" };
        OnImage { mount: Mount::new(kind, options, &node, place), _device: device }
    }

    fn ext4(image: &Path, place: &Path) -> OnImage {
        OnImage::new("ext4", &EXT4, image, place)
    }

    fn name(&self) -> &str {
        text(self.mount.path())
    }
}

/// A file system in memory of `mebibytes`.
fn memory(scratch: &Scratch, mebibytes: u64) -> Mount {
    let options = format!("size={mebibytes}m");
    Mount::new("tmpfs", &options, "none", &scratch.path().join("low"))
}

fn sparse(path: PathBuf, mebibytes: u64) -> PathBuf {
    let file = File::create(&path).expect("an image can be made");
    file.set_len(mebibytes << 20).expect("it can be given a length");
    path
}

fn whole(path: PathBuf, mebibytes: u64) -> PathBuf {
    tool::run("fallocate", &["-l", &format!("{mebibytes}M"), text(&path)]);
    path
}

fn free_bytes(place: &Path) -> u64 {
    let free = tool::run("stat", &["--file-system", "--format=%a %S", text(place)]);
    free.split_whitespace().map(|word| word.parse::<u64>().expect("a number")).product()
}

/// Takes all but so many bytes of a file system.
fn fill(place: &Path, but_mebibytes: u64) {
    let length = free_bytes(place) - (but_mebibytes << 20);
    tool::run("fallocate", &["-l", &length.to_string(), text(&place.join("filler"))]);
}

/// Refuses for safety, whether dry or not, names the layer, and writes nothing to it.
#[track_caller]
fn is_refused(words: &[&str], low: &Path, layer: &str) {
    tool::run("sync", &["--file-system", words[1]]);
    let before = free_bytes(low);
    for dry in [&[][..], &["--dry-run"]] {
        let ran = straddle(&[words, dry].concat());
        assert_eq!((ran.status, ran.out.as_str()), (Some(3), ""), "{ran:?}");
        assert!(ran.errors.contains(&format!("of new space in {layer}; ")), "{layer}: {ran:?}");
        assert!(ran.errors.contains(" are free there, and at least "), "{ran:?}");
        assert!(ran.errors.contains(&format!("iB in {}, or ", text(low))), "{ran:?}");
    }
    let taken = before.saturating_sub(free_bytes(low));
    assert!(taken < TAKEN_BYTES_MAX, "{words:?} takes {taken} bytes of the layer");
}

/// Takes `place` for one with room, when it is asked beforehand.
#[track_caller]
fn has_room(place: &str) {
    for command in COMMANDS {
        let ran = straddle(&[command, place, "--dry-run"]);
        assert_eq!(ran.status, Some(0), "{command}: {ran:?}");
    }
}

/// A write to a new file reaches its file system.
#[track_caller]
fn takes_writes(place: &str) {
    let path = Path::new(place).join("file");
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).open(path).expect("it opens");
    file.write_all(&[7; 64 << 10]).and_then(|()| file.sync_all()).expect("it stands");
}

#[test]
fn a_sparse_image_on_a_nearly_full_file_system_is_refused_and_stands() {
    need_loops!();
    need_tools!("mkfs.ext4", "fallocate");
    let scratch = Scratch::new();
    let low = memory(&scratch, 40);
    let image = sparse(low.path().join("t.img"), 1024);
    let up = OnImage::ext4(&image, &scratch.path().join("up"));
    takes_writes(up.name());
    fill(low.path(), 6);
    let layer = format!("tmpfs on {}, which stores {}", text(low.path()), text(&image));
    for command in COMMANDS {
        is_refused(&[command, up.name()], low.path(), &layer);
    }
    takes_writes(up.name());
    // Without rows a few bytes are enough to bring it down.
    std::fs::remove_file(low.path().join("filler")).expect("it is there");
    fill(low.path(), 0);
    is_refused(&["fsync", up.name(), "--rows", "none"], low.path(), &layer);
}

#[test]
fn the_option_that_is_named_fits_into_the_room_of_the_layer_below() {
    need_loops!();
    need_tools!("mkfs.ext4", "fallocate");
    let scratch = Scratch::new();
    let low = memory(&scratch, 200);
    let up = OnImage::ext4(&sparse(low.path().join("t.img"), 1024), &scratch.path().join("up"));
    tool::run("sync", &["--file-system", up.name()]);
    fill(low.path(), 40);
    is_mended(3, &["bench", up.name()], "--scratch ");
    is_mended(3, &["probe", up.name()], "--bytes-max ");
    is_mended(3, &["fsync", up.name()], "--rows pg");
    is_mended(3, &["fsync", up.name(), "--for", "kafka"], "--bytes-max ");
}

#[test]
fn an_image_that_has_all_its_space_works_on_a_full_file_system() {
    need_loops!();
    need_tools!("mkfs.ext4", "fallocate");
    let scratch = Scratch::new();
    let low = memory(&scratch, 128);
    let image = whole(low.path().join("t.img"), 120);
    let up = OnImage::ext4(&image, &scratch.path().join("up"));
    fill(low.path(), 0);
    has_room(up.name());
    let ran = straddle(&["fsync", up.name(), "--seconds", "1", "--rows", "pg"]);
    assert!(!ran.errors.contains("cannot make") && ran.status != Some(3), "{ran:?}");
    takes_writes(up.name());
}

#[test]
fn an_image_in_an_image_is_followed_down_to_the_layer_that_lacks_room() {
    need_loops!();
    need_tools!("mkfs.ext4", "fallocate");
    let scratch = Scratch::new();
    let low = memory(&scratch, 64);
    let outer = sparse(low.path().join("outer.img"), 2048);
    let middle = OnImage::ext4(&outer, &scratch.path().join("middle"));
    // The space that one image was given may be holes of the other.
    let inner = whole(middle.mount.path().join("inner.img"), 512);
    let up = OnImage::ext4(&inner, &scratch.path().join("up"));
    tool::run("sync", &["--file-system", up.name()]);
    tool::run("sync", &["--file-system", middle.name()]);
    fill(low.path(), 20);
    let layer = format!("tmpfs on {}, which stores {}", text(low.path()), text(&outer));
    is_refused(&["bench", up.name()], low.path(), &layer);
    is_refused(&["fsync", up.name()], low.path(), &layer);
}

#[test]
fn an_image_with_partitions_is_refused_also_when_its_name_is_gone() {
    need_loops!();
    need_tools!("mkfs.ext4", "sfdisk", "partx", "fallocate");
    let scratch = Scratch::new();
    let low = memory(&scratch, 64);
    let image = sparse(low.path().join("t.img"), 1024);
    let table = scratch.file("table", b"label: gpt\nstart=2048\n");
    tool::run("sh", &["-c", "sfdisk -q $0 < $1", text(&image), text(&table)]);
    let device = Loop::attach(&image, 512);
    let node = device.partition(1);
    tool::run("mkfs.ext4", &[&EXT4[..], &[text(&node)]].concat());
    let mount = Mount::new("ext4", EXT4_OPTIONS, text(&node), &scratch.path().join("up"));
    let up = text(mount.path());
    tool::run("sync", &["--file-system", up]);
    fill(low.path(), 8);
    let layer = format!("tmpfs on {}, which stores {}", text(low.path()), text(&image));
    is_refused(&["bench", up], low.path(), &layer);
    std::fs::remove_file(&image).expect("it has a name");
    is_refused(&["fsync", up], low.path(), &format!("{layer} (deleted)"));
}

#[test]
fn an_overlay_writes_to_what_is_below_its_upper_directory() {
    need_loops!();
    need_tools!("mkfs.ext4", "fallocate");
    let scratch = Scratch::new();
    let low = memory(&scratch, 64);
    let image = sparse(low.path().join("t.img"), 1024);
    let up = OnImage::ext4(&image, &scratch.path().join("up"));
    let made = |name: &str| {
        let path = up.mount.path().join(name);
        std::fs::create_dir(&path).expect("a directory can be made");
        text(&path).to_owned()
    };
    let [one, upper, work] = ["one", "upper", "work"].map(made);
    let options = format!("lowerdir={one},upperdir={upper},workdir={work}");
    let over = Mount::new("overlay", &options, "overlay", &scratch.path().join("over"));
    tool::run("sync", &["--file-system", up.name()]);
    fill(low.path(), 8);
    let layer = format!("tmpfs on {}, which stores {}", text(low.path()), text(&image));
    is_refused(&["fsync", text(over.path())], low.path(), &layer);
}

#[test]
fn btrfs_takes_new_space_for_what_is_written_over_unless_it_writes_in_place() {
    need_loops!();
    need_tools!("mkfs.ext4", "mkfs.btrfs", "fallocate", "chattr");
    let scratch = Scratch::new();
    let store = sparse(scratch.path().join("low.img"), 1024);
    let low = OnImage::new("btrfs", &["-q", "-f"], &store, &scratch.path().join("low"));
    let low = low.mount.path();
    let cow = whole(low.join("cow.img"), 128);
    let in_place = sparse(low.join("in-place.img"), 0);
    tool::run("chattr", &["+C", text(&in_place)]);
    let in_place = whole(in_place, 128);
    let up = OnImage::ext4(&cow, &scratch.path().join("up"));
    let fixed = OnImage::ext4(&in_place, &scratch.path().join("fixed"));
    for up in [&up, &fixed] {
        tool::run("sync", &["--file-system", up.name()]);
    }
    tool::run("sync", &["--file-system", text(low)]);
    fill(low, 30);
    let layer = format!("btrfs on {}, which stores {}", text(low), text(&cow));
    is_refused(&["bench", up.name()], low, &layer);
    has_room(fixed.name());
}

#[test]
fn xfs_takes_new_space_for_blocks_that_files_share() {
    need_loops!();
    need_tools!("mkfs.ext4", "mkfs.xfs", "fallocate");
    let scratch = Scratch::new();
    let store = sparse(scratch.path().join("low.img"), 1024);
    let low = OnImage::new("xfs", &["-q", "-m", "reflink=1"], &store, &scratch.path().join("low"));
    let low = low.mount.path();
    let image = low.join("t.img");
    tool::run("dd", &["if=/dev/zero", &format!("of={}", text(&image)), "bs=1M", "count=128"]);
    let up = OnImage::ext4(&image, &scratch.path().join("up"));
    tool::run("sync", &["--file-system", up.name()]);
    fill(low, 30);
    has_room(up.name());
    let copy = low.join("copy.img");
    tool::run("cp", &["--reflink=always", text(&image), text(&copy)]);
    let layer = format!("xfs on {}, which stores {}", text(low), text(&image));
    is_refused(&["probe", up.name()], low, &layer);
}
