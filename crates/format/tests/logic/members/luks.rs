//! LUKS headers from bytes made here.

use device::MemoryDisk;
use format::member::luks::{self, Luks};
use format::{Parsed, ProblemKind};

use super::encode::{json, luks1, luks2, segment, sign};

const DATA: u64 = 16 << 20;

/// A device of 64 MiB with both headers of 16 KiB.
fn disk(first: &[u8], second: &[u8]) -> MemoryDisk {
    let mut disk = MemoryDisk::with_head(64 << 20, first);
    disk.put(0x4000, second);
    disk
}

fn pair(text: &str) -> MemoryDisk {
    disk(&luks2(0x4000, 0, 3, text), &luks2(0x4000, 0x4000, 3, text))
}

fn read(disk: &MemoryDisk) -> Parsed<Luks> {
    luks::read(disk).expect("a header")
}

fn kinds(found: &Parsed<Luks>) -> Vec<ProblemKind> {
    found.problems.iter().map(|problem| problem.kind).collect()
}

#[test]
fn two_equal_headers_are_read_without_a_problem() {
    let found = read(&pair(&json(&segment(DATA), "")));
    assert_eq!(found.problems, []);
    let luks = found.value;
    assert_eq!((luks.version, luks.header_at_bytes), (2, 0));
    assert_eq!(luks.id.to_string(), "11111111-2222-3333-4444-555555555555");
    assert_eq!(luks.label.unwrap().to_string(), "a label");
    assert_eq!(luks.subsystem.unwrap().to_string(), "a subsystem");
    assert_eq!(luks.cipher.unwrap().to_string(), "aes-xts-plain64");
    assert_eq!((luks.detached, luks.reencrypting, luks.integrity), (false, false, None));
    let [segment] = luks.segments.as_slice() else { panic!("one segment") };
    assert_eq!((segment.offset_bytes, segment.length_bytes), (DATA, None));
    assert_eq!(segment.sector_bytes, 4096);
}

#[test]
fn the_newer_header_wins() {
    let (old, new) = (json(&segment(DATA), ""), json(&segment(2 * DATA), ""));
    let found = read(&disk(&luks2(0x4000, 0, 3, &old), &luks2(0x4000, 0x4000, 4, &new)));
    assert_eq!(found.value.segments[0].offset_bytes, 2 * DATA);
    assert_eq!(found.value.header_at_bytes, 0x4000);
    assert_eq!(kinds(&found), [ProblemKind::Copies]);
    let found = read(&disk(&luks2(0x4000, 0, 5, &old), &luks2(0x4000, 0x4000, 4, &new)));
    assert_eq!(found.value.segments[0].offset_bytes, DATA);
}

#[test]
fn a_damaged_first_header_gives_way_to_the_second_wherever_that_is() {
    let text = json(&segment(32 << 20), "");
    for power in 14..=22 {
        let size = 1 << power;
        for wound in [0, 8, 100, 5000] {
            let mut first = luks2(size, 0, 9, &text);
            first[wound] ^= 0xff;
            let at = u64::try_from(size).unwrap();
            let mut disk = MemoryDisk::with_head(64 << 20, &first);
            disk.put(at, &luks2(size, at, 8, &text));
            let found = read(&disk);
            assert_eq!(found.value.header_at_bytes, at, "size {size}, wound at {wound}");
            assert_eq!(found.value.segments[0].offset_bytes, 32 << 20);
            assert!(!found.problems.is_empty());
        }
    }
}

#[test]
fn a_second_header_alone_is_believed_only_with_its_checksum() {
    let text = json(&segment(DATA), "");
    let mut second = luks2(0x4000, 0x4000, 3, &text);
    assert!(luks::read(&disk(&[], &second)).is_some());
    second[5000] ^= 1;
    assert_eq!(luks::read(&disk(&[], &second)), None);
    // One that was copied from elsewhere does not stand where it says.
    let moved = luks2(0x4000, 0x8000, 3, &text);
    assert_eq!(luks::read(&disk(&[], &moved)), None);
}

