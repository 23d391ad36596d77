//! Stacks of known truth, and what they are graded.

use units::{Known, Source};

use super::*;

mod process;
mod untorn;

fn known(write_back: Option<bool>) -> Known<bool> {
    write_back.map_or(Known::no("there is no queue"), |yes| Known::yes(yes, Source::Sysfs))
}

fn layer(
    name: &str,
    kind: SyncLayerKind,
    write_back: Option<bool>,
    counted: Result<LayerCounts, String>,
) -> PathLayer {
    let forced_unit_access = known(write_back.map(|_| false));
    let write_back = known(write_back);
    PathLayer {
        name: name.to_owned(),
        kind,
        below: Vec::new(),
        write_back,
        forced_unit_access,
        counted,
    }
}

/// Windows with so many flushes and writes for 8 syncs, and so many of others before.
fn counts(flushes: u64, writes: u64, idle_flushes: u64) -> Result<LayerCounts, String> {
    let window = CountedWindow { syncs: 8, flushes, writes, idle_flushes };
    Ok(LayerCounts { overwrites: vec![window; 4], appends: vec![window; 2], empty: Vec::new() })
}

fn none() -> Result<LayerCounts, String> {
    Err("it has no queue".to_owned())
}

fn system(kind: &str, options: &[&str]) -> PathLayer {
    let options = options.iter().map(|&option| option.to_owned()).collect();
    let mount_point = "/data".to_owned();
    layer(
        kind,
        SyncLayerKind::FileSystem { kind: kind.to_owned(), options, mount_point },
        None,
        none(),
    )
}

/// A disk of a virtual machine.
fn virtual_word() -> DriveWord {
    DriveWord {
        is_virtual: true,
        medium: Medium::Unknown,
        volatile_cache: Known::no("it does not say"),
        protection: Protection::Unknown,
        protection_source: "a virtual disk answers nothing".to_owned(),
        life_used_percent: Known::no("it does not say"),
        warnings: Vec::new(),
    }
}

fn solid(volatile: bool, protection: Protection) -> DriveWord {
    DriveWord {
        is_virtual: false,
        medium: Medium::Solid,
        volatile_cache: Known::yes(volatile, Source::Identify),
        protection,
        protection_source: "a page".to_owned(),
        life_used_percent: Known::yes(3, Source::Identify),
        warnings: Vec::new(),
    }
}

fn drive(word: DriveWord, write_back: bool, counted: Result<LayerCounts, String>) -> PathLayer {
    layer("sda", SyncLayerKind::Drive(Box::new(word)), Some(write_back), counted)
}

fn times(overwrite_ns: u64, dsync_ns: u64) -> Times {
    Times {
        overwrite: vec![overwrite_ns; 9],
        append: vec![overwrite_ns.saturating_mul(2); 9],
        empty: vec![overwrite_ns.div_euclid(3); 9],
        write: vec![2_000; 9],
        pairs: vec![(overwrite_ns, dsync_ns); 12],
    }
}

/// Layers one on the other.
fn stack(layers: Vec<PathLayer>) -> Evidence {
    let count = layers.len();
    let mut layers = layers;
    for (place, layer) in layers.iter_mut().enumerate() {
        layer.below = (place + 1 < count).then_some(place + 1).into_iter().collect();
    }
    let (times, here) = (times(160_000, 150_000), Here::default());
    let directory = "/data".to_owned();
    Evidence { directory, layers, times, untried: None, here, process: None }
}

fn library(name: &str, preloaded_by: Option<&str>, takes: Known<Vec<&str>>) -> Library {
    let takes = match takes {
        Known::Yes(fact) => {
            Known::yes(fact.value.into_iter().map(str::to_owned).collect(), fact.source)
        }
        Known::No(reason) => Known::No(reason),
    };
    let (name, preloaded_by) = (name.to_owned(), preloaded_by.map(str::to_owned));
    Library { name, is_program: false, preloaded_by, takes }
}

