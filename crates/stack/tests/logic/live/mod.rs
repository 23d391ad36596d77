//! The running machine: the kernel's devices and the bytes on them, put together.

mod captures;
mod discards;
mod hostile;
mod world;

use device::MemoryDisk;
use format::member::md::MdVersion;
use stack::LayerKind;
use stack::judge::Verdict;

use world::{Sample, partitioned};

const MIB: u64 = 1 << 20;

#[test]
fn a_partition_that_both_know_is_one_layer_with_the_kernels_name() {
    let seen = Sample::new()
        .disk("sda", "8:0", 64 * MIB, &[])
        .partition("sda", "sda1", "8:1", 63, 2000)
        .bytes("sda", partitioned(64 * MIB, &[(63, 2000)]))
        .look("sda");
    assert_eq!(seen.words(), ["drive", "partition"]);
    let (_, layer, judgment) = seen.device("sda1");
    assert_eq!(judgment.verdict, Verdict::Misaligned);
    assert!(layer.problems.is_empty());
}

#[test]
fn a_partition_that_the_table_does_not_have_is_shown_and_said() {
    let seen = Sample::new()
        .disk("sda", "8:0", 64 * MIB, &[])
        .partition("sda", "sda2", "8:2", 4096, 2000)
        .bytes("sda", partitioned(64 * MIB, &[(2048, 2000)]))
        .look("sda2");
    let (_, layer, judgment) = seen.device("sda2");
    assert_eq!(judgment.verdict, Verdict::Aligned);
    assert!(layer.problems[0].detail.contains("the disk's table does not"));
    assert!(seen.codes().contains(&"ST406"));
}

#[test]
fn a_table_that_the_kernel_has_not_read_again_is_said() {
    let seen = Sample::new()
        .disk("sda", "8:0", 64 * MIB, &[])
        .partition("sda", "sda1", "8:1", 2048, 1000)
        .bytes("sda", partitioned(64 * MIB, &[(2048, 2000)]))
        .look("sda");
    let (_, layer, _) = seen.device("sda1");
    assert!(layer.problems[0].detail.contains("not read the table again"));
}

#[test]
fn without_leave_to_read_the_kernels_view_stands_and_nothing_is_aligned_unseen() {
    let seen = Sample::new()
        .disk("sda", "8:0", 64 * MIB, &[])
        .partition("sda", "sda1", "8:1", 63, 2000)
        .refused("sda", "permission denied")
        .refused("sda1", "permission denied")
        .files(&[("/proc/self/mountinfo", "1 0 8:1 / /data rw - ext4 /dev/sda1 rw")])
        .look("sda");
    assert_eq!(seen.words(), ["drive", "partition", "file-system"]);
    let (id, _, judgment) = seen.device("sda");
    assert_eq!(judgment.verdict, Verdict::Unknown);
    assert!(judgment.reason.contains("permission denied"));
    assert_eq!(seen.device("sda1").2.verdict, Verdict::Misaligned);
    let system = seen.assembled.stack.over(id)[1];
    assert_eq!(seen.assembled.stack.layer(system).mount_points, ["/data"]);
}

#[test]
fn a_captured_disk_without_number_size_or_queue_is_unknown() {
    let seen = Sample::new().files(&[("/sys/block/sda/ro", "0")]).look("sda");
    let (_, _, judgment) = seen.device("sda");
    assert_eq!(judgment.verdict, Verdict::Unknown);
    assert_eq!(judgment.reason, "the capture lacks its number and its size and its logical sector");
}

#[test]
fn a_mapped_device_without_slaves_lies_where_its_table_says_or_nobody_knows_where() {
    let sample = || {
        Sample::new().disk("sda", "8:0", 64 * MIB, &[]).mapped(
            "dm-0",
            "253:0",
            ("c", ""),
            32 * MIB,
            &[],
        )
    };
    let seen = sample().look("dm-0");
    assert_eq!(seen.words(), ["dm"]);
    assert_eq!(seen.device("dm-0").2.verdict, Verdict::Unknown);
    assert!(
        seen.device("dm-0").2.reason.contains("what it lies on"),
        "{:?}",
        seen.device("dm-0").2
    );
    let table = (device::answer::DM_TABLES, "c: 0 65536 linear 8:0 63");
    let seen = sample().files(&[table]).look("dm-0");
    assert_eq!(seen.words(), ["drive", "dm"]);
    assert_eq!(seen.device("dm-0").2.verdict, Verdict::Misaligned);
}

