//! `straddle fsync --rows none` on what most machines that build this lack: flushes through LVM,
//! LUKS, md and multipath, and drives that answer of their health.
//!
//! Every disk drops flushes on the host (QEMU's `cache.no-flush`), which the guest cannot see: so
//! nothing here may be called proven.

use std::collections::BTreeMap;

use format::identify::ata_health;
use serde_json::Value;

use crate::answer::{list, text};
use crate::answers::Answers;

/// Answers to what the scenario `sync` asked of syncs.
struct Run(Answers);

/// An answer.
struct Look {
    name: String,
    honesty: Value,
    status: String,
}

impl Run {
    fn named() -> Option<Run> {
        Answers::named("STRADDLE_GUEST_SYNC", "sync").map(Run)
    }

    fn look(&self, name: &str) -> Look {
        let (document, status) = self.0.answer(name);
        assert!(document["refusal"].is_null(), "{name}: {}", document["refusal"]);
        Look { name: name.to_owned(), honesty: document["honesty"].clone(), status }
    }

    /// The kernel's names of the layers of `stack`, from the top.
    fn kernel_names(&self, stack: &str) -> Vec<String> {
        self.0.written(stack).lines().map(str::to_owned).collect()
    }

    /// Returns how many reads and flushes the kernel counted, by device, while others made eight syncs.
    fn counted(&self, stack: &str) -> BTreeMap<String, (u64, u64)> {
        let read = |when: &str| -> BTreeMap<String, (u64, u64)> {
            let text = self.0.written(&format!("{stack}.counted-{when}"));
            let line = |line: &str| {
                let words: Vec<&str> = line.split(' ').collect();
                let number = |at: usize| words[at].parse().expect("it is a counter");
                (words[0].to_owned(), (number(1), number(2)))
            };
            text.lines().map(line).collect()
        };
        let mut counted = read("behind");
        for (name, (reads, flushes)) in read("before") {
            let now = counted.get_mut(&name).expect("both list the same devices");
            *now = (now.0 - reads, now.1 - flushes);
        }
        counted
    }
}

impl Look {
    fn layer(&self, name: &str) -> &Value {
        let layers = list(&self.honesty["layers"]);
        let found = layers.iter().find(|layer| layer["name"] == name);
        found.unwrap_or_else(|| panic!("{} lacks {name}: {:#}", self.name, self.honesty))
    }

    /// The sentences of the evidence of this kind.
    fn evidence(&self, code: &str) -> Vec<&str> {
        let of = list(&self.honesty["evidence"]).iter().filter(|one| one["code"] == code);
        of.map(|one| text(&one["sentence"])).collect()
    }

    /// That it is graded so, exits so, and has this evidence.
    #[track_caller]
    fn is(&self, grade: &str, status: &str, code: &str) {
        let (name, honesty) = (&self.name, &self.honesty);
        assert_eq!((text(&honesty["grade"]), self.status.as_str()), (grade, status), "{name}");
        assert!(!self.evidence(code).is_empty(), "{name} lacks {code}: {honesty:#}");
    }

    #[track_caller]
    fn protection(&self, wanted: &str, source: &str) {
        let drive = &self.honesty["drive"];
        assert_eq!(drive["power_loss_protection"], wanted, "{}: {drive}", self.name);
        let told = text(&drive["power_loss_source"]);
        assert!(told.contains(source), "{}: {told}", self.name);
    }
}

#[test]
fn every_layer_of_a_stack_is_named_and_both_mirrors_count_a_flush_for_each_sync() {
    let Some(run) = Run::named() else { return };
    let look = run.look("chain");
    let names: Vec<&str> =
        list(&look.honesty["layers"]).iter().map(|layer| text(&layer["name"])).collect();
    let kernel = run.kernel_names("chain");
    assert_eq!(names[0], "ext4");
    assert_eq!(names[1..], kernel.iter().map(String::as_str).collect::<Vec<_>>());
    let kinds = ["dm LVM", "dm CRYPT", "md array", "drive", "drive"];
    let counted = run.counted("chain");
    for (name, kind) in kernel.iter().zip(kinds) {
        let layer = look.layer(name);
        assert_eq!((text(&layer["kind"]), text(&layer["write_cache"])), (kind, "write back"));
        // What the kernel counts of eight syncs says which layers can be counted at all.
        let counts = counted[name].1;
        let is_drive = kind == "drive";
        assert_eq!(counts >= 8, is_drive, "{name} counted {counts}");
        assert_eq!(
            layer["flushes_per_sync"].as_f64().is_some_and(|fewest| fewest >= 1.0),
            is_drive
        );
        assert_eq!(layer["flushes"].is_null(), !is_drive, "{layer}");
    }
    assert_eq!(look.evidence("flushed").len(), 2, "one for each mirror");
    assert!(
        ["consistent", "unproven"].contains(&text(&look.honesty["grade"])),
        "{:#}",
        look.honesty
    );
    assert_eq!(look.status, "0");
}

