//! Image formats that move the guest's data.

use std::path::Path;

use testkit::{Scratch, need_tools, tool};

use super::run::{check, partitioned, place, straddle, text};

const MIB: u64 = 1 << 20;

/// An image whose guest has one partition at 1 MiB, full of data, in `format`.
fn full(scratch: &Scratch, format: &str, options: &str) -> std::path::PathBuf {
    let raw = partitioned(scratch, "disk.raw", 64 * MIB, "label: dos\nstart=2048\n");
    let target = scratch.path().join(format!("disk.{format}"));
    tool::run("qemu-io", &["-f", "raw", "-c", "write -P 0x5a 1M 63M", text(&raw)]);
    let mut arguments = vec!["convert", "-f", "raw", "-O", format];
    if !options.is_empty() {
        arguments.extend(["-o", options]);
    }
    arguments.extend([text(&raw), text(&target)]);
    tool::run("qemu-img", &arguments);
    target
}

#[test]
fn a_dynamic_vhd_with_a_partition_at_1_mib_is_mostly_misaligned_in_percent() {
    need_tools!("sfdisk", "qemu-img", "qemu-io");
    let scratch = Scratch::new();
    let image = full(&scratch, "vpc", "subformat=dynamic,force_size=on");
    let checked = check(&[text(&image)]);
    let partition = checked.layer("partition", "#1");
    assert_eq!(partition["verdict"], "misaligned", "{:#}", checked.target);
    let share = partition["misalignment"]["share_percent"].as_f64().unwrap();
    assert!((80.0..95.0).contains(&share), "seven of eight blocks are off: {share}");
    assert!(checked.has("ST501", "warning"), "{:?}", checked.findings());
    assert_eq!(checked.layer("image-format", "")["first_bad"], true);
    assert_eq!(checked.status, 1);
}

#[test]
fn the_same_guest_in_qcow2_vhdx_vmdk_and_fixed_vhd_is_aligned() {
    need_tools!("sfdisk", "qemu-img", "qemu-io");
    for (format, options) in
        [("qcow2", ""), ("vmdk", ""), ("vhdx", ""), ("vpc", "subformat=fixed,force_size=on")]
    {
        let scratch = Scratch::new();
        let checked = check(&[text(&full(&scratch, format, options))]);
        assert_eq!(checked.verdict("partition", "#1"), "aligned", "{format}: {:#}", checked.target);
        assert_eq!(checked.status, 0, "{format}: {:?}", checked.findings());
    }
}

#[test]
fn a_vdi_whose_data_starts_1_kib_into_the_file_takes_the_whole_guest_with_it() {
    need_tools!("sfdisk", "qemu-img", "qemu-io");
    let scratch = Scratch::new();
    // QEMU puts the data right after a block map of 512 bytes.
    let checked = check(&[text(&full(&scratch, "vdi", ""))]);
    let format = checked.layer("image-format", "");
    assert_eq!(format["misalignment"]["offset_bytes"].as_u64(), Some(1024));
    assert_eq!(checked.layer("partition", "#1")["inherited"], true);
    assert!(checked.has("ST501", "warning"), "{:?}", checked.findings());
}

#[test]
fn a_gpt_for_4096_byte_sectors_is_said_alike_in_every_format() {
    need_tools!("sfdisk", "losetup", "qemu-img");
    testkit::need_loops!();
    let scratch = Scratch::new();
    let raw = scratch.image("disk.raw", 64 * MIB);
    let disk = testkit::Loop::attach(&raw, 4096);
    tool::run_with_input("sfdisk", &["-q", text(disk.path())], "label: gpt\nstart=256\n");
    drop(disk);
    for format in ["raw", "qcow2", "vmdk", "vdi", "vpc", "vhdx"] {
        let image = scratch.path().join(format!("new.{format}"));
        tool::run("qemu-img", &["convert", "-f", "raw", "-O", format, text(&raw), text(&image)]);
        let checked = check(&[text(&image)]);
        assert!(checked.has("ST301", "info"), "{format}: {:?}", checked.findings());
        let start = checked.layer("partition", "#1")["start_bytes"].as_u64();
        assert_eq!(start, Some(MIB), "{format}");
        let told = check(&[text(&image), "--on", "512e"]);
        assert!(told.has("ST301", "error"), "{format}: {:?}", told.findings());
        assert!(!check(&[text(&image), "--on", "4Kn"]).has("ST301", "error"), "{format}");
    }
}

