//! md superblocks from bytes made here.

use device::{Disk as _, MemoryDisk};
use format::member::md::{self, MdMember, MdStanding, MdVersion};
use format::{Parsed, ProblemKind};
use units::stripe::Rotation;

use super::encode::{MdOne, MdZero};

fn read(disk: &MemoryDisk) -> Parsed<MdMember> {
    md::read(disk).expect("a superblock")
}

fn kinds(found: &Parsed<MdMember>) -> Vec<ProblemKind> {
    found.problems.iter().map(|problem| problem.kind).collect()
}

#[test]
fn a_superblock_that_a_real_kernel_wrote_is_read_without_a_problem() {
    for (bytes, id, data) in [
        (
            include_bytes!("../../heads/md-1.2-raid5.bin"),
            "371842eac7e95d3e2db43a8c5baffe6e",
            260_096 * 512,
        ),
        (
            include_bytes!("../../heads/md-1.2-raid5-in-partition.bin"),
            "ea39ac14efbed1f93829c13ec87dc6e3",
            256_000 * 512,
        ),
    ] {
        let mut disk = MemoryDisk::new(128 << 20);
        disk.put(4096, bytes);
        let found = read(&disk);
        assert_eq!(found.problems, []);
        let member = found.value;
        assert_eq!((member.version, member.array_id.as_str()), (MdVersion::V12, id));
        assert_eq!((member.level, member.layout, member.chunk_bytes), (5, 2, 65536));
        assert_eq!((member.raid_disks, member.role), (4, Some(0)));
        assert_eq!((member.data_offset_bytes, member.data_bytes), (1 << 20, data));
        assert_eq!(member.name.as_ref().unwrap().to_string(), "(none):0");
        assert_eq!(member.data_members(), Some(3));
        assert_eq!(member.rotation().value(), Some(&Rotation::LeftSymmetric));
        assert_eq!(member.belongs_here(), Some(true));
    }
}

#[test]
fn every_1_x_format_is_found_in_its_place() {
    let last = ((128 << 20) - 8192) / 512;
    for (version, at, offset) in
        [(MdVersion::V10, last, 0), (MdVersion::V11, 0, 2048), (MdVersion::V12, 8, 2048)]
    {
        let made = MdOne { super_offset: at, data_offset: offset, ..MdOne::raid5() };
        let found = read(&made.disk());
        assert_eq!((found.value.version, found.problems), (version, vec![]));
        assert_eq!(found.value.data_offset_bytes, offset * 512);
    }
}

#[test]
fn superblock_0_90_is_read_in_the_byte_order_of_its_machine() {
    let [little, big] = [false, true].map(|big_endian| {
        let found = read(&MdZero { big_endian, ..MdZero::raid5() }.disk());
        assert_eq!(found.problems, [], "big endian {big_endian}");
        found.value
    });
    assert_eq!(little, big);
    assert_eq!(little.version, MdVersion::V090);
    assert_eq!(little.array_id, "0123456789abcdef0011223344556677");
    assert_eq!((little.level, little.chunk_bytes, little.raid_disks), (5, 65536, 4));
    assert_eq!((little.role, little.standing), (Some(1), MdStanding::Active));
    assert_eq!(little.events, 0x1_0000_0002);
    assert_eq!((little.data_offset_bytes, little.data_bytes), (0, 131_008 * 1024));
    assert_eq!(little.belongs_here(), None);
}

#[test]
fn a_reshape_of_0_90_says_where_it_leads() {
    let made = MdZero { minor: 91, reshape: (4096, 6, 1, 2, 131_072), ..MdZero::raid5() };
    for big_endian in [false, true] {
        let member = read(&MdZero { big_endian, ..made.clone() }.disk()).value;
        let reshape = member.reshape.unwrap();
        assert_eq!((reshape.position_bytes, reshape.level), (4096 * 512, 6));
        assert_eq!((reshape.delta_disks, reshape.chunk_bytes), (1, 131_072));
    }
}

