//! A plan instead of a disk: sfdisk's script.

use std::io::Write as _;
use std::process::{Command, Stdio};

use testkit::scratch::text;
use testkit::{Scratch, need_tools, tool};

use super::{MIB, SECTOR, costs, image, layers, refused, simulated};

const PLAN: &str = "label: dos\nunit: sectors\n\n/dev/sda1 : start=63, size=16384, type=83\n\
    /dev/sda2 : start=32768, size=16384, type=5\n/dev/sda5 : start=34816, size=8192, type=83\n";

#[test]
fn a_plan_costs_what_an_image_with_its_partitions_does() {
    let scratch = Scratch::new();
    let plan = scratch.file("plan", PLAN.as_bytes());
    let found = layers(&simulated(text(&plan), &[]));
    assert_eq!(found.len(), 2, "an extended partition holds no data: {found:?}");
    costs(&found[0], "plan#1", 63 * SECTOR, 3.0);
    costs(&found[1], "plan#5", 17 * MIB, 1.0);
    let path = image(&scratch, &[(63, 16384), (34816, 8192)]);
    let real = layers(&simulated(text(&path), &[]));
    assert_eq!(real[0].2, found[0].2, "the same operations at the same addresses");
}

#[test]
fn one_partition_of_a_plan_is_taken_by_its_number() {
    let scratch = Scratch::new();
    let plan = scratch.file("plan", PLAN.as_bytes());
    let numbered = format!("{}#5", text(&plan));
    for (stack, arguments) in
        [(text(&plan), &["--layer", "5"][..]), (text(&plan), &["--layer", "#5"]), (&numbered, &[])]
    {
        let found = layers(&simulated(stack, arguments));
        assert_eq!(found.len(), 1, "{arguments:?}");
        costs(&found[0], "plan#5", 17 * MIB, 1.0);
    }
    assert!(refused(text(&plan), &["--layer", "7"]).contains("`plan#5`"));
}

#[test]
fn what_sfdisk_dumps_is_read_from_a_file_and_from_standard_input() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let path = image(&scratch, &[(63, 16384), (32768, 16384)]);
    let dump = tool::run("sfdisk", &["--dump", text(&path)]);
    let plan = scratch.file("plan", dump.as_bytes());
    let found = layers(&simulated(text(&plan), &[]));
    costs(&found[0], "plan#1", 63 * SECTOR, 3.0);
    costs(&found[1], "plan#2", 16 * MIB, 1.0);
    let mut straddle = Command::new(env!("CARGO_BIN_EXE_straddle"))
        .args(["drive", "simulate", "--profile", "hdd-7200-512e", "--operations", "500"])
        .args(["--json", "--stack", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut input = straddle.stdin.take().expect("it is piped");
    input.write_all(dump.as_bytes()).expect("it is read");
    drop(input);
    let output = straddle.wait_with_output().expect("it ends");
    let document = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(layers(&document), found);
}
