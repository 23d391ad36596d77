//! blktrace's records: a head of 48 bytes for each event, and what belongs to it behind it.
//!
//! All numbers are in the order of the machine that recorded; the magic number tells which that
//! is. Linux `include/uapi/linux/blktrace_api.h`, `struct blk_io_trace`; how the kernel fills it:
//! `kernel/trace/blktrace.c`, `__blk_add_trace`.

use super::entry::DeviceNumber;
use super::notes::{Notes, Skipped};
use super::refusal::{at_byte, damaged, nothing, of_file};
use super::request::{Data, Entries, Stage, StageRequest};
use crate::InputError;

/// The length of a record's head, in bytes.
const HEAD_BYTES: usize = 48;
/// The magic number, above the version in the lowest byte (`BLK_IO_TRACE_MAGIC`).
const MAGIC: u32 = 0x6561_7400;
/// The version that is read (`BLK_IO_TRACE_VERSION`).
const VERSION: u8 = 7;

/// Bits of the kind of event, below the categories (`BLK_TC_SHIFT`).
const ACT_MASK: u32 = 0xffff;
/// A control group's number stands behind the head (`__BLK_TA_CGROUP`).
const ACT_CGROUP: u32 = 1 << 8;
/// `__BLK_TA_QUEUE`, `__BLK_TA_ISSUE`, `__BLK_TA_COMPLETE`.
const STAGES: [(u32, Stage); 3] = [(1, Stage::Queued), (7, Stage::Issued), (8, Stage::Completed)];

/// The categories (`enum blktrace_cat`) at their places in the action.
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const PASSTHROUGH: u32 = 1 << 25;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;
const DRIVER_DATA: u32 = 1 << 30;
const FUA: u32 = 1 << 31;

/// The bits of a device's number that are its minor (`MINORBITS`).
const MINOR_BITS: u32 = 20;

/// In which order the bytes of a number stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TraceByteOrder {
    Little,
    Big,
}

/// The beginning of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Magic {
    order: TraceByteOrder,
    pub(super) version: u8,
}

impl Magic {
    /// The magic number in `bytes`, in either order.
    pub(super) fn of(bytes: &[u8; 4]) -> Option<Magic> {
        let read = |order: TraceByteOrder| {
            let number = order.u32(bytes, 0);
            let [version, ..] = number.to_le_bytes();
            (number & !0xff == MAGIC).then_some(Magic { order, version })
        };
        read(TraceByteOrder::Little).or_else(|| read(TraceByteOrder::Big))
    }
}

/// Rejects records of a version that is not read.
pub(super) fn check_version(version: u8) -> Result<(), InputError> {
    if version == VERSION {
        return Ok(());
    }
    let problem =
        format!("the file holds blktrace records of version {version}; only version 7 can be read");
    let hint = "convert it to text with the matching version of blkparse";
    Err(InputError::new(problem, hint))
}

impl TraceByteOrder {
    fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let field = [bytes[at], bytes[at + 1]];
        match self {
            TraceByteOrder::Little => u16::from_le_bytes(field),
            TraceByteOrder::Big => u16::from_be_bytes(field),
        }
    }

    fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let field = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        match self {
            TraceByteOrder::Little => u32::from_le_bytes(field),
            TraceByteOrder::Big => u32::from_be_bytes(field),
        }
    }

    fn u64(self, bytes: &[u8; HEAD_BYTES], at: usize) -> u64 {
        let (low, high) = match self {
            TraceByteOrder::Little => (at, at + 4),
            TraceByteOrder::Big => (at + 4, at),
        };
        u64::from(self.u32(bytes, high)) << 32 | u64::from(self.u32(bytes, low))
    }
}

/// The fields of a head that are used.
#[derive(Clone, Copy)]
struct RecordHead {
    sequence: u32,
    at_ns: u64,
    sector: u64,
    length_bytes: u32,
    action: u32,
    device: u32,
    cpu: u32,
    behind_bytes: u16,
}

impl RecordHead {
    /// Offsets in `struct blk_io_trace`: magic 0, sequence 4, time 8, sector 16, bytes 24, action
    /// 28, pid 32, device 36, cpu 40, error 44, pdu_len 46.
    fn of(bytes: &[u8; HEAD_BYTES], order: TraceByteOrder) -> RecordHead {
        RecordHead {
            sequence: order.u32(bytes, 4),
            at_ns: order.u64(bytes, 8),
            sector: order.u64(bytes, 16),
            length_bytes: order.u32(bytes, 24),
            action: order.u32(bytes, 28),
            device: order.u32(bytes, 36),
            cpu: order.u32(bytes, 40),
            behind_bytes: order.u16(bytes, 46),
        }
    }

    /// Returns whether every one of `bits` is set.
    fn has(&self, bits: u32) -> bool {
        self.action & bits == bits
    }

    fn request(&self) -> StageRequest {
        let data = match () {
            () if self.has(DISCARD) => Data::Discard,
            () if self.has(WRITE) => Data::Write,
            () => Data::Read,
        };
        let minor = self.device & ((1 << MINOR_BITS) - 1);
        StageRequest {
            at_ns: self.at_ns,
            device: DeviceNumber { major: self.device >> MINOR_BITS, minor },
            preflush: self.has(FLUSH),
            fua: self.has(FUA),
            data,
            sector: self.sector,
            length_bytes: self.length_bytes,
        }
    }
}

