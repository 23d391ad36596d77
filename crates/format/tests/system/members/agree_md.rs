//! md superblocks that were made here, as mdadm reads them: mdadm needs the kernel's md to make an
//! array, but not to examine one.

use std::collections::BTreeMap;
use std::os::unix::fs::FileExt as _;

use format::member::md::{self, MdMember, MdStanding, MdVersion};
use testkit::{FileDisk, Scratch, need_tools, scratch, tool};
use units::stripe::Rotation;

use super::encode::{MdOne, MdZero};

const DISK_BYTES: u64 = 128 << 20;

/// mdadm's print of a superblock, and our reading.
struct Both {
    printed: BTreeMap<String, String>,
    member: MdMember,
    what: String,
}

impl Both {
    fn of(scratch: &Scratch, at: u64, bytes: &[u8], arguments: &[&str], what: String) -> Both {
        let path = scratch.image("member", DISK_BYTES);
        let file = std::fs::File::options().write(true).open(&path).expect("it was just made");
        file.write_all_at(bytes, at).expect("a scratch image can be written");
        let text =
            tool::run("mdadm", &[&["--examine"], arguments, &[scratch::text(&path)]].concat());
        let pairs = text.lines().filter_map(|line| line.split_once(" : "));
        let found = md::read(&FileDisk::open(&path)).expect("a superblock");
        assert_eq!(found.problems, [], "{what}");
        Both {
            printed: pairs.map(|(key, value)| (key.trim().to_owned(), value.to_owned())).collect(),
            member: found.value,
            what,
        }
    }

    /// The first word that mdadm prints for `key`.
    fn word(&self, key: &str) -> &str {
        self.printed.get(key).and_then(|value| value.split_whitespace().next()).unwrap_or("")
    }

    fn check(&self, key: &str, ours: impl std::fmt::Display) {
        assert_eq!(self.word(key), format!("{ours}"), "{key}: {}", self.what);
    }

    fn check_common(&self) {
        let member = &self.member;
        let level = match member.level {
            -1 => "linear".to_owned(),
            level => format!("raid{level}"),
        };
        self.check("Raid Level", level);
        self.check("Raid Devices", member.raid_disks);
        self.check("Events", member.events);
        assert!(self.printed["Checksum"].ends_with("- correct"), "{}", self.what);
        if !matches!(member.level, -1 | 1) {
            self.check("Chunk Size", format!("{}K", member.chunk_bytes.div_euclid(1024)));
        }
    }
}

const LAYOUTS: [(Rotation, &str); 6] = [
    (Rotation::LeftAsymmetric, "left-asymmetric"),
    (Rotation::RightAsymmetric, "right-asymmetric"),
    (Rotation::LeftSymmetric, "left-symmetric"),
    (Rotation::RightSymmetric, "right-symmetric"),
    (Rotation::First, "parity-first"),
    (Rotation::Last, "parity-last"),
];

