//! Devices that the kernel uses: nothing writes to them, what was just written to them is read,
//! arrays with the metadata of firmware are judged, and fixes for lost discards work.
//!
//! `STRADDLE_GUEST_USE` names the result of a run of `guest/run … use`; without it these tests skip.

use serde_json::Value;

use crate::answer::{list, text};
use crate::answers::Answers;

fn run() -> Option<Answers> {
    Answers::named("STRADDLE_GUEST_USE", "use")
}

/// Devices, each with what uses it: a part of the reason for which nothing is written to it.
const USED: [(&str, &str); 19] = [
    ("i0", "/dev/md12"),
    ("d0", "/dev/md12"),
    ("array", "/dev/md0 is built on"),
    ("stopped", "/dev/md123 is built on"),
    ("group", "is built on"),
    ("crypt", "is built on"),
    ("backing", "/dev/bcache0 is built on"),
    ("cache", "is built on"),
    ("namespace", "is mounted on /mnt/namespace"),
    ("swapped", "the kernel swaps to"),
    ("path", "is built on"),
    ("leaf", "is built on"),
    ("looped", "the loop device /dev/loop0 shows"),
    ("mounted", "is mounted on /mnt/mounted"),
    ("parted", "is mounted on /mnt/parted"),
    ("partswap", "the kernel swaps to"),
    ("part-mounted", "is mounted on /mnt/parted"),
    ("part-swapped", "the kernel swaps to"),
    ("container", "is a container of IMSM arrays"),
];

#[test]
fn no_command_writes_to_a_device_that_the_kernel_uses() {
    let Some(run) = run() else { return };
    let unchanged = run.written("unchanged");
    let mut wrong = Vec::new();
    for (name, reason) in USED {
        if !unchanged.lines().any(|line| line == name) {
            wrong.push(format!("{name}: bytes changed"));
        }
        for command in ["bench", "probe"] {
            let (document, status) = run.answer(&format!("{command}-{name}"));
            let refusal = &document["refusal"];
            let message = refusal["message"].as_str().unwrap_or_default();
            let is_safe = (status.as_str(), refusal["kind"].as_str()) == ("3", Some("safety"));
            if !is_safe || !message.contains(reason) {
                wrong.push(format!("{command} {name}: exit {status}, {refusal}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The layers of the one target of a check, each as its title.
fn titles(target: &Value) -> Vec<&str> {
    list(&target["layers"]).iter().map(|layer| text(&layer["title"])).collect()
}

fn codes(target: &Value) -> Vec<&str> {
    list(&target["findings"]).iter().map(|finding| text(&finding["code"])).collect()
}

fn target(run: &Answers, name: &str) -> Value {
    let (document, _) = run.answer(name);
    let targets = list(&document["targets"]);
    assert_eq!(targets.len(), 1, "{name}: {document:#}");
    targets[0].clone()
}

#[test]
fn arrays_of_firmware_are_named_and_judged_by_any_device_of_theirs() {
    let Some(run) = run() else { return };
    let arrays = [
        ("IMSM member, number 0", "RAID1, 2 members", "misaligned", &["ST101"][..]),
        ("DDF member, number 0", "RAID0, 2 members, 64 KiB chunk", "aligned", &[]),
    ];
    let asked = [&["md126", "i0", "members"][..], &["md124", "d0"]];
    for ((member, array, verdict, found), names) in arrays.into_iter().zip(asked) {
        for name in names {
            let target = target(&run, name);
            let titles = titles(&target);
            assert!(titles.contains(&member) && titles.contains(&array), "{name}: {titles:?}");
            assert_eq!(
                (&target["verdict"], &codes(&target)[..]),
                (&verdict.into(), found),
                "{name}"
            );
        }
    }
}

#[test]
fn a_container_is_no_layer_raises_no_finding_and_says_why_it_is_not_checked() {
    let Some(run) = run() else { return };
    let (document, _) = run.answer("firmware");
    for target in list(&document["targets"]) {
        let names: Vec<&str> =
            list(&target["layers"]).iter().map(|one| text(&one["name"])).collect();
        assert!(!names.contains(&"md127") && !names.contains(&"md125"), "{names:?}");
        assert!(!codes(target).contains(&"ST703"), "{target:#}");
    }
    for name in ["md125", "md127"] {
        let said = run.written(&format!("{name}.err"));
        assert!(said.contains("a container of IMSM or DDF arrays holds no data"), "{name}: {said}");
        assert_eq!(run.status(name), "2", "{name}");
    }
}

#[test]
fn what_was_just_written_to_an_array_is_read() {
    let Some(run) = run() else { return };
    let last = |name: &str| titles(&target(&run, name)).last().map(|title| (*title).to_owned());
    let made = [
        ("gpt-before", "gpt, Linux data"),
        ("gpt-behind", "gpt \"second\", Linux data"),
        ("vfat", "vfat FAT32, 512 B blocks"),
        ("xfs", "xfs"),
        ("ext4-1024", "ext4, 1 KiB blocks"),
        ("ext4-4096", "ext4, 4 KiB blocks"),
    ];
    for (name, title) in made {
        for name in [name.to_owned(), format!("{name}-disk")] {
            let said = last(&name).expect("a target has layers");
            assert!(said.starts_with(title), "{name}: {said}");
        }
    }
    assert!(!codes(&target(&run, "ext4-4096")).contains(&"ST303"));
}

#[test]
fn members_of_one_stack_that_are_named_together_are_judged_once() {
    let Some(run) = run() else { return };
    assert_eq!(codes(&target(&run, "both")), ["ST101"]);
    let group = target(&run, "group");
    let findings = list(&group["findings"]);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    let off = list(&group["layers"]).iter().filter(|one| one["verdict"] == "misaligned");
    assert_eq!(off.count(), 1, "{group:#}");
}

#[test]
fn what_lets_discards_through_works_as_it_is_printed() {
    let Some(run) = run() else { return };
    let is_stopped = |name: &str| {
        let (document, _) = run.answer(name);
        list(&document["targets"][0]["findings"]).iter().any(|one| text(&one["code"]) == "ST611")
    };
    let typed = run.written("typed");
    for (name, fix) in [
        ("sealed", "cryptsetup refresh --allow-discards --persistent sealed"),
        ("old", "cryptsetup refresh --allow-discards old"),
        ("pooled", "lvchange --discards passdown thin/pool"),
    ] {
        assert!(is_stopped(&format!("stops-{name}")), "{name}");
        assert!(typed.lines().any(|line| line == format!("{name} {fix}")), "{typed}");
        assert!(!is_stopped(&format!("passes-{name}")), "{name}: after {fix}");
    }
}