#[test]
fn a_layer_that_drops_flushes_is_found_and_named() {
    let Some(run) = Run::named() else { return };
    let names = run.kernel_names("chain");
    for (look, dropper, below) in [("through-top", 0, 1), ("through-md1", 2, 3)] {
        let look = run.look(look);
        look.is("not-durable", "1", "flush-dropped");
        let (dropper, below) = (&names[dropper], &names[below]);
        let wanted =
            format!("{dropper} is declared write through, so flushes never get to {below}.");
        assert_eq!(look.evidence("flush-dropped"), [wanted]);
        assert_eq!(look.layer(&names[3])["flushes"], 0);
        assert_eq!(look.evidence("no-flush").len(), 1, "the counters say so too");
    }
    let again = run.look("again");
    assert_eq!((again.evidence("flushed").len(), again.status.as_str()), (2, "0"), "put right");
}

#[test]
fn one_mirror_of_two_that_gets_no_flush_leaves_it_unproven() {
    let Some(run) = Run::named() else { return };
    let names = run.kernel_names("chain");
    let look = run.look("through-m1");
    look.is("unproven", "0", "write-through");
    assert_eq!(
        (&look.layer(&names[4])["flushes"], &look.layer(&names[4])["write_cache"]),
        (&0.into(), &"write through".into())
    );
    assert!(look.layer(&names[3])["flushes_per_sync"].as_f64() >= Some(1.0));
    run.look("through").is("unproven", "0", "write-through");
}

#[test]
fn a_mount_without_barriers_is_caught_through_all_layers() {
    let Some(run) = Run::named() else { return };
    for (name, stack) in [("barrier", "chain"), ("paths-barrier", "paths")] {
        let look = run.look(name);
        look.is("not-durable", "1", "barrier-off");
        assert!(look.evidence("barrier-off")[0].contains("`nobarrier`"), "the kernel's own word");
        assert_eq!(look.evidence("no-flush").len(), 1, "{stack}: the counters say so too");
    }
}

/// Request-based device-mapper counts the flushes; its paths take them for reads of nothing.
#[test]
fn multipath_is_not_blamed_for_flushes_that_its_paths_do_not_count() {
    let Some(run) = Run::named() else { return };
    let names = run.kernel_names("paths");
    let counted = run.counted("paths");
    let ((reads, flushes), path) = (counted[&names[0]], counted[&names[1]]);
    assert!(flushes >= 8 && path.1 == 0, "the kernel counts as it did: {counted:?}");
    assert!(path.0 >= reads + flushes, "the path's flushes are reads: {counted:?}");
    let look = run.look("paths");
    assert_ne!(look.honesty["grade"], "not-durable", "{:#}", look.honesty);
    look.is(text(&look.honesty["grade"]), "0", "counted-above");
    assert_eq!(look.layer(&names[0])["kind"], "dm mpath");
    assert!(look.layer(&names[0])["flushes_per_sync"].as_f64() >= Some(1.0));
    assert!(look.layer(&names[1])["flushes"].is_null(), "it counts none");
}

#[test]
fn a_disk_whose_host_drops_all_flushes_is_never_called_proven() {
    let Some(run) = Run::named() else { return };
    for name in ["chain", "again", "paths", "well", "other"] {
        let look = run.look(name);
        assert!(look.evidence("virtual-drive")[0].contains("what its host does is not visible"));
        let changes: Vec<&str> = list(&look.honesty["would_change"]).iter().map(text).collect();
        assert!(changes.iter().any(|change| change.contains("on the host too")), "{changes:?}");
        assert!(changes.iter().any(|change| change.contains("cut the power")), "{changes:?}");
        let sentence = text(&look.honesty["sentence"]);
        let bounded = match text(&look.honesty["grade"]) {
            "consistent" => "only a power cut proves more",
            grade => ["unproven"]
                .contains(&grade)
                .then_some("no evidence against durability, but")
                .expect(grade),
        };
        assert!(sentence.contains(bounded), "{name}: {sentence}");
    }
}

#[test]
fn memory_that_a_driver_shows_as_a_disk_is_not_durable() {
    let Some(run) = Run::named() else { return };
    let look = run.look("memory");
    look.is("not-durable", "1", "in-memory");
    assert!(look.evidence("in-memory")[0].contains("(scsi_debug)"));
}

