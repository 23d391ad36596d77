//! Refusals of all that cannot be used on the new sectors, before anything is written.

use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use testkit::running_program::{Going, by_signals};
use testkit::{Scratch, need_tools, scratch, tool};

use super::kinds::KINDS;
use super::{read, straddle};

/// `O_EXCL` of Linux on most processors (`asm-generic/fcntl.h`).
const O_EXCL: i32 = 0o200;

/// A volume in the one partition of a GPT, and what the refusal says.
struct Case {
    words: &'static [&'static str],
    table: &'static str,
    reason: &'static str,
}

const PART: &str = "label: gpt\nfirst-lba: 34\nstart=2048, size=655360\n";

const CASES: [Case; 10] = [
    Case {
        words: &["mkfs.ext4", "-q", "-b", "1024"],
        table: PART,
        reason: "partition 1: ext4 uses 1024-byte blocks",
    },
    Case {
        words: &["mkfs.xfs", "-q", "-s", "size=512"],
        table: PART,
        reason: "partition 1: xfs uses 512-byte sectors",
    },
    Case {
        words: &["mkfs.exfat"],
        table: PART,
        reason: "partition 1: exfat uses 512-byte sectors",
    },
    Case {
        words: &[],
        table: "label: gpt\nfirst-lba: 34\nstart=63, size=8192\n",
        reason: "partition 1 starts at byte 32256, which is not a multiple of 4096 bytes",
    },
    Case {
        words: &[],
        table: "label: gpt\nfirst-lba: 34\nstart=63, size=8192\nstart=20001, size=8192\n",
        reason: "data; partition 2 starts at byte 10240512, which is not a multiple",
    },
    Case {
        words: &[],
        table: "label: gpt\nfirst-lba: 34\nstart=34, size=2014\n",
        reason: "takes the place of partition 1",
    },
    Case {
        words: &["mkfs.ext4", "-q"],
        table: "label: dos\nstart=63, size=655360\n",
        reason: "partition 1 starts at byte 32256",
    },
    Case {
        words: &[],
        table: "label: dos\nstart=2048, size=8192\n",
        reason: "an MBR does not say its sector size",
    },
    Case { words: &[], table: "", reason: "no partition table\nhint: " },
    Case {
        words: &[],
        table: "label: gpt\n",
        reason: "its gpt partition table lists no partition\nhint: lay it out: straddle plan --new ",
    },
];

#[test]
fn what_4096_byte_sectors_cannot_hold_is_refused_with_3_and_nothing_is_written() {
    need_tools!("sfdisk", "mkfs.ext4", "mkfs.xfs", "mkfs.exfat");
    for case in &CASES {
        let scratch = Scratch::in_memory().unwrap_or_else(Scratch::new);
        let image = scratch.image("disk.raw", 330 << 20);
        if !case.table.is_empty() {
            tool::run_with_input("sfdisk", &["-q", scratch::text(&image)], case.table);
        }
        if let [program, words @ ..] = case.words {
            let volume = scratch.image("volume", 320 << 20);
            tool::run(program, &[words, &[scratch::text(&volume)]].concat());
            let start = if case.table == PART { 2048 } else { 63 };
            scratch::place(&volume, &image, start * 512);
            std::fs::remove_file(volume).expect("it is removed");
        }
        let before = read(&image);
        for way in [&["-o", "new.raw"][..], &["--plan", "plan.json"], &["--dry-run"]] {
            let words = [&["convert", "disk.raw", "--sector", "4096"], way].concat();
            let ran = straddle(scratch.path(), &words);
            assert_eq!(ran.status, Some(3), "{ran:?}");
            assert!(ran.errors.contains(case.reason), "{}: {ran:?}", case.reason);
        }
        let left: Vec<_> = std::fs::read_dir(scratch.path()).expect("it is listed").collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert!(read(&image) == before, "{}", case.reason);
    }
}

