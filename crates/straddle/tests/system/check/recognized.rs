//! Content that is not read is never called aligned: compressed files, archives, disks of unknown
//! content.

use std::path::Path;
use std::process::{Command, Output};

use testkit::{Scratch, need_tools, tool};

use super::run::{Checked, NO_VERDICT, check, partitioned, straddle, text};

const MIB: u64 = 1 << 20;

/// Layout that old partitioners made: a partition at sector 63.
const AT_63: &str = "label: dos\nstart=63, type=83\n";

/// Asserts that nothing is said of the target but that it is unknown, and why.
fn assert_unknown(checked: &Checked, why: &str) {
    assert_eq!(checked.target["verdict"], "unknown", "{:#}", checked.target);
    assert_eq!(checked.status, NO_VERDICT, "{:#}", checked.target);
    let layers = checked.target["layers"].as_array().expect("layers are a list");
    let reason = layers.last().expect("there is a layer")["reason"].as_str().expect("text");
    assert!(reason.contains(why), "`{reason}` does not say `{why}`");
}

/// The commands that the findings print.
pub(super) fn remedies(checked: &Checked) -> Vec<String> {
    let findings = checked.target["findings"].as_array().expect("findings are a list");
    let remedies = findings.iter().flat_map(|finding| finding["remedies"].as_array()).flatten();
    remedies.map(|remedy| remedy.as_str().expect("text").to_owned()).collect()
}

/// Packs `disk.raw` in `directory` by `command`, checks `packed`, types what is printed, and checks
/// what comes out of it.
fn packed_and_unpacked(command: &str, packed: &str, why: &str, unpacked: &str) {
    let scratch = Scratch::in_memory().unwrap_or_else(Scratch::new);
    let raw = partitioned(&scratch, "disk.raw", 8 * MIB, AT_63);
    sh(scratch.path(), command);
    std::fs::remove_file(&raw).expect("the disk was there");
    let packed = scratch.path().join(packed);
    let checked = check(&[text(&packed)]);
    assert_unknown(&checked, why);
    let [typed] = remedies(&checked).try_into().expect("one command is printed");
    sh(scratch.path(), &typed);
    let checked = check(&[text(&scratch.path().join(unpacked))]);
    assert!(checked.has("ST102", "warning"), "{typed}: {:#}", checked.target);
    assert!(packed.exists(), "{typed} keeps the file");
}

