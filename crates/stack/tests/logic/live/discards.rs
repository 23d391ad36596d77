//! Discards of a mounted file system, and the layer at which they end.

use stack::discard_path::{self, DiscardArrival, DiscardGrain, DiscardPath};
use stack::{LayerId, LayerKind, Severity};

use super::MIB;
use super::world::{Sample, Seen};

/// A disk that takes discards in units of 4 KiB.
const DISCARDS: [(&str, &str); 2] =
    [("queue/discard_granularity", "4096"), ("queue/discard_max_bytes", "2147483136")];
const CRYPT: &str = "c: 0 65536 crypt aes-xts-plain64 :64:logon:x 0 8:0 32768";

fn disk() -> Sample {
    Sample::new().disk("sda", "8:0", 64 * MIB, &DISCARDS)
}

/// A LUKS2 container with this table on the disk, whose queue takes discards of `most` bytes, and
/// ext4 in it, mounted with these options.
fn container(uuid: &str, table: &str, most: &str, options: &str) -> Seen {
    let mounts = format!("1 0 253:0 / /data rw - ext4 /dev/mapper/c {options}");
    disk()
        .mapped("dm-0", "253:0", ("c", uuid), 32 * MIB, &["sda"])
        .files(&[
            ("/straddle/dm-tables", table),
            ("/sys/block/dm-0/queue/discard_max_bytes", most),
            ("/proc/self/mountinfo", &mounts),
        ])
        .look("dm-0")
}

/// The file system of a stack, and the way of its discards.
fn way(seen: &Seen) -> DiscardPath {
    let stack = &seen.assembled.stack;
    let is_system = |id: &LayerId| matches!(stack.layer(*id).kind, LayerKind::Mounted(_));
    let system = stack.iter().map(|(id, _)| id).find(is_system).expect("it is mounted");
    discard_path::of(stack, system).expect("it is written")
}

const LUKS2: &str = "CRYPT-LUKS2-00-c";

#[test]
fn a_container_without_the_flag_stops_discards_and_a_mount_that_wants_them_warns() {
    let seen = container(LUKS2, CRYPT, "0", "rw");
    let DiscardArrival::Stopped { by, why, .. } = way(&seen).arrival else { panic!("stopped") };
    assert_eq!(seen.assembled.stack.layer(by).name, "c");
    assert_eq!(why, "its table has no allow_discards");
    let found = seen.findings();
    let found = found.iter().find(|it| it.rule.code == "ST611").unwrap();
    assert_eq!(found.severity, Severity::Info);
    assert_eq!(
        found.fixes(),
        ["if it may be seen which blocks of the drive are free: \
          cryptsetup refresh --allow-discards --persistent c"]
    );
    let seen = container(LUKS2, CRYPT, "0", "rw,discard");
    let found = seen.findings();
    let found = found.iter().find(|it| it.rule.code == "ST611").unwrap();
    assert_eq!(found.severity, Severity::Warning);
    assert_eq!(found.evidence[1], "/data is mounted with discard");
}

#[test]
fn a_fix_keeps_what_the_mapping_has_and_writes_no_flag_into_a_header_without_room() {
    let table = format!("{CRYPT} 2 sector_size:4096 no_read_workqueue");
    for (uuid, expected) in [
        (LUKS2, "cryptsetup refresh --allow-discards --perf-no_read_workqueue --persistent c"),
        ("CRYPT-LUKS1-00-c", "cryptsetup refresh --allow-discards --perf-no_read_workqueue c"),
    ] {
        let seen = container(uuid, &table, "0", "rw");
        let found = seen.findings();
        let found = found.iter().find(|it| it.rule.code == "ST611").unwrap();
        assert!(found.fixes()[0].ends_with(expected), "{:?}", found.fixes());
    }
}

#[test]
fn discards_that_pass_reach_the_disk_in_its_units() {
    let table = format!("{CRYPT} 1 allow_discards");
    let seen = container(LUKS2, &table, "2147483136", "rw,discard");
    let way = way(&seen);
    let DiscardArrival::Arrives(ends) = &way.arrival else { panic!("arrives: {way:?}") };
    assert_eq!(seen.assembled.stack.layer(ends[0]).name, "sda");
    let grain = DiscardGrain { bytes: 4096, layer: ends[0], offset_bytes: Some(0) };
    assert_eq!(way.grain, Some(grain));
    assert!(!seen.codes().contains(&"ST611"));
}

#[test]
fn a_disk_that_takes_none_is_no_finding() {
    let mounts = ("/proc/self/mountinfo", "1 0 8:0 / /data rw - ext4 /dev/sda rw,discard");
    let none = [("queue/discard_granularity", "0"), ("queue/discard_max_bytes", "0")];
    let seen = Sample::new().disk("sda", "8:0", 64 * MIB, &none).files(&[mounts]).look("sda");
    assert!(matches!(way(&seen).arrival, DiscardArrival::Stopped { .. }));
    assert!(!seen.codes().contains(&"ST611"));
}

