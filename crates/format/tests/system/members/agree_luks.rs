//! LUKS containers that cryptsetup makes, as it describes them itself.

use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use format::member::luks::{self, Luks};
use format::{Parsed, ProblemKind};
use serde_json::Value;
use testkit::{FileDisk, Loop, Scratch, need_loops, need_tools, scratch, tool};

/// A scratch image with a key beside it.
struct Container {
    scratch: Scratch,
    path: PathBuf,
    key: PathBuf,
}

impl Container {
    fn new(length_bytes: u64) -> Container {
        let scratch = Scratch::new();
        let path = scratch.image("container", length_bytes);
        let key = scratch.file("key", b"a key that opens nothing of worth");
        Container { scratch, path, key }
    }

    /// Formats `target`, an image or a loop device, with a key derivation that takes no time.
    fn format(&self, target: &Path, arguments: &[&str]) {
        let common = ["luksFormat", "--batch-mode", "--pbkdf-force-iterations", "1000"];
        let key = ["--key-file", scratch::text(&self.key), scratch::text(target)];
        tool::run("cryptsetup", &[&common, arguments, &key].concat());
    }
}

fn read(path: &Path) -> Parsed<Luks> {
    luks::read(&FileDisk::open(path)).expect("a header")
}

/// Returns what cryptsetup prints behind `key`.
fn printed(path: &Path, key: &str) -> String {
    let text = tool::run("cryptsetup", &["luksDump", scratch::text(path)]);
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(key));
    line.unwrap_or_else(|| panic!("no {key} in {text}")).trim().to_owned()
}

/// Compares with the JSON that cryptsetup itself reads.
fn check_two(path: &Path) -> Luks {
    let found = read(path);
    assert_eq!(found.problems, []);
    let luks = found.value;
    let text = scratch::text(path);
    let dump = tool::run("cryptsetup", &["luksDump", "--dump-json-metadata", text]);
    let dump: Value = serde_json::from_str(&dump).expect("cryptsetup prints JSON");
    let theirs = &dump["segments"]["0"];
    let ours = &luks.segments[0];
    assert_eq!(theirs["type"], ours.kind.to_string());
    assert_eq!(theirs["offset"], ours.offset_bytes.to_string());
    assert_eq!(theirs["sector_size"], ours.sector_bytes);
    assert_eq!(theirs["size"], ours.length_bytes.map_or("dynamic".to_owned(), |n| n.to_string()));
    assert_eq!(theirs["encryption"], luks.cipher.as_ref().expect("a cipher").to_string());
    let integrity = luks.integrity.as_ref().map(ToString::to_string);
    assert_eq!(theirs["integrity"]["type"].as_str(), integrity.as_deref());
    assert_eq!(printed(path, "UUID:"), luks.id.to_string());
    luks
}

#[test]
fn luks2_data_starts_where_cryptsetup_says() {
    need_tools!("cryptsetup");
    let cases: &[&[&str]] = &[
        &[],
        &["--sector-size", "512"],
        &["--sector-size", "4096"],
        &["--offset", "65536"],
        &["--align-payload", "8"],
        &["--align-payload", "65535", "--sector-size", "512"],
        &["--luks2-metadata-size", "64k"],
        &["--luks2-metadata-size", "4m", "--luks2-keyslots-size", "16m"],
        &["--cipher", "aes-cbc-essiv:sha256", "--key-size", "256"],
        &["--label", "a label", "--subsystem", "a subsystem"],
    ];
    for arguments in cases {
        let container = Container::new(64 << 20);
        let type_two = ["--type", "luks2", "--pbkdf", "pbkdf2"];
        container.format(&container.path, &[&type_two, *arguments].concat());
        let luks = check_two(&container.path);
        assert_eq!((luks.detached, luks.reencrypting), (false, false), "{arguments:?}");
        if arguments.contains(&"--label") {
            assert_eq!(luks.label.unwrap().to_string(), "a label");
            assert_eq!(luks.subsystem.unwrap().to_string(), "a subsystem");
        }
    }
}

#[test]
fn luks2_pushed_behind_16_mib_by_a_shifted_partition_is_read_as_such() {
    need_tools!("cryptsetup");
    // What cryptsetup chooses for a partition at sector 63 of a disk with 4 KiB physical sectors.
    let container = Container::new(64 << 20);
    let arguments = ["--type", "luks2", "--pbkdf", "pbkdf2", "--sector-size", "512"];
    container.format(&container.path, &[&arguments[..], &["--align-payload", "32769"]].concat());
    assert_eq!(check_two(&container.path).segments[0].offset_bytes, 16_777_728);
}