#[test]
fn a_loader_in_the_place_of_the_new_table_and_a_file_that_exists_are_refused() {
    need_tools!("sfdisk", "mkfs.fat", "mkfs.ext4", "mcopy", "mdel");
    let disk = KINDS[0].disk();
    let run =
        |words: &[&str]| disk.run(&[&["convert", "disk.raw", "--sector", "4096"], words].concat());
    std::fs::write(disk.file("old.raw"), b"precious").expect("it is written");
    let ran = run(&["-o", "old.raw"]);
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.errors.contains("old.raw exists"), "{ran:?}");
    assert_eq!(read(&disk.file("old.raw")), b"precious");
    let ran = run(&["-o", "-"]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.errors.contains("-o ./-"), "{ran:?}");
    assert!(!disk.file("-").exists());
    std::fs::write(disk.file("plan.json"), b"precious").expect("it is written");
    let ran = run(&["--plan", "plan.json"]);
    assert_eq!(ran.status, Some(3), "{ran:?}");
    let ran = run(&[]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    let ran = disk.run(&["convert", "absent.raw", "--sector", "4096", "-o", "new.raw"]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    // U-Boot, as some boards look for it.
    let mut bytes = read(&disk.image);
    bytes[20_000..20_100].fill(0x99);
    std::fs::write(&disk.image, bytes).expect("it is written");
    let ran = run(&["-o", "new.raw"]);
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.errors.contains("something unknown is at byte 20000"), "{ran:?}");
    assert!(!disk.file("new.raw").exists());
}

/// The superblock of a RAID 1 of one disk (1.2), whose data starts at 1 MiB.
fn md_superblock(data_sectors: u64) -> Vec<u8> {
    let mut block = vec![0; 4096];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &0xa92b_4efc_u32.to_le_bytes());
    put(4, &1_u32.to_le_bytes());
    put(16, b"straddle's array");
    put(72, &1_u32.to_le_bytes());
    put(80, &data_sectors.to_le_bytes());
    put(92, &1_u32.to_le_bytes());
    put(128, &2048_u64.to_le_bytes());
    put(136, &data_sectors.to_le_bytes());
    put(144, &8_u64.to_le_bytes());
    put(168, b"straddle member!");
    put(200, &1_u64.to_le_bytes());
    put(208, &u64::MAX.to_le_bytes());
    put(220, &1_u32.to_le_bytes());
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
    let sum: u64 = block[..258].chunks(4).map(word).sum();
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    block[216..220].copy_from_slice(&sum.to_le_bytes()[..4]);
    block
}

#[test]
fn a_table_on_an_array_in_a_file_is_refused_and_not_taken_for_the_file_s() {
    need_tools!("sfdisk", "mkfs.fat", "mkfs.ext4", "mcopy", "mdel");
    let disk = KINDS[0].disk();
    let inner = read(&disk.image);
    let mut bytes = vec![0; 1 << 20];
    bytes[4096..8192].copy_from_slice(&md_superblock(inner.len() as u64 / 512));
    bytes.extend(inner);
    std::fs::write(&disk.image, &bytes).expect("it is written");
    for way in [&["-o", "new.raw"][..], &["--plan", "plan.json"], &["--dry-run"]] {
        let words = [&["convert", "disk.raw", "--sector", "4096"], way].concat();
        let ran = disk.run(&words);
        assert_eq!(ran.status, Some(3), "{ran:?}");
        assert!(ran.errors.contains("the table is on "), "{ran:?}");
        assert!(ran.errors.contains(" in it"), "{ran:?}");
    }
    let ran = disk.run(&["plan", "disk.raw"]);
    assert_eq!(ran.status, Some(5), "{ran:?}");
    assert!(
        ran.errors.contains("a member of an md array, and the table is in the array"),
        "{ran:?}"
    );
    assert!(!disk.file("new.raw").exists() && !disk.file("plan.json").exists());
    assert!(read(&disk.image) == bytes);
}

