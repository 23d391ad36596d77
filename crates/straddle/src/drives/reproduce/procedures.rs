//! The procedures of the articles with which the project began.

use drive::published::Article;

use super::procedure::Reading::{FioRate, FioSync, PgRate, PgTime};
use super::procedure::Step::{Do, Measure, Show};
use super::procedure::{Arm, Derived, Procedure, Stand};

/// All of them.
pub(super) const PROCEDURES: [Procedure; 5] = [
    Procedure {
        article: Article::AdvancedFormat,
        stands: &[
            Stand {
                serve: "straddle drive serve --profile hdd-7200-512e --as loop",
                arms: &[
                    Arm { start: "131072k", place: "aligned" },
                    Arm { start: "131074k", place: "misaligned" },
                ],
                steps: &[
                    Do("parted -s {drive} mklabel gpt"),
                    Do("parted -s {drive} mkpart primary {start} 50%"),
                    Do("partx --update {drive}"),
                    Measure(
                        WRITE_PARTITION,
                        &[(FioRate, "raw, {place}"), (FioSync, "raw, {place}, mean")],
                    ),
                    Do("mkfs.ext4 -q -F {drive}p1"),
                    Do("mount -o noinit_itable,no_prefetch_block_bitmaps {drive}p1 {point}"),
                    Measure(
                        WRITE_FILE,
                        &[(FioRate, "ext4, {place}"), (FioSync, "ext4, {place}, mean")],
                    ),
                    Do("umount {point}"),
                ],
                last: &[],
            },
            Stand {
                serve: "straddle drive serve --profile hdd-7200-512e --as loop",
                arms: &[],
                steps: &[],
                last: &[Show("lsblk -d -o NAME,SIZE,LOG-SEC,PHY-SEC {drive}"), Show(BENCH)],
            },
            // A drive of its own: random bytes that were measured with may look like a file system.
            Stand {
                serve: "straddle drive serve --profile hdd-7200-512e --as loop",
                arms: &[],
                steps: &[],
                last: &[Show(PROBE)],
            },
        ],
        derived: &[],
        remarks: &[
            "runs are shorter than the article's 60 s: each write takes whole turns from the first \
             one on",
            "ext4 is mounted with noinit_itable and no_prefetch_block_bitmaps: it neither writes \
             tables of inodes nor reads bitmaps in the background",
            "percentiles are not compared: the article's rare delays have no published cause",
        ],
    },
    Procedure {
        article: Article::SsdAlignment,
        stands: &[Stand {
            serve: "straddle drive serve --profile m4-256 --as loop --memory 2G",
            arms: &[
                Arm { start: "34s", place: "sector 34" },
                Arm { start: "2048s", place: "sector 2048" },
            ],
            steps: &[
                Do("parted -s {drive} mklabel gpt"),
                Do("parted -s {drive} mkpart Align {start} 100%"),
                Do("partx --update {drive}"),
                Do("mkfs.xfs -q -f {drive}p1"),
                Do("mount -t xfs -o noatime,discard {drive}p1 {point}"),
                Measure(
                    "fio --name=test --directory={point} --size=100m --numjobs=8 --iodepth=4 \
                     --time_based --runtime={seconds} --overwrite=1 --ioengine=libaio --bs=4k \
                     --group_reporting --direct=1 --rw=read --output-format=json",
                    &[(FioRate, "read, {place}")],
                ),
                Measure(
                    "fio --name=test --directory={point} --size=100m --numjobs=8 --iodepth=4 \
                     --time_based --runtime={seconds} --overwrite=1 --ioengine=libaio --bs=4k \
                     --group_reporting --direct=1 --rw=write --output-format=json",
                    &[(FioRate, "write, {place}")],
                ),
                Do("umount {point}"),
            ],
            last: &[],
        }],
        derived: &[],
        remarks: &[
            "one run instead of five, and files of 100 MB instead of 500 MB, so that they fit into \
             memory: both are larger than what the drive buffers",
        ],
    },
    Procedure {
        article: Article::Fsync,
        stands: &[
            Stand { serve: "straddle drive serve --profile cloud-nvme-2019 --as file", ..SYNCED },
            Stand {
                serve: "straddle drive serve --profile dc-s3700 --as file",
                steps: &[Measure(
                    PG_TEST_FSYNC,
                    &[(PgTime, "DC S3700, fsync"), (PgRate, "DC S3700, 1 client")],
                )],
                ..SYNCED
            },
            Stand {
                serve: "straddle drive serve --profile dc-p3700 --as file",
                steps: &[Measure(PG_TEST_FSYNC, &[(PgTime, "DC P3700, fsync")])],
                ..SYNCED
            },
            Stand {
                serve: "straddle drive serve --profile optane-p4800x --as file",
                steps: &[Measure(PG_TEST_FSYNC, &[(PgTime, "Optane, fsync")])],
                ..SYNCED
            },
            Stand {
                serve: "straddle drive serve --profile 950-pro --as file",
                steps: &[Measure(PG_TEST_FSYNC, &[(PgTime, "950 Pro")])],
                ..SYNCED
            },
        ],
        derived: &[Derived {
            what: "SSD 710 over 950 Pro",
            over: ("950 Pro", "DC S3700, fsync"),
            is_percent: false,
        }],
        remarks: &[
            "the file is the drive itself, without a file system: the sync alone is compared",
            "a served file adds the way through FUSE to each sync, some 20 to 40 us: see what that \
             is of a drive as fast as Optane",
        ],
    },
    Procedure {
        article: Article::BlocksAlignment,
        stands: &[Stand {
            serve: "straddle drive serve --profile raid0-2x16k --as loop",
            arms: &[
                Arm { start: "79s", place: "7680 bytes off" },
                Arm { start: "96s", place: "aligned" },
            ],
            steps: &[
                Do("parted -s {drive} mklabel msdos"),
                Do("parted -s {drive} mkpart primary {start} 50%"),
                Do("partx --update {drive}"),
                Measure(
                    "fio --name=raidtest --filename={drive}p1 --rw=randread --bs=16k --size=4g \
                     --direct=1 --ioengine=libaio --iodepth=1 --norandommap --time_based \
                     --runtime={seconds} --output-format=json",
                    &[(FioRate, "n = 1, {place}")],
                ),
                Measure(
                    "fio --name=raidtest --filename={drive}p1 --rw=randread --bs=16k --size=4g \
                     --direct=1 --ioengine=libaio --iodepth=64 --norandommap --time_based \
                     --runtime={seconds} --output-format=json",
                    &[(FioRate, "n = 64, {place}")],
                ),
            ],
            last: &[],
        }],
        derived: &[
            Derived {
                what: "n = 1, off over aligned",
                over: ("n = 1, 7680 bytes off", "n = 1, aligned"),
                is_percent: false,
            },
            Derived {
                what: "n = 64, off over aligned",
                over: ("n = 64, 7680 bytes off", "n = 64, aligned"),
                is_percent: false,
            },
        ],
        remarks: &[
            "gstripe and UFS are FreeBSD's: the served drive is the whole RAID 0, and fio reads \
             where UFS's file of 4 GB would be, at the article's two sectors; sectors 63 + 16 and \
             63 + 33 in one partition instead of a label in a slice",
            "for a real array of md: cargo xtask reproduce raid0, in the source tree",
        ],
    },
    Procedure {
        article: Article::FourKib,
        stands: &[
            Stand { serve: "straddle drive serve --profile raid5-5x64k --as loop", ..PARITY },
            Stand {
                serve: "straddle drive serve --profile raid6-6x64k --as loop",
                steps: &[
                    Measure(PARITY_4K, &[(FioRate, "RAID 6, 4 KiB, {place}")]),
                    Measure(PARITY_16K, &[(FioRate, "RAID 6, 16 KiB, {place}")]),
                ],
                ..PARITY
            },
        ],
        derived: &[
            longer("RAID 5, 4 KiB over 64 KiB", ("RAID 5, 4 KiB, 0", "RAID 5, 4 KiB, 512")),
            longer("RAID 5, 16 KiB over 64 KiB", ("RAID 5, 16 KiB, 0", "RAID 5, 16 KiB, 512")),
            longer("RAID 6, 4 KiB over 64 KiB", ("RAID 6, 4 KiB, 0", "RAID 6, 4 KiB, 512")),
            longer("RAID 6, 16 KiB over 64 KiB", ("RAID 6, 16 KiB, 0", "RAID 6, 16 KiB, 512")),
        ],
        remarks: &[],
    },
];

