//! Request files read, made, written and fitted.

use std::num::{NonZeroU64, NonZeroUsize};

use super::{COUNT_MAX, GeneratePlan, LENGTH_BYTES_MAX, Mix, RaidRequest, RequestKind, Requests};

const PLAN: GeneratePlan =
    GeneratePlan { media_bytes: 1 << 30, sector_bytes: 512, count: 500, mix: Mix::Mixed, seed: 4 };

/// A record, byte by byte.
fn record(offset_bytes: u64, length_bytes: u32, kind: u8, pad: [u8; 3]) -> Vec<u8> {
    let mut record = offset_bytes.to_le_bytes().to_vec();
    record.extend(length_bytes.to_le_bytes());
    record.push(kind);
    record.extend(pad);
    record
}

#[test]
fn a_record_is_sixteen_bytes_little_endian_and_its_padding_means_nothing() {
    let bytes = [record(0x1234_5600, 4096, 1, [7, 8, 9]), record(512, 512, 0, [0; 3])].concat();
    let requests = Requests::decode(&bytes).unwrap();
    let first = requests.as_slice()[0];
    let kind = RequestKind::Write;
    assert_eq!(first, RaidRequest { offset_bytes: 0x1234_5600, length_bytes: 4096, kind });
    assert_eq!(requests.as_slice()[1].kind, RequestKind::Read);
    assert_eq!(requests.encode()[..13], bytes[..13]);
    assert_eq!(requests.encode()[13..16], [0; 3]);
    assert_eq!(requests.title(), "2 requests, 1 write, 4.5 KiB in all");
}

#[test]
fn what_is_encoded_is_decoded_to_the_same() {
    let mut random = testkit::random(11);
    for _ in 0..200 {
        let count = random.below(40) + 1;
        let mut list = Vec::new();
        for _ in 0..count {
            let length_bytes = u32::try_from(random.below(LENGTH_BYTES_MAX.into()) + 1).unwrap();
            let offset_bytes = random.next_u64() >> (random.below(62) + 2);
            let kind = *random.choose(&[RequestKind::Read, RequestKind::Write]);
            list.push(RaidRequest { offset_bytes, length_bytes, kind });
        }
        let requests = Requests::new(list).unwrap();
        assert_eq!(Requests::decode(&requests.encode()), Ok(requests));
    }
}

#[test]
fn damaged_files_are_refused_with_the_record_that_is_wrong() {
    let good = record(0, 512, 0, [0; 3]);
    let refused = |bytes: &[u8]| Requests::decode(bytes).unwrap_err().to_string();
    let second = |bad: Vec<u8>| refused(&[good.clone(), bad].concat());
    let torn = "cannot read the request file: 15 bytes are not a multiple of 16";
    assert_eq!(refused(&good[..15]), torn);
    assert_eq!(refused(&[]), "cannot use 0 requests: 1 to 1048576 are possible");
    let kind = "cannot read record 1: expected type 0 (read) or 1 (write), got 2";
    assert_eq!(second(record(0, 512, 2, [0; 3])), kind);
    for length in [0, u32::MAX] {
        let wanted = format!("cannot use request 1: expected 1 to 131072 bytes, got {length}");
        assert_eq!(second(record(0, length, 1, [0; 3])), wanted);
    }
    for offset in [u64::MAX, u64::MAX - 511, u64::MAX >> 1, (u64::MAX >> 1) - 511] {
        let wanted = format!("cannot use request 1: 512 bytes at {offset} end past any disk");
        assert_eq!(second(record(offset, 512, 1, [0; 3])), wanted);
    }
    let most = Requests::decode(&record((u64::MAX >> 1) - 512, 512, 1, [0; 3])).unwrap();
    assert_eq!(most.end_bytes(), u64::MAX >> 1);
    let many = good.repeat(COUNT_MAX + 1);
    assert_eq!(refused(&many), "cannot use 1048577 requests: 1 to 1048576 are possible");
}

#[test]
fn any_bytes_are_answered() {
    let mut random = testkit::random(12);
    for _ in 0..2000 {
        let length = random.below(200);
        let bytes: Vec<u8> = (0..length).map(|_| *random.choose(&[0, 1, 2, 0x7f, 0xff])).collect();
        if let Ok(requests) = Requests::decode(&bytes) {
            assert_eq!(requests.as_slice().len() * 16, bytes.len());
            let _ = requests.scaled(random.next_u64(), NonZeroU64::MIN);
        }
    }
}

