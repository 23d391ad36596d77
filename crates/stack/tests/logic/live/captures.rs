//! Captured machines: only what their kernel showed is known.

use stack::judge::Verdict;
use stack::rule::Finding;

use super::MIB;
use super::world::{Sample, Seen};

/// A captured disk with these partitions (number, first sector, sectors), whose other files are as they are here.
fn captured(partitions: &[(u64, u64, u64)], files: &[(&str, &str)]) -> Seen {
    let mut sample = Sample::new().disk("sda", "8:0", 64 * MIB, &[]);
    for &(number, start, size) in partitions {
        let name = format!("sda{number}");
        sample = sample.partition("sda", &name, &format!("8:{number}"), start, size);
    }
    sample.files(files).look("sda")
}

fn of<'a>(findings: &'a [Finding], code: &str) -> Vec<&'a Finding> {
    findings.iter().filter(|finding| finding.rule.code == code).collect()
}

#[test]
fn a_captured_disk_is_judged_by_what_the_kernel_showed_and_says_once_that_it_was_not_read() {
    let mounted = ("/proc/self/mountinfo", "1 0 8:1 / /data rw - ext4 /dev/sda1 rw");
    for (files, why) in [
        (&[][..], "a capture holds no disk content; what is on sda1 is unknown"),
        (&[mounted], "a capture holds no disk content; only what the kernel shows is known"),
    ] {
        let seen = captured(&[(1, 2048, 2000)], files);
        assert_eq!(seen.device("sda").2.verdict, Verdict::Aligned);
        assert_eq!(seen.device("sda1").2.verdict, Verdict::Aligned);
        let findings = seen.findings();
        let [unread] = of(&findings, "ST407")[..] else { panic!("{findings:?}") };
        assert_eq!(unread.evidence, [why]);
    }
}

#[test]
fn a_captured_disk_of_which_the_kernel_showed_nothing_more_is_unknown() {
    let seen = captured(&[], &[]);
    assert_eq!(seen.device("sda").2.verdict, Verdict::Unknown);
    assert!(seen.device("sda").2.reason.contains("what is on sda is unknown"));
}

#[test]
fn a_captured_disk_without_its_sectors_is_unknown_whatever_is_on_it() {
    let files = [("/sys/block/sda/size", "131072"), ("/sys/block/sda/dev", "8:0")];
    let seen = Sample::new().files(&files).partition("sda", "sda1", "8:1", 63, 2000).look("sda");
    assert_eq!(seen.device("sda").2.reason, "the capture lacks its logical sector");
    let findings = seen.findings();
    let [off] = of(&findings, "ST102")[..] else { panic!("{findings:?}") };
    assert_eq!(off.evidence[1], "the physical sector of sda is unknown, so 4 KiB is assumed");
}

#[test]
fn an_extended_partition_that_the_kernel_shows_is_not_blamed_and_its_logical_one_is() {
    let seen = captured(&[(1, 2048, 2048), (2, 4159, 2), (5, 4222, 2048)], &[]);
    let findings = seen.findings();
    let off: Vec<_> = of(&findings, "ST101").iter().map(|one| one.layer).collect();
    assert_eq!(off, [seen.device("sda5").0], "{findings:?}");
    assert!(findings.iter().all(|one| one.layer != seen.device("sda2").0), "{findings:?}");
}

#[test]
fn a_partition_of_the_kernels_is_held_against_discard_units_ends_and_its_neighbor() {
    let discards = [
        ("/sys/block/sda/queue/discard_granularity", "2097152"),
        ("/sys/block/sda/queue/discard_max_bytes", "2147483136"),
    ];
    let seen = captured(&[(1, 2048, 2049), (2, 4097, 2048)], &discards);
    let findings = seen.findings();
    let (first, second) = (seen.device("sda1").0, seen.device("sda2").0);
    for (code, layer) in [("ST608", first), ("ST106", first), ("ST108", first), ("ST101", second)] {
        let [found] = of(&findings, code)[..] else { panic!("{code}: {findings:?}") };
        assert_eq!(found.layer, layer, "{code}");
    }
}

#[test]
fn a_captured_array_is_as_long_as_the_kernel_says_and_its_members_as_it_uses_them() {
    let seen = Sample::new()
        .disk("sda", "8:0", 64 * MIB, &[])
        .disk(
            "md0",
            "9:0",
            10 * MIB,
            &[
                ("md/level", "raid1"),
                ("md/layout", "0"),
                ("md/chunk_size", "0"),
                ("md/component_size", "10240"),
                ("md/raid_disks", "2"),
                ("md/metadata_version", "0.90"),
                ("md/dev-sda/slot", "0"),
                ("md/dev-sda/offset", "0"),
                ("md/dev-sda/size", "65472"),
                ("slaves/sda/dev", "8:0"),
            ],
        )
        .look("md0");
    let (id, layer, _) = seen.device("md0");
    assert_eq!(layer.length(), Some(10 * MIB));
    let stack = &seen.assembled.stack;
    let member = layer.mapping.below()[0];
    assert_eq!(stack.layer(member).length(), Some(10 * MIB), "{id:?}");
}

#[test]
fn a_zfs_volume_is_called_by_its_name() {
    let seen = Sample::new()
        .disk("zd16", "230:16", 64 * MIB, &[("queue/rotational", "0")])
        .files(&[("/run/udev/data/b230:16", "S:zvol/tank/vm-1\nE:ID_FS_TYPE=")])
        .look("zd16");
    let stack::LayerKind::Drive(drive) = &seen.device("zd16").1.kind else { panic!("a disk") };
    assert_eq!(drive.zvol.as_ref().map(ToString::to_string).as_deref(), Some("tank/vm-1"));
    assert_eq!(drive.rotational.value(), None, "its media are those of its pool");
}
