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

/// A hash of what was printed, but for the version and the command (FNV-1a).
fn hash(printed: &[String]) -> u64 {
    let without = |text: &String| {
        let mut document: Value = serde_json::from_str(text).expect("it prints JSON");
        let members = document.as_object_mut().expect("it is an object");
        assert!(members.remove("version").is_some() && members.remove("command").is_some());
        let arms = members["arms"].as_array_mut().expect("it is a list");
        assert_eq!(arms.len(), 2, "{text}");
        // What was not asked for.
        for arm in arms.iter_mut().filter_map(Value::as_object_mut) {
            assert!(["variant", "leaves"].iter().all(|key| arm[*key].is_null()), "{text}");
            arm.retain(|key, _| key != "variant" && key != "leaves");
        }
        document.to_string()
    };
    let text: Vec<String> = printed.iter().map(without).collect();
    text.concat().bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A change of a model or of a profile changes its value, and says so in the commit.
const HASHES: [(&str, u64); 15] = [
    ("hdd-7200-512e", 0x0000_763c_159a_a0e9),
    ("hdd-7200-512n", 0xa4dc_223b_27ea_6887),
    ("wd10ears", 0x8add_b341_0ca7_93fd),
    ("m4-256", 0x13c3_7a97_8740_fc3c),
    ("dc-s3700", 0x3f4b_e095_fa55_b744),
    ("dc-p3700", 0xff36_bfb0_3436_b553),
    ("cloud-nvme-2019", 0x2df9_4ca9_09c3_639d),
    ("950-pro", 0xc1a0_6213_f05c_f14e),
    ("970-evo-500", 0xc0d3_f934_d8d4_44d3),
    ("optane-p4800x", 0xaec3_b782_9a8d_c532),
    ("gp2-100", 0x3ae7_29a1_3d4e_afad),
    ("raid0-2x16k", 0x59d8_83f5_e8e7_4a02),
    ("raid5-5x64k", 0xe647_fc6a_e484_df1d),
    ("raid6-6x64k", 0x2fc7_4ad4_e945_72d8),
    ("raid5-bbu", 0x08c0_8355_4fa4_103a),
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