#[test]
fn a_degraded_array_is_not_asked_for_the_member_that_is_gone() {
    let base = "/sys/block/md0/md";
    let seen = Sample::new()
        .disk("sda", "8:0", 64 * MIB, &[])
        .disk(
            "md0",
            "9:0",
            32 * MIB,
            &[("md/level", "raid1"), ("md/raid_disks", "2"), ("md/metadata_version", "1.2")],
        )
        .files(&[
            ("/sys/block/md0/slaves/sda/dev", "8:0"),
            (&format!("{base}/dev-sda/slot"), "0"),
            (&format!("{base}/dev-sda/offset"), "2048"),
            (&format!("{base}/dev-sda/size"), "32768"),
        ])
        .look("md0");
    let missing = seen.findings().into_iter().find(|finding| finding.rule.code == "ST411").unwrap();
    assert_eq!(missing.evidence, ["the array is degraded: 1 of 2 members are gone"]);
    assert_eq!(missing.remedies, []);
    assert!(seen.assembled.incomplete.is_empty());
}

#[test]
fn an_array_of_which_only_sysfs_tells_lies_as_its_superblocks_would_say() {
    let mut sample = Sample::new().disk(
        "md0",
        "9:0",
        300 * MIB,
        &[
            ("md/level", "raid5"),
            ("md/layout", "2"),
            ("md/chunk_size", "524288"),
            ("md/raid_disks", "4"),
            ("md/metadata_version", "1.2"),
            ("md/reshape_position", "none"),
        ],
    );
    for (slot, name) in ["sda", "sdb", "sdc", "sdd"].into_iter().enumerate() {
        let number = format!("8:{}", slot * 16);
        let (slot, base) = (slot.to_string(), format!("/sys/block/md0/md/dev-{name}"));
        sample = sample.disk(name, &number, 110 * MIB, &[]).files(&[
            (&format!("/sys/block/md0/slaves/{name}/dev"), &number),
            (&format!("{base}/slot"), &slot),
            (&format!("{base}/offset"), "2048"),
            (&format!("{base}/size"), "102400"),
        ]);
    }
    let seen = sample.partition("md0", "md0p1", "259:0", 2048, 2048).look("md0");
    let (id, layer, judgment) = seen.device("md0");
    assert_eq!(judgment.verdict, Verdict::Aligned);
    assert_eq!(layer.kind.word(), "md-array");
    let laid = seen.assembled.stack.layer(id).mapping.stripes()[0];
    assert_eq!((laid.stripe.full_bytes(), laid.parity), (3 * 524_288, 1));
    // 1 MiB is two chunks, and no multiple of three.
    assert_eq!(seen.device("md0p1").2.verdict, Verdict::ChunkOnly);
}

#[test]
fn what_dm_crypt_decrypts_is_looked_into_through_the_kernel() {
    let mut plain = MemoryDisk::new(32 * MIB);
    plain.put(1024, &[1, 0, 0, 0, 0xff, 0x1f, 0, 0]);
    plain.put(4086, b"SWAPSPACE2");
    let table = "c: 0 65536 crypt aes-xts-plain64 - 0 8:1 4097 1 sector_size:512";
    let sample = Sample::new()
        .disk("sda", "8:0", 64 * MIB, &[])
        .partition("sda", "sda1", "8:1", 2048, 100_000)
        .mapped("dm-0", "253:0", ("c", "CRYPT-PLAIN-c"), 32 * MIB, &["sda1"])
        .files(&[("/straddle/dm-tables", table)])
        .bytes("sda", partitioned(64 * MIB, &[(2048, 100_000)]))
        .bytes("dm-0", plain);
    let seen = sample.look("dm-0");
    let (id, layer, judgment) = seen.device("dm-0");
    assert_eq!((layer.name.as_str(), judgment.verdict), ("c", Verdict::Misaligned));
    let above = seen.assembled.stack.above(id);
    assert_eq!(seen.assembled.stack.layer(above[0]).kind.word(), "swap");
}

