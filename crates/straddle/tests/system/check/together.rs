//! Members that belong together are judged together.

use serde_json::Value;
use testkit::{Loop, Scratch, need_loops, need_tools, tool};

use super::run::{check, partitioned, straddle, text};

const MIB: u64 = 1 << 20;

/// Two physical volumes of one group with a striped volume of `stripe` over both.
fn group(scratch: &Scratch, stripe: &str) -> Vec<std::path::PathBuf> {
    group_of(scratch, [&["--dataalignment", "1m"]; 2], stripe)
}

/// The same, each made with options of its own.
fn group_of(scratch: &Scratch, options: [&[&str]; 2], stripe: &str) -> Vec<std::path::PathBuf> {
    let images: Vec<_> =
        (0..2).map(|number| scratch.image(&format!("pv{number}.raw"), 64 * MIB)).collect();
    let loops: Vec<Loop> = images.iter().map(|image| Loop::attach(image, 512)).collect();
    let devices: Vec<&str> = loops.iter().map(|one| text(one.path())).collect();
    let filter = devices.iter().map(|device| format!("\"a|^{device}$|\"")).collect::<Vec<_>>();
    let config = format!(
        "devices {{ filter=[{},\"r|.*|\"] global_filter=[{},\"r|.*|\"] use_devicesfile=0 }} \
         activation {{ udev_sync=0 udev_rules=0 }} \
         backup {{ backup=0 archive=0 }}",
        filter.join(","),
        filter.join(",")
    );
    let name = format!("straddle{}", std::process::id());
    let lvm = |words: &[&str]| {
        let mut arguments = words.to_vec();
        arguments.extend(["--config", &config, "--driverloaded", "n"]);
        let system = text(scratch.path());
        let output = tool::command("lvm")
            .args(&arguments)
            .env("LVM_SYSTEM_DIR", system)
            .output()
            .expect("lvm starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let lines = said.lines().filter(|line| !line.contains("leaked"));
        assert!(output.status.success(), "{words:?}: {:#?}", lines.collect::<Vec<_>>());
    };
    for (device, options) in devices.iter().zip(options) {
        lvm(&[&["pvcreate", "-q"], options, &[*device]].concat());
    }
    let mut create = vec!["vgcreate", "-q", "-s", "1m", name.as_str()];
    create.extend(&devices);
    lvm(&create);
    let arguments = [
        "lvcreate", "-q", "-y", "-an", "-Zn", "-Wn", "-i2", "-I", stripe, "-L", "16m", "-n", "data",
    ];
    let mut arguments = arguments.to_vec();
    arguments.push(&name);
    lvm(&arguments);
    images
}

#[test]
fn two_physical_volumes_given_at_once_make_one_stack_with_the_striped_volume() {
    need_tools!("lvm");
    need_loops!();
    let scratch = Scratch::new();
    let images = group(&scratch, "64k");
    let checked = check(&[text(&images[0]), text(&images[1]), "--on", "512e"]);
    let volume = checked.layer("lvm-lv", "data");
    assert_eq!(volume["verdict"], "aligned", "{:#}", checked.target);
    assert_eq!(volume["below"].as_array().unwrap().len(), 2);
    assert_eq!(checked.status, 0);
}

#[test]
fn a_physical_volume_off_the_granule_takes_its_volume_with_it() {
    need_tools!("lvm");
    need_loops!();
    let scratch = Scratch::new();
    // LVM rounds odd alignments up, so the members themselves start off a boundary.
    let images = group(&scratch, "64k");
    let checked = check(&[text(&images[0]), text(&images[1]), "--on", "512e,origin=512"]);
    assert_eq!(checked.verdict("lvm-lv", "data"), "misaligned", "{:#}", checked.target);
    assert!(checked.findings().iter().any(|(code, _)| code == "ST101"));
    assert_eq!(checked.status, 1);
}

#[test]
fn one_of_two_members_that_is_off_costs_more_than_an_aligned_one() {
    need_tools!("lvm");
    need_loops!();
    let scratch = Scratch::new();
    let off: &[&str] = &["--dataalignment", "512", "--dataalignmentoffset", "63s"];
    let images = group_of(&scratch, [&["--dataalignment", "1m"], off], "64k");
    let checked = check(&[text(&images[0]), text(&images[1]), "--on", "512e"]);
    let warned = checked
        .findings()
        .iter()
        .any(|(code, severity)| code == "ST102" && severity == "warning" || code == "ST101");
    assert!(warned, "{:#}", checked.target);
    let findings = checked.target["findings"].as_array().unwrap();
    let costs: Vec<String> = findings.iter().map(|one| one["cost"].to_string()).collect();
    assert!(costs.iter().any(|cost| cost.contains("aligned: writes 1")), "{costs:?}");
    assert_eq!(checked.status, 1);
}

#[test]
fn one_member_alone_says_what_is_missing() {
    need_tools!("lvm");
    need_loops!();
    let scratch = Scratch::new();
    let images = group(&scratch, "64k");
    let output = straddle(&["check", "--explain", text(&images[0])]);
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(out.contains("data"), "{out}");
}

#[test]
fn devices_of_one_stack_are_one_target_with_each_finding_once() {
    need_tools!("sfdisk", "partx");
    need_loops!();
    let scratch = Scratch::new();
    let script = "label: dos\nstart=63, size=2000\nstart=4095, size=2000\nstart=8192\n";
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, script);
    let disk = Loop::attach(&image, 512);
    let parts = [1, 2, 3].map(|number| disk.partition(number));
    let checked = check(&[text(&parts[0]), text(&parts[1]), "--on", "512e"]);
    assert_eq!(checked.target["target"], format!("{} + {}", text(&parts[0]), text(&parts[1])));
    let off = checked.findings().into_iter().filter(|(code, _)| code == "ST101").count();
    assert_eq!(off, 2, "{:?}", checked.findings());
    let layers = checked.target["layers"].as_array().unwrap();
    let shown = layers.iter().filter(|layer| layer["kind"] == "partition").count();
    assert_eq!(shown, 2, "{:#}", checked.target);
}