#[test]
fn clusters_below_the_granule_are_named() {
    need_tools!("sfdisk", "qemu-img", "qemu-io");
    let scratch = Scratch::new();
    let checked = check(&[text(&full(&scratch, "qcow2", "cluster_size=512"))]);
    assert!(checked.has("ST502", "warning"), "{:?}", checked.findings());
}

#[test]
fn what_lies_in_a_backing_file_is_read_and_a_circle_of_them_ends() {
    need_tools!("sfdisk", "qemu-img", "qemu-io");
    let scratch = Scratch::new();
    let base = full(&scratch, "qcow2", "");
    let top = scratch.path().join("top.qcow2");
    tool::run(
        "qemu-img",
        &["create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", text(&base), text(&top)],
    );
    let checked = check(&[text(&top)]);
    assert_eq!(checked.verdict("partition", "#1"), "aligned", "{:#}", checked.target);
    // Rebase unsafely onto itself, as a mistake would.
    tool::run(
        "qemu-img",
        &["rebase", "-u", "-f", "qcow2", "-F", "qcow2", "-b", text(&top), text(&base)],
    );
    let checked = check(&[text(&top)]);
    assert!(checked.has("ST405", "warning"), "{:?}", checked.findings());
}

#[test]
fn a_missing_backing_file_is_said_and_nothing_is_guessed() {
    need_tools!("qemu-img");
    let scratch = Scratch::new();
    let top = scratch.path().join("top.qcow2");
    let missing = scratch.path().join("gone.raw");
    let arguments =
        ["create", "-q", "-u", "-f", "qcow2", "-F", "raw", "-b", text(&missing), text(&top), "64M"];
    tool::run("qemu-img", &arguments);
    let checked = check(&[text(&top)]);
    let only = [("ST503".to_owned(), "warning".to_owned())];
    assert_eq!(checked.findings(), only, "nothing but the file that is missing is to be mended");
    assert!(checked.target.to_string().contains("No such file"), "{:#}", checked.target);
    assert!(!checked.target.to_string().contains("os error"), "{:#}", checked.target);
}

#[test]
fn an_image_whose_backing_file_is_missing_is_unknown_and_not_aligned() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = Scratch::new();
    let raw = partitioned(&scratch, "base.raw", 64 * MIB, "label: dos\nstart=2048\n");
    let top = scratch.path().join("top.qcow2");
    let arguments = ["create", "-q", "-f", "qcow2", "-F", "raw", "-b", text(&raw), text(&top)];
    tool::run("qemu-img", &arguments);
    assert_eq!(check(&[text(&top), "--on", "512e"]).verdict("partition", "#1"), "aligned");
    std::fs::remove_file(&raw).expect("it is there");
    let checked = check(&[text(&top), "--on", "512e"]);
    assert_eq!(checked.verdict("image-format", ""), "unknown", "{:#}", checked.target);
    assert!(checked.has("ST503", "warning"), "{:?}", checked.findings());
    assert_eq!(checked.status, 1, "the warning that a file was not read is a finding");
}