#[test]
fn damaged_fats_end_in_a_refusal_or_in_a_sound_image_and_the_source_stays() {
    need_tools!("sfdisk", "mkfs.xfs", "mkfs.fat", "mcopy", "mdel");
    let disk = KINDS[3].disk();
    let sound = disk.file("sound.raw");
    std::fs::rename(&disk.image, &sound).expect("it is renamed");
    let mut random = testkit::random(0x00fa_71fa);
    let mut refused = 0;
    for _ in 0..6 {
        scratch::copy(&sound, &disk.image);
        let file = std::fs::File::options().write(true).open(&disk.image).expect("it opens");
        for _ in 0..8 {
            // The boot sector, both tables and the first directories.
            let at = (1 << 20) + random.below(40 << 10);
            let byte = u8::try_from(random.below(256)).expect("a byte");
            file.write_all_at(&[byte], at).expect("it is written");
        }
        let bytes = read(&disk.image);
        let ran = disk.run(&["convert", "disk.raw", "--sector", "4096", "-o", "new.raw"]);
        assert!(matches!(ran.status, Some(0 | 3)), "{ran:?}");
        assert_eq!(ran.status == Some(0), disk.file("new.raw").exists(), "{ran:?}");
        refused += u32::from(ran.status == Some(3));
        let _ = std::fs::remove_file(disk.file("new.raw"));
        assert!(read(&disk.image) == bytes);
    }
    assert!(refused > 0, "no damage was noticed");
}

#[test]
fn a_signal_ends_a_conversion_with_its_code_and_leaves_no_file() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = vdi(1 << 40);
    let files = || std::fs::read_dir(scratch.path()).expect("it is listed").count();
    for (signal, status) in [("INT", Some(130)), ("KILL", None)] {
        let mut command = by_signals(env!("CARGO_BIN_EXE_straddle"));
        command.args(["convert", "disk.vdi", "--sector", "4096", "-o", "new.raw"]);
        // Its zeros are read for minutes.
        let mut going = Going::with(command.current_dir(scratch.path()));
        let process = going.number();
        going.until("the new file", || holds_new_file(process, scratch.path()));
        // Where files without a name are, nothing else is there even now.
        let is_nameless = files() == 1;
        going.signal(signal);
        let ran = going.ended();
        assert_eq!(ran.status, status, "{ran:?}");
        assert!(files() == 1 || (signal == "KILL" && !is_nameless), "{ran:?}");
    }
}

/// An empty disk with a partition table, in the image `disk.vdi`.
fn vdi(bytes: u64) -> Scratch {
    let scratch = Scratch::new();
    let image = scratch.image("disk.raw", bytes);
    tool::run_with_input("sfdisk", &["-q", scratch::text(&image)], "label: gpt\nsize=1G\n");
    let vdi = scratch.path().join("disk.vdi");
    let [from, to] = [scratch::text(&image), scratch::text(&vdi)];
    tool::run("qemu-img", &["convert", "-f", "raw", "-O", "vdi", from, to]);
    std::fs::remove_file(&image).expect("it is removed");
    scratch
}

#[test]
fn an_image_that_changes_while_it_is_copied_gives_no_new_image() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = vdi(4 << 30);
    let mut command = by_signals(env!("CARGO_BIN_EXE_straddle"));
    command.args(["convert", "disk.vdi", "--sector", "4096", "-o", "new.raw"]);
    let mut going = Going::with(command.current_dir(scratch.path()));
    let process = going.number();
    going.until("the new file", || holds_new_file(process, scratch.path()));
    going.signal("STOP");
    let image = std::fs::File::options().append(true).open(scratch.path().join("disk.vdi"));
    image.and_then(|mut image| image.write_all(b"more")).expect("it is written");
    going.signal("CONT");
    let ran = going.ended();
    assert!(ran.status == Some(1) || ran.status == Some(2), "{ran:?}");
    assert!(ran.errors.contains("since the copy began"), "{ran:?}");
    assert!(!scratch.path().join("new.raw").exists());
}

/// Returns whether a process has a file open below `directory` that is not its source.
fn holds_new_file(process: u32, directory: &Path) -> bool {
    let open = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let mut files = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    files.any(|file| file.starts_with(directory) && !file.ends_with("disk.vdi"))
}

