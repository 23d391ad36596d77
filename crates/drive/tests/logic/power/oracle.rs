//! The oracle's rules, each on the smallest log that shows it.

use drive::power::{Aftermath, HostLog, HostPromises, Legal, SectorContent, Sectors, judge, legal};
use units::ByteRange;

/// A log of a drive with a cache; each of `events` is a line: its time in nanoseconds, then
/// `write NUMBER START+LENGTH [fua]`, `flush NUMBER`, `discard NUMBER START+LENGTH`, or `done`
/// with the kind and the number of what ended.
fn log(events: &str) -> HostLog {
    log_of(true, events)
}

fn log_of(has_volatile_cache: bool, events: &str) -> HostLog {
    let sectors = Sectors { logical_bytes: 512, physical_bytes: 4096, origin_bytes: 0 };
    let mut log = HostLog::new(HostPromises { sectors, has_volatile_cache }, 100);
    let number = |word: &str| word.parse().expect("a number");
    let range = |word: &str| {
        let (start, length) = word.split_once('+').expect("a range");
        let (start, length) = (start.parse().expect("a number"), length.parse().expect("a number"));
        ByteRange::new(start, length).expect("a range of a drive")
    };
    for line in events.lines() {
        let (at_ns, event) = line.split_once(' ').expect("a time and an event");
        let at_ns = at_ns.parse().expect("a time");
        let words: Vec<&str> = event.split(' ').collect();
        let (sent, own) = match words[..] {
            ["write", own, at, ref rest @ ..] => {
                (log.write_sent(range(at), rest.contains(&"fua"), at_ns), number(own))
            }
            ["flush", own] => (log.flush_sent(at_ns), number(own)),
            ["discard", own, at] => (log.discard_sent(range(at), at_ns), number(own)),
            ["done", kind, own] => {
                match kind {
                    "write" => log.write_done(number(own), at_ns),
                    "flush" => log.flush_done(number(own), at_ns),
                    _ => log.discard_done(number(own), at_ns),
                }
                continue;
            }
            _ => panic!("no event: {line}"),
        };
        assert_eq!(sent, Some(own), "{line}");
    }
    log
}

/// Checks what may be in the first sector at 100 ns.
fn check(events: &str, writes: &[usize], original: bool) {
    let Legal { writes: found, original: was, .. } = legal(&log(events), 100)(0);
    assert_eq!((found.as_slice(), was), (writes, original), "{events}");
}

#[test]
fn an_acknowledged_write_is_not_promised_until_a_flush_has_completed() {
    check("1 write 0 0+512\n", &[0], true);
    check("1 write 0 0+512\n2 done write 0\n", &[0], true);
    check("1 write 0 0+512\n2 done write 0\n3 flush 0\n", &[0], true);
    let flushed = "1 write 0 0+512\n2 done write 0\n3 flush 0\n4 done flush 0\n";
    check(flushed, &[0], false);
}

#[test]
fn what_happens_behind_the_cut_counts_for_nothing() {
    let late = "1 write 0 0+512\n2 done write 0\n3 flush 0\n101 done flush 0\n";
    check(late, &[0], true);
    let late = "1 write 0 0+512 fua\n101 done write 0\n101 write 1 0+512\n";
    check(late, &[0], true);
}

#[test]
fn a_flush_covers_what_was_acknowledged_before_it_was_sent_and_nothing_later() {
    let flying = "1 write 0 0+512\n1 flush 0\n2 done write 0\n3 done flush 0\n";
    check(flying, &[0], true);
    let same_time = "1 write 0 0+512\n1 flush 0\n1 done write 0\n1 done flush 0\n";
    check(same_time, &[0], true);
    let behind = "1 flush 0\n2 write 0 0+512\n3 done write 0\n4 done flush 0\n";
    check(behind, &[0], true);
}