#[test]
fn a_group_of_which_a_physical_volume_was_not_given_says_so() {
    need_tools!("lvm");
    need_loops!();
    let scratch = Scratch::new();
    let images = group(&scratch, "64k");
    let checked = check(&[text(&images[0]), "--on", "512e"]);
    assert!(checked.has("ST411", "info"), "{:?}", checked.findings());
    assert_eq!(checked.verdict("lvm-lv", "data"), "unknown", "half of it was not seen");
    assert_eq!(checked.status, 5);
    let both = check(&[text(&images[0]), text(&images[1]), "--on", "512e"]);
    assert!(!both.has("ST411", "info"), "{:?}", both.findings());
}

#[test]
fn a_log_on_a_misaligned_partition_is_named_with_the_file_system_that_uses_it() {
    need_tools!("mke2fs", "mkfs.xfs", "sfdisk", "partx");
    need_loops!();
    for kind in ["ext4", "xfs"] {
        let scratch = Scratch::new();
        let script = "label: gpt\nstart=2048, size=716800\nstart=720895, size=204800\n";
        let image = partitioned(&scratch, "disk.raw", 512 * MIB, script);
        let disk = Loop::attach(&image, 512);
        let [data, log] = [1, 2].map(|number| text(&disk.partition(number)).to_owned());
        if kind == "ext4" {
            tool::run("mke2fs", &["-q", "-O", "journal_dev", "-b", "4096", &log]);
            let journal = format!("device={log}");
            tool::run("mke2fs", &["-q", "-t", "ext4", "-b", "4096", "-J", &journal, &data]);
        } else {
            tool::run("mkfs.xfs", &["-q", "-l", &format!("logdev={log}"), &data]);
        }
        drop(disk);
        let checked = check(&[text(&image), "--on", "512e"]);
        assert_eq!(checked.verdict("partition", "#1"), "aligned", "{:#}", checked.target);
        assert!(checked.has("ST101", "warning"), "{kind}: {:?}", checked.findings());
        let said = checked.target["findings"][0]["evidence"].to_string();
        assert!(said.contains(&format!("holds the log of {kind} on disk.raw#1")), "{said}");
        let facts = checked.layer("file-system", kind)["facts"].to_string();
        assert!(facts.contains("\"log-on\"") && facts.contains("disk.raw#2"), "{facts}");
        assert!(!checked.has("ST411", "info"), "{kind}: {:?}", checked.findings());
    }
}

