//! Answers come when the drive has done its work, and not before. No time is asserted from above: a
//! busy machine answers late.

use std::sync::mpsc;
use std::time::Instant;

use drive::CommandKind;
use serve::{Pace, TraceLog};

use crate::served::{Exported, drive};

#[test]
fn a_flushed_write_takes_no_less_than_the_drive_needs() {
    let served = Exported::new(drive("hdd-7200-512e", Pace::REAL, None));
    let begun = Instant::now();
    // The same place each time: it comes by once in a turn, however quick the host is.
    for _ in 0..4 {
        let write = CommandKind::Write { fua: false };
        served.drive.perform(write, 1 << 20, 4096).expect("it is written");
        served.drive.perform(CommandKind::Flush, 0, 0).expect("it is flushed");
    }
    let took_ns = u64::try_from(begun.elapsed().as_nanos()).expect("it is short");
    let counts = served.drive.counts();
    assert!(took_ns >= 3 * 8_333_000, "{took_ns} ns for a turn each");
    assert_eq!((counts.writes, counts.flushes, counts.timed_answers), (4, 4, 8));
}

#[test]
fn requests_at_depth_are_answered_as_the_drive_ends_them() {
    let served = Exported::new(drive("hdd-7200-512e", Pace::REAL, None));
    let (sender, receiver) = mpsc::channel();
    let far = served.drive.capacity_bytes() - 4096;
    for (number, offset) in [(0, 0), (1, far), (2, 8192)] {
        let sender = sender.clone();
        served.drive.submit(CommandKind::Read, offset, 4096, move |done| {
            sender.send((number, done)).expect("the test waits");
        });
    }
    let ended: Vec<_> = receiver.iter().take(3).collect();
    assert!(ended.iter().all(|(_, done)| done.is_ok()), "{ended:?}");
    assert_eq!(ended.last().map(|(number, _)| *number), Some(1), "the arm goes there last");
}

#[test]
fn a_drive_that_stops_fails_what_waits_and_what_comes() {
    let served = Exported::new(drive("hdd-7200-512e", Pace::read("1000").expect("a pace"), None));
    let (sender, receiver) = mpsc::channel();
    served.drive.submit(CommandKind::Read, 1 << 30, 4096, move |done| {
        sender.send(done).expect("the test waits");
    });
    assert_eq!(served.drive.waiting(), 1);
    let _ = served.drive.stop();
    assert!(receiver.recv().expect("it is answered").is_err());
    assert!(served.drive.perform(CommandKind::Read, 0, 4096).is_err());
}

#[test]
fn a_trace_is_read_back_as_the_commands_that_were_sent() {
    use std::io::Write;
    use std::sync::{Arc, Mutex};
    use workload::trace::{Stage, TraceAction, TraceStream};

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);
    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("one writer").write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let kept = Kept::default();
    let served = drive("hdd-7200-512e", Pace::Off, Some(TraceLog::new(Box::new(kept.clone()))));
    let sent = [
        (CommandKind::Write { fua: false }, 512, 4096),
        (CommandKind::Write { fua: true }, 1 << 40, 512),
        (CommandKind::Flush, 0, 0),
        (CommandKind::Read, 0, 1 << 20),
        (CommandKind::Discard, 1 << 30, 1 << 30),
    ];
    for (action, offset, length) in sent {
        served.perform(action, offset, length).expect("it can be done");
    }
    let lines = served.stop().expect("it has a trace").end().expect("memory takes it");
    assert_eq!(lines, 5);
    let text = kept.0.lock().expect("one writer").clone();
    let mut rest = &text[..];
    let feed = move |buffer: &mut [u8]| std::io::Read::read(&mut rest, buffer);
    let read = TraceStream::open(feed, Stage::Issued).expect("it is a trace");
    let read: Vec<_> = read.map(|entry| entry.expect("a line is read")).collect();
    let actions: Vec<_> = read.iter().map(|entry| entry.action).collect();
    let length = |entry: &workload::trace::TraceEntry| u64::from(entry.length_bytes);
    let moved: Vec<_> = read.iter().map(|one| (one.offset_bytes, length(one))).collect();
    assert!(matches!(actions[1], TraceAction::Write { fua: true }), "{actions:?}");
    assert!(matches!(actions[2], TraceAction::Flush), "{actions:?}");
    assert_eq!([moved[0], moved[1], moved[3]], [(512, 4096), (1 << 40, 512), (0, 1 << 20)]);
    assert!(matches!(actions[4], TraceAction::Discard), "{actions:?}");
}
