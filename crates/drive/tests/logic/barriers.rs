//! A replayed flush covers what was in flight before it.

use std::num::NonZeroU32;

use drive::run::{
    CommandPart, DriveJob, OperationSource, OperationStream, Paced, Region, RunLimits, TraceLayout,
    TraceReplay, run,
};
use drive::{CommandKind, DriveCommand, DriveCompletion, DriveTally, Model};
use workload::job::JobPace;
use workload::trace::{TraceAction, TraceEntry, TraceTarget};

/// A drive that takes 10 us for everything and looks whether flushes are alone.
#[derive(Default)]
struct Watch {
    tells_no_cache: bool,
    flying: Vec<DriveCompletion>,
    now_ns: u64,
    flushes: u64,
    beside: u64,
    is_flushing: bool,
}

impl Model for Watch {
    fn submit(&mut self, command: DriveCommand, at_ns: u64, done: &mut Vec<DriveCompletion>) {
        self.advance(at_ns, done);
        let is_flush = command.action == CommandKind::Flush;
        self.beside += u64::from((is_flush || self.is_flushing) && !self.flying.is_empty());
        self.flushes += u64::from(is_flush);
        self.is_flushing = is_flush;
        self.flying.push(DriveCompletion {
            id: command.id,
            at_ns: at_ns + 10_000,
            outcome: Ok(()),
        });
    }

    fn next_ns(&self) -> Option<u64> {
        self.flying.first().map(|done| done.at_ns)
    }

    fn advance(&mut self, to_ns: u64, done: &mut Vec<DriveCompletion>) {
        assert!(to_ns >= self.now_ns, "time does not run backward");
        self.now_ns = to_ns;
        let ended = self.flying.iter().take_while(|done| done.at_ns <= to_ns).count();
        done.extend(self.flying.drain(..ended));
    }

    fn capacity_bytes(&self) -> u64 {
        1 << 40
    }

    fn logical_bytes(&self) -> u64 {
        512
    }

    fn tally(&self) -> DriveTally {
        DriveTally::default()
    }

    fn has_write_cache(&self) -> bool {
        !self.tells_no_cache
    }
}

/// A write with a flush behind it, so many times.
struct Synced(u64);

impl OperationSource for Synced {
    fn next(&mut self, pieces: &mut Vec<CommandPart>) -> bool {
        let write = CommandKind::Write { fua: false };
        pieces.push(CommandPart { action: write, offset_bytes: 0, length_bytes: 4096 });
        pieces.push(CommandPart { action: CommandKind::Flush, offset_bytes: 0, length_bytes: 0 });
        self.0 = self.0.wrapping_sub(1);
        self.0 < 100
    }
}

/// Two writes and a flush, again and again.
struct Thirds(u64);

impl OperationSource for Thirds {
    fn next(&mut self, pieces: &mut Vec<CommandPart>) -> bool {
        self.0 += 1;
        let (action, length_bytes) = match self.0 % 3 {
            0 => (CommandKind::Flush, 0),
            _ => (CommandKind::Write { fua: false }, 4096),
        };
        pieces.push(CommandPart { action, offset_bytes: self.0 * 4096, length_bytes });
        self.0 <= 300
    }
}

fn flushes_beside_others(has_barriers: bool) -> (u64, u64) {
    let mut watch = Watch::default();
    let mut source = Thirds(0);
    let mut jobs = [DriveJob { source: &mut source, lanes: 8, has_barriers }];
    let limits = RunLimits { operations: u64::MAX, time_ns: u64::MAX, turnaround_ns: 100 };
    let mut ended = 0;
    run(&mut watch, &mut jobs, limits, &mut |_| ended += 1);
    assert_eq!(ended, 300, "all of it was done");
    (watch.flushes, watch.beside)
}

#[test]
fn a_flush_waits_for_what_is_in_flight_and_what_follows_waits_for_it() {
    assert_eq!(flushes_beside_others(true), (100, 0));
    let (flushes, beside) = flushes_beside_others(false);
    assert!(flushes == 100 && beside > 0, "threads do not wait for each other");
}

