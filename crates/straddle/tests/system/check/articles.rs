//! The partitions of the articles that the project began with get the articles' verdicts.

use testkit::{Scratch, need_tools, scratch};

use super::run::{check, partitioned, text};

const GIB: u64 = 1 << 30;

/// The verdict on a single GPT partition at `start` (sfdisk's words), judged on `disk`, with the
/// exit status.
fn verdict_at(start: &str, disk: &str) -> (String, i32) {
    let scratch = Scratch::new();
    let script = format!("label: gpt\nfirst-lba: 34\nstart={start}, size=204800\n");
    let image = partitioned(&scratch, "disk.raw", GIB, &script);
    let mut arguments = vec![text(&image)];
    if !disk.is_empty() {
        arguments.extend(["--on", disk]);
    }
    let checked = check(&arguments);
    (checked.verdict("partition", "#1").to_owned(), checked.status)
}

#[test]
fn sector_34_of_an_ssd_that_says_512_is_misaligned_and_a_warning() {
    need_tools!("sfdisk");
    assert_eq!(verdict_at("34", ""), ("misaligned".to_owned(), 1));
}

#[test]
fn sector_2048_is_aligned() {
    need_tools!("sfdisk");
    assert_eq!(verdict_at("2048", ""), ("aligned".to_owned(), 0));
    assert_eq!(verdict_at("2048", "512e"), ("aligned".to_owned(), 0));
}

#[test]
fn sector_40_is_aligned_and_34_is_not_on_a_4_kib_disk() {
    need_tools!("sfdisk");
    assert_eq!(verdict_at("40", "512e"), ("aligned".to_owned(), 0));
    assert_eq!(verdict_at("34", "512e"), ("misaligned".to_owned(), 1));
}

#[test]
fn a_start_at_131072k_is_aligned_on_a_512e_disk_and_131074k_is_not() {
    need_tools!("sfdisk");
    assert_eq!(verdict_at("262144", "512e"), ("aligned".to_owned(), 0));
    assert_eq!(verdict_at("262148", "512e"), ("misaligned".to_owned(), 1));
}

#[test]
fn a_true_512n_disk_takes_any_start() {
    need_tools!("sfdisk");
    assert_eq!(verdict_at("34", "512n"), ("aligned".to_owned(), 0));
}

#[test]
fn where_the_first_aligned_block_is_lba_7_a_start_at_63_is_aligned_and_2048_is_not() {
    need_tools!("sfdisk");
    let disk = "512e,origin=3584";
    assert_eq!(verdict_at("63", disk), ("aligned".to_owned(), 0));
    assert_eq!(verdict_at("2048", disk), ("misaligned".to_owned(), 1));
}

/// A FreeBSD slice at sector 63 with partition `a` at `offset` sectors in it.
fn freebsd(offset: u32) -> Vec<u8> {
    let slice_sectors: u32 = 100_000;
    let mut disk = vec![0_u8; (64 << 20) + 512];
    let entry = 446;
    disk[entry] = 0x80;
    disk[entry + 4] = 0xa5;
    disk[entry + 8..entry + 12].copy_from_slice(&63_u32.to_le_bytes());
    disk[entry + 12..entry + 16].copy_from_slice(&slice_sectors.to_le_bytes());
    disk[510] = 0x55;
    disk[511] = 0xaa;
    let label = 63 * 512 + 512;
    put32(&mut disk, label, 0x8256_4557);
    put32(&mut disk, label + 40, 512);
    put32(&mut disk, label + 132, 0x8256_4557);
    disk[label + 138..label + 140].copy_from_slice(&8_u16.to_le_bytes());
    let partitions = [(slice_sectors - offset, offset, 7_u8), (0, 0, 0), (slice_sectors, 0, 0)];
    for (number, (size, start, kind)) in partitions.into_iter().enumerate() {
        let at = label + 148 + 16 * number;
        put32(&mut disk, at, size);
        put32(&mut disk, at + 4, start);
        disk[at + 12] = kind;
    }
    let words = disk[label..label + 148 + 16 * 8].chunks_exact(2);
    let sum = words.fold(0, |sum, pair| sum ^ u16::from_le_bytes([pair[0], pair[1]]));
    disk[label + 136..label + 138].copy_from_slice(&sum.to_le_bytes());
    disk
}

fn put32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

#[test]
fn a_freebsd_slice_at_63_plus_16_is_off_a_16_kib_stripe_by_7680_and_plus_33_is_on_it() {
    let scratch = Scratch::new();
    let one = "512n,stripe=16Kx1";
    let two = "512n,stripe=16Kx2";
    for (offset, disk, verdict, off) in [
        (16, one, "misaligned", Some(7680)),
        (33, one, "aligned", None),
        (16, two, "misaligned", Some(7680)),
        // 48 KiB is on a stripe of 16 KiB, but not on a row of two.
        (33, two, "chunk-only", Some(16384)),
    ] {
        let image = scratch.file("disk.raw", &freebsd(offset));
        let checked = check(&[scratch::text(&image), "--on", disk]);
        let layer = checked.layer("partition", "#1a");
        assert_eq!(layer["verdict"], verdict, "{:#}", checked.target);
        assert_eq!(layer["misalignment"]["offset_bytes"].as_u64(), off);
        // Crossing a chunk alone is worth knowing on RAID 0, no more.
        assert_eq!(checked.status, 0);
        assert_eq!(checked.has("ST201", "info"), verdict == "misaligned");
    }
}