#[test]
fn mdadm_reads_1_x_superblocks_as_we_do() {
    need_tools!("mdadm");
    let scratch = Scratch::new();
    let mut random = testkit::random(0x6d64);
    for round in 0..60 {
        let made = random_one(&mut random, round);
        let what = format!("{made:?}");
        let both = Both::of(&scratch, made.super_offset * 512, &made.bytes(), &[], what);
        both.check_common();
        let member = &both.member;
        both.check("Version", ["1.0", "1.1", "1.2"][usize::try_from(round % 3).unwrap()]);
        both.check("Array UUID", colons(&member.array_id));
        both.check("Device UUID", colons(member.member_id.as_ref().unwrap()));
        both.check("Name", member.name.as_ref().unwrap());
        both.check("Super Offset", member.superblock_at_bytes.div_euclid(512));
        if made.data_offset != 0 {
            both.check("Data Offset", member.data_offset_bytes.div_euclid(512));
        }
        both.check("Avail Dev Size", made.data_size);
        // A journal's own size is another than what the array uses of its members.
        let used = member.level > 0 && member.standing != MdStanding::Journal;
        if both.printed.contains_key("Used Dev Size") && used {
            both.check("Used Dev Size", member.data_bytes.div_euclid(512));
        }
        let role = match (member.standing, member.role) {
            (MdStanding::Active, Some(role)) => format!("Active device {role}"),
            (MdStanding::Journal, None) => "Journal".to_owned(),
            (_, None) => "spare".to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(both.printed["Device Role"].trim(), role, "{}", both.what);
        if both.printed.contains_key("Array State") {
            let gone = both.word("Array State").chars().filter(|&state| state == '.').count();
            assert_eq!(usize::try_from(member.gone).unwrap(), gone, "{}", both.what);
        }
        check_layout(&both);
    }
}

/// Names and orders of layouts, as mdadm prints them.
fn check_layout(both: &Both) {
    let member = &both.member;
    if let Some(rotation) = member.rotation().value()
        && member.level != 4
    {
        let named = LAYOUTS.iter().find(|(known, _)| known == rotation);
        both.check("Layout", named.expect("all six are named").1);
    }
    if let Some(copies) = member.raid10_copies() {
        let far = if copies.offset { "offset" } else { "far" };
        let parts = [("near", copies.near), (far, copies.far)];
        let shown: Vec<String> = parts
            .iter()
            .filter(|(_, count)| *count > 1)
            .map(|(name, count)| format!("{name}={count}"))
            .collect();
        assert_eq!(both.printed["Layout"].trim(), shown.join(", "), "{}", both.what);
    }
}

fn random_one(random: &mut units::random::Random, round: u64) -> MdOne {
    let level = *random.choose(&[-1, 0, 1, 4, 5, 6, 10]);
    let layout = match level {
        0 => *random.choose(&[1, 2]),
        5 | 6 => u32::try_from(random.below(6)).expect("it is small"),
        10 => *random.choose(&[0x102, 0x103, 0x201, 0x301, 0x1_0201, 0x202]),
        _ => 0,
    };
    let disks = u32::try_from(4 + random.below(20)).expect("it is small");
    let last = (DISK_BYTES - 8192).div_euclid(512);
    let (super_offset, data_offset) = match round % 3 {
        0 => (last, 0),
        1 => (0, 8 + random.below(4096)),
        _ => (8, 16 + random.below(4096)),
    };
    let data_size = 100_000 + random.below(150_000);
    let number = u32::try_from(random.below(u64::from(disks))).expect("it is small");
    let mut roles: Vec<u16> = (0..).take(usize::try_from(disks).expect("it is small")).collect();
    if round.is_multiple_of(7) {
        let index = usize::try_from(number).expect("it is small");
        roles[index] = *random.choose(&[0xffff, 0xfffd]);
    }
    MdOne {
        features: if level == 0 { 4096 } else { 0 },
        name: format!("host:{round}"),
        level,
        layout,
        size: if level < 1 { 0 } else { data_size - 32 },
        chunk: if level == 1 { 0 } else { 8 << random.below(8) },
        disks,
        data_offset,
        data_size,
        super_offset,
        number,
        roles,
        events: random.below(1 << 40),
        ..MdOne::raid5()
    }
}

#[test]
fn mdadm_reads_0_90_superblocks_of_both_byte_orders_as_we_do() {
    need_tools!("mdadm");
    let scratch = Scratch::new();
    let mut random = testkit::random(0x6d64_3030);
    for round in 0..20_u32 {
        let chunk_bytes = 4096 << random.below(8);
        let made = MdZero {
            big_endian: round % 2 == 1,
            level: *random.choose(&[4, 5, 6]),
            layout: u32::try_from(random.below(6)).unwrap(),
            chunk_bytes,
            disks: 4 + round % 20,
            number: round % 4,
            role: round % 4,
            events: random.next_u64(),
            ..MdZero::raid5()
        };
        let arguments: &[&str] = if made.big_endian { &["-e", "0.swap"] } else { &[] };
        let what = format!("{made:?}");
        let both = Both::of(&scratch, DISK_BYTES - 0x1_0000, &made.bytes(), arguments, what);
        both.check_common();
        let member = &both.member;
        assert_eq!(member.version, MdVersion::V090);
        both.check("Version", "0.90.00");
        both.check("UUID", colons(&member.array_id));
        both.check("Used Dev Size", member.data_bytes.div_euclid(1024));
        assert_eq!(member.role, Some(made.role));
        if member.level == 5 {
            check_layout(&both);
        }
    }
}

/// Four groups of eight digits, as mdadm prints a UUID.
fn colons(digits: &str) -> String {
    let groups: Vec<&str> = (0..4).map(|group| &digits[8 * group..8 * group + 8]).collect();
    groups.join(":")
}
