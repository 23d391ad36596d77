//! One read or write of a request file, and its record.

use crate::InputError;

/// The length of a record, in bytes.
pub const RECORD_BYTES: usize = 16;
/// The most requests in a file: 16 MiB of records.
pub const COUNT_MAX: usize = 1 << 20;
/// The longest request, in bytes: raidtest's buffer (`MAX_IO_LENGTH`).
pub const LENGTH_BYTES_MAX: u32 = 128 << 10;

/// Hint for a file with a request that cannot be.
const FOREIGN: &str = "use a file made by raidtest genfile";

/// Direction of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

/// One read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaidRequest {
    /// First byte; with the length at most `i64::MAX`.
    pub offset_bytes: u64,
    /// Bytes that it moves; 1 to [`LENGTH_BYTES_MAX`].
    pub length_bytes: u32,
    /// Direction.
    pub kind: RequestKind,
}

impl RaidRequest {
    /// Returns where it ends, in bytes.
    #[must_use]
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes.saturating_add(self.length_bytes.into())
    }

    /// The request that a record holds.
    pub(super) fn decode(
        record: &[u8; RECORD_BYTES],
        number: usize,
    ) -> Result<RaidRequest, InputError> {
        let [o0, o1, o2, o3, o4, o5, o6, o7, l0, l1, l2, l3, kind, _, _, _] = *record;
        let kind = match kind {
            0 => RequestKind::Read,
            1 => RequestKind::Write,
            kind => {
                let problem = format!(
                    "cannot read record {number}: expected type 0 (read) or 1 (write), got {kind}"
                );
                return Err(InputError::new(problem, FOREIGN));
            }
        };
        let offset_bytes = u64::from_le_bytes([o0, o1, o2, o3, o4, o5, o6, o7]);
        let length_bytes = u32::from_le_bytes([l0, l1, l2, l3]);
        RaidRequest { offset_bytes, length_bytes, kind }.checked(number)
    }

    /// Itself, where it can be asked of a disk.
    pub(super) fn checked(self, number: usize) -> Result<RaidRequest, InputError> {
        let RaidRequest { offset_bytes, length_bytes, .. } = self;
        if length_bytes == 0 || length_bytes > LENGTH_BYTES_MAX {
            let problem = format!(
                "cannot use request {number}: expected 1 to {LENGTH_BYTES_MAX} bytes, got \
                 {length_bytes}"
            );
            return Err(InputError::new(problem, FOREIGN));
        }
        // Offsets are `off_t` to every system call.
        match offset_bytes.checked_add(length_bytes.into()) {
            Some(end_bytes) if i64::try_from(end_bytes).is_ok() => Ok(self),
            _ => {
                let problem = format!(
                    "cannot use request {number}: {length_bytes} bytes at {offset_bytes} end \
                     past any disk"
                );
                Err(InputError::new(problem, FOREIGN))
            }
        }
    }

    pub(super) fn encode(&self) -> [u8; RECORD_BYTES] {
        let mut record = [0; RECORD_BYTES];
        record[..8].copy_from_slice(&self.offset_bytes.to_le_bytes());
        record[8..12].copy_from_slice(&self.length_bytes.to_le_bytes());
        record[12] = u8::from(self.kind == RequestKind::Write);
        record
    }
}

/// Rejects no requests, and more than are held at once.
pub(super) fn check_count(count: usize) -> Result<(), InputError> {
    if count == 0 || count > COUNT_MAX {
        let problem = format!("cannot use {count} requests: 1 to {COUNT_MAX} are possible");
        return Err(InputError::new(problem, "split the list, or ask for fewer requests"));
    }
    Ok(())
}
