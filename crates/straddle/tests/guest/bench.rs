//! `straddle bench` on block devices that this machine may not have: granules with an origin, chunks
//! of an array, a delay that is known, raw disks in every kind of use, a volume of LVM.
//!
//! `STRADDLE_GUEST_BENCH` names the result of a run of `guest/run … bench`; without it these tests
//! skip. Times under emulation mean nothing, but for the delays that the kernel imposes.

use serde_json::Value;
use testkit::void_by_chance::assert_sound;

use crate::answer::list;
use crate::answers::Answers;

/// A result of the scenario `bench`.
struct Run(Answers);

impl Run {
    fn named() -> Option<Run> {
        Answers::named("STRADDLE_GUEST_BENCH", "bench").map(Run)
    }

    fn text(&self, name: &str) -> String {
        self.0.text(name)
    }

    fn answer(&self, name: &str) -> (Value, String) {
        self.0.answer(name)
    }

    /// The one experiment of a run that was not refused.
    fn experiment(&self, name: &str) -> (Value, String) {
        let (document, status) = self.answer(name);
        assert!(document["refusal"].is_null(), "{name}: {}", document["refusal"]);
        (list(&document["experiments"])[0].clone(), status)
    }

    /// That a raw device was refused for safety, with this in the reason.
    fn refused(&self, name: &str, part: &str) {
        let (document, status) = self.answer(name);
        let refusal = &document["refusal"];
        let message = refusal["message"].as_str().expect("it is refused");
        assert!(message.contains(part), "{name}: {message}");
        assert_eq!((refusal["kind"].as_str(), status.as_str()), (Some("safety"), "3"), "{name}");
        assert!(list(&document["experiments"]).is_empty(), "{name} measured something");
    }
}

#[test]
fn arms_are_placed_by_the_origin_of_the_granules() {
    let Some(run) = Run::named() else { return };
    for name in ["shifted", "raw-origin"] {
        let (document, _) = run.answer(name);
        let target = &document["target"];
        let granule = (&target["granule_bytes"], &target["granule_origin_bytes"]);
        assert_eq!((granule.0.as_u64(), granule.1.as_u64()), (Some(4096), Some(3584)), "{name}");
        let (experiment, _) = run.experiment(name);
        assert_sound(&experiment);
        let rmws = |arm: &str| experiment["predicted"][arm]["read_modify_writes"].as_u64();
        assert_eq!((rmws("aligned"), rmws("shifted")), (Some(0), Some(2)), "{name}");
    }
}

#[test]
fn a_chunk_of_an_array_is_measured_on_the_array() {
    let Some(run) = Run::named() else { return };
    let (document, _) = run.answer("chunk");
    assert_eq!(document["target"]["granule_bytes"], 65536);
    let (experiment, _) = run.experiment("chunk");
    assert_sound(&experiment);
    let drives = |arm: &str| experiment["predicted"][arm]["drives"].as_u64();
    assert_eq!((drives("aligned"), drives("shifted")), (Some(1), Some(2)));
}

#[test]
fn a_penalty_that_the_kernel_imposes_is_found() {
    let Some(run) = Run::named() else { return };
    let (experiment, status) = run.experiment("found");
    assert_eq!((experiment["verdict"].as_str(), status.as_str()), (Some("penalty"), "1"));
    // 30 ms instead of 10 ms, each with what the emulation takes, and timers that may round up.
    let ratio = list(&experiment["comparisons"])[0]["ratio"].as_f64().expect("a ratio");
    assert!((1.8..=3.3).contains(&ratio), "{ratio}");
}

#[test]
fn misaligned_writes_that_a_file_system_lets_through_one_at_a_time_are_void() {
    let Some(run) = Run::named() else { return };
    let (experiment, _) = run.experiment("deep");
    let release = run.text("kernel-release");
    let mut numbers = release.split(['.', '-']).map_while(|word| word.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let reason = experiment["reason"].as_str().unwrap_or_default();
    if version < (6, 6) {
        assert_eq!(experiment["verdict"], "void");
        assert!(reason.contains("lets one through at a time"), "{reason}");
    } else {
        assert_sound(&experiment);
    }
}

#[test]
fn a_free_disk_is_written_when_its_serial_number_is_named() {
    let Some(run) = Run::named() else { return };
    let (experiment, _) = run.experiment("raw-free");
    assert_sound(&experiment);
    assert!(experiment["written_bytes"].as_u64() > Some(0));
    run.refused("raw-stranger", "--confirm does not name");
}

#[test]
fn what_is_used_two_layers_above_or_beside_is_never_written() {
    let Some(run) = Run::named() else { return };
    run.refused("raw-beneath", "/dev/md0 is mounted on /mnt/striped");
    run.refused("raw-sibling", "/dev/dm-0 is built on the same sectors of");
}

#[test]
fn the_suite_goes_through_a_volume_of_lvm_and_leaves_nothing() {
    let Some(run) = Run::named() else { return };
    let (document, _) = run.answer("suite");
    let titles = list(&document["experiments"]).iter().map(|one| {
        assert_sound(one);
        one["title"].as_str().expect("a title").to_owned()
    });
    let titles: Vec<String> = titles.collect();
    let of = |name: &str| titles.iter().filter(|title| title.starts_with(name)).count();
    assert_eq!((of("ext4: "), of("ext4 in LVM: ")), (5, 5), "{titles:?}");
    assert_eq!(run.text("bench/before.left"), run.text("bench/behind.left"));
}

#[test]
fn a_suite_that_is_killed_leaves_no_volume_either() {
    let Some(run) = Run::named() else { return };
    let name = run.text("bench/killed.name");
    assert!(name.starts_with("straddle_"), "it was killed while its volume was there: {name}");
    assert_eq!(run.text("bench/before.left"), run.text("bench/killed.left"));
}
