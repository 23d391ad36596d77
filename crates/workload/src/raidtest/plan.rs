//! Requests made up from a seed, as raidtest's `genfile` makes them.

use units::random::Random;

use super::request::{COUNT_MAX, LENGTH_BYTES_MAX, RaidRequest, RequestKind, check_count};
use crate::InputError;

/// Direction of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// All read (`genfile -r`).
    Read,
    /// All write (`genfile -w`).
    Write,
    /// Each by a fair coin.
    Mixed,
}

/// Values from which requests are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneratePlan {
    /// Length of the medium, in bytes (`genfile -s`).
    pub media_bytes: u64,
    /// Of what offsets and lengths are multiples, in bytes (`genfile -S`): a power of two.
    pub sector_bytes: u32,
    /// Number of requests (`genfile -n`).
    pub count: usize,
    /// Direction of the requests.
    pub mix: Mix,
    /// Random seed.
    pub seed: u64,
}

impl GeneratePlan {
    pub(super) fn requests(&self) -> Result<Vec<RaidRequest>, InputError> {
        let GeneratePlan { media_bytes, sector_bytes, count, mix, seed } = *self;
        check_count(count)?;
        if !sector_bytes.is_power_of_two() || sector_bytes > LENGTH_BYTES_MAX {
            let problem = format!("cannot make requests of sectors of {sector_bytes} bytes");
            return Err(InputError::new(problem, "choose a power of two from 1 to 131072"));
        }
        let is_long = media_bytes >= u64::from(LENGTH_BYTES_MAX);
        if !is_long || i64::try_from(media_bytes).is_err() {
            let problem = format!("cannot make requests for a medium of {media_bytes} bytes");
            return Err(InputError::new(problem, "give at least 131072 bytes"));
        }
        let mut random = Random::new(seed);
        let mut requests = Vec::with_capacity(count.min(COUNT_MAX));
        for _ in 0..count {
            requests.push(request(&mut random, media_bytes, sector_bytes, mix));
        }
        Ok(requests)
    }
}

/// One request of at least a sector, within a medium of at least [`LENGTH_BYTES_MAX`].
fn request(random: &mut Random, media_bytes: u64, sector_bytes: u32, mix: Mix) -> RaidRequest {
    let sectors_max = u64::from(LENGTH_BYTES_MAX / sector_bytes);
    let sectors = random.below(sectors_max) + 1;
    let starts = media_bytes / u64::from(sector_bytes) - sectors + 1;
    let offset_bytes = random.below(starts) * u64::from(sector_bytes);
    let kind = match mix {
        Mix::Read => RequestKind::Read,
        Mix::Write => RequestKind::Write,
        Mix::Mixed => *random.choose(&[RequestKind::Read, RequestKind::Write]),
    };
    let sectors = u32::try_from(sectors).expect("it is at most the longest request's");
    RaidRequest { offset_bytes, length_bytes: sectors * sector_bytes, kind }
}