#[test]
fn an_encrypted_image_or_base_is_unknown_and_the_printed_command_decrypts_it() {
    need_tools!("sfdisk", "qemu-img");
    for (format, more) in [("luks", ",encrypt.iter-time=10"), ("aes", "")] {
        let scratch = Scratch::new();
        let raw = partitioned(&scratch, "disk.raw", 16 * MIB, "label: dos\nstart=2048\n");
        let word = scratch.file("PASSWORD_FILE", b"word");
        let [base, top] = ["base,1.qcow2", "top.qcow2"].map(|name| scratch.path().join(name));
        let secret = format!("secret,id=k,file={}", text(&word));
        let options = format!("encrypt.format={format},encrypt.key-secret=k{more}");
        let words = ["convert", "-f", "raw", "-O", "qcow2", "--object", &secret, "-o", &options];
        let words = [&words[..], &[text(&raw), text(&base)]].concat();
        // On a busy machine, QEMU may fail to measure how many rounds LUKS should take.
        assert!((0..9).any(|_| tool::output("qemu-img", &words).status.success()), "{words:?}");
        let words = ["create", "-q", "-u", "-f", "qcow2", "-F", "qcow2", "-b", text(&base)];
        tool::run("qemu-img", &[&words[..], &[text(&top), "16M"]].concat());
        for (image, said) in
            [(&base, "base,1.qcow2 is"), (&top, "the backing file base,1.qcow2 is")]
        {
            let checked = check(&[text(image)]);
            let layers = checked.target["layers"].as_array().expect("layers are a list");
            let formats = layers.iter().filter(|layer| layer["kind"] == "image-format");
            let judged: Vec<_> = formats.map(|layer| &layer["verdict"]).collect();
            assert!(judged.iter().all(|verdict| **verdict == "unknown"), "{:#}", checked.target);
            assert_eq!(checked.status, super::run::NO_VERDICT);
            assert_eq!(checked.findings(), [("ST408".to_owned(), "info".to_owned())]);
            let finding = &checked.target["findings"][0];
            assert_eq!(finding["evidence"][0], format!("{said} encrypted"));
            let remedy = finding["remedies"][0].as_str().expect("a line");
            let command = remedy.split_once(": ").map(|(_, command)| command).expect("a command");
            let mut shell = std::process::Command::new("sh");
            let typed = shell.args(["-ec", command]).current_dir(scratch.path()).status();
            assert!(typed.expect("a shell starts").success(), "{command}");
            let copy = scratch.path().join(format!("{}.raw", text(image)));
            let read = |path: &Path| std::fs::read(path).expect("it is read");
            assert!(read(&copy) == read(&raw), "{command}");
        }
    }
}

#[test]
fn an_image_that_was_cut_short_is_told_to_be_fetched_again() {
    need_tools!("sfdisk", "qemu-img", "qemu-io");
    let scratch = Scratch::new();
    for format in ["qcow2", "vmdk", "vdi", "vhdx", "vpc"] {
        let image = full(&scratch, format, "");
        assert!(!check(&[text(&image)]).has("ST403", "warning"), "{format} is whole");
        let whole = std::fs::metadata(&image).expect("it is there").len();
        // As a download that breaks off near its end, and near its start.
        for length in [whole / 4 * 3, whole / 16] {
            cut(&image, length);
            let checked = check(&[text(&image)]);
            assert!(checked.has("ST403", "warning"), "{format} {length}: {:#}", checked.target);
            let said = checked.target.to_string();
            assert!(said.contains("get the whole file again"), "{format} {length}: {said}");
        }
    }
}

#[test]
fn a_damaged_header_fails_a_gate_in_every_format() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = Scratch::new();
    let raw = partitioned(&scratch, "disk.raw", 64 * MIB, "label: dos\nstart=2048\n");
    // Bits of a cluster; bytes of a block; sectors of a grain; the signature of the metadata.
    for (format, at) in [("qcow2", 20), ("vdi", 0x178), ("vmdk", 20), ("vhdx", 3 * MIB)] {
        let image = scratch.path().join(format!("disk.{format}"));
        tool::run("qemu-img", &["convert", "-O", format, text(&raw), text(&image)]);
        let mut file = std::fs::OpenOptions::new().write(true).open(&image).expect("it opens");
        std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(at)).expect("it seeks");
        std::io::Write::write_all(&mut file, &[0xff; 4]).expect("it is written");
        let checked = check(&[text(&image)]);
        assert!(checked.has("ST402", "warning"), "{format}: {:#}", checked.target);
        assert_eq!(checked.status, 1, "{format}");
    }
}

