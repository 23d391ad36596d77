//! Small real tables cut at every length and changed at every byte, and noise: there is always an
//! answer, and it stays small.

use crate::tables_make::bsd::{Label, slot};
use device::{Disk, MemoryDisk, Window};
use format::table::bsd::Counting;
use format::table::{self, PartitionTable, bsd, gpt, mbr};
use format::{Parsed, ProblemKind};
use testkit::scratch::text;
use testkit::{Scratch, need_tools, tool};
use units::{ByteRange, SectorSize};

const SECTOR: SectorSize = SectorSize::B512;

/// A GPT of 4 entries on 80 sectors, by sgdisk.
fn small_gpt() -> Vec<u8> {
    let scratch = Scratch::new();
    let image = scratch.image("gpt.img", 80 * 512);
    let arguments = ["-S", "4", "-a", "1", "-n", "1:8:15", "-n", "3:16:40", text(&image)];
    let _ = tool::run("sgdisk", &arguments);
    std::fs::read(&image).expect("the image can be read")
}

/// An MBR with three logical partitions on 80 sectors, by sfdisk.
fn small_mbr() -> Vec<u8> {
    let scratch = Scratch::new();
    let image = scratch.image("mbr.img", 80 * 512);
    let script = "label: dos\nstart=1,size=9\nstart=10,size=70,type=5\nstart=20,size=5\n\
                  start=40,size=5\nstart=60,size=5\n";
    tool::run_with_input("sfdisk", &["--quiet", text(&image)], script);
    std::fs::read(&image).expect("the image can be read")
}

fn small_bsd() -> Vec<u8> {
    let slots = vec![slot(16, 20, 7), slot(0, 0, 0), slot(0, 64, 0)];
    let mut bytes = vec![0; 64 * 512];
    let label = Label { sector: 512, is_openbsd: false, slots }.encode();
    bytes[512..512 + label.len()].copy_from_slice(&label);
    bytes
}

/// The answers of the readers of `disk`, each small: of the one that chooses, which asks the others
/// until one is sure, and of that for BSD labels in a slice.
fn answers(disk: &dyn Disk) -> [Option<Parsed<PartitionTable>>; 2] {
    let found =
        [table::read(disk, SECTOR, 0), bsd::read(disk, SECTOR, (63 * 512, Counting::Unknown))];
    for answer in found.iter().flatten() {
        assert!(answer.value.partitions.len() <= 4096 && answer.problems.len() <= 3 * 4096);
    }
    found
}

/// Calls `then` with `bytes` changed at each byte of every sector that is not all zeros, to a few
/// values, and the place.
fn each_change(bytes: &[u8], then: impl Fn(&Vec<u8>, usize)) {
    let mut changed = bytes.to_vec();
    let is_used = |at: usize| bytes[at - at % 512..].iter().take(512).any(|&byte| byte != 0);
    for at in (0..bytes.len()).filter(|&at| is_used(at)) {
        let was = bytes[at];
        for value in [0, 0xff, was ^ 1, was ^ 0x80, was.wrapping_add(1)] {
            if value != was {
                changed[at] = value;
                then(&changed, at);
            }
        }
        changed[at] = was;
    }
}

fn check_cuts(bytes: &Vec<u8>) {
    for length in 0..=bytes.len() {
        let cut = ByteRange::new(0, length.try_into().expect("fits")).expect("fits");
        answers(&Window::new(bytes, cut));
        // A device that is shorter than it says: reads past the end fail.
        let longer = ByteRange::new(0, 1 << 30).expect("fits");
        if length % 64 == 0 {
            answers(&Window::new(bytes[..length].to_vec(), longer));
        }
    }
}

#[test]
fn a_gpt_cut_anywhere_is_described_from_what_is_left() {
    need_tools!("sgdisk");
    let bytes = small_gpt();
    check_cuts(&bytes);
    let listed = gpt::read(&bytes, SECTOR).unwrap().value.partitions;
    assert_eq!(listed.len(), 2);
    for sectors in 4..80 {
        let cut = bytes[..sectors * 512].to_vec();
        let found = gpt::read(&cut, SECTOR).expect("the primary is there");
        assert_eq!(found.value.partitions, listed);
        assert!(found.problems.iter().any(|problem| problem.kind == ProblemKind::Copies));
    }
}

#[test]
fn an_mbr_or_a_bsd_label_cut_anywhere_has_an_answer() {
    need_tools!("sfdisk");
    check_cuts(&small_mbr());
    check_cuts(&small_bsd());
}

#[test]
fn no_single_byte_changes_what_a_gpt_lists() {
    need_tools!("sgdisk");
    let bytes = small_gpt();
    let places = |table: &PartitionTable| {
        table.partitions.iter().map(|found| (found.number, found.range)).collect::<Vec<_>>()
    };
    let sound = gpt::read(&bytes, SECTOR).unwrap();
    assert_eq!(sound.problems, []);
    each_change(&bytes, |changed, at| {
        let found = gpt::read(changed, SECTOR);
        let found = found.expect("one copy is always sound");
        assert_eq!(places(&found.value), places(&sound.value), "byte {at}");
        let is_table = (512..604).contains(&at) || (1024..1536).contains(&at);
        assert!(!is_table || !found.problems.is_empty(), "byte {at} is covered by a checksum");
    });
}

#[test]
fn every_single_byte_change_of_an_mbr_or_a_bsd_label_has_an_answer() {
    need_tools!("sfdisk");
    let bytes = small_mbr();
    assert_eq!(mbr::read(&bytes, SECTOR).unwrap().value.partitions.len(), 5);
    each_change(&bytes, |changed, _| drop(mbr::read(changed, SECTOR)));
    let label = small_bsd();
    each_change(&label[..1024], |changed, at| {
        let found = bsd::read(changed, SECTOR, (0, Counting::Unknown));
        let is_covered = (512 + 4..512 + 132).contains(&at) || (660..708).contains(&at);
        assert!(!is_covered || found.is_some_and(|found| !found.problems.is_empty()), "byte {at}");
    });
}

#[test]
fn noise_is_no_table_and_noise_behind_a_signature_has_an_answer() {
    let mut random = testkit::random(0x5eed);
    for _ in 0..300 {
        let mut bytes: Vec<u8> = Vec::new();
        while bytes.len() < 64 * 512 {
            bytes.extend(random.next_u64().to_le_bytes());
        }
        assert!(answers(&bytes).iter().all(Option::is_none));
        let last = bytes.len() - 512;
        for at in [512, 1024, 4096, last] {
            bytes[at..at + 8].copy_from_slice(b"EFI PART");
        }
        bytes[510..512].copy_from_slice(&[0x55, 0xaa]);
        for at in [446, 462, 478, 494] {
            bytes[at] &= 0x80;
        }
        answers(&bytes);
        bytes[512..516].copy_from_slice(&[0x57, 0x45, 0x56, 0x82]);
        bytes[644..648].copy_from_slice(&[0x57, 0x45, 0x56, 0x82]);
        answers(&bytes);
        // Small numbers are more likely to be followed than noise.
        let mut sparse = MemoryDisk::with_head(1 << 30, &bytes);
        for field in [(524, 92_u32), (592, 4096), (596, 128), (584, 2), (588, 0), (536, 1)] {
            sparse.put(field.0, &field.1.to_le_bytes());
        }
        sparse.put(512, b"EFI PART");
        answers(&sparse);
    }
}
