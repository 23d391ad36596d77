//! bcache devices that make-bcache makes, and dm-integrity superblocks that integritysetup reads
//! (making one needs the kernel's device mapper).

use std::collections::BTreeMap;
use std::os::unix::fs::FileExt as _;

use format::member::bcache::{self, BcacheRole};
use format::member::integrity;
use testkit::{FileDisk, Loop, Scratch, need_loops, need_tools, scratch, tool};

use super::encode::IntegritySb;

/// The first word behind each line's first word.
fn words(text: &str) -> BTreeMap<String, String> {
    let mut words = BTreeMap::new();
    for line in text.lines() {
        let mut parts = line.split_whitespace();
        if let (Some(key), Some(value)) = (parts.next(), parts.next()) {
            words.insert(key.to_owned(), value.to_owned());
        }
    }
    words
}

#[test]
fn bcache_devices_are_read_as_bcache_super_show_reads_them() {
    need_tools!("make-bcache", "bcache-super-show");
    need_loops!();
    let cases: &[&[&str]] = &[
        &["-B"],
        &["-B", "--block", "4k"],
        &["-B", "--data-offset", "2048", "--block", "4k"],
        &["-B", "--data-offset", "24"],
        &["-C"],
        &["-C", "--bucket", "64k", "--block", "4k"],
        &["-C", "--bucket", "1M"],
    ];
    for arguments in cases {
        let scratch = Scratch::new();
        let path = scratch.image("bcache", 256 << 20);
        let device = Loop::attach(&path, 512);
        let node = scratch::text(device.path());
        tool::run("make-bcache", &[*arguments, &[node]].concat());
        let shown = words(&tool::run("bcache-super-show", &[node]));
        drop(device);
        let found = bcache::read(&FileDisk::open(&path)).expect("a superblock");
        assert_eq!(found.problems, [], "{arguments:?}");
        let ours = found.value;
        assert_eq!(shown["dev.uuid"], ours.id);
        assert_eq!(shown["cset.uuid"], ours.set_id);
        assert_eq!(shown["sb.version"], ours.version.to_string());
        assert_eq!(shown["dev.sectors_per_block"], (ours.block_bytes / 512).to_string());
        match ours.role {
            BcacheRole::Backing { data_offset_bytes } => {
                assert_eq!(arguments[0], "-B");
                assert_eq!(shown["dev.data.first_sector"], (data_offset_bytes / 512).to_string());
            }
            BcacheRole::Cache { bucket_bytes } => {
                assert_eq!(arguments[0], "-C");
                assert_eq!(shown["dev.sectors_per_bucket"], (bucket_bytes / 512).to_string());
            }
            BcacheRole::Unknown => panic!("{arguments:?}"),
        }
    }
}

#[test]
fn integritysetup_reads_superblocks_as_we_do() {
    need_tools!("integritysetup");
    let scratch = Scratch::new();
    let mut random = testkit::random(0x696e);
    for round in 0..12_u8 {
        let made = IntegritySb {
            version: 1 + round % 5,
            log_interleave: 3 + round,
            tag: *random.choose(&[4, 8, 16, 20, 32]),
            journal: u32::try_from(1 + random.below(100)).unwrap(),
            provided: 8 * random.below(1000),
            flags: *random.choose(&[0, 8, 0x18]),
            log_block: round % 4,
        };
        let path = scratch.image("integrity", 256 << 20);
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.write_all_at(&made.bytes(), 0).unwrap();
        let shown = words(&tool::run("integritysetup", &["dump", scratch::text(&path)]));
        let found = integrity::read(&FileDisk::open(&path)).expect("a superblock");
        let ours = found.value;
        assert_eq!(shown["superblock_version"], ours.version.to_string());
        assert_eq!(shown["integrity_tag_size"], ours.tag_bytes.to_string());
        assert_eq!(shown["sector_size"], ours.sector_bytes.unwrap().to_string());
        assert_eq!(shown["provided_data_sectors"], (ours.provided_bytes / 512).to_string());
        let interleave = ours.interleave_bytes.unwrap();
        assert_eq!(shown["log2_interleave_sectors"], (interleave / 512).ilog2().to_string());
    }
}