#[test]
fn compressed_clusters_of_a_qcow2_are_told() {
    need_tools!("sfdisk", "qemu-img", "qemu-io");
    let scratch = Scratch::new();
    let raw = partitioned(&scratch, "base.raw", 64 * MIB, "label: dos\nstart=2048\n");
    tool::run("qemu-io", &["-f", "raw", "-c", "write -P 0x5a 1M 32M", text(&raw)]);
    let image = scratch.path().join("small.qcow2");
    tool::run("qemu-img", &["convert", "-c", "-O", "qcow2", text(&raw), text(&image)]);
    let checked = check(&[text(&image), "--on", "512e"]);
    assert!(checked.has("ST504", "info"), "{:?}", checked.findings());
    let plain = scratch.path().join("plain.qcow2");
    tool::run("qemu-img", &["convert", "-O", "qcow2", text(&raw), text(&plain)]);
    assert!(!check(&[text(&plain), "--on", "512e"]).has("ST504", "info"));
}

#[test]
fn an_mbr_written_for_512_keeps_its_places_on_4kn_where_only_those_fit_the_disk() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, "label: dos\nstart=2048\n");
    let checked = check(&[text(&image), "--on", "4Kn"]);
    let start = checked.layer("partition", "#1")["start_bytes"].as_u64();
    assert_eq!(start, Some(MIB), "{:#}", checked.target);
    assert!(checked.has("ST301", "error"), "{:?}", checked.findings());
    assert!(!checked.has("ST403", "warning"));
}

#[test]
fn a_gpt_on_a_disk_that_grew_is_one_finding_about_its_copies() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, "label: gpt\nstart=2048\n");
    let file = std::fs::OpenOptions::new().write(true).open(&image).expect("it opens");
    file.set_len(80 * MIB).expect("it grows");
    let checked = check(&[text(&image), "--on", "512e"]);
    assert!(checked.has("ST406", "warning"), "{:?}", checked.findings());
    assert!(!checked.has("ST402", "warning"), "{:?}", checked.findings());
}

#[test]
fn a_vhd_whose_size_was_rounded_up_says_so_and_fixes_that_are_alternatives_say_or() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = Scratch::new();
    let raw = partitioned(&scratch, "disk.raw", 64 * MIB, "label: gpt\nstart=2048\n");
    let vhd = scratch.path().join("disk.vhd");
    tool::run("qemu-img", &["convert", "-O", "vpc", text(&raw), text(&vhd)]);
    let exact = scratch.path().join("exact.vhd");
    let options = ["convert", "-O", "vpc", "-o", "force_size=on", text(&raw), text(&exact)];
    tool::run("qemu-img", &options);
    let finding = |vhd: &Path, code: &str| {
        let checked = check(&[text(vhd)]);
        let findings = checked.target["findings"].as_array().expect("findings are a list");
        findings.iter().find(|found| found["code"] == code).expect("it is found").clone()
    };
    let seen = finding(&vhd, "ST406")["evidence"][0].to_string();
    assert!(seen.contains("a VHD's size is rounded up to whole cylinders"), "{seen}");
    // Steps of one fix, which settles both, or alternatives where it is not needed.
    for (vhd, code, line, begins) in [
        (&vhd, "ST406", 1, "then repair"),
        (&vhd, "ST501", 0, "the steps of ST406 settle this too"),
        (&exact, "ST501", 1, "or, if it must stay a VHD: test"),
    ] {
        let said = finding(vhd, code)["remedies"][line].as_str().expect("a line").to_owned();
        assert!(said.starts_with(begins), "{said}");
    }
}

/// A VMDK descriptor whose one flat extent is `extent`, of 64 MiB.
fn descriptor(extent: &str) -> String {
    format!(
        "# Disk DescriptorFile\nversion=1\nCID=fffffffe\nparentCID=ffffffff\n\
         createType=\"monolithicFlat\"\nRW 131072 FLAT \"{extent}\" 0\n\
         ddb.adapterType = \"ide\"\n"
    )
}