#[test]
fn two_damaged_headers_are_described_by_the_first() {
    let text = json(&segment(DATA), "");
    let (mut first, mut second) = (luks2(0x4000, 0, 3, &text), luks2(0x4000, 0x4000, 3, &text));
    first[30] ^= 1;
    second[30] ^= 1;
    let found = read(&disk(&first, &second));
    assert_eq!(found.value.segments[0].offset_bytes, DATA);
    assert_eq!(kinds(&found), [ProblemKind::Checksum, ProblemKind::Checksum]);
}

#[test]
fn an_unknown_checksum_algorithm_is_unsupported_and_not_a_failure() {
    let text = json(&segment(DATA), "");
    let [first, second] = [0, 0x4000].map(|at| {
        let mut header = luks2(0x4000, at, 3, &text);
        header[72..78].copy_from_slice(b"blake3");
        header
    });
    let found = read(&disk(&first, &second));
    assert_eq!(kinds(&found), [ProblemKind::Unsupported, ProblemKind::Unsupported]);
    assert_eq!(found.value.segments[0].offset_bytes, DATA);
}

#[test]
fn a_version_that_nobody_defined_gives_nothing_but_its_number() {
    let mut first = luks2(0x4000, 0, 3, &json(&segment(DATA), ""));
    first[7] = 3;
    let found = read(&disk(&first, &[]));
    assert_eq!((found.value.version, found.value.segments.len()), (3, 0));
    assert_eq!(kinds(&found), [ProblemKind::Unsupported]);
}

#[test]
fn segments_come_in_order_of_their_numbers_without_backups() {
    let segments = r#"
        "10":{"type":"crypt","offset":"33554432","size":"dynamic","encryption":"b","sector_size":512},
        "2":{"type":"linear","offset":"16777216","size":"1048576","flags":["in-reencryption"]},
        "11":{"type":"crypt","offset":"4194304","size":"dynamic","sector_size":512,
              "flags":["backup-final"]}"#;
    let found = read(&pair(&json(segments, "\"online-reencrypt-v2\"")));
    assert_eq!(found.problems, []);
    assert!(found.value.reencrypting);
    let shown: Vec<_> = found
        .value
        .segments
        .iter()
        .map(|segment| (segment.kind.to_string(), segment.offset_bytes, segment.length_bytes))
        .collect();
    assert_eq!(
        shown,
        [("linear".to_owned(), DATA, Some(1 << 20)), ("crypt".to_owned(), 2 * DATA, None)]
    );
}

