//! Writes of a running server: what each sample makes of a verdict.

use units::ByteRange;

use super::made::{Answers, Made};
use crate::untorn::{
    self, DataFile, LiveTally, LiveWrites, PageEngine, PageFate, PageRole, UntornAnswer,
    UntornQuestion, UntornVerdict,
};

const MINUTE_NS: u64 = 60_000_000_000;

fn range(start: u64, length: u64) -> ByteRange {
    ByteRange::new(start, length).expect("a range")
}

/// The verdict for a database of two files on a drive that promises 16 KiB.
fn verdict(
    engine: PageEngine,
    seen: impl FnOnce(&[DataFile]) -> Result<LiveWrites, String>,
) -> UntornVerdict {
    let made = Made::on(Answers::plain().promising(32, 32, 0));
    let (stack, system) = made.stack();
    let named = |name: &str| DataFile { name: name.to_owned(), ..made.file(system) };
    let files = [named("ibdata1"), named("t.ibd")];
    let live = seen(&files);
    let (stack, files, kernel) = (&stack, &files[..], Some((6, 18)));
    let (unseen, live) = (None, Some(&live));
    untorn::judge(&UntornQuestion { stack, engine, files, kernel, unseen, live })
}

#[track_caller]
fn is(verdict: &UntornVerdict, answer: UntornAnswer, fate: PageFate, reason: &str) {
    let line = verdict.layers.last().expect("there are lines");
    assert_eq!((line.role, line.name.as_str()), (PageRole::Live, "live"));
    assert_eq!((verdict.answer, line.fate, line.reason.as_str()), (answer, fate, reason));
}

#[test]
fn whole_pages_leave_the_verdict_as_it_is() {
    let seen = |files: &[DataFile]| {
        let mut tally = LiveTally::new(files);
        tally.add(Some("mysqld"), &[(0, range(0, 16384))]);
        // Merged: the end of one file and the start of the other.
        tally.add(Some("mysqld"), &[(0, range(32768, 65536)), (1, range(0, 16384))]);
        tally.add(Some("mysqld"), &[]);
        Ok(tally.finish(MINUTE_NS, Some(0)))
    };
    let whole = "all 2 sampled writes to 2 data files in 60 s were of whole pages";
    let found = verdict(PageEngine::Mysql, seen);
    is(&found, UntornAnswer::Yes, PageFate::Whole, whole);
    assert_eq!(found.live.expect("it was asked").writes, 2);
    is(&verdict(PageEngine::Postgresql, seen), UntornAnswer::No, PageFate::Whole, whole);
}

#[test]
fn a_write_off_the_page_is_a_no_even_where_events_were_lost() {
    for lost in [Some(0), Some(7), None] {
        let found = verdict(PageEngine::Mysql, |files| {
            let mut tally = LiveTally::new(files);
            for number in 0..328 {
                tally.add(Some("mysqld"), &[(0, range(number * 16384, 16384))]);
            }
            for number in 0..12 {
                tally.add(Some("mysqld"), &[(0, range(number * 16384 + 8192, 8192))]);
            }
            tally.add(None, &[(1, range(0, 4096))]);
            Ok(tally.finish(MINUTE_NS, lost))
        });
        let reason = "mysqld wrote 12 of 340 sampled writes to ibdata1 off 16 KiB; 1 other process \
                      or file likewise";
        is(&found, UntornAnswer::No, PageFate::Torn, reason);
        assert_eq!(found.because, format!("live: {reason}"));
        let live = found.live.expect("it was asked");
        assert_eq!((live.writes, live.off_writes, live.off.len()), (341, 13, 2));
    }
}

#[test]
fn nothing_is_whole_where_nothing_was_seen() {
    let reason = "not known: it takes root";
    let found = verdict(PageEngine::Mysql, |_| Err("it takes root".to_owned()));
    is(&found, UntornAnswer::Unknown, PageFate::Unknown, reason);
    let none = "not known: no write to a data file was seen in 60 s; make the server write \
                meanwhile";
    let found =
        verdict(PageEngine::Mysql, |files| Ok(LiveTally::new(files).finish(MINUTE_NS, Some(0))));
    is(&found, UntornAnswer::Unknown, PageFate::Unknown, none);
    let lost = |lost| {
        verdict(PageEngine::Mysql, |files| {
            let mut tally = LiveTally::new(files);
            tally.add(None, &[(0, range(0, 16384))]);
            Ok(tally.finish(MINUTE_NS, lost))
        })
    };
    let reason = "not known: 3 events were lost, so some writes were not seen";
    is(&lost(Some(3)), UntornAnswer::Unknown, PageFate::Unknown, reason);
    let reason = "not known: before Linux 6.0 the kernel does not say if events were lost";
    is(&lost(None), UntornAnswer::Unknown, PageFate::Unknown, reason);
}