#[test]
fn a_table_that_may_not_be_read_leaves_the_volume_unknown_with_the_reason() {
    let seen = Sample::new()
        .disk("sda", "8:0", 64 * MIB, &[])
        .mapped("dm-0", "253:0", ("x", ""), 32 * MIB, &["sda"])
        .look("dm-0");
    let (_, _, judgment) = seen.device("dm-0");
    assert_eq!(judgment.verdict, Verdict::Unknown);
    assert!(judgment.reason.contains("its table is not known"), "{}", judgment.reason);
}

#[test]
fn two_paths_to_a_disk_show_its_partitions_once() {
    let disk = || partitioned(64 * MIB, &[(63, 2000)]);
    let seen = Sample::new()
        .disk("sda", "8:0", 64 * MIB, &[])
        .disk("sdb", "8:16", 64 * MIB, &[])
        .mapped("dm-0", "253:0", ("mpatha", "mpath-36"), 64 * MIB, &["sda", "sdb"])
        .partition("sda", "sda1", "8:1", 63, 2000)
        .bytes("sda", disk())
        .bytes("sdb", disk())
        .bytes("sda1", disk())
        .bytes("dm-0", disk())
        .look("sda");
    let words = seen.words();
    assert_eq!(words.iter().filter(|word| **word == "multipath").count(), 1, "{words:?}");
    assert!(!seen.codes().contains(&"ST406"), "the kernel's partitions of a path are no damage");
}

#[test]
fn a_bcache_device_begins_where_its_length_says() {
    let seen = Sample::new()
        .disk("sda", "8:0", 64 * MIB, &[])
        .disk("bcache0", "252:0", 64 * MIB - 8192, &[("slaves/sda/dev", "8:0")])
        .look("bcache0");
    let (_, layer, judgment) = seen.device("bcache0");
    assert_eq!(judgment.verdict, Verdict::Aligned);
    assert_eq!(layer.mapping.below().len(), 1);
}

#[test]
fn a_cache_as_long_as_its_backing_device_is_not_taken_for_it() {
    let with = |backing: &[(&str, &str)]| {
        Sample::new()
            .disk("nvme0n1", "259:0", 64 * MIB, &[])
            .disk("sda", "8:0", 128 * MIB, &[])
            .partition("sda", "sda1", "8:1", 63, 64 * MIB / 512)
            .disk(
                "bcache0",
                "252:0",
                64 * MIB - 8192,
                &[("slaves/nvme0n1/dev", "259:0"), ("slaves/sda1/dev", "8:1")],
            )
            .files(backing)
            .look("bcache0")
    };
    assert_eq!(with(&[]).device("bcache0").2.verdict, Verdict::Unknown);
    let named = with(&[("/sys/block/bcache0/bcache/backing_dev_name", "sda1")]);
    assert_eq!(named.device("bcache0").2.verdict, Verdict::Misaligned);
}

/// Two disks that show a firmware's mark and the table of the mirror that the kernel runs on them,
/// in a container that says of itself what 6.12 says: no level, `write through`.
fn firmware_mirror(metadata: &str, slots: [&str; 2]) -> Sample {
    let shown = || {
        let mut disk = partitioned(64 * MIB, &[(63, 2000)]);
        disk.put(64 * MIB - 1024, b"Intel Raid ISM Cfg Sig. ");
        disk
    };
    let (raid, idle) = ("queue/write_cache", "write through");
    let mut sample = Sample::new()
        .disk(
            "md127",
            "9:127",
            0,
            &[("md/metadata_version", metadata), ("md/level", ""), (raid, idle)],
        )
        .disk(
            "md126",
            "9:126",
            32 * MIB,
            &[
                ("md/metadata_version", "external:/md127/0"),
                ("md/level", "raid1"),
                ("md/raid_disks", "2"),
            ],
        )
        .bytes("md126", partitioned(32 * MIB, &[(63, 2000)]));
    for ((name, number), slot) in [("sda", "8:0"), ("sdb", "8:16")].into_iter().zip(slots) {
        let base = format!("/sys/block/md126/md/dev-{name}");
        sample = sample.disk(name, number, 64 * MIB, &[(raid, "write back")]).bytes(name, shown());
        sample = sample.files(&[(&format!("/sys/block/md127/slaves/{name}/dev"), number)]);
        if slot.is_empty() {
            continue;
        }
        sample = sample.files(&[
            (&format!("/sys/block/md126/slaves/{name}/dev"), number),
            (&format!("{base}/slot"), slot),
            (&format!("{base}/offset"), "0"),
            (&format!("{base}/size"), "32768"),
        ]);
    }
    sample
}