#[test]
fn the_flag_for_discards_is_read() {
    let text = json(&segment(DATA), "");
    assert!(!read(&pair(&text)).value.allows_discards);
    let flags = r#""flags":["no-read-workqueue","allow-discards"],"requirements""#;
    let found = read(&pair(&text.replacen(r#""requirements""#, flags, 1)));
    assert_eq!(found.problems, []);
    assert!(found.value.allows_discards);
}

#[test]
fn opal_segments_and_integrity_are_named() {
    let segments = r#""0":{"type":"hw-opal-crypt","offset":"16777216","size":"33554432",
        "encryption":"aes-xts-plain64","sector_size":512,"opal_segment_number":1,
        "opal_key_size":32,"opal_segment_size":"1",
        "integrity":{"type":"hmac(sha256)","journal_encryption":"none","journal_integrity":"none"}}"#;
    let found = read(&pair(&json(segments, "\"opal\"")));
    assert_eq!(found.problems, []);
    assert!(found.value.segments[0].kind.raw().starts_with(b"hw-opal"));
    assert_eq!(found.value.integrity.unwrap().to_string(), "hmac(sha256)");
}

#[test]
fn data_at_zero_or_behind_the_end_means_that_the_header_is_detached() {
    let found = read(&pair(&json(&segment(0), "")));
    assert_eq!((found.value.detached, found.problems), (true, vec![]));
    let found = read(&pair(&json(&segment(64 << 20), "")));
    assert!(found.value.detached);
    assert_eq!(kinds(&found), [ProblemKind::Outside]);
}

#[test]
fn wrong_segments_are_problems_of_their_own() {
    let check = |segments: &str, kind: ProblemKind, count: usize| {
        let found = read(&pair(&json(segments, "")));
        assert_eq!(found.value.segments.len(), count, "{segments}");
        assert!(kinds(&found).contains(&kind), "{segments}: {:?}", found.problems);
    };
    let with = |from: &str, to: &str| segment(DATA).replace(from, to);
    check(&with("4096", "3000"), ProblemKind::Field, 1);
    check(&with("16777216", "16777217"), ProblemKind::Field, 1);
    check(&with("16777216", "8192"), ProblemKind::Overlap, 1);
    check(&with("16777216", "-1"), ProblemKind::Field, 0);
    check(&with("16777216", "99999999999999999999"), ProblemKind::Field, 0);
    check(&with("16777216", ""), ProblemKind::Field, 0);
    check(&with("dynamic", "all"), ProblemKind::Field, 0);
    check(&with("\"crypt\"", "\"new\""), ProblemKind::Unsupported, 1);
    check(&with("\"0\"", "\"zero\""), ProblemKind::Field, 0);
    check("", ProblemKind::Field, 0);
}

#[test]
fn hostile_json_is_refused_and_bounded() {
    let many: String = (0..500).map(|n| format!(r#""{n}":{{"type":"crypt"}},"#)).collect();
    for text in [
        "[".repeat(12_000),
        "{\"a\":".repeat(2000),
        String::new(),
        "{\"segments\":{\"0\":{\"type\":\"\\u001b[31m\\u202e\"".to_owned(),
        json(many.trim_end_matches(','), ""),
        json(&segment(DATA), &["\"a\""; 500].join(",")),
        json(&segment(DATA).replace("crypt", &"x".repeat(5000)), ""),
        json(&segment(DATA).replace("\"0\"", &format!("\"{}\"", "7".repeat(5000))), ""),
        format!("{{\"segments\":\"{}\"}}", "x".repeat(5000)),
        json(&segment(DATA).replace("\"crypt\"", "\"\\u001b[31m\""), ""),
    ] {
        let found = read(&pair(&text));
        assert!(!found.problems.is_empty());
        for problem in &found.problems {
            assert!(!problem.detail.contains(['\u{1b}', '\u{202e}']), "{problem:?}");
            assert!(problem.detail.len() < 1000, "{}", problem.detail.len());
        }
    }
}

#[test]
fn luks1_says_cipher_uuid_and_where_data_starts() {
    let found = read(&MemoryDisk::with_head(64 << 20, &luks1(4096)));
    assert_eq!(found.problems, []);
    assert_eq!(found.value.cipher.unwrap().to_string(), "aes-xts-plain64");
    assert_eq!(found.value.segments[0].offset_bytes, 2 << 20);
    assert!(!found.value.detached && !found.value.reencrypting);
    assert!(read(&MemoryDisk::with_head(64 << 20, &luks1(0))).value.detached);
    assert!(read(&MemoryDisk::with_head(1 << 20, &luks1(4096))).value.detached);
}

#[test]
fn luks1_under_offline_reencryption_is_recognized() {
    let mut header = luks1(4096);
    header[4..6].copy_from_slice(&[0xde, 0xad]);
    assert!(read(&MemoryDisk::with_head(64 << 20, &header)).value.reencrypting);
}

#[test]
fn luks1_data_that_lies_on_the_key_slots_is_an_overlap() {
    let found = read(&MemoryDisk::with_head(64 << 20, &luks1(64)));
    assert_eq!(kinds(&found), [ProblemKind::Overlap]);
}

#[test]
fn signing_a_header_is_what_makes_it_sound() {
    let mut header = luks2(0x4000, 0, 3, &json(&segment(DATA), ""));
    header[24] = b'B';
    sign(&mut header);
    let found = read(&disk(&header, &luks2(0x4000, 0x4000, 3, &json(&segment(DATA), ""))));
    assert_eq!(found.value.label.unwrap().to_string(), "B label");
    assert_eq!(found.problems, []);
}
