//! Fixes of what the kernel has, typed on loop devices.

use testkit::{Loop, scratch};

use crate::work_directory::Bench;

/// The rules whose fixes are typed here.
pub(crate) const RULES: [&str; 3] = ["ST701", "ST702", "ST703"];

/// The remedy of a rule that is found on `device`; `None` where it is not found.
fn remedy(bench: &Bench, device: &Loop, code: &str) -> Option<String> {
    let checked = bench.check(scratch::text(device.path()), "").expect("it is checked");
    let mut findings = checked["findings"].as_array().expect("a list").iter();
    let found = findings.find(|finding| finding["code"] == code)?;
    found["remedies"][0].as_str().map(str::to_owned)
}

/// A loop device with sectors of `sector_bytes` over one with sectors of 4096.
fn stacked(bench: &Bench, sector_bytes: u64) -> (Loop, Loop) {
    bench.image("disk.raw", 16 << 20);
    let under = bench.attach("disk.raw", 4096);
    (Loop::attach(under.path(), sector_bytes), under)
}

#[test]
fn a_loop_device_made_again_as_printed_has_the_sectors_of_what_is_under_it() {
    testkit::need_loops!();
    let bench = Bench::new();
    let (device, under) = stacked(&bench, 512);
    let told = remedy(&bench, &device, "ST702").expect("smaller sectors are found");
    let words = told.split_once("recreate it with ").and_then(|(_, rest)| rest.split_once(" ("));
    let (words, _) = words.expect("it says how");
    drop(device);
    let shown = bench.shell(&format!("{words} -f --show {}", scratch::text(under.path())));
    let again = Loop::taken(shown.trim());
    assert_eq!(remedy(&bench, &again, "ST702"), None);
}

#[test]
fn flushes_pass_a_device_again_after_the_printed_command() {
    testkit::need_loops!();
    let bench = Bench::new();
    let (device, _under) = stacked(&bench, 4096);
    let name = scratch::text(device.path()).trim_start_matches("/dev/").to_owned();
    bench.shell(&format!("echo write through > /sys/block/{name}/queue/write_cache"));
    let told = remedy(&bench, &device, "ST703").expect("lost flushes are found");
    let (_, command) = told.split_once(": ").expect("a remark stands before it");
    bench.shell(command);
    assert_eq!(remedy(&bench, &device, "ST703"), None);
}

/// No loop device reports a size that cannot be right, so the line is that of `explain`.
#[test]
fn a_device_reads_ahead_as_the_kernel_does_by_default_after_the_printed_command() {
    testkit::need_loops!();
    let bench = Bench::new();
    bench.image("disk.raw", 16 << 20);
    let device = bench.attach("disk.raw", 512);
    let path = scratch::text(device.path());
    let ahead = || {
        let name = path.trim_start_matches("/dev/");
        bench.shell(&format!("cat /sys/block/{name}/queue/read_ahead_kb")).trim().to_owned()
    };
    bench.shell(&format!("blockdev --setra 65536 {path}"));
    assert_eq!(ahead(), "32768");
    let told = bench.shell("straddle explain ST701 | tr '\\n' ' ' | tr -s ' '");
    let command = told.split_once("blockdev ").and_then(|(_, rest)| rest.split_once(" DEVICE"));
    let (words, _) = command.expect("it names the command");
    bench.shell(&format!("blockdev {words} {path}"));
    assert_eq!(ahead(), "128");
}
