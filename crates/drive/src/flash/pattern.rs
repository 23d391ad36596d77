//! The pattern of what the host writes lately: how much of it in order, and where the rest goes.
//!
//! Garbage collection costs as much as the pattern makes it cost, and a drive in its steady state
//! has seen that pattern for long. So what matters is gathered from the last writes, in as much
//! memory for a large drive as for a small one: runs in order, and the bytes that went to each of
//! [`ZONES`] parts of the drive otherwise.

/// Parts of the drive that are told apart.
pub(super) const ZONES: usize = 128;
/// Writes in order that are followed at once, and as many places where one may begin.
const RUNS: usize = 32;
/// A run of so many commands is taken to go on until it ends.
const RUN_COMMANDS: u32 = 16;
/// Writes after which what came before counts half.
const WINDOW_COMMANDS: u64 = 1 << 15;

/// Writes that follow each other, so far.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    /// Behind its last byte; 0 for none.
    end: u64,
    bytes: u64,
    commands: u32,
}

/// The last writes.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    zone_bytes: u64,
    /// Runs of a single command so far, and longer ones; each with whose turn it is to go.
    begun: ([Run; RUNS], usize),
    runs: ([Run; RUNS], usize),
    /// Bytes that went to each zone, but those in order.
    pub(super) zones: Vec<u64>,
    /// Bytes in order.
    pub(super) ordered_bytes: u64,
    /// Number of runs that the bytes of the zones are of.
    pub(super) pieces: u64,
    commands: u64,
    /// Runs at least as long are in order however they end.
    erase_bytes: u64,
}

impl Pattern {
    /// No writes yet, on a drive of so many bytes that erases so many at once.
    pub(super) fn new(capacity_bytes: u64, erase_bytes: u64) -> Pattern {
        Pattern {
            zone_bytes: capacity_bytes.div_ceil(ZONES as u64).max(1),
            begun: ([Run::default(); RUNS], 0),
            runs: ([Run::default(); RUNS], 0),
            zones: vec![0; ZONES],
            ordered_bytes: 0,
            pieces: 0,
            commands: 0,
            erase_bytes,
        }
    }

    /// Length of a zone, in bytes.
    pub(super) fn zone_bytes(&self) -> u64 {
        self.zone_bytes
    }

    /// Takes a write of `start..end`; true if the pattern should be looked at again.
    pub(super) fn note(&mut self, start: u64, end: u64) -> bool {
        let bytes = end - start;
        self.commands += 1;
        if let Some(place) = self.runs.0.iter().position(|run| run.end == start && run.bytes > 0) {
            let run = &mut self.runs.0[place];
            (run.end, run.bytes) = (end, run.bytes.saturating_add(bytes));
            run.commands = run.commands.saturating_add(1);
            let run = *run;
            match run.commands {
                ..RUN_COMMANDS => self.add(start, bytes),
                RUN_COMMANDS => {
                    self.remove(start, run.bytes - bytes);
                    self.pieces = self.pieces.saturating_sub(1);
                    self.ordered_bytes = self.ordered_bytes.saturating_add(run.bytes);
                }
                _ => self.ordered_bytes = self.ordered_bytes.saturating_add(bytes),
            }
        } else {
            self.begin(Run { end, bytes, commands: 1 }, start);
        }
        if self.commands >= WINDOW_COMMANDS {
            self.fade();
        }
        self.commands.is_multiple_of(if self.commands < 2048 { 64 } else { 2048 })
    }

    /// Takes a write that continues no known run, or a run of one command.
    fn begin(&mut self, run: Run, start: u64) {
        self.add(start, run.bytes);
        let before = self.begun.0.iter().position(|run| run.end == start && run.bytes > 0);
        let Some(place) = before else {
            self.pieces += 1;
            let (begun, turn) = &mut self.begun;
            begun[*turn] = run;
            *turn = (*turn + 1) % RUNS;
            return;
        };
        let before = std::mem::take(&mut self.begun.0[place]);
        let run = Run { bytes: before.bytes.saturating_add(run.bytes), commands: 2, ..run };
        let (runs, turn) = &mut self.runs;
        let gone = std::mem::replace(&mut runs[*turn], run);
        *turn = (*turn + 1) % RUNS;
        if gone.commands >= RUN_COMMANDS && gone.bytes < self.erase_bytes {
            // It was taken to go on, and ended.
            let bytes = gone.bytes.min(self.ordered_bytes);
            self.ordered_bytes -= bytes;
            self.pieces += 1;
            self.add(gone.end.saturating_sub(1), bytes);
        }
    }

    fn zone(&self, at: u64) -> usize {
        usize::try_from(at / self.zone_bytes).unwrap_or(usize::MAX).min(ZONES - 1)
    }

    fn add(&mut self, at: u64, bytes: u64) {
        let zone = self.zone(at);
        self.zones[zone] = self.zones[zone].saturating_add(bytes);
    }

    fn remove(&mut self, at: u64, bytes: u64) {
        let zone = self.zone(at);
        self.zones[zone] = self.zones[zone].saturating_sub(bytes);
    }

    fn fade(&mut self) {
        self.zones.iter_mut().for_each(|bytes| *bytes /= 2);
        self.ordered_bytes /= 2;
        self.pieces /= 2;
        self.commands /= 2;
    }
}