#[test]
fn a_file_system_and_its_log_in_two_images_belong_together() {
    need_tools!("mke2fs");
    need_loops!();
    let scratch = Scratch::new();
    let [data, log] = ["data.raw", "log.raw"].map(|name| scratch.image(name, 64 * MIB));
    let device = Loop::attach(&log, 512);
    tool::run("mke2fs", &["-q", "-O", "journal_dev", "-b", "4096", text(device.path())]);
    let journal = format!("device={}", text(device.path()));
    tool::run("mke2fs", &["-q", "-t", "ext4", "-b", "4096", "-J", &journal, text(&data)]);
    drop(device);
    let alone = check(&[text(&data), "--on", "512e"]);
    assert!(alone.has("ST411", "info"), "{:?}", alone.findings());
    assert_eq!(alone.status, 0);
    let both = check(&[text(&data), text(&log), "--on", "512e"]);
    assert_eq!(both.target["target"], format!("{} + {}", text(&data), text(&log)));
    assert_eq!(both.findings(), []);
}

#[test]
fn a_btrfs_of_which_a_device_was_not_given_says_so() {
    need_tools!("mkfs.btrfs");
    need_loops!();
    let scratch = Scratch::new();
    let images = ["one.raw", "two.raw"].map(|name| scratch.image(name, 256 * MIB));
    let loops = [0, 1].map(|at: usize| Loop::attach(&images[at], 512));
    let devices = [text(loops[0].path()), text(loops[1].path())];
    tool::run("mkfs.btrfs", &["-q", "-d", "raid0", devices[0], devices[1]]);
    drop(loops);
    let alone = check(&[text(&images[1]), "--on", "512e"]);
    assert!(alone.has("ST411", "info"), "{:?}", alone.findings());
    let said = alone.target["findings"].to_string();
    assert!(said.contains("given: 1 of the 2 devices of the btrfs"), "{said}");
    let both = check(&[text(&images[0]), text(&images[1]), "--on", "512e"]);
    assert_eq!(both.findings(), [], "{:#}", both.target);
    // One that is named twice, by whatever path, is still one.
    let link = scratch.path().join("link.raw");
    std::os::unix::fs::symlink(&images[1], &link).expect("a link is made");
    for again in [&images[1], &link] {
        let twice = check(&[text(&images[1]), text(again), "--on", "512e"]);
        assert!(twice.has("ST411", "info"), "{:?}", twice.findings());
    }
}

#[test]
fn a_file_that_is_named_twice_is_judged_under_both_names_and_said_to_be_one() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let source = partitioned(&scratch, "src.raw", 64 * MIB, "label: gpt\nstart=2048\n");
    let [link, hard] = ["link.raw", "hard.raw"].map(|name| scratch.path().join(name));
    std::os::unix::fs::symlink(&source, &link).expect("a link is made");
    std::fs::hard_link(&source, &hard).expect("a link is made");
    let output = straddle(&["check", "--json", text(&link), text(&source), text(&hard)]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let targets = document["targets"].as_array().expect("a list");
    let names: Vec<&str> = targets.iter().filter_map(|one| one["target"].as_str()).collect();
    assert_eq!(names, [text(&link), text(&source), text(&hard)]);
    assert!(targets.iter().all(|one| one["verdict"] == "aligned"), "{document:#}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    for other in [&source, &hard] {
        let line = format!("{} is the same file as {}", text(other), text(&link));
        assert!(said.contains(&line), "{said}");
        let mut notes = document["notes"].as_array().expect("a list").iter();
        assert!(notes.any(|note| *note == *line), "{document:#}");
    }
    let output = straddle(&["check", "--format", "junit", text(&link), text(&source)]);
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(out.contains(text(&link)) && out.contains(text(&source)), "{out}");
}

#[test]
fn images_that_are_one_stack_are_shown_with_each_fix() {
    need_tools!("lvm");
    need_loops!();
    let scratch = Scratch::new();
    let images = group(&scratch, "64k");
    let output =
        straddle(&["check", text(&images[0]), text(&images[1]), "--on", "512e,origin=512"]);
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(out.contains("  fix  "), "{out}");
}