#[test]
fn a_queue_that_says_nothing_leaves_the_way_unknown() {
    let mounts = ("/proc/self/mountinfo", "1 0 8:0 / /data rw - ext4 /dev/sda rw");
    let seen = Sample::new().disk("sda", "8:0", 64 * MIB, &[]).files(&[mounts]).look("sda");
    assert!(matches!(way(&seen).arrival, DiscardArrival::Unknown { .. }));
    assert!(!seen.codes().contains(&"ST611"));
}

/// ext4 on a volume of a thin pool with these features.
fn thin(features: &str) -> Seen {
    let tables = format!(
        "vg-pool-tpool: 0 65536 thin-pool 8:16 8:0 128 0 {features}\n\
         vg-thin: 0 65536 thin 253:0 1\n"
    );
    disk()
        .disk("sdb", "8:16", 64 * MIB, &DISCARDS)
        .mapped("dm-0", "253:0", ("vg-pool-tpool", "LVM-x-tpool"), 32 * MIB, &["sda", "sdb"])
        .mapped("dm-1", "253:1", ("vg-thin", "LVM-y"), 32 * MIB, &["dm-0"])
        .files(&[
            ("/straddle/dm-tables", &tables),
            ("/sys/block/dm-0/queue/discard_max_bytes", "65536"),
            ("/sys/block/dm-1/queue/discard_max_bytes", "65536"),
            ("/proc/self/mountinfo", "1 0 253:1 / /data rw - ext4 /dev/mapper/vg-thin rw"),
        ])
        .look("dm-1")
}

#[test]
fn a_pool_that_keeps_discards_gets_the_space_and_its_drive_does_not() {
    let seen = thin("1 no_discard_passdown");
    let found = seen.findings();
    let found = found.iter().find(|it| it.rule.code == "ST611").unwrap();
    assert_eq!(
        found.fixes(),
        ["if the drive should get the space too: lvchange --discards passdown vg/pool"]
    );
    let seen = thin("1 ignore_discard");
    let found = seen.findings();
    let found = found.iter().find(|it| it.rule.code == "ST611").unwrap();
    assert!(found.fixes()[0].starts_with("deactivate the pool"));
    let seen = thin("0");
    assert!(!seen.codes().contains(&"ST611"));
    let way = way(&seen);
    assert!(matches!(way.arrival, DiscardArrival::Arrives(_)));
    assert_eq!(way.grain.map(|grain| (grain.bytes, grain.offset_bytes)), Some((65536, Some(0))));
}

#[test]
fn what_would_stop_discards_further_up_is_evidence() {
    let mounts = "1 0 253:1 / /data rw - ext4 /dev/mapper/c rw";
    let tables = "r: 0 65536 raid raid5_ls 1 128 2 - 8:0 - 8:16\n\
                  c: 0 65536 crypt aes-xts-plain64 :64:logon:x 0 253:0 0\n";
    let seen = disk()
        .disk("sdb", "8:16", 64 * MIB, &DISCARDS)
        .mapped("dm-0", "253:0", ("r", ""), 32 * MIB, &["sda", "sdb"])
        .mapped("dm-1", "253:1", ("c", LUKS2), 32 * MIB, &["dm-0"])
        .files(&[
            ("/straddle/dm-tables", tables),
            ("/sys/block/dm-0/queue/discard_max_bytes", "0"),
            ("/sys/block/dm-1/queue/discard_max_bytes", "0"),
            ("/proc/self/mountinfo", mounts),
        ])
        .look("dm-1");
    let found = seen.findings();
    let found: Vec<_> = found.iter().filter(|it| it.rule.code == "ST611").collect();
    assert_eq!(found.len(), 1, "the lowest alone");
    assert!(found[0].evidence[0].starts_with("r: discard_max_bytes is 0"));
    let above = "c would stop them too: its table has no allow_discards";
    assert_eq!(found[0].evidence[1..], [above]);
}

#[test]
fn parity_says_why_it_takes_none() {
    let raid = "r: 0 65536 raid raid5_ls 1 128 2 - 8:0 - 8:16";
    let seen = disk()
        .disk("sdb", "8:16", 64 * MIB, &DISCARDS)
        .mapped("dm-0", "253:0", ("r", ""), 32 * MIB, &["sda", "sdb"])
        .files(&[
            ("/straddle/dm-tables", raid),
            ("/sys/block/dm-0/queue/discard_max_bytes", "0"),
            ("/proc/self/mountinfo", "1 0 253:0 / /data rw - ext4 /dev/mapper/r rw"),
        ])
        .look("dm-0");
    let found = seen.findings();
    let found = found.iter().find(|it| it.rule.code == "ST611").unwrap();
    assert_eq!(found.severity, Severity::Info);
    assert!(found.evidence[0].contains("devices_handle_discard_safely"), "{:?}", found.evidence);
    assert!(found.fixes()[0].starts_with("leave it so"));
}