/// Parser of records.
#[derive(Debug)]
pub(super) struct Blktrace {
    stage: Stage,
    /// The order of the first record, and so of all.
    order: Option<TraceByteOrder>,
    /// The beginning of a head that a piece ended in.
    held: [u8; HEAD_BYTES],
    held_bytes: usize,
    /// Bytes still to come of what follows the last head.
    behind_bytes: usize,
    /// Offset of the next head from the file's beginning, in bytes.
    at: u64,
    /// Device, CPU and number of the last event.
    last: Option<(u32, u32, u32)>,
}

impl Blktrace {
    pub(super) fn new(stage: Stage) -> Blktrace {
        Blktrace {
            stage,
            order: None,
            held: [0; HEAD_BYTES],
            held_bytes: 0,
            behind_bytes: 0,
            at: 0,
            last: None,
        }
    }

    /// Returns what the next record of the stage asked for says was done, with all before it taken
    /// off
    /// `input`; `None` when more is needed, and `input` is used up.
    pub(super) fn next(
        &mut self,
        input: &mut &[u8],
        notes: &mut Notes,
    ) -> Result<Option<Entries>, InputError> {
        while let Some(bytes) = self.head(input) {
            let at = self.at;
            let entries = self.entries(&bytes, notes).map_err(|problem| at_byte(problem, at))?;
            if entries[0].is_some() || entries[1].is_some() {
                return Ok(Some(entries));
            }
        }
        Ok(None)
    }

    /// Checks that the file may end here.
    pub(super) fn end(&self) -> Result<(), InputError> {
        if self.order.is_none() && self.held_bytes == 0 {
            return Err(of_file(nothing()));
        }
        let missing = match self.held_bytes {
            0 => self.behind_bytes,
            held_bytes => HEAD_BYTES - held_bytes,
        };
        if missing == 0 {
            return Ok(());
        }
        let problem = format!("the last record is cut: {missing} bytes are missing");
        let hint = "copy the file again; all complete records were read";
        Err(of_file(InputError::new(problem, hint)))
    }

    /// The next head, once it is whole.
    fn head(&mut self, input: &mut &[u8]) -> Option<[u8; HEAD_BYTES]> {
        let behind = self.behind_bytes.min(input.len());
        *input = &input[behind..];
        self.behind_bytes -= behind;
        if self.behind_bytes > 0 {
            return None;
        }
        if self.held_bytes == 0
            && let Some((head, rest)) = input.split_first_chunk()
        {
            *input = rest;
            return Some(*head);
        }
        let wanted = (HEAD_BYTES - self.held_bytes).min(input.len());
        let (piece, rest) = input.split_at(wanted);
        self.held[self.held_bytes..][..wanted].copy_from_slice(piece);
        self.held_bytes += wanted;
        *input = rest;
        if self.held_bytes < HEAD_BYTES {
            return None;
        }
        self.held_bytes = 0;
        Some(self.held)
    }

    fn entries(
        &mut self,
        bytes: &[u8; HEAD_BYTES],
        notes: &mut Notes,
    ) -> Result<Entries, InputError> {
        let head = RecordHead::of(bytes, self.order(bytes)?);
        self.behind_bytes = head.behind_bytes.into();
        self.at += u64::from(head.behind_bytes) + HEAD_BYTES as u64;
        if head.has(NOTIFY) {
            notes.skip(Skipped::Notice);
            return Ok([None, None]);
        }
        notes.lost += self.lost(&head);
        let act = head.action & ACT_MASK & !ACT_CGROUP;
        let stage = STAGES.iter().find(|(stage_act, _)| *stage_act == act);
        let Some((_, stage)) = stage.filter(|_| !head.has(DRIVER_DATA)) else {
            notes.skip(Skipped::OtherEvent);
            return Ok([None, None]);
        };
        if !notes.pass(*stage, self.stage) {
            return Ok([None, None]);
        }
        if head.has(PASSTHROUGH) {
            notes.skip(Skipped::Passthrough);
            return Ok([None, None]);
        }
        if head.length_bytes == 0 && !head.has(FLUSH) {
            notes.skip(Skipped::NoData);
        }
        head.request().entries()
    }

    /// The order of a record's numbers: that of the first, which must be of a version that is read.
    fn order(&mut self, bytes: &[u8; HEAD_BYTES]) -> Result<TraceByteOrder, InputError> {
        let expected = MAGIC | u32::from(VERSION);
        let found = |order: TraceByteOrder| {
            let found = order.u32(bytes, 0);
            damaged(format!("a record begins with {found:#010x}, not with {expected:#010x}"))
        };
        let magic = bytes.first_chunk().and_then(Magic::of);
        let magic = magic.ok_or_else(|| found(self.order.unwrap_or(TraceByteOrder::Little)))?;
        let order = *self.order.get_or_insert(magic.order);
        if magic.order != order {
            return Err(found(order));
        }
        check_version(magic.version)?;
        Ok(order)
    }

    /// Returns how many events are missing before `head`, as far as its neighbor tells.
    fn lost(&mut self, head: &RecordHead) -> u64 {
        let (device, cpu) = (head.device, head.cpu);
        let last = self.last.replace((device, cpu, head.sequence));
        match last {
            Some((last_device, last_cpu, last)) if (last_device, last_cpu) == (device, cpu) => {
                u64::from(head.sequence.saturating_sub(last).saturating_sub(1))
            }
            _ => 0,
        }
    }
}
