//! Sample drives, and hosts that send them commands.

use drive::array::{ArrayPlan, Level, ParityWrite};
use drive::hard_disk::{Firmware, HardDiskPlan, Rmw, Scheduler};
use drive::{CommandKind, DriveCommand, DriveCompletion, Model};
use units::stripe::Rotation;

pub(crate) const TURN_NS: u64 = 60_000_000_000 / 7200;

/// A 7200 rpm 512e disk of 6 TB.
pub(crate) const DISK: HardDiskPlan = HardDiskPlan {
    capacity_bytes: 6_001_175_126_016,
    logical_bytes: 512,
    physical_bytes: 4096,
    origin_bytes: 0,
    rpm: 7200,
    outer_track_bytes: 1_761_280,
    inner_track_bytes: 880_640,
    zones: 16,
    heads: 12,
    skew_ns: 1_500_000,
    settle_ns: 1_200_000,
    average_seek_ns: 0,
    full_stroke_ns: 16_000_000,
    write_settle_ns: 0,
    rmw: Rmw::PerSector,
    command_ns: 30_000,
    link_bytes_per_second: 550_000_000,
    cache_bytes: 128 << 20,
    cache_pieces: u32::MAX,
    window: 32,
    run_bytes: 32 << 20,
    idle_ns: 50_000_000,
    holds_tail: true,
    read_ahead_bytes: 1 << 20,
    depth: 32,
    scheduler: Scheduler::Nearest,
    firmware: Firmware::IDEAL,
};

/// An array as md makes it, of members that turn.
pub(crate) const RAID5: ArrayPlan = ArrayPlan {
    level: Level::Raid5(Rotation::LeftSymmetric),
    members: 3,
    chunk_bytes: 65_536,
    turns: true,
    row_bytes: 4096,
    parity_write: ParityWrite::Fewer,
    stripes: 256,
    hold_ns: 0,
    lost: 0,
    rebuild_bytes_per_second: 0,
};

/// Times that a host saw.
pub(crate) struct Seen {
    /// When the last command ended, or was known to end.
    pub(crate) end_ns: u64,
    /// Time of each command, in the order in which they ended.
    pub(crate) took_ns: Vec<u64>,
    /// When each ended.
    pub(crate) ends_ns: Vec<u64>,
}

impl Seen {
    /// Commands in a second of simulated time.
    pub(crate) fn per_second(&self) -> u64 {
        self.took_ns.len() as u64 * 1_000_000_000 / self.end_ns
    }
}

pub(crate) const WRITE: CommandKind = CommandKind::Write { fua: false };

/// A command without a name.
pub(crate) fn command(action: CommandKind, offset_bytes: u64, length_bytes: u64) -> DriveCommand {
    DriveCommand { id: 0, action, offset_bytes, length_bytes }
}

/// Checks that `found` is within so many hundredths of `wanted`.
#[track_caller]
pub(crate) fn is_near(found: u64, wanted: u64, percent: u64) {
    assert!(found.abs_diff(wanted) * 100 <= wanted * percent, "{found}, not {wanted}");
}

/// Advances until nothing happens any more; when that is, from `now_ns` on.
pub(crate) fn run_out(
    model: &mut impl Model,
    mut now_ns: u64,
    done: &mut Vec<DriveCompletion>,
) -> u64 {
    while let Some(next_ns) = model.next_ns() {
        now_ns = next_ns;
        model.advance(now_ns, done);
    }
    now_ns
}

/// Sends one command and waits for it; when it ended.
pub(crate) fn once(model: &mut impl Model, command: DriveCommand, mut now_ns: u64) -> u64 {
    let mut done = Vec::new();
    model.submit(command, now_ns, &mut done);
    while done.is_empty() {
        now_ns = model.next_ns().expect("it ends");
        model.advance(now_ns, &mut done);
    }
    now_ns
}

/// Gives `model` `count` commands, of which `next` names each for its slot and number; each slot of
/// `depth` has one in flight.
///
/// # Panics
/// When a command fails, ends before it began or twice, or when time runs backward.
pub(crate) fn drive(
    model: &mut impl Model,
    depth: u64,
    count: u64,
    mut next: impl FnMut(u64, u64) -> DriveCommand,
) -> Seen {
    let index = |slot: u64| usize::try_from(slot).expect("slots are few");
    let mut begun_ns = vec![None; index(depth)];
    let (mut number, mut now_ns) = (0, 0);
    let mut seen = Seen { end_ns: 0, took_ns: Vec::new(), ends_ns: Vec::new() };
    let mut done: Vec<DriveCompletion> = Vec::new();
    let mut free: Vec<u64> = (0..depth).rev().collect();
    while (seen.took_ns.len() as u64) < count {
        while number < count
            && let Some(slot) = free.pop()
        {
            begun_ns[index(slot)] = Some(now_ns);
            model.submit(DriveCommand { id: slot, ..next(slot, number) }, now_ns, &mut done);
            number += 1;
        }
        if done.is_empty() {
            now_ns = model.next_ns().expect("a command is in flight");
            model.advance(now_ns, &mut done);
        }
        for done in done.drain(..) {
            assert_eq!(done.outcome, Ok(()));
            assert!(done.at_ns >= seen.end_ns, "backward: {done:?} after {}", seen.end_ns);
            let begun_ns = begun_ns[index(done.id)].take();
            seen.took_ns.push(done.at_ns - begun_ns.expect("it ends once"));
            seen.end_ns = done.at_ns;
            seen.ends_ns.push(done.at_ns);
            free.push(done.id);
        }
    }
    seen
}