#[test]
fn an_image_that_a_virtual_machine_or_a_loop_device_may_write_is_not_copied() {
    need_tools!("sfdisk", "mkfs.fat", "mkfs.ext4", "mcopy", "mdel", "qemu-system-x86_64");
    let disk = KINDS[0].disk();
    let words = ["convert", "disk.raw", "--sector", "4096", "-o", "new.raw"];
    let refused = |reason: &str| {
        let ran = disk.run(&words);
        assert_eq!(ran.status, Some(3), "{ran:?}");
        assert!(ran.errors.contains(reason), "{ran:?}");
        assert!(!disk.file("new.raw").exists());
    };
    for (read_only, is_refused) in [("off", true), ("on", false)] {
        let mut command = tool::command("qemu-system-x86_64");
        let node = format!("driver=raw,node-name=d,read-only={read_only},file.driver=file");
        let node = format!("{node},file.filename={}", scratch::text(&disk.image));
        command.args(["-nodefaults", "-display", "none", "-machine", "q35", "-S", "-blockdev"]);
        command.args([&node[..], "-device", "virtio-blk-pci,drive=d"]);
        let mut going = Going::with(&mut command);
        let lock = format!(":{} ", std::fs::metadata(&disk.image).expect("it is there").ino());
        going.until("its locks", || {
            std::fs::read_to_string("/proc/locks").is_ok_and(|text| text.contains(&lock))
        });
        if is_refused {
            refused("(qemu-system-x86) has it open for writing");
        } else {
            assert_eq!(disk.run(&words).status, Some(0));
            std::fs::remove_file(disk.file("new.raw")).expect("it is removed");
        }
    }
    testkit::need_loops!();
    let device = testkit::Loop::attach(&disk.image, 512);
    refused(&format!("in use: the loop device {} shows it", scratch::text(device.path())));
}

#[test]
fn an_image_over_a_base_that_is_encrypted_or_elsewhere_is_not_converted() {
    need_tools!("sfdisk", "mkfs.fat", "mkfs.ext4", "mcopy", "mdel", "qemu-img");
    let disk = KINDS[0].disk();
    std::fs::write(disk.file("word"), "word").expect("it is written");
    let qemu_img = |words: &[&str]| {
        let mut program = std::process::Command::new("qemu-img");
        let ran = program.args(words).current_dir(disk.file("")).output();
        ran.expect("qemu-img starts").status.success()
    };
    let secret = ["create", "-q", "--object", "secret,id=k,file=word", "-f"];
    let luks = ["luks", "-o", "key-secret=k,iter-time=10", "base.luks", "64M"];
    let qcow2 = "encrypt.format=luks,encrypt.key-secret=k,encrypt.iter-time=10";
    let qcow2 = ["qcow2", "-o", qcow2, "base.qcow2", "64M"];
    for (make, format, base) in
        [(luks, "luks", "base.luks"), (qcow2, "qcow2", "base.qcow2"), (qcow2, "raw", "../b.raw")]
    {
        // On a busy machine, QEMU may fail to measure how many rounds LUKS should take.
        assert!((0..9).any(|_| qemu_img(&[&secret[..], &make].concat())), "{make:?}");
        assert!(qemu_img(&["convert", "-f", "raw", "-O", "qcow2", "disk.raw", "top.qcow2"]));
        assert!(qemu_img(&["rebase", "-u", "-F", format, "-b", base, "top.qcow2"]));
        for way in [&["-n"][..], &["-o", "new.raw"], &["--plan", "plan.json"]] {
            let words = [&["convert", "top.qcow2", "--sector", "4096"], way].concat();
            let ran = disk.run(&words);
            assert_eq!(ran.status, Some(3), "{base}: {ran:?}");
            assert!(ran.errors.contains("it cannot be read in whole: "), "{ran:?}");
            let is_made = |name: &&str| disk.file(name).exists();
            assert!(!["new.raw", "plan.json"].iter().any(is_made), "{ran:?}");
        }
    }
}

