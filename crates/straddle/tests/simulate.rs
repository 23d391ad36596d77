//! `straddle drive simulate` as a user runs it: with one seed it says the same on any machine.

use std::process::Command;

use drive::profile::built_in;
use serde_json::Value;

/// What is printed for a drive of the house: synced and unsynced writes and reads at places that
/// `seed` decides, aligned and misaligned.
#[track_caller]
fn printed(name: &str, seed: &str) -> Vec<String> {
    let workloads: [&[&str]; 3] = [&[], &["--no-sync", "--depth", "8"], &["--read"]];
    let simulate = |workload: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_straddle"))
            .args(["drive", "simulate", "--json", "--random", "--operations", "300"])
            .args(["--profile", name, "--seed", seed])
            .args(workload)
            .output()
            .expect("the binary runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name} {workload:?}: {said}");
        String::from_utf8(output.stdout).expect("it prints UTF-8")
    };
    workloads.into_iter().map(simulate).collect()
}

/// A hash of what was printed, but for the version and the command (FNV-1a).
fn hash(printed: &[String]) -> u64 {
    let without = |text: &String| {
        let mut document: Value = serde_json::from_str(text).expect("it prints JSON");
        let members = document.as_object_mut().expect("it is an object");
        assert!(members.remove("version").is_some() && members.remove("command").is_some());
        assert!(members["arms"].as_array().is_some_and(|arms| arms.len() == 2), "{text}");
        document.to_string()
    };
    let text: Vec<String> = printed.iter().map(without).collect();
    text.concat().bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A change of a model or of a profile changes its value, and says so in the commit.
const HASHES: [(&str, u64); 13] = [
    ("hdd-7200-512e", 0x95c1_5853_1d56_d82f),
    ("hdd-7200-512n", 0x874d_f14e_01c1_8e88),
    ("m4-256", 0x16e1_d4bb_a39e_a61d),
    ("dc-s3700", 0x0d5f_0c3e_1abd_32fc),
    ("dc-p3700", 0x85a2_c4d1_30e1_3aa9),
    ("cloud-nvme-2019", 0xe1f6_dd6a_f9be_d65f),
    ("950-pro", 0xd31f_da10_d949_20da),
    ("optane-p4800x", 0x8c69_f40f_ab41_d9a4),
    ("gp2-100", 0x47f5_98f3_49f6_0958),
    ("raid0-2x16k", 0x66d1_49f2_09ca_bf0c),
    ("raid5-5x64k", 0x58de_4020_1458_d2ab),
    ("raid6-6x64k", 0xc27e_9a40_4f93_9e06),
    ("raid5-bbu", 0x0f3a_25c9_3011_f40b),
];

#[test]
fn one_seed_prints_the_same_for_every_drive_of_the_house_on_every_machine() {
    let hashed = |name: &str| hash(&printed(name, "7"));
    let names = built_in().iter().map(|profile| profile.name.as_str());
    let hashes: Vec<(&str, u64)> = names.map(|name| (name, hashed(name))).collect();
    let lines = hashes.iter().map(|(name, hash)| format!("    (\"{name}\", {hash:#x}),\n"));
    assert!(hashes == HASHES, "{}", lines.collect::<String>());
}

#[test]
fn the_seed_decides_and_nothing_else() {
    let name = "hdd-7200-512e";
    assert_eq!(printed(name, "7"), printed(name, "7"));
    assert_ne!(hash(&printed(name, "7")), hash(&printed(name, "8")));
}
