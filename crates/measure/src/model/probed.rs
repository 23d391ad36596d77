//! A drive of known [`Geometry`]: a [`Queue`] in simulated time, for the probe.
//!
//! Each operation is cut at chunks. A write of a whole row of an array with parity writes all its
//! members; a write of a part of a row reads what it replaces and its parity first, and writes both
//! when all of that was read (`drivers/md/raid5.c`, `handle_stripe_dirtying`, read-modify-write).

use device::{Action, Completion, Operation, Queue, QueueError};
use units::random::Random;

use super::Pace;
use super::flight::Flight;
use super::geometry::{Above, Geometry, Medium};
use crate::number::{few, real, whole};

/// The bytes of a track of a platter: where a place is on the turn.
const TRACK_BYTES: u64 = 1_760_000;
/// What a transfer takes, as a share of the plain time for each KiB.
const KIB_SHARE: f64 = 0.004;
/// How long a controller takes before it looks for a place, in nanoseconds.
const TURNAROUND_NS: u64 = 150_000;
/// One write of a platter in so many takes another turn.
const MISSES_ONE_IN: u64 = 40;
/// How far the clock goes on when it is asked, in nanoseconds.
const ASKED_NS: u64 = 2_000;
const SECOND_NS: u64 = 1_000_000_000;

/// A drive of known geometry.
#[derive(Debug)]
pub struct Probed {
    geometry: Geometry,
    flight: Flight,
    pace: Pace,
    random: Random,
    /// When each member is free again.
    free_ns: Vec<u64>,
    /// When the bucket above it will be full again.
    full_ns: u64,
    buffer: Vec<u8>,
}

/// What one member does of an operation.
#[derive(Clone, Copy, Debug)]
struct Piece {
    member: usize,
    at: u64,
    length: u64,
    parts: u64,
}

impl Probed {
    /// A drive that did nothing yet; addresses are offsets.
    #[must_use]
    pub fn new(geometry: Geometry, depth: u16, seed: u64) -> Probed {
        Probed {
            geometry,
            flight: Flight::new(depth),
            pace: Pace::new(geometry.temper, seed),
            random: Random::new(seed ^ 0x5eed),
            free_ns: vec![0; few(geometry.members)],
            full_ns: 0,
            buffer: vec![0; 1 << 17],
        }
    }

    /// When an operation ends that starts now.
    fn end_ns(&mut self, operation: &Operation) -> u64 {
        let length = u64::from(operation.length_bytes);
        let (start_ns, behind_ns) = self.above_ns(length);
        let is_write = matches!(operation.action, Action::Write { .. });
        let end = operation.offset_bytes + length;
        let (mut at, mut last_ns) = (operation.offset_bytes, start_ns);
        while at < end {
            let row = match self.geometry.members {
                1 => end,
                members => self.geometry.chunk_bytes * (members - self.parities()),
            };
            let next = end.min((at / row + 1) * row);
            let pieces = self.pieces(at, next, is_write);
            last_ns = last_ns.max(match is_write && self.parities() > 0 {
                true => self.row_ns(&pieces, next - at == row, start_ns),
                false => self.all_ns(&pieces, start_ns),
            });
            at = next;
        }
        last_ns + behind_ns
    }

    /// When an operation of so many bytes gets to the drive, and how long it takes behind it.
    fn above_ns(&mut self, length: u64) -> (u64, u64) {
        let now_ns = self.flight.now_ns();
        match self.geometry.above {
            Above::Nothing => (now_ns, 0),
            Above::Crypt { each_ns, kib_ns } => {
                let takes_ns = each_ns + kib_ns * length / 1024;
                (now_ns, takes_ns * (80 + self.random.below(40)) / 100)
            }
            Above::Throttle { per_second, burst, unit_bytes, tick_ns } => {
                let token_ns = SECOND_NS / per_second;
                let full_ns = self.full_ns.max(now_ns);
                let ready_ns = full_ns.saturating_sub((burst - 1) * token_ns);
                let late_ns = match ready_ns > now_ns {
                    true => ready_ns.next_multiple_of(tick_ns) - ready_ns,
                    false => 0,
                };
                // The tokens of the time until the tick are lost.
                self.full_ns = full_ns + late_ns + token_ns * length.div_ceil(unit_bytes);
                (now_ns.max(ready_ns) + late_ns, 0)
            }
            Above::Polled { tick_ns } => (now_ns.next_multiple_of(tick_ns), 0),
        }
    }