#[test]
fn luks1_data_starts_where_cryptsetup_says() {
    need_tools!("cryptsetup");
    let cases: &[&[&str]] = &[&[], &["--align-payload", "8"], &["--align-payload", "8191"]];
    for arguments in cases {
        let container = Container::new(32 << 20);
        container.format(&container.path, &[&["--type", "luks1"], *arguments].concat());
        let found = read(&container.path);
        assert_eq!(found.problems, [], "{arguments:?}");
        let start = found.value.segments[0].offset_bytes;
        assert_eq!(printed(&container.path, "Payload offset:"), (start / 512).to_string());
        assert_eq!(printed(&container.path, "UUID:"), found.value.id.to_string());
        let cipher = found.value.cipher.unwrap().to_string();
        let name = printed(&container.path, "Cipher name:");
        assert_eq!(format!("{name}-{}", printed(&container.path, "Cipher mode:")), cipher);
        assert!(!found.value.detached);
    }
}

#[test]
fn a_detached_header_is_known_by_its_offset_of_zero() {
    need_tools!("cryptsetup");
    for kind in ["luks1", "luks2"] {
        let container = Container::new(32 << 20);
        let header = container.scratch.path().join("header");
        let text = scratch::text(&header).to_owned();
        let pbkdf: &[&str] = if kind == "luks2" { &["--pbkdf", "pbkdf2"] } else { &[] };
        let arguments = [&["--type", kind, "--header", &text], pbkdf].concat();
        container.format(&container.path, &arguments);
        let found = read(&header);
        assert!(found.value.detached, "{kind}: {found:?}");
        assert_eq!(found.value.segments[0].offset_bytes, 0);
        assert_eq!(luks::read(&FileDisk::open(&container.path)), None);
    }
}

#[test]
fn a_header_backup_is_a_header_without_its_data() {
    need_tools!("cryptsetup");
    let container = Container::new(32 << 20);
    container.format(&container.path, &["--type", "luks2", "--pbkdf", "pbkdf2"]);
    let backup = container.scratch.path().join("backup");
    let arguments =
        ["--header-backup-file", scratch::text(&backup), scratch::text(&container.path)];
    tool::run("cryptsetup", &[&["luksHeaderBackup"][..], &arguments].concat());
    let found = read(&backup);
    assert!(found.value.detached);
    let kinds: Vec<_> = found.problems.iter().map(|problem| problem.kind).collect();
    assert_eq!(kinds, [ProblemKind::Outside]);
}

#[test]
fn a_reencryption_that_was_begun_is_said() {
    need_tools!("cryptsetup");
    let container = Container::new(32 << 20);
    container.format(&container.path, &["--type", "luks2", "--pbkdf", "pbkdf2"]);
    assert!(!read(&container.path).value.reencrypting);
    let key = ["--key-file", scratch::text(&container.key), scratch::text(&container.path)];
    let options = ["--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"];
    let begin = ["reencrypt", "--init-only", "--batch-mode", "--resilience", "checksum"];
    tool::run("cryptsetup", &[&begin[..], &options, &key].concat());
    let luks = check_two(&container.path);
    assert!(luks.reencrypting);
    assert_eq!(luks.segments.len(), 1);
}

#[test]
fn cryptsetup_and_we_survive_the_loss_of_the_first_header() {
    need_tools!("cryptsetup");
    for size in ["16k", "128k", "2m"] {
        let container = Container::new(64 << 20);
        let kind = ["--type", "luks2", "--pbkdf", "pbkdf2", "--luks2-metadata-size", size];
        container.format(&container.path, &kind);
        let before = read(&container.path).value;
        let file = std::fs::File::options().write(true).open(&container.path).unwrap();
        file.write_all_at(&[0; 4096], 0).unwrap();
        let found = read(&container.path);
        assert_ne!(found.value.header_at_bytes, 0);
        assert_eq!(Luks { header_at_bytes: 0, ..found.value }, before);
        assert_eq!(found.problems[0].kind, ProblemKind::Copies);
    }
}

#[test]
fn luks_on_a_loop_device_of_4096_byte_sectors_is_read_as_cryptsetup_reads_it() {
    need_tools!("cryptsetup");
    need_loops!();
    let container = Container::new(64 << 20);
    let device = Loop::attach(&container.path, 4096);
    container.format(device.path(), &["--type", "luks2", "--pbkdf", "pbkdf2"]);
    drop(device);
    assert_eq!(check_two(&container.path).segments[0].sector_bytes, 4096);
}