#[test]
fn a_firmwares_array_is_what_the_kernel_runs_and_its_container_no_layer() {
    for (metadata, version) in [
        ("external:imsm", MdVersion::Imsm),
        ("external:ddf", MdVersion::Ddf),
        ("external:new", MdVersion::Other),
    ] {
        let seen = firmware_mirror(metadata, ["0", "1"]).look("sda");
        let words = ["drive", "drive", "md-member", "md-member", "md-array", "partition"];
        assert_eq!(seen.words(), words, "{metadata}");
        let (id, array, judgment) = seen.device("md126");
        assert_eq!((judgment.verdict, array.length()), (Verdict::Aligned, Some(32 * MIB)));
        for below in seen.assembled.stack.layer(id).mapping.below() {
            let LayerKind::MdMember(member) = &seen.assembled.stack.layer(below).kind else {
                panic!("an array lies on its members")
            };
            assert_eq!((member.version, member.gone), (version, 0));
        }
        let off = seen.assembled.stack.above(id)[0];
        assert_eq!(seen.judgments[off.0].verdict, Verdict::Misaligned);
        assert_eq!(seen.codes(), ["ST101"], "{metadata}");
    }
}

#[test]
fn a_degraded_array_of_a_firmware_says_that_a_member_is_gone_and_nothing_of_flushes() {
    let seen = firmware_mirror("external:imsm", ["0", ""]).look("sda");
    assert_eq!(seen.codes(), ["ST101", "ST411"]);
    assert!(seen.assembled.incomplete.is_empty());
}

#[test]
fn a_spare_in_a_container_is_named_and_its_container_no_layer() {
    let seen = firmware_mirror("external:imsm", ["0", ""]).look("sdb");
    assert_eq!(seen.words(), ["drive", "unread"]);
    assert!(!seen.codes().contains(&"ST703"), "{:?}", seen.codes());
}

#[test]
fn a_partition_within_a_zone_is_told_the_sector_of_the_next() {
    let seen = Sample::new()
        .disk(
            "sda",
            "8:0",
            64 * MIB,
            &[("queue/zoned", "host-managed"), ("queue/chunk_sectors", "16384")],
        )
        .bytes("sda", partitioned(64 * MIB, &[(2048, 20_000)]))
        .look("sda");
    let findings = seen.findings();
    let found = findings.iter().find(|one| one.rule.code == "ST604").expect("it is off a zone");
    let said = found.fixes().remove(0);
    assert_eq!(said, "back up, recreate it at 8 MiB (sector 16384), where a zone starts, restore");
}

#[test]
fn no_flush_is_lost_in_an_array_that_does_not_run() {
    let idle = [("md/metadata_version", "1.2"), ("queue/write_cache", "write through")];
    let seen = Sample::new()
        .disk("sda", "8:0", 64 * MIB, &[("queue/write_cache", "write back")])
        .disk("md0", "9:0", 0, &idle)
        .files(&[("/sys/block/md0/slaves/sda/dev", "8:0")])
        .look("md0");
    assert_eq!(seen.device("md0").2.verdict, Verdict::Unknown);
    assert_eq!(seen.codes(), ["ST407"], "its disk was not read, and nothing else");
}

#[test]
fn a_chunk_below_the_granule_is_found_on_an_array_on_which_nothing_lies() {
    let table = "s: 0 65536 striped 2 16 8:0 0 8:16 0";
    let mut sample = Sample::new();
    for (name, number) in [("sda", "8:0"), ("sdb", "8:16")] {
        let large = format!("/sys/block/{name}/queue/physical_block_size");
        sample = sample.disk(name, number, 64 * MIB, &[]).files(&[(&large, "16384")]);
    }
    let seen = sample
        .mapped("dm-0", "253:0", ("s", ""), 32 * MIB, &["sda", "sdb"])
        .files(&[("/straddle/dm-tables", table)])
        .look("dm-0");
    assert_eq!(seen.device("dm-0").2.verdict, Verdict::Misaligned);
    assert!(seen.codes().contains(&"ST203"), "{:?}", seen.codes());
}