#[test]
fn an_image_that_a_program_has_open_for_writing_without_a_lock_is_not_copied() {
    need_tools!("python3", "sfdisk", "mkfs.fat", "mkfs.ext4", "mcopy", "mdel", "qemu-img");
    let disk = KINDS[0].disk();
    let [base, top] = ["disk.raw", "top.qcow2"];
    let made = ["create", "-q", "-f", "qcow2", "-F", "raw", "-b", base];
    tool::run("qemu-img", &[&made[..], &[scratch::text(&disk.file(top))]].concat());
    let convert = |target: &str, way: &[&str]| {
        let words = [&["convert", target, "--sector", "4096"], way].concat();
        (disk.run(&words), disk.file("new.raw").exists())
    };
    let mut writes = std::fs::File::options();
    let open = writes.read(true).write(true).open(&disk.image).expect("it opens");
    let own = format!("process {} (", std::process::id());
    for (target, subject) in [(base, ""), (top, "disk.raw is ")] {
        let (ran, is_made) = convert(target, &["-o", "new.raw"]);
        assert!(ran.status == Some(3) && !is_made, "{ran:?}");
        let reason = format!("cannot convert {target}: {subject}in use: {own}");
        assert!(ran.errors.contains(&reason), "{ran:?}");
        assert!(ran.errors.contains(") has it open for writing\nhint: ps -fp "), "{ran:?}");
        let (dry, _) = convert(target, &["--dry-run"]);
        assert!(dry.status == Some(0) && dry.out.contains(&own), "{dry:?}");
    }
    drop(open);
    // One that no process shows, wherever the image is named from.
    let hidden = Going::hidden_writer(&disk.image);
    for target in [base, scratch::text(&disk.image)] {
        let (ran, is_made) = convert(target, &["-o", "new.raw"]);
        assert!(ran.status == Some(3) && !is_made, "{ran:?}");
        assert!(ran.errors.contains("somebody has it open for writing"), "{ran:?}");
    }
    drop(hidden);
    let _reader = std::fs::File::open(&disk.image).expect("it opens");
    for target in [base, top] {
        let (ran, is_made) = convert(target, &["-o", "new.raw"]);
        assert!(ran.status == Some(0) && is_made, "{ran:?}");
        std::fs::remove_file(disk.file("new.raw")).expect("it is removed");
    }
}

#[test]
fn a_file_system_or_an_encrypted_volume_on_the_whole_disk_is_named() {
    need_tools!("mkfs.ext4", "cryptsetup");
    let scratch = Scratch::new();
    let image = scratch.image("disk.raw", 64 << 20);
    let refused = |reason: &str| {
        let ran = straddle(scratch.path(), &["convert", "disk.raw", "--sector", "4096", "-n"]);
        assert_eq!(ran.status, Some(3), "{ran:?}");
        assert!(ran.errors.contains(reason) && ran.errors.contains("hint: "), "{ran:?}");
    };
    tool::run("mkfs.ext4", &["-q", scratch::text(&image)]);
    refused("no partition table: ext4 fills the whole disk");
    let format = ["-q", "luksFormat", "--pbkdf=pbkdf2", "--pbkdf-force-iterations=1000"];
    tool::run_with_input("cryptsetup", &[&format[..], &[scratch::text(&image), "-"]].concat(), "x");
    refused("no partition table");
}

#[test]
fn a_device_that_is_open_for_writing_held_or_shown_by_a_loop_device_is_not_copied() {
    need_tools!("sfdisk", "mkfs.fat", "mkfs.ext4", "mcopy", "mdel", "blockdev");
    testkit::need_loops!();
    let disk = KINDS[0].disk();
    let device = testkit::Loop::attach(&disk.image, 512);
    let node = scratch::text(device.path());
    let copied = || disk.run(&["convert", node, "--sector", "4096", "-o", "new.raw"]);
    let refused = |reason: &str| {
        let ran = copied();
        assert_eq!(ran.status, Some(3), "{ran:?}");
        assert!(ran.errors.contains(reason), "{ran:?}");
        assert!(!disk.file("new.raw").exists());
    };
    let open = std::fs::File::options().write(true).open(device.path()).expect("it opens");
    refused("in use: process ");
    let dry = disk.run(&["convert", node, "--sector", "4096", "--dry-run"]);
    let reason = format!("  note     {node} is in use: process ");
    let [reason, advice] = [&reason, "\n  first    ps -fp "].map(|words| dry.out.find(words));
    assert!(dry.status == Some(0) && reason.is_some() && reason < advice, "{dry:?}");
    // What is read-only from now on can be written by whoever had it open before.
    tool::run("blockdev", &["--setro", node]);
    refused("in use: process ");
    tool::run("blockdev", &["--setrw", node]);
    drop(open);
    // As a mount in another namespace does, which is in no table that is read here.
    let mut exclusive = std::fs::File::options();
    let held = exclusive.read(true).custom_flags(O_EXCL).open(device.path()).expect("it opens");
    refused("in use: somebody holds it");
    drop(held);
    let above = testkit::Loop::attach(device.path(), 512);
    refused(&format!("in use: the loop device {} shows", scratch::text(above.path())));
    drop(above);
    let ran = copied();
    assert_eq!(ran.status, Some(0), "{ran:?}");
}
