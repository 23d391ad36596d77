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
const HASHES: [(&str, u64); 50] = [
    ("hdd-7200-512e", 0x4b8c_2be1_70a4_de5c),
    ("hdd-7200-512n", 0xaa93_abae_7f42_063c),
    ("wd10ears", 0xab18_351b_1b04_5679),
    ("ultrastar-7k8", 0xa95c_3441_a406_261f),
    ("st2000dm006", 0xe1b9_1a1f_1a8c_9d9f),
    ("m4-256", 0xdcc2_5209_2278_b456),
    ("dc-s3700", 0xb8ed_0022_4405_514a),
    ("dc-p3700", 0x0362_4e0b_6692_efb5),
    ("cloud-nvme-2019", 0x8657_119c_45d1_e6a3),
    ("950-pro", 0x1d75_047e_18be_7480),
    ("970-evo-500", 0x8bde_8e14_9a27_ea5c),
    ("micron-7300-pro", 0x6786_869d_e64d_b180),
    ("samsung-pm883", 0x2201_22b2_fd73_be6a),
    ("optane-p4800x", 0xe60c_af7f_4003_7a8f),
    ("gp2-100", 0xa2aa_a2a8_a065_d7dc),
    ("raid0-2x16k", 0xf699_f9ac_dbbf_0a9c),
    ("raid5-5x64k", 0x2298_baf4_d331_d04a),
    ("raid6-6x64k", 0xc323_b4fe_c57c_3f95),
    ("raid5-bbu", 0x48aa_373d_7cb2_2b9e),
    ("ultrastar-hc310", 0xc764_0d0e_95d9_93c4),
    ("ultrastar-hc550", 0x1d2c_3b97_0f8a_f858),
    ("exos-x18", 0xc3ab_9eee_cef1_b819),
    ("toshiba-mg08", 0x92fb_55ec_6b18_ab27),
    ("wd-red-plus-4tb", 0x4a32_2372_3b50_36a5),
    ("ironwolf-4tb", 0xb5a7_7581_476e_b53c),
    ("barracuda-8tb-smr", 0x6555_0353_be9e_696c),
    ("samsung-870-evo", 0x9b61_c0d9_389e_a55f),
    ("samsung-870-qvo", 0x198b_3ac2_483e_42d9),
    ("crucial-mx500", 0x94fd_3050_f0f1_2691),
    ("samsung-970-evo-plus", 0xe0b1_82a4_98c6_6489),
    ("samsung-980", 0x8829_e85e_6d21_e00e),
    ("samsung-980-pro", 0x0d8e_c927_ad53_14af),
    ("samsung-990-pro", 0xe26c_a695_c8d9_1729),
    ("kingston-kc3000", 0x6486_0fde_5283_46d2),
    ("crucial-t500", 0x558f_c66b_5d36_5631),
    ("wd-sn850x", 0x745d_845b_e43d_d98c),
    ("wd-sn770", 0x31eb_ec34_0e77_d318),
    ("wd-sn570", 0x7d24_095c_69f7_419e),
    ("sk-hynix-p41", 0x6f50_7252_c919_11e4),
    ("firecuda-530", 0x1278_c0fe_7c94_fd89),
    ("samsung-pm9a3", 0x0b41_d9e8_7ca3_ee86),
    ("micron-7450-pro", 0x31ac_480c_8b5e_6637),
    ("micron-9300-pro", 0x73b6_58bc_4768_2b8e),
    ("solidigm-p5336", 0x157b_8876_40ad_1a04),
    ("solidigm-p5520", 0x42e4_a2c5_a083_a1c6),
    ("gp3", 0xe311_eeee_2639_7bbd),
    ("io2", 0x56ee_8210_41c0_323b),
    ("pd-ssd", 0x3812_3afb_2816_117c),
    ("azure-premium-v2", 0xccd2_c3d6_b60b_af7b),
    ("azure-p30", 0xb380_6b79_afc3_8b16),
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