const WRITE_PARTITION: &str = "fio --name=seqwrite_job --filename={drive}p1 --runtime={seconds} \
     --rw=write --bs=4k --size=100G --ioengine=psync --fsync=1 --iodepth=1 --numjobs=1 \
     --output-format=json";
const WRITE_FILE: &str = "fio --name=seqwrite_job --filename={point}/fio-test-file \
     --runtime={seconds} --rw=write --bs=4k --size=100G --ioengine=psync --fsync=1 --iodepth=1 \
     --numjobs=1 --output-format=json";
const BENCH: &str = "straddle bench --write-device --confirm {drive}={bytes} --seconds 25 {drive}";
const PROBE: &str = "straddle probe --write-device --confirm {drive}={bytes} --no-save \
     --seconds {probe_seconds} {drive}";

const PG_TEST_FSYNC: &str = "pg_test_fsync -s 1 -f {drive}";

/// A drive that pg_test_fsync syncs: that of the cloud.
const SYNCED: Stand = Stand {
    serve: "",
    arms: &[Arm { start: "0", place: "" }],
    steps: &[Measure(
        PG_TEST_FSYNC,
        &[(PgTime, "cloud NVMe 2019, fsync"), (PgRate, "cloud NVMe 2019, 1 client")],
    )],
    last: &[],
};

const PARITY_4K: &str = "fio --name=reads --filename={drive} --offset={start} --rw=randread \
     --bs=4k --size=64g --direct=1 --ioengine=libaio --iodepth=64 --norandommap --time_based \
     --runtime={seconds} --output-format=json";
const PARITY_16K: &str = "fio --name=reads --filename={drive} --offset={start} --rw=randread \
     --bs=16k --size=64g --direct=1 --ioengine=libaio --iodepth=64 --norandommap --time_based \
     --runtime={seconds} --output-format=json";

/// An array with parity that is read at random: RAID 5.
const PARITY: Stand = Stand {
    serve: "",
    arms: &[Arm { start: "0", place: "0" }, Arm { start: "512", place: "512" }],
    steps: &[
        Measure(PARITY_4K, &[(FioRate, "RAID 5, 4 KiB, {place}")]),
        Measure(PARITY_16K, &[(FioRate, "RAID 5, 16 KiB, {place}")]),
    ],
    last: &[],
};

const fn longer(what: &'static str, over: (&'static str, &'static str)) -> Derived {
    Derived { what, over, is_percent: true }
}