#[test]
fn a_superblock_at_the_end_of_a_disk_that_belongs_to_its_last_partition_says_so() {
    // The partition starts at 1 MiB and ends with the disk.
    let recorded = ((127 << 20) - 8192) / 512;
    let sb = MdOne { super_offset: recorded, data_offset: 0, size: 1024, ..MdOne::raid5() };
    let mut disk = MemoryDisk::new(128 << 20);
    disk.put((128 << 20) - 8192, &sb.bytes());
    let found = read(&disk);
    assert_eq!(found.value.belongs_here(), Some(false));
    assert_eq!(kinds(&found), [ProblemKind::Field]);
    assert!(found.problems[0].detail.ends_with("starts at 1048576"), "{:?}", found.problems);
}

#[test]
fn a_0_90_superblock_of_a_smaller_or_larger_thing_is_suspected() {
    let smaller = MdZero { size_kib: 65536, ..MdZero::raid5() };
    assert_eq!(kinds(&read(&smaller.disk())), [ProblemKind::Field]);
    let larger = MdZero { size_kib: 262_144, ..MdZero::raid5() };
    assert_eq!(kinds(&read(&larger.disk())), [ProblemKind::Outside]);
}

#[test]
fn a_member_whose_checksum_is_wrong_is_described_all_the_same() {
    let mut disk = MdOne::raid5().disk();
    disk.put(4096 + 88, &[0, 1]);
    let found = read(&disk);
    assert_eq!(kinds(&found), [ProblemKind::Checksum]);
    assert_eq!(found.value.chunk_bytes, 256 * 512);
}

#[test]
fn of_two_superblocks_the_one_made_last_is_chosen_and_the_other_is_named() {
    let mut disk = MdOne::raid5().disk();
    let newer =
        MdOne { level: 1, chunk: 0, super_offset: 0, made_at: 1_800_000_000, ..MdOne::raid5() };
    disk.put(0, &newer.bytes());
    let found = read(&disk);
    assert_eq!(found.value.version, MdVersion::V11);
    assert_eq!(kinds(&found), [ProblemKind::Copies]);
}

#[test]
fn roles_are_taken_from_the_table_and_never_from_behind_it() {
    let of = |number, role| {
        let mut made = MdOne { number, ..MdOne::raid5() };
        made.roles[3] = role;
        let found = read(&made.disk());
        (found.value.standing, found.value.role, kinds(&found))
    };
    assert_eq!(of(3, 2), (MdStanding::Active, Some(2), vec![]));
    assert_eq!(of(3, 0xffff), (MdStanding::Spare, None, vec![]));
    assert_eq!(of(3, 0xfffe), (MdStanding::Faulty, None, vec![]));
    assert_eq!(of(3, 0xfffd), (MdStanding::Journal, None, vec![]));
    assert_eq!(of(3, 9), (MdStanding::Active, Some(9), vec![ProblemKind::Field]));
    assert_eq!(of(4, 2), (MdStanding::Spare, None, vec![ProblemKind::Field]));
    assert_eq!(of(u32::MAX, 2), (MdStanding::Spare, None, vec![ProblemKind::Field]));
}

#[test]
fn an_odd_number_of_roles_is_summed_to_the_last_half_word() {
    let made = MdOne { roles: vec![0, 1, 2], disks: 3, ..MdOne::raid5() };
    assert_eq!(read(&made.disk()).problems, []);
}

#[test]
fn a_reshape_says_where_each_member_s_data_will_start() {
    let made = MdOne { features: 4 | 64, reshape: (6, 3072, 1, 18, 256, -1024), ..MdOne::raid5() };
    let found = read(&made.disk());
    assert_eq!(found.problems, []);
    assert!(found.value.reshaping);
    let reshape = found.value.reshape.unwrap();
    assert_eq!((reshape.level, reshape.layout, reshape.delta_disks), (6, 18, 1));
    assert_eq!((reshape.position_bytes, reshape.chunk_bytes), (3072 * 512, 256 * 512));
    assert_eq!(reshape.data_offset_bytes, 1024 * 512);
}

#[test]
fn feature_bits_say_recovery_and_logical_block() {
    let read = |features| read(&MdOne { features, ..MdOne::raid5() }.disk()).value;
    assert_eq!(read(0).recovered_bytes, None);
    let made = MdOne { features: 2, recovery: 2048, logical_block: 4096, ..MdOne::raid5() };
    let found = self::read(&made.disk());
    assert_eq!(found.value.recovered_bytes, Some(1 << 20));
    assert_eq!((found.value.logical_block_bytes, found.problems), (Some(4096), vec![]));
}