#[test]
fn made_requests_are_whole_sectors_within_the_medium_and_of_every_length() {
    for (sector_bytes, media_bytes) in [(512, 1 << 30), (4096, 128 << 10), (1, 1 << 17)] {
        let plan = GeneratePlan { sector_bytes, media_bytes, ..PLAN };
        let requests = Requests::generate(&plan).unwrap();
        assert_eq!(requests.as_slice().len(), 500);
        assert!(requests.end_bytes() <= media_bytes);
        for request in requests.as_slice() {
            assert_eq!(request.offset_bytes % u64::from(sector_bytes), 0);
            assert_eq!(request.length_bytes % sector_bytes, 0);
        }
        let half = LENGTH_BYTES_MAX / 2;
        let long = requests.as_slice().iter().filter(|one| one.length_bytes > half).count();
        assert!((200..300).contains(&long), "{long} of 500 are longer than half of the longest");
    }
}

#[test]
fn the_seed_alone_decides_and_the_mix_is_kept() {
    let made = |plan: GeneratePlan| Requests::generate(&plan).unwrap();
    assert_eq!(made(PLAN), made(PLAN));
    assert_ne!(made(PLAN), made(GeneratePlan { seed: 5, ..PLAN }));
    assert_eq!(made(GeneratePlan { mix: Mix::Read, ..PLAN }).writes(), 0);
    assert_eq!(made(GeneratePlan { mix: Mix::Write, ..PLAN }).writes(), 500);
    assert!((200..300).contains(&made(PLAN).writes()));
    assert_eq!(made(PLAN).all(RequestKind::Write).writes(), 500);
}

#[test]
fn plans_that_cannot_be_carried_out_are_refused() {
    let refused = |plan: GeneratePlan| Requests::generate(&plan).unwrap_err().to_string();
    for sector_bytes in [0, 3, 256 << 10] {
        let wanted = format!("cannot make requests of sectors of {sector_bytes} bytes");
        assert_eq!(refused(GeneratePlan { sector_bytes, ..PLAN }), wanted);
    }
    for media_bytes in [0, 512, (128 << 10) - 1, u64::MAX] {
        let wanted = format!("cannot make requests for a medium of {media_bytes} bytes");
        assert_eq!(refused(GeneratePlan { media_bytes, ..PLAN }), wanted);
    }
    for count in [0, COUNT_MAX + 1, usize::MAX] {
        let wanted = format!("cannot use {count} requests: 1 to 1048576 are possible");
        assert_eq!(refused(GeneratePlan { count, ..PLAN }), wanted);
    }
}

#[test]
fn on_a_smaller_medium_every_request_keeps_its_place_in_the_unit() {
    let mut random = testkit::random(13);
    let requests = Requests::generate(&PLAN).unwrap();
    for _ in 0..50 {
        let unit_bytes = NonZeroU64::new(1 << random.below(17)).unwrap();
        let media_bytes = (256 << 10) + random.below(1 << 30);
        let scaled = requests.scaled(media_bytes, unit_bytes).unwrap();
        assert!(scaled.requests.end_bytes() <= media_bytes);
        let mut moved = 0;
        for (old, new) in requests.as_slice().iter().zip(scaled.requests.as_slice()) {
            assert_eq!(old.offset_bytes % unit_bytes, new.offset_bytes % unit_bytes);
            assert_eq!((old.length_bytes, old.kind), (new.length_bytes, new.kind));
            moved += usize::from(old != new);
        }
        assert_eq!(scaled.moved, moved);
    }
    let same = requests.scaled(1 << 30, NonZeroU64::MIN).unwrap();
    assert_eq!((same.moved, same.requests), (0, requests));
}

#[test]
fn a_medium_without_a_place_for_a_request_is_refused() {
    let requests = Requests::decode(&record(4096 + 512, 4096, 1, [0; 3])).unwrap();
    let unit = NonZeroU64::new(4096).unwrap();
    let error = requests.scaled(4096 + 511, unit).unwrap_err();
    let wanted = "cannot fit request 0 into 4607 bytes at its place in the unit";
    assert_eq!(error.to_string(), wanted);
    let fits = requests.scaled(4096 + 512, unit).unwrap();
    assert_eq!((fits.requests.as_slice()[0].offset_bytes, fits.moved), (512, 1));
}

#[test]
fn shares_are_equal_and_follow_each_other() {
    let requests = Requests::generate(&PLAN).unwrap();
    let shares: Vec<&[RaidRequest]> = requests.shares(NonZeroUsize::new(64).unwrap()).collect();
    assert_eq!(shares.len(), 64);
    assert!(shares.iter().all(|share| share.len() == 7));
    assert_eq!(shares.concat(), requests.as_slice()[..448]);
}
