//! `straddle drive simulate` as a user runs it: with one seed it says the same on any machine.

use std::process::Command;

use drive::profile::built_in;
use serde_json::Value;

/// Returns what is printed for a built-in drive: synced and unsynced writes and reads at places that
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

/// A hash of what was printed, but for the version and the run (FNV-1a).
fn hash(printed: &[String]) -> u64 {
    let without = |text: &String| {
        let mut document: Value = serde_json::from_str(text).expect("it prints JSON");
        let arms = document["arms"].as_array_mut().expect("it is a list");
        assert_eq!(arms.len(), 2, "{text}");
        // What was not asked for.
        for arm in arms.iter_mut().filter_map(Value::as_object_mut) {
            assert!(["variant", "leaves"].iter().all(|key| arm[*key].is_null()), "{text}");
            arm.retain(|key, _| key != "variant" && key != "leaves");
        }
        let kept = ["schema", "notes", "arms", "seed", "workload"];
        let kept = kept.map(|key| format!("\"{key}\":{}", document[key]));
        format!("{{{}}}", kept.join(","))
    };
    let text: Vec<String> = printed.iter().map(without).collect();
    text.concat().bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A change of a model or of a profile changes its value, and says so in the commit.
const HASHES: [(&str, u64); 15] = [
    ("hdd-7200-512e", 0x0c3b_8903_aeb8_19e9),
    ("hdd-7200-512n", 0x29e3_dc41_99d7_cdf8),
    ("wd10ears", 0xb0ce_1575_913b_a285),
    ("m4-256", 0x17e4_8c13_0d29_88e2),
    ("dc-s3700", 0xd8aa_7c2d_cea2_8ade),
    ("dc-p3700", 0x2f4e_c4f1_7da0_4d86),
    ("cloud-nvme-2019", 0x9066_5323_115e_09c7),
    ("950-pro", 0xfb7e_4e14_986b_d494),
    ("970-evo-500", 0x6ec9_ef8a_34e1_1daf),
    ("optane-p4800x", 0x5fab_60bb_280b_9a71),
    ("gp2-100", 0x3cc7_2ca4_c200_749a),
    ("raid0-2x16k", 0xb661_dcc5_631d_6bd5),
    ("raid5-5x64k", 0x6e61_3a30_da63_0c41),
    ("raid6-6x64k", 0xdbfe_cd96_657b_9fb0),
    ("raid5-bbu", 0x27b6_1703_ec38_3aeb),
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