#[test]
fn stacking_that_failed_names_the_member_that_is_off() {
    let table = "s: 0 65536 striped 2 128 8:1 0 8:17 0";
    let seen = Sample::new()
        .disk("sda", "8:0", 64 * MIB, &[])
        .disk("sdb", "8:16", 64 * MIB, &[])
        .partition("sda", "sda1", "8:1", 2048, 100_000)
        .partition("sdb", "sdb1", "8:17", 63, 100_000)
        .mapped("dm-0", "253:0", ("s", ""), 32 * MIB, &["sda1", "sdb1"])
        .files(&[("/straddle/dm-tables", table), ("/sys/block/dm-0/alignment_offset", "-1")])
        .look("dm-0");
    let findings = seen.findings();
    let failed = findings.iter().find(|finding| finding.rule.code == "ST601").unwrap();
    let said = failed.evidence.join("; ");
    assert!(said.contains("sdb1") && !said.contains("sda1"), "{said}");
}

#[test]
fn a_read_ahead_of_megabytes_is_said_where_a_senseless_size_made_it() {
    let with = |ahead: &str, optimal: &str| {
        let extra = [("queue/read_ahead_kb", ahead), ("queue/optimal_io_size", optimal)];
        Sample::new().disk("sda", "8:0", 64 * MIB, &extra).look("sda").codes()
    };
    assert!(with("65532", "33553920").contains(&"ST701"));
    assert!(!with("128", "33553920").contains(&"ST701"));
    // Somebody asked for it, or the array is that wide.
    assert!(!with("65536", "0").contains(&"ST701"));
    assert!(!with("22528", "11534336").contains(&"ST701"));
}

#[test]
fn flushes_that_stop_above_a_volatile_cache_are_said() {
    let with = |upper: &str| {
        let table = "l: 0 1000 linear 8:0 0";
        Sample::new()
            .disk("sda", "8:0", 64 * MIB, &[("queue/write_cache", "write back")])
            .mapped("dm-0", "253:0", ("l", ""), 512_000, &["sda"])
            .files(&[("/straddle/dm-tables", table), ("/sys/block/dm-0/queue/write_cache", upper)])
            .look("dm-0")
            .codes()
    };
    assert!(with("write through").contains(&"ST703"));
    assert!(!with("write back").contains(&"ST703"));
}

#[test]
fn what_udev_saw_on_a_closed_device_is_shown_without_a_claim_on_its_bytes() {
    let data = "S:disk/by-id/x\nE:ID_FS_TYPE=xfs\nE:ID_FS_USAGE=filesystem\n";
    let member = "E:ID_FS_TYPE=LVM2_member\nE:ID_FS_USAGE=raid\n";
    let with = |data: &str| {
        Sample::new()
            .disk("sda", "8:0", 64 * MIB, &[])
            .partition("sda", "sda1", "8:1", 63, 2000)
            .refused("sda", "permission denied")
            .refused("sda1", "permission denied")
            .files(&[("/run/udev/data/b8:1", data)])
            .look("sda")
    };
    let seen = with(data);
    assert_eq!(seen.words(), ["drive", "partition", "file-system"]);
    assert_eq!(seen.judgments[2].verdict, Verdict::Misaligned);
    assert_eq!(with(member).words(), ["drive", "partition"]);
}

#[test]
fn a_partition_is_looked_into_through_the_kernels_device_of_it() {
    let sample = |length| {
        let mut swap = MemoryDisk::new(length * 512);
        swap.put(1024, &[1, 0, 0, 0, 0xf0, 0, 0, 0]);
        swap.put(4086, b"SWAPSPACE2");
        Sample::new()
            .disk("sda", "8:0", 64 * MIB, &[])
            .partition("sda", "sda1", "8:1", 2048, length)
            .bytes("sda", partitioned(64 * MIB, &[(2048, 2000)]))
            .bytes("sda1", swap)
            .look("sda")
    };
    assert_eq!(sample(2000).words(), ["drive", "partition", "swap"]);
    // The kernel's partition is not the table's.
    assert_eq!(sample(1000).words(), ["drive", "partition"]);
}