fn taking(calls: &[&'static str]) -> Known<Vec<&'static str>> {
    Known::yes(calls.to_vec(), Source::Procfs)
}

#[track_caller]
fn check(evidence: &Evidence, grade: Grade, code: &str) -> Grading {
    let found = judge(evidence);
    assert_eq!(found.grade, grade, "{found:#?}");
    assert!(found.reasons.iter().any(|reason| reason.code == code), "{code}: {found:#?}");
    for reason in &found.reasons {
        assert!(!reason.sentence.is_empty() && !reason.source.is_empty(), "{reason:?}");
        assert!(reason.change.is_some() || reason.at_best == Grade::Consistent, "{reason:?}");
    }
    found
}

#[test]
fn a_disk_that_is_flushed_for_each_sync_passes() {
    let plain = stack(vec![system("ext4", &["rw"]), drive(virtual_word(), true, counts(8, 16, 0))]);
    let found = check(&plain, Grade::Consistent, "flushed");
    assert!(found.sentence.contains("only a power cut proves more"));
    let looped = stack(vec![
        system("btrfs", &["rw"]),
        layer("loop0", SyncLayerKind::Loop(Some(true)), Some(true), counts(16, 64, 0)),
        layer("image", SyncLayerKind::File, None, none()),
        system("ext4", &["rw"]),
        drive(virtual_word(), true, counts(17, 80, 1)),
    ]);
    check(&looped, Grade::Consistent, "flushed");
}

#[test]
fn others_on_the_same_disk_leave_it_open_and_never_pass_for_ours() {
    let busy = stack(vec![system("xfs", &[]), drive(virtual_word(), true, counts(40, 90, 30))]);
    check(&busy, Grade::Unproven, "others-flush");
    let dropped = stack(vec![system("xfs", &[]), drive(virtual_word(), true, counts(2, 90, 30))]);
    check(&dropped, Grade::NotDurable, "no-flush");
}

#[test]
fn the_reason_that_explains_missing_flushes_comes_before_the_one_that_only_saw_them() {
    let dropped = stack(vec![
        system("ext4", &["rw"]),
        layer("loop0", SyncLayerKind::Loop(Some(false)), Some(false), none()),
        layer("image", SyncLayerKind::File, None, none()),
        drive(virtual_word(), true, counts(0, 0, 0)),
    ]);
    let found = check(&dropped, Grade::NotDurable, "nothing-written");
    assert_eq!(found.reasons[0].code, "flush-dropped", "{found:#?}");
    let off =
        stack(vec![system("ext4", &["nobarrier"]), drive(virtual_word(), true, counts(0, 8, 0))]);
    let found = check(&off, Grade::NotDurable, "no-flush");
    assert_eq!(found.reasons[0].code, "barrier-off", "{found:#?}");
    assert!(found.sentence.contains("is mounted with `nobarrier`"), "{}", found.sentence);
}

#[test]
fn barriers_that_are_off_are_seen_in_the_mount_and_by_the_counter() {
    for option in ["barrier=0", "nobarrier"] {
        let off = stack(vec![
            system("ext4", &["rw", option]),
            drive(virtual_word(), true, counts(0, 8, 0)),
        ]);
        check(&off, Grade::NotDurable, "no-flush");
        check(&off, Grade::NotDurable, "barrier-off");
    }
    // With nothing volatile below no flush would be sent either way.
    let needless = stack(vec![
        system("ext4", &["nobarrier"]),
        drive(solid(false, Protection::Unknown), false, counts(0, 8, 0)),
    ]);
    check(&needless, Grade::Consistent, "no-volatile-cache");
    // Nor on a partition of it, which has no cache of its own to declare.
    let partition = || layer("sda1", SyncLayerKind::Partition, None, none());
    let needless = stack(vec![
        system("ext4", &["nobarrier"]),
        partition(),
        drive(solid(false, Protection::Unknown), false, counts(0, 8, 0)),
    ]);
    check(&needless, Grade::Consistent, "no-volatile-cache");
    // Where nobody declares anything there is no reason to leave them out.
    let undeclared = layer("sda", SyncLayerKind::Drive(Box::new(virtual_word())), None, none());
    let off = stack(vec![system("ext4", &["nobarrier"]), partition(), undeclared]);
    check(&off, Grade::NotDurable, "barrier-off");
}

#[test]
fn barriers_are_needed_where_one_of_two_drives_has_a_volatile_cache() {
    let two = |caches: [bool; 2]| {
        let through =
            |write_back| drive(solid(write_back, Protection::Unknown), write_back, counts(0, 8, 0));
        let mut evidence =
            stack(vec![system("btrfs", &["nobarrier"]), through(caches[0]), through(caches[1])]);
        (evidence.layers[0].below, evidence.layers[1].below) = (vec![1, 2], Vec::new());
        evidence
    };
    check(&two([false, true]), Grade::NotDurable, "barrier-off");
    check(&two([false, false]), Grade::Consistent, "no-volatile-cache");
}

#[test]
fn memory_at_the_very_bottom_is_found_below_loops() {
    let bottom = |name: &str| layer(name, SyncLayerKind::Memory(name.to_owned()), None, none());
    check(&stack(vec![bottom("tmpfs")]), Grade::NotDurable, "in-memory");
    let looped = stack(vec![
        system("xfs", &[]),
        layer("loop0", SyncLayerKind::Loop(None), Some(true), counts(8, 16, 0)),
        layer("image", SyncLayerKind::File, None, none()),
        bottom("tmpfs"),
    ]);
    check(&looped, Grade::NotDurable, "in-memory");
    let mut zram = bottom("zram0");
    zram.write_back = known(Some(false));
    check(&stack(vec![system("ext4", &[]), zram]), Grade::NotDurable, "in-memory");
}

#[test]
fn write_through_is_believed_as_far_as_the_drive_says_so() {
    let declared = |word| stack(vec![system("ext4", &[]), drive(word, false, counts(0, 16, 0))]);
    check(&declared(virtual_word()), Grade::Unproven, "write-through");
    let lies = solid(true, Protection::Unknown);
    check(&declared(lies), Grade::Suspect, "write-through-lie");
    check(&declared(solid(true, Protection::Failed)), Grade::NotDurable, "protection-failed");
    check(&declared(solid(true, Protection::Good)), Grade::Consistent, "protected");
    check(&declared(solid(false, Protection::Unknown)), Grade::Consistent, "no-volatile-cache");
    check(&declared(solid(false, Protection::Failed)), Grade::NotDurable, "protection-failed");
    let dropped = stack(vec![
        system("ext4", &[]),
        layer("dm-0", SyncLayerKind::Mapped("dm crypt".to_owned()), Some(false), none()),
        drive(virtual_word(), true, counts(8, 16, 0)),
    ]);
    check(&dropped, Grade::NotDurable, "flush-dropped");
}

#[test]
fn devices_that_count_no_flushes_are_passed_over_and_drives_are_not() {
    let mapped = layer("dm-0", SyncLayerKind::Mapped("dm crypt".to_owned()), Some(true), none());
    let through = stack(vec![
        system("ext4", &[]),
        mapped.clone(),
        drive(virtual_word(), true, counts(8, 16, 0)),
    ]);
    check(&through, Grade::Consistent, "flushed");
    let old = stack(vec![system("ext4", &[]), mapped, drive(virtual_word(), true, none())]);
    check(&old, Grade::Unproven, "not-counted");
}

#[test]
fn a_path_whose_flushes_are_counted_by_what_combines_paths_is_believed_as_far_as_that() {
    let paths = |counted| {
        let mapped = SyncLayerKind::Mapped("dm mpath".to_owned());
        let combined = layer("dm-0", mapped, Some(true), counted);
        stack(vec![system("ext4", &[]), combined, drive(virtual_word(), true, none())])
    };
    check(&paths(counts(8, 16, 0)), Grade::Consistent, "counted-above");
    check(&paths(counts(8, 16, 8)), Grade::Unproven, "not-counted");
    check(&paths(counts(0, 16, 0)), Grade::NotDurable, "no-flush");
}

#[test]
fn what_hides_the_layers_below_is_opaque() {
    let opaque = |kind: &str, options: &[&str]| {
        let options = options.iter().map(|&option| option.to_owned()).collect();
        let reason = if kind == "overlay" { "its upper directory is not seen" } else { "" };
        let (named, reason) = (kind.to_owned(), reason.to_owned());
        stack(vec![layer(
            kind,
            SyncLayerKind::Opaque { kind: named, options, reason },
            None,
            none(),
        )])
    };
    let found = check(&opaque("fuse", &[]), Grade::Opaque, "opaque-layer");
    assert_eq!(found.sentence, "opaque layer (fuse): no flush seen below it, unproven");
    check(&opaque("nfs4", &[]), Grade::Opaque, "opaque-layer");
    let found = check(&opaque("overlay", &["rw"]), Grade::Opaque, "opaque-layer");
    let seen = "overlay hides what is below it: its upper directory is not seen";
    assert_eq!(found.sentence, seen);
    check(&opaque("overlay", &["volatile"]), Grade::NotDurable, "sync-off");
    check(&opaque("overlay", &["rw", "fsync=volatile"]), Grade::NotDurable, "sync-off");
    let lost =
        stack(vec![layer("zfs", SyncLayerKind::Lost("it is a pool".to_owned()), None, none())]);
    check(&lost, Grade::Unproven, "lost");
}

#[test]
fn what_a_drive_warns_of_is_said_and_leaves_the_grade() {
    let warning = Warning {
        says: "its media take no more writes",
        source: "NVMe log page 02h, critical warning bit 3",
        change: "replace the drive",
    };
    let word = DriveWord { warnings: vec![warning], ..solid(true, Protection::Unknown) };
    let warned = stack(vec![system("ext4", &[]), drive(word, true, counts(8, 16, 0))]);
    let found = check(&warned, Grade::Consistent, "drive-warns");
    let said = found.reasons.iter().find(|reason| reason.code == "drive-warns").unwrap();
    assert_eq!(said.sentence, "sda warns that its media take no more writes");
    assert_eq!((&*said.source, said.change.as_deref()), (warning.source, Some(warning.change)));
}

#[test]
fn an_overlay_is_as_durable_as_what_its_upper_directory_lies_on_unless_it_leaves_syncs_out() {
    let on = |options: &[&str], below: Vec<PathLayer>| {
        stack([vec![system("overlay", options)], below].concat())
    };
    let disk = |counted| vec![system("ext4", &[]), drive(virtual_word(), true, counted)];
    let tmpfs = || vec![layer("tmpfs", SyncLayerKind::Memory("tmpfs".to_owned()), None, none())];
    check(&on(&["rw"], disk(counts(8, 16, 0))), Grade::Consistent, "flushed");
    check(&on(&["rw"], disk(counts(0, 16, 0))), Grade::NotDurable, "no-flush");
    check(&on(&["rw"], tmpfs()), Grade::NotDurable, "in-memory");
    check(&on(&["volatile"], disk(counts(8, 16, 0))), Grade::NotDurable, "sync-off");
}

#[test]
fn syncs_that_never_reach_the_kernel_are_not_durable() {
    let mut evidence =
        stack(vec![system("ext4", &[]), drive(virtual_word(), true, counts(0, 0, 0))]);
    evidence.here = Here {
        suppressed: vec!["fsync".to_owned(), "fdatasync".to_owned()],
        sometimes: Vec::new(),
        refused: vec!["open with O_SYNC".to_owned()],
        is_filtered: true,
        ..Here::default()
    };
    check(&evidence, Grade::NotDurable, "sync-suppressed");
    check(&evidence, Grade::NotDurable, "nothing-written");
    check(&evidence, Grade::NotDurable, "sync-refused");
    let mut good = stack(vec![system("ext4", &[]), drive(virtual_word(), true, counts(8, 16, 0))]);
    good.here.preloads = vec![library("libeatmydata.so", Some("LD_PRELOAD"), taking(&["fsync"]))];
    check(&good, Grade::NotDurable, "suppressor-loaded");
    good.here.preloads = vec![library("libjemalloc.so.2", Some("LD_PRELOAD"), taking(&[]))];
    check(&good, Grade::Consistent, "preload");
    good.here.preloads =
        vec![library("libours.so", Some("LD_PRELOAD"), Known::no("it is not found"))];
    check(&good, Grade::Unproven, "preload");
    good.here = Here { sometimes: vec![("fsync".to_owned(), 5)], ..Here::default() };
    check(&good, Grade::Suspect, "sync-sometimes");
}

#[test]
fn times_lower_a_grade_and_never_raise_it() {
    let with = |word: DriveWord, times| Evidence {
        times,
        ..stack(vec![system("ext4", &[]), drive(word, true, counts(8, 16, 0))])
    };
    let disk = || DriveWord { medium: Medium::Rotating(7200), ..solid(true, Protection::Unknown) };
    check(&with(disk(), times(160_000, 8_330_000)), Grade::Suspect, "faster-than-a-turn");
    check(&with(disk(), times(8_330_000, 8_400_000)), Grade::Consistent, "flushed");
    let quick = times(30_000, 28_000);
    check(
        &with(solid(true, Protection::Unknown), quick.clone()),
        Grade::Unproven,
        "faster-than-flash",
    );
    check(&with(solid(true, Protection::Good), quick.clone()), Grade::Consistent, "protected");
    // The kernel says that this one turns; it does not say so itself.
    check(&with(virtual_word(), times(160_000, 150_000)), Grade::Consistent, "virtual-drive");
    check(&with(virtual_word(), times(100_000, 1_400_000)), Grade::Suspect, "methods-disagree");
    check(&with(virtual_word(), times(100_000, 450_000)), Grade::Consistent, "flushed");
    let mut burst = times(100_000, 1_400_000);
    burst.pairs[0].1 = 110_000;
    burst.pairs[7].0 = 2_000_000;
    check(&with(virtual_word(), burst.clone()), Grade::Consistent, "flushed");
    burst.pairs.truncate(5);
    check(&with(virtual_word(), burst), Grade::Consistent, "flushed");
    let swapped =
        check(&with(virtual_word(), times(1_400_000, 100_000)), Grade::Suspect, "methods-disagree");
    assert!(swapped.sentence.starts_with("a write with O_DSYNC takes 100"), "{swapped:?}");
}

/// The codes of what was seen.
fn codes(evidence: &Evidence) -> Vec<&'static str> {
    judge(evidence).reasons.iter().map(|reason| reason.code).collect()
}

#[test]
fn a_time_says_nothing_of_a_drive_that_no_flush_is_known_to_reach() {
    let on_loop = |options: &[&str], on_loop: Result<LayerCounts, String>, on_drive| {
        let layers = vec![
            system("ext4", options),
            layer("loop0", SyncLayerKind::Loop(Some(false)), Some(true), on_loop),
            layer("image", SyncLayerKind::File, None, none()),
            system("ext4", &["rw"]),
            drive(virtual_word(), true, on_drive),
        ];
        // Quick, and by one method much quicker than by the other.
        Evidence { times: times(11_000, 900_000), ..stack(layers) }
    };
    let timed = ["faster-than-flash", "faster-than-a-turn", "methods-disagree"];
    let unseen = [
        on_loop(&["nobarrier"], counts(0, 8, 0), counts(0, 8, 0)),
        // Flushes of others arrive at the drive.
        on_loop(&["rw"], counts(0, 8, 0), counts(8, 8, 0)),
        on_loop(&["nobarrier"], none(), counts(8, 8, 0)),
    ];
    for evidence in unseen {
        let found = codes(&evidence);
        assert!(timed.iter().all(|code| !found.contains(code)), "{found:?}");
        assert_eq!(judge(&evidence).grade, Grade::NotDurable);
    }
    let busy = on_loop(&["rw"], counts(8, 8, 0), counts(30, 30, 30));
    assert!(!codes(&busy).contains(&"faster-than-flash"));
    let seen = on_loop(&["rw"], counts(8, 8, 0), counts(8, 8, 0));
    assert!(codes(&seen).contains(&"faster-than-flash"));

    let turning = |write_back, counted| {
        let word = DriveWord { medium: Medium::Rotating(7200), ..solid(true, Protection::Unknown) };
        let layers = vec![system("ext4", &[]), drive(word, write_back, counted)];
        Evidence { times: times(160_000, 160_000), ..stack(layers) }
    };
    assert!(!codes(&turning(true, counts(0, 8, 0))).contains(&"faster-than-a-turn"));
    // A drive that calls itself write through is to have the bytes on its medium.
    check(&turning(false, counts(0, 8, 0)), Grade::Suspect, "faster-than-a-turn");
    check(&turning(true, counts(8, 8, 0)), Grade::Suspect, "faster-than-a-turn");
}

#[test]
fn a_drive_whose_cache_nobody_declares_is_unproven() {
    let layers = vec![
        system("ext4", &[]),
        layer("vda", SyncLayerKind::Drive(Box::new(virtual_word())), None, none()),
    ];
    check(&stack(layers), Grade::Unproven, "cache-undeclared");
}

#[test]
fn a_failed_protection_counts_less_where_flushes_are_sent() {
    let failed = solid(true, Protection::Failed);
    let flushed = stack(vec![system("xfs", &[]), drive(failed, true, counts(8, 8, 0))]);
    check(&flushed, Grade::Suspect, "protection-failed");
    let worn = DriveWord {
        life_used_percent: Known::yes(117, Source::Identify),
        ..solid(true, Protection::Unknown)
    };
    let worn = stack(vec![system("xfs", &[]), drive(worn, true, counts(8, 8, 0))]);
    check(&worn, Grade::Consistent, "worn-out");
}

#[test]
fn where_no_sync_could_be_tried_nothing_is_claimed() {
    let mut evidence =
        stack(vec![system("ext4", &[]), drive(virtual_word(), true, Ok(LayerCounts::default()))]);
    evidence.times = Times::default();
    evidence.untried = Some(Untried {
        reason: "it is read-only".into(),
        has_no_room: false,
        advice: Some("umount it".to_owned()),
    });
    let found = check(&evidence, Grade::Unproven, "not-tried");
    assert_eq!(found.reasons[0].change.as_deref(), Some("umount it"));
}

#[test]
fn lack_of_room_is_told_once_and_nobody_else_is_blamed_for_what_was_not_tried() {
    let full = || Untried {
        reason: "a write in /d failed: it is full".into(),
        has_no_room: true,
        advice: None,
    };
    let with = |counts: LayerCounts, times: Times| Evidence {
        times,
        untried: Some(full()),
        ..stack(vec![
            system("ext4", &[]),
            drive(solid(true, Protection::Unknown), true, Ok(counts)),
        ])
    };
    let codes = |grading: &Grading| -> Vec<&str> {
        let open = grading.reasons.iter().filter(|reason| reason.direction == Direction::Open);
        open.map(|reason| reason.code).collect()
    };
    let none = judge(&with(LayerCounts::default(), Times::default()));
    assert_eq!(codes(&none), ["not-tried"]);
    assert!(
        none.sentence.ends_with("no sync could be tried here: a write in /d failed: it is full")
    );
    let change = none.reasons[0].change.as_deref();
    assert!(change.is_some_and(|change| change.starts_with("free some space there")), "{change:?}");
    // One window, and then no more: too few to tell, and no word of others.
    let one = LayerCounts {
        overwrites: vec![CountedWindow { syncs: 8, flushes: 8, writes: 8, idle_flushes: 0 }],
        ..LayerCounts::default()
    };
    let part = judge(&with(one, times(160_000, 150_000)));
    assert_eq!(codes(&part), ["tried-in-part", "not-counted"]);
    assert!(part.sentence.contains(" syncs could be tried here: a write in /d failed"));
}