#[test]
fn files_outside_of_the_images_directory_are_read_only_where_that_is_asked() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let secret = partitioned(&scratch, "secret.raw", 64 * MIB, "label: dos\nstart=2048\n");
    let directory = scratch.path().join("images");
    std::fs::create_dir(&directory).unwrap();
    std::os::unix::fs::symlink(&secret, directory.join("link.raw")).unwrap();
    let image = directory.join("disk.vmdk");
    for name in [text(&secret), "../secret.raw", "link.raw"] {
        std::fs::write(&image, descriptor(name)).unwrap();
        let checked = check(&[text(&image)]);
        assert_eq!(checked.target["verdict"], "unknown", "{:#}", checked.target);
        let shown = checked.target.to_string();
        assert!(shown.contains("which is not in its directory"), "{shown}");
        assert!(!shown.contains("partition-table"), "{shown}");
        let asked = check(&[text(&image), "--follow-references"]);
        assert_eq!(asked.verdict("partition", "#1"), "aligned", "{:#}", asked.target);
        let found = check(&[text(&directory), "--follow-references"]);
        assert_eq!(found.target["verdict"], "unknown", "{:#}", found.target);
    }
    std::fs::remove_file(directory.join("link.raw")).unwrap();
    std::fs::rename(&secret, directory.join("secret.raw")).unwrap();
    for name in [text(&directory.join("secret.raw")), "secret.raw"] {
        std::fs::write(&image, descriptor(name)).unwrap();
        assert_eq!(check(&[text(&image)]).verdict("partition", "#1"), "aligned");
    }
}

#[test]
fn an_extent_file_that_is_too_short_leaves_the_disk_unknown() {
    let scratch = Scratch::new();
    let _ = scratch.image("flat.raw", 8 * MIB);
    let image = scratch.file("disk.vmdk", descriptor("flat.raw").as_bytes());
    let checked = check(&[text(&image)]);
    assert_eq!(checked.target["verdict"], "unknown", "{:#}", checked.target);
    assert!(checked.target.to_string().contains("`flat.raw` is too short"), "{:#}", checked.target);
}

/// Cuts the file at `path`.
fn cut(path: &Path, length_bytes: u64) {
    let file = std::fs::OpenOptions::new().write(true).open(path).expect("it is opened");
    file.set_len(length_bytes).expect("it is cut");
}

/// The remedies of the first finding on `image`.
fn remedies(image: &Path) -> String {
    check(&[text(image)]).target["findings"][0]["remedies"].to_string()
}

#[test]
fn an_end_that_no_plan_can_move_needs_no_action() {
    need_tools!("sgdisk", "sfdisk", "mkfs.ntfs", "dd");
    let scratch = Scratch::new();
    let usual = scratch.image("usual.raw", 100 * MIB);
    tool::run("sgdisk", &["-n", "1:2048", text(&usual)]);
    assert!(check(&[text(&usual)]).has("ST106", "info"), "sgdisk ends at the last usable sector");
    let script = "label: dos\nstart=2048,size=100001,type=7\n";
    let ntfs = partitioned(&scratch, "ntfs.raw", 100 * MIB, script);
    let system = scratch.image("ntfs", 100_001 * 512);
    tool::run("mkfs.ntfs", &["-q", "-f", "-F", text(&system)]);
    place(&system, &ntfs, MIB);
    for image in [usual, ntfs] {
        let said = remedies(&image);
        assert!(said.contains("no action needed; to see whether"), "{said}");
        let plan = straddle(&["plan", text(&image)]);
        let said = String::from_utf8_lossy(&plan.stdout).into_owned();
        assert!(said.contains("no move would help"), "{said}");
    }
}

