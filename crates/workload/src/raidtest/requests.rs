//! The requests of a file: read, made, written and fitted.

use std::num::{NonZeroU64, NonZeroUsize};

use units::prefix::Size;

use super::plan::GeneratePlan;
use super::request::{RECORD_BYTES, RaidRequest, RequestKind, check_count};
use crate::InputError;

/// The requests of a file, in order: at least one, at most [`super::COUNT_MAX`], each possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requests {
    requests: Vec<RaidRequest>,
}

/// Requests made to fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scaled {
    /// The requests: as many as before, in the same order.
    pub requests: Requests,
    /// Number of those that had to be moved.
    pub moved: usize,
}

impl Requests {
    /// `requests` as a file's.
    ///
    /// # Errors
    /// When there are none or too many, or one is empty, too long or ends behind `i64::MAX`.
    pub fn new(requests: Vec<RaidRequest>) -> Result<Requests, InputError> {
        check_count(requests.len())?;
        for (number, request) in requests.iter().enumerate() {
            request.checked(number)?;
        }
        Ok(Requests { requests })
    }

    /// The requests in a file's `bytes`.
    ///
    /// # Errors
    /// When the length is not a multiple of [`RECORD_BYTES`], there are none or too many records,
    /// or a record is of no known type, empty, too long or ends behind `i64::MAX`. The error counts
    /// records from 0.
    pub fn decode(bytes: &[u8]) -> Result<Requests, InputError> {
        let (records, rest) = bytes.as_chunks::<RECORD_BYTES>();
        if !rest.is_empty() {
            let bytes = bytes.len();
            let problem = format!(
                "cannot read the request file: {bytes} bytes are not a multiple of {RECORD_BYTES}"
            );
            return Err(InputError::new(problem, "copy the file again, in binary mode"));
        }
        check_count(records.len())?;
        let decoded =
            records.iter().enumerate().map(|(number, record)| RaidRequest::decode(record, number));
        Ok(Requests { requests: decoded.collect::<Result<_, _>>()? })
    }

    /// The file's bytes; what has no meaning is zero.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        self.requests.iter().flat_map(RaidRequest::encode).collect()
    }

    /// Requests as raidtest's `genfile` makes them: lengths of one sector to 128 KiB, uniform, at
    /// sectors drawn from the whole medium. The same plan gives the same requests for ever; they
    /// are not those that FreeBSD's random numbers would give.
    ///
    /// # Errors
    /// When the sector is no power of two of 1 byte to 128 KiB, the count is 0 or above
    /// [`super::COUNT_MAX`], or the medium is shorter than 128 KiB or longer than `i64::MAX`.
    pub fn generate(plan: &GeneratePlan) -> Result<Requests, InputError> {
        Requests::new(plan.requests()?)
    }

    /// The requests in order.
    #[must_use]
    pub fn as_slice(&self) -> &[RaidRequest] {
        &self.requests
    }

    /// Returns where the last byte of all ends: the shortest medium that holds every request.
    #[must_use]
    pub fn end_bytes(&self) -> u64 {
        self.requests.iter().map(RaidRequest::end_bytes).max().unwrap_or(0)
    }

    /// Returns how many bytes are moved in all.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.requests.iter().map(|request| u64::from(request.length_bytes)).sum()
    }

    /// Returns how many requests write.
    #[must_use]
    pub fn writes(&self) -> usize {
        self.requests.iter().filter(|request| request.kind == RequestKind::Write).count()
    }

    /// The same requests, all reading or all writing (`raidtest test -r`, `-w`).
    #[must_use]
    pub fn all(&self, kind: RequestKind) -> Requests {
        let requests = self.requests.iter().map(|request| RaidRequest { kind, ..*request });
        Requests { requests: requests.collect() }
    }

    /// Returns what each of `processes` is to run, one after the other (`raidtest test -n`): shares
    /// of equal length in the order of the file. As in raidtest, requests that remain are left out.
    pub fn shares(&self, processes: NonZeroUsize) -> impl Iterator<Item = &[RaidRequest]> {
        let each = self.requests.len() / processes;
        (0..processes.get()).map(move |number| &self.requests[number * each..][..each])
    }

    /// The requests on a medium of `media_bytes`: each that does not fit is moved by whole
    /// `unit_bytes`, so that its place in its unit stays.
    ///
    /// # Errors
    /// When the medium holds no place for a request at its place in a unit.
    pub fn scaled(&self, media_bytes: u64, unit_bytes: NonZeroU64) -> Result<Scaled, InputError> {
        let mut moved = 0;
        let mut requests = Vec::with_capacity(self.requests.len());
        for (number, request) in self.requests.iter().enumerate() {
            if request.end_bytes() <= media_bytes {
                requests.push(*request);
                continue;
            }
            let offset_bytes = within(request, media_bytes, unit_bytes).ok_or_else(|| {
                let problem = format!(
                    "cannot fit request {number} into {media_bytes} bytes at its place in the unit"
                );
                InputError::new(problem, "give it more room, or a smaller unit")
            })?;
            requests.push(RaidRequest { offset_bytes, ..*request });
            moved += 1;
        }
        Ok(Scaled { requests: Requests { requests }, moved })
    }

    /// Returns what they are, for people: `1000 requests, 512 write, 62.5 MiB in all`.
    #[must_use]
    pub fn title(&self) -> String {
        let (count, writes) = (self.requests.len(), self.writes());
        format!("{count} requests, {writes} write, {} in all", Size(self.total_bytes()))
    }
}

/// Returns where `request` lies on a medium of `media_bytes` that it goes beyond: at the same place
/// in a unit of `unit_bytes`. `None` where there is no such place.
fn within(request: &RaidRequest, media_bytes: u64, unit_bytes: NonZeroU64) -> Option<u64> {
    let residue_bytes = request.offset_bytes % unit_bytes;
    let room_bytes =
        media_bytes.checked_sub(request.length_bytes.into())?.checked_sub(residue_bytes)?;
    // The length is at least 1, so the room is below `u64::MAX`.
    let places = (room_bytes / unit_bytes).saturating_add(1);
    let place = request.offset_bytes / unit_bytes % places;
    Some(place * unit_bytes.get() + residue_bytes)
}
