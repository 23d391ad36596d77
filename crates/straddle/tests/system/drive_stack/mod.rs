//! `straddle drive simulate --stack`: a workload costs what it costs where a layer really lies.

mod arrays;
mod named;
mod plans;
mod volumes;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use testkit::scratch::text;
use testkit::{Scratch, need_tools, tool};

const MIB: u64 = 1 << 20;
const SECTOR: u64 = 512;

fn straddle(stack: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_straddle"))
        .args(["drive", "simulate", "--profile", "hdd-7200-512e", "--operations", "500"])
        .args(["--json", "--stack", stack])
        .args(arguments)
        .output()
        .expect("the binary runs")
}

fn simulated(stack: &str, arguments: &[&str]) -> Value {
    let output = straddle(stack, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stack} {arguments:?}: {said}");
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

/// Returns what is said where nothing is simulated.
fn refused(stack: &str, arguments: &[&str]) -> String {
    let output = straddle(stack, arguments);
    assert_eq!(output.status.code(), Some(2), "{stack} {arguments:?}");
    assert!(output.stdout.is_empty(), "{stack} {arguments:?}");
    String::from_utf8(output.stderr).expect("errors are UTF-8")
}

/// Name, first byte on the drive, and cost of each layer; every second arm is its aligned place.
fn layers(document: &Value) -> Vec<(String, u64, f64)> {
    layers_on(document, 0)
}

/// The same where granules begin at `origin_bytes`.
fn layers_on(document: &Value, origin_bytes: u64) -> Vec<(String, u64, f64)> {
    let arms = document["arms"].as_array().expect("arms");
    for pair in arms.chunks(2) {
        assert_eq!(pair[0]["layer"], "aligned");
        assert_eq!(pair[0]["start_bytes"].as_u64().map(|at| at % MIB), Some(origin_bytes));
        assert_eq!(pair[0]["against"], pair[1]["against"]);
        assert_eq!(pair[0]["operations"], 500);
        assert_eq!(pair[1]["operations"], 500);
    }
    let told = |arm: &Value| {
        let name = arm["layer"].as_str().expect("a name").to_owned();
        let start = arm["start_bytes"].as_u64().expect("bytes");
        (name, start, arm["ratio"].as_f64().expect("a ratio"))
    };
    arms.iter().skip(1).step_by(2).map(told).collect()
}

#[track_caller]
fn costs(found: &(String, u64, f64), name: &str, start_bytes: u64, cost: f64) {
    assert_eq!((found.0.as_str(), found.1), (name, start_bytes));
    assert!((found.2 - cost).abs() < 0.02, "{found:?} costs {cost}");
}

/// An image of 64 MiB with a partition in each place: its first sector and its sectors.
fn image(scratch: &Scratch, places: &[(u32, u32)]) -> PathBuf {
    let path = scratch.image("disk.raw", 64 * MIB);
    let mut sector = [0; 512];
    for (entry, (start, sectors)) in sector[446..510].chunks_mut(16).zip(places) {
        entry[4] = 0x83;
        entry[8..12].copy_from_slice(&start.to_le_bytes());
        entry[12..16].copy_from_slice(&sectors.to_le_bytes());
    }
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    let file = std::fs::File::options().write(true).open(&path).expect("it is ours");
    std::os::unix::fs::FileExt::write_all_at(&file, &sector, 0).expect("it can be written");
    path
}

/// A captured machine of the repository.
fn capture(name: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stack/tests/sysroots");
    text(&directory.join(name)).to_owned()
}

#[test]
fn a_partition_at_lba_63_costs_three_times_and_one_at_1_mib_costs_nothing() {
    let scratch = Scratch::new();
    let path = image(&scratch, &[(63, 16384), (32768, 16384)]);
    let before = std::fs::read(&path).expect("it can be read");
    let document = simulated(text(&path), &[]);
    let found = layers(&document);
    assert_eq!(found.len(), 2, "{found:?}");
    costs(&found[0], "disk.raw#1", 63 * SECTOR, 3.0);
    costs(&found[1], "disk.raw#2", 16 * MIB, 1.0);
    assert_eq!(before, std::fs::read(&path).expect("it can be read"), "nothing was written");
    // The same bytes again, and the reads that the 512e disk adds.
    assert_eq!(document["arms"], simulated(text(&path), &[])["arms"]);
    let arms = &document["arms"];
    assert_eq!(arms[0]["did"]["rmw_reads"], 0);
    assert!(arms[1]["did"]["rmw_reads"].as_u64() > Some(900), "{}", arms[1]["did"]);
}

#[test]
fn one_partition_or_layer_is_taken_where_it_is_named() {
    let scratch = Scratch::new();
    let path = image(&scratch, &[(63, 16384), (32768, 16384)]);
    let numbered = format!("{}#2", text(&path));
    for (stack, arguments) in [
        (numbered.as_str(), &[][..]),
        (text(&path), &["--layer", "disk.raw#2"]),
        (text(&path), &["--layer", "#2"]),
    ] {
        let found = layers(&simulated(stack, arguments));
        assert_eq!(found.len(), 1, "{stack} {arguments:?}: {found:?}");
        costs(&found[0], "disk.raw#2", 16 * MIB, 1.0);
    }
    let said = refused(text(&path), &["--layer", "#7"]);
    assert!(said.contains("`#7`") && said.contains("`disk.raw#1`"), "{said}");
    let said = refused(&format!("{}#7", text(&path)), &[]);
    assert!(said.contains("no layer of it is called `#7`"), "{said}");
}

#[test]
fn reads_and_unaligned_jobs_go_through_the_layer_too() {
    let scratch = Scratch::new();
    let path = image(&scratch, &[(63, 65536)]);
    let found = layers(&simulated(text(&path), &["--read"]));
    assert!(found[0].2 < 1.05, "reading across a boundary costs no turn: {found:?}");
    let job = "[j]\nrw=randwrite\nbs=4k\ndirect=1\nfsync=1\nsize=16m\n";
    let job = scratch.file("j.fio", job.as_bytes());
    let found = layers(&simulated(text(&path), &["--job", text(&job)]));
    assert!(found[0].2 > 1.5, "{found:?}");
    // Written at 512 bytes into the partition: 63 + 1 sectors, aligned on the drive.
    let lines: String = (0..500).map(|_| "disk write 512 4096\ndisk sync 0 0\n").collect();
    let log = format!("fio version 2 iolog\ndisk add\ndisk open\n{lines}disk close\n");
    let log = scratch.file("j.log", log.as_bytes());
    let document = simulated(text(&path), &["--trace", text(&log)]);
    let ratio = document["arms"][1]["ratio"].as_f64().expect("a ratio");
    assert!(ratio < 0.7, "{ratio}: it is the aligned place that is off now");
}

#[test]
fn a_file_system_in_an_image_format_lies_where_its_clusters_do() {
    need_tools!("qemu-img", "qemu-io", "mkfs.ext4");
    let scratch = Scratch::new();
    let path = image(&scratch, &[(63, 32768)]);
    tool::run("mkfs.ext4", &["-q", "-F", "-E", "offset=32256", text(&path), "16M"]);
    tool::run("qemu-io", &["-f", "raw", "-c", "write -P 7 1M 8M", text(&path)]);
    let found = layers(&simulated(text(&path), &[]));
    costs(&found[0], "disk.raw#1 ext4", 63 * SECTOR, 3.0);
    let target = scratch.path().join("disk.qcow2");
    tool::run("qemu-img", &["convert", "-f", "raw", "-O", "qcow2", text(&path), text(&target)]);
    let document = simulated(text(&target), &[]);
    let found = layers(&document);
    assert_eq!(found[0].0, "disk.qcow2 qcow2#1 ext4");
    // Clusters of 64 KiB keep the place within a granule.
    assert_eq!(found[0].1 % 4096, 63 * SECTOR % 4096);
    assert!((2.5..3.1).contains(&found[0].2), "{found:?}");
    let notes = document["notes"].to_string();
    assert!(notes.contains("the image has not allocated"), "{notes}");
}

#[test]
fn what_holds_no_layer_is_refused_and_so_is_what_the_drive_cannot_hold() {
    let scratch = Scratch::new();
    let check = |stack: &Path, arguments: &[&str], expected: &str| {
        let said = refused(text(stack), arguments);
        assert!(said.contains(expected) && said.contains("hint: "), "{expected}: {said}");
    };
    let empty = scratch.file("empty.raw", b"");
    check(&empty, &[], "is empty");
    let prose = scratch.file("prose.txt", &b"no disk is here. ".repeat(1000));
    check(&prose, &[], "no partition, volume or file system is recognized in it");
    check(&prose, &["--layer", "#1"], "nothing is recognized in it");
    let sizes = scratch.file("sizes.txt", b"label: dos\nsize=10MiB\n");
    check(&sizes, &[], "line 2: the partition has no start=");
    let path = image(&scratch, &[(63, 16384)]);
    check(&path, &["--set", "capacity=1M"], "hint: simulate a larger drive");
    check(&path, &["--size", "16M"], "name another layer with --layer");
    check(&path, &["--profile", "cloud-nvme-2019"], "in the middle of a logical sector of 4096");
    for arguments in [&["--start", "2M"][..], &["--shift", "512"], &["--published"]] {
        refused(text(&path), arguments);
    }
}

#[test]
fn a_captured_device_is_followed_down_to_its_drive() {
    let tree = capture("dm-linear-offsets.k6.12.sysroot");
    let found = layers(&simulated("sdi", &["--sysroot", &tree]));
    assert_eq!(found.len(), 3, "{found:?}");
    costs(&found[0], "sdi linear0", 0, 1.0);
    costs(&found[1], "sdi linear7", 7 * SECTOR, 3.0);
    costs(&found[2], "sdi linear63", 63 * SECTOR, 3.0);
    let found = layers(&simulated("/dev/mapper/linear7", &["--sysroot", &tree]));
    assert_eq!(found.len(), 1, "what lies beside it is not meant: {found:?}");
    costs(&found[0], "sdi linear7", 7 * SECTOR, 3.0);
    let said = refused("nothing", &["--sysroot", &tree]);
    assert!(said.contains("the captured machine has no such block device"), "{said}");
}

#[test]
fn on_a_drive_whose_granules_begin_at_sector_7_it_is_the_partition_at_1_mib_that_costs() {
    let tree = capture("scsi_debug-512e-lowest7-msdos.k6.12.sysroot");
    let arguments = ["--sysroot", &tree, "--set", "origin=3584"];
    let found = layers_on(&simulated("sdi", &arguments), 7 * SECTOR);
    assert_eq!(found.len(), 3, "{found:?}");
    costs(&found[0], "sdi1", 63 * SECTOR, 1.0);
    costs(&found[1], "sdi2", MIB, 3.0);
    assert!((found[2].2 - 1.0).abs() < 0.02, "{found:?}");
}

#[test]
fn what_drive_prints_is_what_its_schemas_demand_and_what_a_page_is_made_of() {
    let scratch = Scratch::new();
    let path = image(&scratch, &[(63, 16384)]);
    let simulate = ["drive", "simulate", "--json", "--operations", "100", "--profile"];
    let disk = [&simulate[..], &["hdd-7200-512e"]].concat();
    for (name, arguments, is_shown) in [
        ("drives", vec!["drive", "list", "--json"], false),
        ("drives", vec!["drive", "show", "m4-256", "--json"], false),
        ("simulation", [&disk[..], &["--vary", "rmw=serial"]].concat(), true),
        ("simulation", [&disk[..], &["--stack", text(&path)]].concat(), true),
        ("published", vec!["drive", "simulate", "--published", "--json"], true),
    ] {
        let run = |arguments: &[&str]| {
            let program = env!("CARGO_BIN_EXE_straddle");
            Command::new(program).args(arguments).output().expect("the binary runs")
        };
        let schema = run(&["generate", "schema", name]).stdout;
        let schema: Value = serde_json::from_slice(&schema).expect("a schema is JSON");
        let printed = run(&arguments).stdout;
        let document: Value = serde_json::from_slice(&printed).expect("it is JSON");
        assert_eq!(document["schema"], schema["title"], "{arguments:?}");
        let faults = testkit::schema::faults(&schema, &document);
        assert_eq!(faults, Vec::<String>::new(), "{arguments:?}");
        let file = scratch.file("result.json", &printed);
        let page = run(&["report", text(&file)]);
        assert_eq!(page.status.success(), is_shown, "{arguments:?}");
        let html = String::from_utf8(page.stdout).expect("a page is UTF-8");
        assert_eq!(html.contains("<svg"), is_shown, "{arguments:?}: a chart is on the page");
    }
}