pub(super) fn sh(directory: &Path, command: &str) {
    let output = Command::new("sh").args(["-euc", command]).current_dir(directory).output();
    let output = output.expect("sh runs");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_compressed_image_is_unknown_and_the_printed_command_unpacks_it() {
    need_tools!("sfdisk", "gzip", "xz", "zstd", "bzip2", "lz4", "lzop");
    for (command, packed, why) in [
        ("gzip disk.raw", "disk.raw.gz", "gzip-compressed: decompress it first"),
        ("xz disk.raw", "disk.raw.xz", "xz-compressed"),
        ("zstd -q disk.raw", "disk.raw.zst", "Zstandard-compressed"),
        ("bzip2 disk.raw", "disk.raw.bz2", "bzip2-compressed"),
        ("lz4 -q disk.raw disk.raw.lz4", "disk.raw.lz4", "LZ4-compressed"),
        ("lzop -q disk.raw", "disk.raw.lzo", "lzop-compressed"),
        ("gzip -c disk.raw > 'a b.img'", "a b.img", "gzip-compressed"),
    ] {
        let keeps = format!("{command}; test -e disk.raw || : > disk.raw");
        packed_and_unpacked(&keeps, packed, why, &format!("{packed}.raw"));
    }
}

#[test]
fn an_archive_is_unknown_and_the_printed_command_unpacks_it() {
    need_tools!("sfdisk", "zip", "unzip", "tar", "7z", "cpio");
    for (command, packed, why) in [
        ("zip -q disk.zip disk.raw", "disk.zip", "ZIP archive: unpack it first"),
        ("tar -cf disk.ova disk.raw", "disk.ova", "tar archive"),
        ("7z a disk.7z disk.raw", "disk.7z", "7z archive"),
    ] {
        packed_and_unpacked(command, packed, why, "disk.raw");
    }
    // cpio writes over files that are there: it is given a directory of its own.
    let command = "echo disk.raw | cpio -o -H newc > disk.cpio";
    packed_and_unpacked(command, "disk.cpio", "cpio archive", "disk.cpio.raw/disk.raw");
}

#[test]
fn an_android_sparse_image_is_unknown_and_the_printed_command_converts_it() {
    need_tools!("sfdisk", "img2simg", "simg2img");
    let command = "img2simg disk.raw system.simg";
    packed_and_unpacked(command, "system.simg", "Android sparse image", "system.simg.raw");
}

#[test]
fn unrecognized_bytes_are_unknown() {
    let scratch = Scratch::new();
    let noise: Vec<u8> = (0..MIB).map(|n| n.wrapping_mul(0x9e37_79b9).to_le_bytes()[2]).collect();
    let text_file = "root:x:0:0:root:/root:/bin/bash\n".repeat(40);
    for (name, bytes, why) in [
        ("none.img", &b""[..], "0 bytes long"),
        ("passwd", text_file.as_bytes(), "nothing recognized"),
        ("noise.raw", &noise, "nothing recognized"),
    ] {
        assert_unknown(&check(&[text(&scratch.file(name, bytes))]), why);
    }
}

#[test]
fn a_blank_disk_and_one_without_partitions_are_empty_in_every_format() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = Scratch::new();
    let blank = scratch.image("blank.raw", 64 * MIB);
    let tabled = partitioned(&scratch, "tabled.raw", 64 * MIB, "label: gpt\n");
    for (raw, why) in [(&blank, "blank"), (&tabled, "lists no partition")] {
        for format in ["raw", "qcow2", "vmdk", "vhdx"] {
            let image = scratch.path().join(format!("image.{format}"));
            tool::run("qemu-img", &["convert", "-O", format, text(raw), text(&image)]);
            let checked = check(&[text(&image)]);
            assert_eq!(checked.target["verdict"], "empty", "{format}: {:#}", checked.target);
            assert_eq!(checked.status, 0, "{format}: {:?}", checked.findings());
            let layers = checked.target["layers"].as_array().expect("layers are a list");
            let reason = layers.last().expect("there is a layer")["reason"].to_string();
            assert!(reason.contains(why), "{format}: {reason}");
        }
    }
}

#[test]
fn a_directory_names_what_it_leaves_out_and_counts_what_may_be_a_disk() {
    need_tools!("sfdisk", "gzip");
    let scratch = Scratch::new();
    let good = partitioned(&scratch, "good.raw", 64 * MIB, "label: gpt\nstart=2048\n");
    for beside in ["README", "SHA256SUMS", "disk.json", "empty"] {
        let _file = scratch.file(beside, beside.trim_start_matches("empty").as_bytes());
    }
    let _picture = scratch.file("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    let output = straddle(&["check", text(scratch.path())]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{errors}");
    for beside in ["README", "SHA256SUMS", "disk.json", "empty", "logo.png"] {
        assert!(errors.contains(beside), "{beside} is named: {errors}");
    }
    let may_be_disks: [(&str, &[u8]); 4] = [
        ("lost.img", b""),
        ("page.qcow2", b"<html>404</html>"),
        ("vm-100-disk-0", &[1; 4096]),
        ("disk.raw.gz", b"\x1f\x8b\x08\0"),
    ];
    for (name, bytes) in may_be_disks {
        let file = scratch.file(name, bytes);
        let output = straddle(&["check", text(scratch.path())]);
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(NO_VERDICT), "{name}: {shown}");
        assert!(shown.contains(&name[name.len() - 4..]) && shown.contains("1 unknown"), "{shown}");
        std::fs::remove_file(file).expect("it was there");
    }
    assert!(good.exists());
}

