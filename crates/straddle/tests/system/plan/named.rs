//! Name that a plan gives its disk: one that its script takes, and one that no other file has.

use std::process::Command;

use testkit::running_program::Ran;
use testkit::{Loop, Mount, need_loops, need_tools, scratch, tool};

use super::{image, plan, scratch_in_memory, straddle};

const ODD: &str = "label: dos\nstart=63, size=40000\n";

#[test]
fn the_plan_of_a_partition_or_a_mount_point_names_the_disk_that_its_script_takes() {
    need_loops!();
    need_tools!("sfdisk", "mkfs.ext4", "partx");
    let scratch = scratch_in_memory();
    let image = image(&scratch, ODD);
    let device = Loop::attach(&image, 512);
    let partition = device.partition(1);
    tool::run("mkfs.ext4", &["-q", "-F", scratch::text(&partition)]);
    let point = scratch.path().join("mounted");
    let mount = Mount::new("ext4", "", scratch::text(&partition), &point);
    let plans = [&partition, &point].map(|target| straddle(&["plan", scratch::text(target)]));
    drop(mount);
    for told in plans {
        assert_eq!(told.status, Some(0), "{told:?}");
        let steps = told.out.split_once("  next ").map(|(_, steps)| steps).expect("it names steps");
        let disk = scratch::text(device.path());
        assert!(steps.contains(&format!("straddle plan {disk} --script")), "{told:?}");
        assert!(steps.contains(&format!("sh plan.sh {disk} DIR")), "{told:?}");
    }
    let script = straddle(&["plan", "--script", scratch::text(&partition)]);
    let file = scratch.file("plan.sh", script.out.as_bytes());
    let work = scratch.path().join("work");
    let length = std::fs::metadata(&image).expect("the image has a length").len();
    let word = format!("{}={length}", scratch::text(device.path()));
    let mut shell = Command::new("sh");
    let ran =
        Ran::of(shell.args([file.as_path(), device.path(), &work]).args(["--confirm", &word]));
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(plan(device.path(), &[])["changes"], false);
}

#[test]
fn the_script_of_an_image_says_that_a_raw_copy_comes_first_and_runs_on_that() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = scratch_in_memory();
    let raw = image(&scratch, ODD);
    // The names of images: one that could be the name of a copy, too.
    for name in ["dyn disk.vhd", "NEW"] {
        let scratch = scratch_in_memory();
        let target = scratch.path().join(name);
        let words =
            ["convert", "-f", "raw", "-O", "vpc", scratch::text(&raw), scratch::text(&target)];
        tool::run("qemu-img", &words);
        let typed = |words: &str| {
            let own =
                format!("straddle() {{ {} \"$@\"; }}\n{words}", env!("CARGO_BIN_EXE_straddle"));
            Ran::of(Command::new("sh").args(["-c", &own]).current_dir(scratch.path()))
        };
        let written = typed(&format!("straddle plan '{name}' --script -o plan.sh"));
        assert_eq!(written.status, Some(0), "{written:?}");
        let copy = format!("{name}.raw");
        let first = written.errors.lines().find_map(|line| line.split_once("make that first: "));
        let (_, first) = first.unwrap_or_else(|| panic!("{written:?}"));
        let script = std::fs::read_to_string(scratch.path().join("plan.sh")).expect("a script");
        assert!(script.contains(&format!("# {first}\n")), "{script}");
        let run = format!("sh plan.sh '{copy}' --confirm '{copy}'");
        let before = typed(&run);
        assert_eq!(before.status, Some(3), "{before:?}");
        assert!(before.errors.contains(&format!("hint: {first}")), "{before:?}");
        assert_eq!(typed(first).status, Some(0));
        let ran = typed(&run);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let copy = scratch.path().join(copy);
        assert_eq!(plan(&copy, &[])["changes"], false);
        // What check prints does not lead back to the file itself.
        let check = typed(&format!("straddle check '{name}' --explain"));
        let lines: Vec<&str> = check.out.lines().filter(|line| line.contains("qemu-img")).collect();
        let is_sound = |line: &&str| !line.ends_with(&format!(" {name}")) && line.contains(name);
        assert!(!lines.is_empty() && lines.iter().all(is_sound), "{check:?}");
    }
}