#[test]
fn the_other_device_of_a_file_system_is_followed_to_memory_by_those_who_may_read_its_name() {
    let Some(run) = Run::named() else { return };
    for name in ["jfs", "reiserfs", "f2fs"] {
        let look = run.look(name);
        look.is("not-durable", "1", "in-memory");
        assert!(look.evidence("in-memory")[0].contains("(scsi_debug)"), "{name}");
        assert_eq!(look.honesty["layers"][0]["name"], name);
        // Who may not read the superblock is told so. The drive of the files is seen all the same:
        // JFS sends it no flushes, and ReiserFS, whose journal is elsewhere, not after each sync
        // (Linux, `reiserfs_sync_file`: none where a commit did it for the journal's device).
        let user = run.look(&format!("{name}-user"));
        match name {
            "f2fs" => user.is("unproven", "0", "lost"),
            "reiserfs" if user.honesty["grade"] == "unproven" => user.is("unproven", "0", "lost"),
            _ => user.is("not-durable", "1", "lost"),
        }
        assert!(user.evidence("lost")[0].contains("is not known"), "{name}: {:#}", user.honesty);
        assert_eq!(user.evidence("in-memory"), [""; 0], "{name}: which device it is, is not seen");
    }
}

#[test]
fn a_failed_backup_is_read_from_the_nvme_health_log() {
    let Some(run) = Run::named() else { return };
    let failed = run.look("failed");
    failed.is("suspect", "0", "protection-failed");
    failed.protection("failed", "log page 02h, critical warning bit 4");
    // Without flushes all rests on it.
    run.look("failed-through").is("not-durable", "1", "protection-failed");
}

#[test]
fn other_warnings_of_an_nvme_drive_say_nothing_of_its_backup() {
    let Some(run) = Run::named() else { return };
    for name in ["well", "warned"] {
        let look = run.look(name);
        look.protection("unknown", "reports no failed backup");
        assert_eq!(look.honesty["drive"]["life_used_percent"], 0, "{name}: its own estimate");
        assert_eq!(look.evidence("protection-failed"), [""; 0]);
        let warned = if name == "warned" { 4 } else { 0 };
        assert_eq!(look.evidence("drive-warns").len(), warned, "{name}: bits 0 to 3");
    }
    // The drive says that its cache is volatile, whatever the kernel was told.
    run.look("well-through").is("suspect", "0", "write-through-lie");
}

#[test]
fn an_ata_drive_is_asked_and_only_a_known_model_is_understood() {
    let Some(run) = Run::named() else { return };
    let known = run.look("known");
    known.protection("unknown", "this model reports no test of it");
    // That attribute of thirty is missing in an answer that was read and parsed.
    assert_eq!(known.honesty["drive"]["life_source"], "the drive has no attribute 233");
    run.look("other").protection("unknown", "of this model mean is not known here");
    // Who may not ask is told so.
    run.look("user").protection("unknown", "run as root");
}

/// smartctl prints the bytes that it got beside what it makes of them.
#[test]
fn the_attributes_of_a_real_answer_are_those_that_smartctl_finds() {
    let Some(run) = Run::named() else { return };
    let printed = run.0.written("attributes.txt");
    let lines = printed.lines().skip_while(|line| !line.contains("ATTRIBUTE VALUES] DATA START"));
    let lines = lines.skip(1).take_while(|line| !line.contains("DATA END"));
    let words = lines.flat_map(|line| {
        let (_, rest) = line.split_once(": ").expect("a line says where it is");
        rest.split('|').next().expect("the bytes come first").split_whitespace()
    });
    let bytes: Result<Vec<u8>, _> = words.map(|word| u8::from_str_radix(word, 16)).collect();
    let found = ata_health::health(&bytes.expect("they are hexadecimal")).expect("it answered");
    assert_eq!(found.problems, [], "its checksum is right");
    let text = run.0.written("attributes.json");
    let oracle: Value = serde_json::from_str(&text).expect("it is JSON");
    let number = |value: &Value| value.as_u64().expect("a number");
    let rows = list(&oracle["ata_smart_attributes"]["table"])
        .iter()
        .map(|row| [&row["id"], &row["value"], &row["worst"], &row["raw"]["value"]].map(number));
    let own = found
        .value
        .attributes
        .iter()
        .map(|own| [own.number.into(), own.value.into(), own.worst.into(), own.raw]);
    let rows: Vec<_> = rows.collect();
    assert!(rows.len() >= 5, "{rows:?}");
    assert_eq!(own.collect::<Vec<_>>(), rows);
}