#[test]
fn a_copy_of_a_device_of_a_btrfs_is_not_the_other_device() {
    need_tools!("mkfs.btrfs");
    let scratch = Scratch::new();
    let [one, two] = ["one", "two"].map(|name| scratch.image(name, 200 * MIB));
    tool::run("mkfs.btrfs", &["-q", "-f", "-d", "raid0", text(&one), text(&two)]);
    assert_eq!(check(&[text(&one), text(&two)]).findings(), [], "both are given");
    let copy = scratch.path().join("copy");
    tool::run("cp", &["--sparse=always", text(&one), text(&copy)]);
    for given in [&[&one, &copy][..], &[&one, &two, &copy]] {
        let given: Vec<&str> = given.iter().map(|path| text(path)).collect();
        let checked = check(&given);
        assert!(checked.has("ST411", "info"), "{:?}", checked.findings());
        assert!(checked.target.to_string().contains("given more than once"), "{given:?}");
    }
}

#[test]
fn what_has_no_offset_says_why_also_on_a_format_that_is_misaligned() {
    need_tools!("sfdisk", "qemu-img", "qemu-io");
    let scratch = Scratch::new();
    let table = "label: dos\nstart=2048,size=2048\nstart=65536,size=20480\n";
    let raw = partitioned(&scratch, "disk.raw", 64 * MIB, table);
    tool::run("qemu-io", &["-f", "raw", "-c", "write -P 0x5a 1M 1M", text(&raw)]);
    let image = scratch.path().join("disk.qcow2");
    let options = ["convert", "-f", "raw", "-O", "qcow2", "-o", "cluster_size=512"];
    tool::run("qemu-img", &[&options[..], &[text(&raw), text(&image)]].concat());
    let shown = straddle(&["check", text(&image)]).stdout;
    let shown = String::from_utf8_lossy(&shown);
    assert!(shown.contains("not expressible"), "{shown}");
    assert!(
        shown.contains("why    clusters of 512 bytes are placed at their first write"),
        "{shown}"
    );
}

#[test]
fn an_image_with_a_backing_file_is_planned_in_a_raw_copy_for_other_sectors() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = Scratch::new();
    partitioned(&scratch, "base.raw", 64 * MIB, "label: gpt\nstart=2048\n");
    let image = scratch.path().join("disk.qcow2");
    let options = ["create", "-q", "-f", "qcow2", "-F", "raw", "-b", "base.raw"];
    tool::run("qemu-img", &[&options[..], &[text(&image)]].concat());
    let checked = check(&[text(&image), "--on", "4Kn"]);
    assert!(checked.has("ST301", "error"), "{:?}", checked.findings());
    let remedies = checked.target["findings"][0]["remedies"].to_string();
    assert!(remedies.contains("copy the guest's disk to a raw file"), "{remedies}");
    assert!(remedies.contains("disk.qcow2.raw --on 4Kn"), "{remedies}");
    let shown = straddle(&["check", text(&image)]).stdout;
    let shown = String::from_utf8_lossy(&shown);
    assert!(shown.contains("holds data of qcow2, shown above"), "{shown}");
}

#[test]
fn a_list_names_the_finding_of_its_verdict_and_a_worse_one() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = Scratch::new();
    let raw = partitioned(&scratch, "disk.raw", 24 * MIB, "label: gpt\nstart=2048\n");
    let image = scratch.path().join("disk.vhd");
    tool::run("qemu-img", &["convert", "-f", "raw", "-O", "vpc", text(&raw), text(&image)]);
    let shown = |on: &str| {
        let shown = straddle(&["check", text(&raw), text(&image), "--on", on]).stdout;
        String::from_utf8_lossy(&shown).into_owned()
    };
    let list = shown("512e");
    // The damaged table, ST406, is not what the word "misaligned" is about.
    assert!(list.contains("ST501") && !list.contains("ST406"), "{list}");
    let list = shown("4Kn");
    assert!(list.contains("ST501 warning, ST301 error"), "{list}");
}