#[test]
fn unknown_features_levels_and_impossible_chunks_are_problems() {
    let check = |made: MdOne, kind| assert_eq!(kinds(&read(&made.disk())), [kind], "{made:?}");
    check(MdOne { features: 0x2000, ..MdOne::raid5() }, ProblemKind::Unsupported);
    check(MdOne { level: 7, ..MdOne::raid5() }, ProblemKind::Unsupported);
    check(MdOne { chunk: 0, ..MdOne::raid5() }, ProblemKind::Field);
    check(MdOne { chunk: 96, ..MdOne::raid5() }, ProblemKind::Field);
    check(MdOne { data_size: 260_095, ..MdOne::raid5() }, ProblemKind::Outside);
    check(MdOne { data_offset: 8, ..MdOne::raid5() }, ProblemKind::Overlap);
}

#[test]
fn raid0_may_have_any_chunk_and_uses_whole_chunks_of_what_there_is() {
    let made = MdOne { level: 0, layout: 2, features: 4096, chunk: 96, size: 0, ..MdOne::raid5() };
    let found = read(&made.disk());
    assert_eq!(found.problems, []);
    assert_eq!(found.value.data_bytes, 260_064 * 512);
    assert_eq!(found.value.data_members(), Some(4));
}

#[test]
fn data_members_follow_level_and_copies() {
    let of = |level, layout, disks| {
        read(&MdOne { level, layout, disks, ..MdOne::raid5() }.disk()).value.data_members()
    };
    assert_eq!(of(0, 0, 4), Some(4));
    assert_eq!(of(1, 0, 2), None);
    assert_eq!(of(-1, 0, 3), None);
    assert_eq!(of(4, 0, 4), Some(3));
    assert_eq!(of(5, 2, 4), Some(3));
    assert_eq!(of(5, 2, 1), None);
    assert_eq!(of(6, 2, 6), Some(4));
    assert_eq!(of(6, 2, 1), None);
    // near=2; near=3; far=2; offset=2; near=2 far=2
    assert_eq!(of(10, 0x102, 4), Some(2));
    assert_eq!(of(10, 0x103, 6), Some(2));
    assert_eq!(of(10, 0x201, 4), Some(4));
    assert_eq!(of(10, 0x1_0201, 4), Some(4));
    assert_eq!(of(10, 0x202, 4), Some(2));
    // Three members of two copies each: stripes have no constant width.
    assert_eq!(of(10, 0x102, 3), None);
    assert_eq!(of(10, 0x105, 4), None);
    assert_eq!(of(10, 0, 4), None);
    assert_eq!(of(10, 0x8_0102, 4), None);
}

#[test]
fn raid6_layouts_without_a_plain_rotation_say_why() {
    let of = |level, layout| {
        read(&MdOne { level, layout, ..MdOne::raid5() }.disk()).value.rotation().clone()
    };
    assert_eq!(of(6, 2).value(), Some(&Rotation::LeftSymmetric));
    assert_eq!(of(5, 5).value(), Some(&Rotation::Last));
    assert_eq!(of(4, 9).value(), Some(&Rotation::Last));
    for (level, layout, word) in
        [(6, 8, "DDF"), (6, 18, "converting"), (5, 8, "define"), (1, 0, "no parity")]
    {
        let known = of(level, layout);
        assert!(known.reason().unwrap().contains(word), "{known:?}");
    }
}

#[test]
fn a_magic_alone_is_no_superblock_and_small_disks_have_none() {
    let mut disk = MemoryDisk::new(1 << 20);
    disk.put(0, &0xa92b_4efc_u32.to_le_bytes());
    disk.put(4096, &0xa92b_4efc_u32.to_le_bytes());
    assert_eq!(md::read(&disk), None);
    for length in [0, 1, 255, 4095, 4097, 8191, 65535] {
        let disk = MemoryDisk::new(length);
        assert_eq!(disk.length_bytes(), length);
        assert_eq!(md::read(&disk), None);
    }
}