#[test]
fn a_script_holds_no_control_bytes_of_the_name_of_its_disk_and_means_that_disk() {
    need_tools!("sfdisk");
    let scratch = scratch_in_memory();
    let name = "it's \u{1b}]0;a\u{7}\u{9b}31m\n.raw\u{1}\n";
    let disk = scratch.path().join(name);
    std::fs::rename(image(&scratch, ODD), &disk).expect("it is renamed");
    let script = straddle(&["plan", "--script", scratch::text(&disk)]);
    assert_eq!(script.status, Some(0), "{script:?}");
    assert!(!script.out.contains(|letter: char| letter.is_control() && letter != '\n'));
    let values: String = script.out.split_inclusive("\ncopy=").take(1).collect();
    let file =
        scratch.file("values.sh", format!("{values}\nprintf %s \"$default_disk\"").as_bytes());
    let ran = Ran::of(Command::new("sh").arg(file));
    assert_eq!(ran.out, scratch::text(&disk), "{ran:?}");
}

#[test]
fn the_plan_of_an_image_without_places_names_no_cost_and_no_finding_that_the_copy_has_not() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = scratch_in_memory();
    let raw = image(&scratch, ODD);
    let stream = scratch.path().join("disk.vmdk");
    let dynamic = scratch.path().join("disk.vhd");
    let how = ["vmdk", "-o", "subformat=streamOptimized"];
    for (to, how) in [(&stream, &how[..]), (&dynamic, &["vpc"][..])] {
        let words = ["convert", "-f", "raw", "-O"];
        let files = [scratch::text(&raw), scratch::text(to)];
        tool::run("qemu-img", &[&words[..], how, &files].concat());
    }
    let ran = straddle(&["plan", scratch::text(&stream)]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(!ran.out.contains("each 4 KiB write"), "{ran:?}");
    let ran = straddle(&["plan", scratch::text(&dynamic)]);
    assert!(ran.out.contains("ST501") && !ran.out.contains("no move helps"), "{ran:?}");
    assert!(
        ran.out
            .replace("\n           ", " ")
            .contains("true of this image only, not of its raw copy"),
        "{ran:?}"
    );
    // The guest's own start is reported beside the format, and one copy mends both.
    for format in ["json", "junit"] {
        let check = straddle(&["check", "--format", format, scratch::text(&dynamic)]);
        assert!(check.out.contains("ST501") && check.out.contains("ST102"), "{check:?}");
    }
    let check = straddle(&["check", "--format", "junit", scratch::text(&dynamic)]);
    assert!(check.out.contains("failures=\"2\""), "{check:?}");
}

#[test]
fn an_image_whose_backing_file_is_elsewhere_is_planned_in_a_copy() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = scratch_in_memory();
    let base = image(&scratch, ODD);
    let inner = scratch.path().join("inner");
    std::fs::create_dir(&inner).expect("a directory is made");
    let over = inner.join("out.qcow2");
    let words = ["create", "-q", "-f", "qcow2", "-F", "raw", "-b", scratch::text(&base)];
    tool::run("qemu-img", &[&words[..], &[scratch::text(&over)]].concat());
    let ran = straddle(&["plan", scratch::text(&over)]);
    assert_eq!(ran.status, Some(5), "{ran:?}");
    assert!(!ran.errors.contains("--follow-references"), "{ran:?}");
    let hint = ran.errors.lines().find_map(|line| line.strip_prefix("hint: copy it whole, "));
    let command = hint.and_then(|hint| hint.split_once(": ")).expect("a command is named").1;
    tool::run("sh", &["-ec", command]);
    // Typed again, it leaves the copy alone.
    assert!(!tool::output("sh", &["-ec", command]).status.success());
    assert_eq!(plan(&inner.join("out.qcow2.raw"), &[])["changes"], true);
}

#[test]
fn a_plan_shows_that_an_extended_partition_follows_and_why_an_esp_stays() {
    need_tools!("sfdisk");
    let scratch = scratch_in_memory();
    let logical = image(&scratch, super::LOGICAL);
    let ran = straddle(&["plan", scratch::text(&logical)]);
    let out = ran.out.replace("\n           ", " ");
    assert!(
        out.contains("the extended partition 2 follows what is in it: start 10063 ->"),
        "{out}"
    );
    let esp = "label: gpt\nfirst-lba: 34\nstart=34, size=2048, type=U\nstart=4096, size=8192\n";
    let ran = straddle(&["plan", scratch::text(&image(&scratch, esp))]);
    let out = ran.out.replace("\n           ", " ");
    assert!(out.contains("nothing to change"), "{out}");
    assert!(out.contains("partition 1: its start stays: rarely written"), "{out}");
}