#[test]
fn a_flush_covers_all_that_was_acknowledged_before_whatever_flush_came_between() {
    let first = "1 write 0 0+512\n2 done write 0\n";
    let flushes = "3 flush 0\n4 done flush 0\n5 flush 1\n6 done flush 1\n";
    check(&format!("{first}{flushes}"), &[0], false);
    check(&format!("{first}{flushes}7 flush 2\n"), &[0], false);
    let second = "2 flush 0\n3 done flush 0\n4 write 0 0+512\n5 done write 0\n\
                  6 flush 1\n7 done flush 1\n";
    check(second, &[0], false);
    // The first of two flushes that run together completes last.
    let crossed = "1 flush 0\n2 write 0 0+512\n3 done write 0\n4 flush 1\n\
                   5 done flush 1\n6 done flush 0\n";
    check(crossed, &[0], false);
}

#[test]
fn the_write_that_a_preflush_precedes_is_not_covered_by_it() {
    // The block layer sends REQ_PREFLUSH as a flush, and the write when that has completed.
    check("1 flush 0\n2 done flush 0\n2 write 0 0+512\n3 done write 0\n", &[0], true);
}

#[test]
fn a_forced_write_is_promised_with_its_acknowledgement_and_takes_nothing_else_with_it() {
    let cached = "1 write 0 512+512\n2 done write 0\n";
    let events = format!("{cached}3 write 1 0+512 fua\n4 done write 1\n");
    check(&events, &[1], false);
    assert!(legal(&log(&events), 100)(1).original, "it orders nothing");
}

#[test]
fn a_forced_write_supersedes_older_writes_of_its_bytes_and_newer_ones_may_follow() {
    let older = "1 write 0 0+512\n2 done write 0\n";
    let forced = format!("{older}3 write 1 0+512 fua\n4 done write 1\n");
    check(&forced, &[1], false);
    check(&format!("{forced}5 write 2 0+512\n6 done write 2\n"), &[1, 2], false);
}

#[test]
fn writes_that_are_in_flight_together_have_no_order() {
    let both = "1 write 0 0+512 fua\n1 write 1 0+512 fua\n\
                2 done write 0\n2 done write 1\n";
    check(both, &[0, 1], false);
}

#[test]
fn every_acknowledgement_of_a_drive_without_a_cache_is_a_promise() {
    let log = log_of(false, "1 write 0 0+512\n2 done write 0\n");
    let wanted = Legal { writes: vec![0], original: false, unreadable: false };
    assert_eq!(legal(&log, 100)(0), wanted);
}

#[test]
fn a_discard_takes_the_promise_back_until_something_is_written_again() {
    let forced = "1 write 0 0+512 fua\n2 done write 0\n";
    check(&format!("{forced}3 discard 0 0+512\n"), &[0], true);
    let discarded = format!("{forced}3 discard 0 0+512\n4 done discard 0\n");
    check(&discarded, &[0], true);
    check(&format!("{discarded}5 write 1 0+512 fua\n6 done write 1\n"), &[1], false);
}

#[test]
fn an_unreadable_sector_is_torn_beside_or_missing_by_who_was_writing() {
    let kept = "1 write 0 0+512 fua\n1 write 1 8192+512 fua\n\
                2 done write 0\n2 done write 1\n3 write 2 512+512\n";
    let judged = |gone: &[u64]| {
        let gone = gone.iter().map(|lba| (*lba, SectorContent::Unreadable));
        let judged = judge(&log(kept), &Aftermath::new(100, gone)).expect("there is room");
        (judged.torn, judged.collateral, judged.missing)
    };
    // That the others are not there is missing too: the first and the last are promised.
    assert_eq!(judged(&[]), (0, 0, 2));
    assert_eq!(judged(&[0]), (0, 1, 1));
    assert_eq!(judged(&[1]), (1, 0, 2));
    assert_eq!(judged(&[2]), (0, 1, 2));
    assert_eq!(judged(&[16]), (0, 0, 2));
    assert_eq!(judged(&[0, 1, 2, 16]), (1, 2, 1));
}

#[test]
fn a_sector_that_changed_though_nobody_wrote_it_is_found() {
    let judged =
        judge(&log("1 write 0 0+512\n"), &Aftermath::new(9, [(5, SectorContent::Write(0))]));
    assert_eq!(judged.map(|judged| judged.missing), Ok(1));
}