    fn parities(&self) -> u64 {
        u64::from(self.geometry.parity.is_some())
    }

    /// Returns what the members do of a part of one row.
    fn pieces(&self, start: u64, end: u64, is_write: bool) -> Vec<Piece> {
        let Geometry { chunk_bytes, members, .. } = self.geometry;
        let (mut at, mut pieces) = (start, Vec::new());
        while at < end {
            let next =
                if members > 1 { end.min((at / chunk_bytes + 1) * chunk_bytes) } else { end };
            let parts = if is_write { self.geometry.parts(at, next - at) } else { 0 };
            let member = self.member(at / chunk_bytes).0;
            pieces.push(Piece { member, at, length: next - at, parts });
            at = next;
        }
        pieces
    }

    /// The member that holds a chunk of the data, and that which holds its row's parity.
    fn member(&self, chunk: u64) -> (usize, usize) {
        let members = self.geometry.members;
        let Some(rotation) = self.geometry.parity else {
            return (few(chunk % members), 0);
        };
        let data = members - 1;
        let (parity, member) = rotation.members(chunk / data, chunk % data, members, 1);
        (few(member), few(parity))
    }

    /// When all pieces are done.
    fn all_ns(&mut self, pieces: &[Piece], start_ns: u64) -> u64 {
        pieces.iter().fold(start_ns, |last_ns, piece| last_ns.max(self.piece_ns(*piece, start_ns)))
    }

    /// When a part of a row, or a whole one, is written with its parity.
    fn row_ns(&mut self, pieces: &[Piece], is_whole: bool, start_ns: u64) -> u64 {
        let chunk_bytes = self.geometry.chunk_bytes;
        let (first, last) = (pieces[0], pieces[pieces.len() - 1]);
        // What the pieces cover of a chunk, taken together, is what changes of the parity.
        let length = chunk_bytes.min(last.at + last.length - first.at);
        let member = self.member(first.at / chunk_bytes).1;
        let parity = Piece { member, length, parts: first.parts, ..first };
        let all = [pieces, &[parity]].concat();
        let mut ready_ns = start_ns;
        if !is_whole {
            let reads: Vec<Piece> = all.iter().map(|piece| Piece { parts: 0, ..*piece }).collect();
            ready_ns = self.all_ns(&reads, start_ns);
        }
        self.all_ns(&all, ready_ns)
    }

    /// When a member has done a piece.
    fn piece_ns(&mut self, piece: Piece, from_ns: u64) -> u64 {
        let Piece { member, at, length, parts } = piece;
        let plain_ns = self.pace.next_ns(self.flight.now_ns());
        let transfer = 1.0 + KIB_SHARE * real(length) / 1024.0;
        let took = |times: f64| whole((plain_ns * times).round()).max(1);
        // Flash does many things at once; the members of an array are said to do one.
        let start_ns = match self.geometry.members {
            1 => from_ns,
            _ => from_ns.max(self.free_ns[member]),
        };
        let end_ns = match self.geometry.medium {
            Medium::Cache { times } => start_ns + took(times * transfer),
            Medium::Flash { part } => start_ns + took(transfer + part * real(parts)),
            Medium::Platter { turn_ns, policy } => {
                let misses = u64::from(self.random.below(MISSES_ONE_IN) == 0);
                let turns = policy.turns(parts) + misses;
                let ready_ns = start_ns + TURNAROUND_NS;
                let place_ns = of_track(at % TRACK_BYTES, turn_ns);
                let wait_ns = (place_ns + turn_ns - ready_ns % turn_ns) % turn_ns;
                let jitter_ns = self.random.below(20_000);
                ready_ns + wait_ns + turns * turn_ns + of_track(length, turn_ns) + jitter_ns
            }
        };
        self.free_ns[member] = end_ns;
        end_ns
    }
}