#[test]
fn a_lost_gpt_is_missing_whatever_the_sectors_and_is_no_mbr_for_others() {
    let scratch = Scratch::new();
    let image = scratch.image("lost.raw", 300 << 20);
    // What protects a GPT of 65,536 sectors of 4096 bytes.
    let entry = [0, 0, 2, 0, 0xee, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0xff, 0xff, 0, 0];
    let file = std::fs::File::options().write(true).open(&image).expect("it opens");
    let put = |at: u64, bytes: &[u8]| {
        std::os::unix::fs::FileExt::write_all_at(&file, bytes, at).expect("it is written");
    };
    put(446, &entry);
    put(510, &[0x55, 0xaa]);
    for on in ["512e", "4Kn"] {
        let checked = check(&["--on", on, text(&image)]);
        let said = checked.target["findings"].to_string();
        assert!(said.contains("the GPT is missing") && !said.contains("ST301"), "{on}: {said}");
    }
}

#[test]
fn no_plan_is_offered_of_a_table_that_is_damaged() {
    need_tools!("sgdisk");
    let scratch = Scratch::new();
    let image = scratch.image("cut.raw", 64 << 20);
    tool::run("sgdisk", &["-a1", "-n1:34:100033", text(&image)]);
    cut(&image, 60 << 20);
    let checked = check(&[text(&image)]);
    assert!(checked.has("ST102", "warning"), "{:?}", checked.findings());
    let said = checked.target["findings"].to_string();
    assert!(said.contains("first do the fix of ST4"), "{said}");
    assert!(!said.contains("straddle plan"), "{said}");
}

#[test]
fn the_table_of_a_guest_is_mended_in_a_raw_copy() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = Scratch::new();
    let raw = partitioned(&scratch, "disk.raw", 64 << 20, "label: dos\nstart=2048\n");
    cut(&raw, 40 << 20);
    let image = scratch.path().join("disk.qcow2");
    tool::run("qemu-img", &["convert", "-f", "raw", "-O", "qcow2", text(&raw), text(&image)]);
    let checked = check(&[text(&image)]);
    let said = checked.target["findings"].to_string();
    assert!(said.contains("ST403") && said.contains("qemu-img convert -O raw"), "{said}");
    assert!(!said.contains("qemu-img check"), "that looks at the image's own tables: {said}");
}

#[test]
fn a_format_that_is_not_read_is_named_with_what_to_do_and_no_number_of_bytes() {
    need_tools!("qemu-img");
    let scratch = Scratch::new();
    for format in ["qed", "parallels"] {
        let image = scratch.path().join(format!("disk.{format}"));
        tool::run("qemu-img", &["create", "-q", "-f", format, text(&image), "64M"]);
        let checked = check(&[text(&image)]);
        assert_eq!(checked.status, 5, "{:#}", checked.target);
        let said = checked.target["layers"].to_string();
        assert!(said.contains("not read, convert it first"), "{said}");
        assert!(!said.contains("18446744073709551615"), "{said}");
    }
}

#[test]
fn a_length_is_blamed_for_the_next_start_only_where_it_pushed_it_off() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let on = "512e,stripe=512Kx3+1";
    // Starts that are off the full stripe already, lengths of whole granules; then odd lengths.
    for (start, size, blamed) in [(2048, 128, false), (6144, 128, true), (2048, 2049, true)] {
        let script =
            format!("label: gpt\nstart={start},size={size}\nstart={},size=20480\n", start + size);
        let image = partitioned(&scratch, "disk.raw", 32 * MIB, &script);
        let checked = check(&[text(&image), "--on", on]);
        assert_eq!(
            checked.has("ST108", "info"),
            blamed,
            "{start} {size}: {:?}",
            checked.findings()
        );
    }
}

#[test]
fn a_file_system_without_a_partition_is_not_sent_to_a_layer_below_it() {
    need_tools!("mkfs.ext4");
    let scratch = Scratch::new();
    let image = scratch.image("fs.raw", 64 * MIB);
    tool::run("mkfs.ext4", &["-q", "-F", text(&image)]);
    let checked = check(&[text(&image), "--on", "512e,origin=3584"]);
    assert!(checked.has("ST105", "warning"), "{:?}", checked.findings());
    let said = checked.target["findings"].to_string();
    assert!(said.contains("recreate it in a partition that starts at sector 2055"), "{said}");
    assert!(!said.contains("the layer below"), "{said}");
}