#[test]
fn what_is_named_like_an_image_and_is_no_file_is_unknown_and_other_names_are_left_out() {
    need_tools!("sfdisk", "mkfifo");
    let scratch = Scratch::new();
    let good = partitioned(&scratch, "good.raw", 64 * MIB, "label: gpt\nstart=2048\n");
    let at = |name: &str| scratch.path().join(name);
    let fifo = |name: &str| tool::run("mkfifo", &[text(&at(name))]);
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, at(name)).unwrap();
    link("nowhere", "current");
    fifo("pipe");
    let shown = |code| {
        let output = straddle(&["check", "--explain", text(scratch.path())]);
        let errors = String::from_utf8(output.stderr).unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{shown}{errors}");
        assert!(!shown.contains("ST407"), "{shown}");
        assert!(errors.contains("/current") && errors.contains("/pipe"), "{errors}");
        shown
    };
    assert!(shown(0).contains("No findings."));
    link("nowhere", "gone.raw");
    link("/dev/null", "null.img");
    link(".", "loop.qcow2");
    fifo("pipe.raw");
    let shown = shown(NO_VERDICT);
    for what in ["a link to nothing", "a link to a character device", "a FIFO"] {
        assert!(shown.contains(what), "{what}: {shown}");
    }
    assert!(
        shown.contains("a link to a directory") && shown.contains("4 layers are unknown"),
        "{shown}"
    );
    assert!(good.exists());
}

#[test]
fn a_directory_of_which_all_is_left_out_is_an_error_in_every_format() {
    let scratch = Scratch::new();
    let _ = scratch.file("README", b"no image");
    let directory = text(scratch.path());
    for format in super::FORMATS {
        let output = straddle(&["check", "--format", format, directory]);
        let (shown, errors) = (text_of(&output.stdout), text_of(&output.stderr));
        let code = match format {
            "nagios" => 3,
            _ => 2,
        };
        assert_eq!(output.status.code(), Some(code), "{format}: {shown}{errors}");
        let says = |text: &str| text.contains("no disk image is in it");
        assert!(errors.starts_with("error: cannot read ") && says(&errors), "{errors}");
        assert!(errors.contains("README"), "{errors}");
        let is_short = matches!(format, "table" | "npd" | "prometheus");
        assert!(is_short || says(&shown), "{format}: {shown}");
        assert!(!shown.contains("No findings"), "{shown}");
    }
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("it prints UTF-8")
}

#[test]
fn an_encrypted_qcow2_is_unknown_and_never_aligned() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = Scratch::new();
    let raw = partitioned(&scratch, "disk.raw", 16 * MIB, AT_63);
    for (format, more) in [("luks", ",encrypt.iter-time=10"), ("aes", "")] {
        let image = scratch.path().join(format!("{format}.qcow2"));
        let options = format!("encrypt.format={format},encrypt.key-secret=s{more}");
        let secret = ["--object", "secret,id=s,data=key", "-o", &options];
        let command = [&["convert", "-O", "qcow2"][..], &secret, &[text(&raw), text(&image)]];
        let made = encrypted(&command.concat());
        if !made.status.success() && format == "aes" {
            // Newer versions make no such images any more.
            continue;
        }
        assert!(made.status.success(), "{}", text_of(&made.stderr));
        assert_unknown(&check(&[text(&image)]), "encrypted");
        for words in [&["plan"][..], &["convert", "--dry-run", "--sector", "4096"]] {
            let ran = straddle(&[words, &[text(&image)]].concat());
            assert_eq!(ran.status.code(), Some(if words.len() == 1 { 5 } else { 3 }), "{ran:?}");
            assert!(text_of(&ran.stderr).contains(": encrypted: "), "{ran:?}");
        }
    }
}

/// Answer of qemu-img, told to encrypt. It times its key derivation by the CPU time of its thread, which the kernel counts in ticks: where none passed meanwhile it gives up with
/// the words below (QEMU, `crypto/pbkdf.c`), and the next try is likely to work.
fn encrypted(command: &[&str]) -> Output {
    const TRIES: usize = 50;
    for _ in 1..TRIES {
        let made = tool::output("qemu-img", command);
        if !text_of(&made.stderr).contains("Unable to get accurate CPU usage") {
            return made;
        }
    }
    tool::output("qemu-img", command)
}