/// For how long so many bytes of a track pass by.
fn of_track(bytes: u64, turn_ns: u64) -> u64 {
    bytes * turn_ns / TRACK_BYTES
}

impl Queue for Probed {
    fn depth(&self) -> u16 {
        self.flight.depth()
    }

    fn buffer(&mut self, _: u16) -> &mut [u8] {
        &mut self.buffer
    }

    fn push(&mut self, operation: Operation) {
        self.flight.push(operation);
    }

    fn submit(&mut self) -> Result<(), QueueError> {
        let mut place = 0;
        while let Some(operation) = self.flight.pushed(place) {
            let completion = Completion {
                slot: operation.slot,
                submitted_ns: self.flight.now_ns(),
                completed_ns: self.end_ns(&operation),
                result: Ok(operation.length_bytes),
            };
            self.flight.start(completion);
            place += 1;
        }
        self.flight.submitted();
        Ok(())
    }

    fn reap(&mut self, completions: &mut [Completion], least: usize) -> Result<usize, QueueError> {
        Ok(self.flight.reap(completions, least))
    }

    fn now_ns(&mut self) -> u64 {
        self.flight.pass(ASKED_NS);
        self.flight.now_ns()
    }
}

#[cfg(test)]
mod tests {
    use units::stripe::Rotation;

    use super::super::Temper;
    use super::*;

    const CHUNK_BYTES: u64 = 64 << 10;

    fn drive(parity: Option<Rotation>, above: Above) -> Probed {
        let geometry = Geometry {
            alignment_bytes: 512,
            origin_bytes: 0,
            size_bytes: 512,
            medium: Medium::Flash { part: 1.0 },
            chunk_bytes: CHUNK_BYTES,
            members: if parity.is_some() { 5 } else { 1 },
            parity,
            above,
            temper: Temper::Steady,
        };
        Probed::new(geometry, 1, 1)
    }

    fn write(offset_bytes: u64, length_bytes: u32) -> Operation {
        let action = Action::Write { durability: device::Durability::Data, atomic: false };
        Operation { action, file: 0, slot: 0, offset_bytes, length_bytes }
    }

    /// The median time of so many writes, each from a rest on.
    fn median_ns(drive: &mut Probed, operation: Operation) -> u64 {
        let mut times: Vec<u64> = (0..101)
            .map(|_| {
                drive.flight.pass(SECOND_NS);
                drive.end_ns(&operation) - drive.flight.now_ns()
            })
            .collect();
        times.sort_unstable();
        times[50]
    }

    #[test]
    fn a_part_of_a_row_with_parity_is_read_first_and_a_whole_row_is_not() {
        let mut drive = drive(Some(Rotation::LeftSymmetric), Above::Nothing);
        let part_ns = median_ns(&mut drive, write(0, 65536));
        let whole_ns = median_ns(&mut drive, write(0, 262_144));
        assert!(part_ns > whole_ns * 3 / 2, "{part_ns} and {whole_ns}");
        // Each row has another member for its parity, and its own data are on the others.
        let parities: Vec<usize> = (0..5).map(|row| drive.member(row * 4).1).collect();
        assert_eq!(parities, [4, 3, 2, 1, 0]);
        assert!((0..20).all(|chunk| drive.member(chunk).0 != drive.member(chunk).1));
    }

    #[test]
    fn a_bucket_lets_a_burst_through_and_then_one_in_each_interval() {
        let above = Above::Throttle { per_second: 100, burst: 3, unit_bytes: 65536, tick_ns: 1 };
        let mut drive = drive(None, above);
        let starts: Vec<u64> = (0..5).map(|_| drive.above_ns(65536).0).collect();
        assert_eq!(starts, [0, 0, 0, 10_000_000, 20_000_000]);
        assert_eq!(drive.above_ns(65537).0, 30_000_000);
        assert_eq!(drive.above_ns(512).0, 50_000_000, "it took two");
        let above =
            Above::Throttle { per_second: 300, burst: 1, unit_bytes: 512, tick_ns: 4 << 20 };
        let mut drive = self::drive(None, above);
        let starts: Vec<u64> = (0..3).map(|_| drive.above_ns(512).0).collect();
        assert_eq!(starts, [0, 4 << 20, 8 << 20]);
    }
}