#[test]
fn what_follows_a_read_waits_for_it_where_a_program_reads_one_file_after_another() {
    let entry = |number: u64| TraceEntry {
        at_ns: None,
        action: match number % 3 {
            2 => TraceAction::Write { fua: false },
            _ => TraceAction::Read,
        },
        target: TraceTarget::File(0),
        offset_bytes: number * 4096,
        length_bytes: 4096,
    };
    let entries = || (0..300).map(entry);
    let layout = TraceLayout::of(entries());
    let elapsed_ns = |in_turn: bool| {
        let replay = TraceReplay::new(entries(), &layout, 0, 512);
        let mut source = if in_turn { replay.reads_in_turn() } else { replay };
        let mut jobs = [DriveJob { source: &mut source, lanes: 8, has_barriers: true }];
        let limits = RunLimits { operations: u64::MAX, time_ns: u64::MAX, turnaround_ns: 0 };
        run(&mut Watch::default(), &mut jobs, limits, &mut |_| ())
    };
    // 200 reads of 10 us each, and the last write; eight at once take an eighth.
    assert_eq!(elapsed_ns(true), 2_010_000);
    assert!(elapsed_ns(false) < 400_000, "{}", elapsed_ns(false));
}

/// Returns how long each operation took, and how many flushes were sent.
fn took_ns(tells_no_cache: bool, source: &mut dyn OperationSource) -> (Vec<u64>, u64) {
    let mut watch = Watch { tells_no_cache, ..Watch::default() };
    let mut jobs = [DriveJob { source, lanes: 1, has_barriers: true }];
    let limits = RunLimits { operations: u64::MAX, time_ns: u64::MAX, turnaround_ns: 100 };
    let mut took = Vec::new();
    run(&mut watch, &mut jobs, limits, &mut |seen| took.push(seen.took_ns()));
    (took, watch.flushes)
}

#[test]
fn a_drive_that_tells_of_no_write_cache_is_sent_no_flush_and_nobody_waits_for_one() {
    assert_eq!(took_ns(false, &mut Synced(100)), (vec![20_100; 100], 100));
    assert_eq!(took_ns(true, &mut Synced(100)), (vec![10_000; 100], 0));
    let (took, flushes) = took_ns(true, &mut Thirds(0));
    assert_eq!((&took[..3], took.len(), flushes), (&[10_000, 10_000, 0][..], 300, 0));
}

/// An open loop: operations that arrive faster than the drive serves them wait longer and longer,
/// and slower ones take what one alone takes.
#[test]
fn operations_arrive_at_their_rate_whatever_the_drive_does() {
    let mean_ns = |per_second: u64| {
        let mut model = drive::profile::called("m4-256").expect("built in").model().unwrap();
        let place = Region { start_bytes: 0, length_bytes: 1 << 30 };
        let reads = OperationStream::reads(place, 4096).at_random(1);
        let mut source = Paced::at_rate(reads, per_second);
        let mut jobs = [DriveJob { source: &mut source, lanes: 4, has_barriers: false }];
        let limits = RunLimits { operations: 2000, time_ns: u64::MAX, turnaround_ns: 0 };
        let (mut sum_ns, mut first) = (0, None);
        let elapsed_ns = run(&mut *model, &mut jobs, limits, &mut |one| {
            sum_ns += one.took_ns();
            first.get_or_insert(one.took_ns());
        });
        (sum_ns / 2000, first.expect("one ended"), elapsed_ns)
    };
    let (slow_ns, alone_ns, elapsed_ns) = mean_ns(1000);
    assert_eq!(slow_ns, alone_ns);
    assert!(elapsed_ns.abs_diff(1_999_000_000 + alone_ns) < 1000, "{elapsed_ns}");
    // 30 000 a second is its most: at 40 000 the last waits for a quarter of the run.
    let (fast_ns, _, elapsed_ns) = mean_ns(40_000);
    assert!(elapsed_ns > 2000 * 33_000 && fast_ns > 7_000_000, "{fast_ns} {elapsed_ns}");
}

/// A job that thinks after every second operation has nothing in flight meanwhile.
#[test]
fn a_job_rests_for_its_think_time_once_its_operations_have_ended() {
    let ends_ns = |lanes: u16| {
        let mut watch = Watch::default();
        let reads = OperationStream::reads(Region { start_bytes: 0, length_bytes: 1 << 20 }, 4096);
        let rest = Some((1_000_000, NonZeroU32::new(2).expect("it is 2")));
        let mut source = Paced::new(reads, JobPace { most: None, rest });
        let mut jobs = [DriveJob { source: &mut source, lanes, has_barriers: false }];
        let limits = RunLimits { operations: 6, time_ns: u64::MAX, turnaround_ns: 0 };
        let mut ends_ns = Vec::new();
        run(&mut watch, &mut jobs, limits, &mut |one| ends_ns.push(one.to_ns));
        ends_ns
    };
    assert_eq!(ends_ns(1), [10_000, 20_000, 1_030_000, 1_040_000, 2_050_000, 2_060_000]);
    assert_eq!(ends_ns(2), [10_000, 10_000, 1_020_000, 1_020_000, 2_030_000, 2_030_000]);
}
