//! The drive's count of its media's wear.

use format::identify::Counter;
use format::identify::ocp_health::ExtendedHealth;
use units::{Known, Source};

/// Counts of OCP's log page C0h, each unknown where it cannot be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaWear {
    /// Bytes written to the media since manufacture, by hosts and by the drive itself.
    pub bytes: Known<u64>,
    /// Writes of hosts since power-on that start off the drive's indirection unit; their length
    /// does not count.
    pub unaligned_writes: Known<u64>,
    /// Bytes that the media take in a lifetime.
    pub endurance_bytes: Known<u64>,
    /// Free blocks in percent.
    pub free_percent: Known<u8>,
    /// The fewest erases of a block of user data.
    pub erases_min: Known<u64>,
    /// The most erases of a block of user data.
    pub erases_max: Known<u64>,
}

/// More bytes than any drive's media take in its life.
const MEDIA_BYTES_MAX: u64 = 1 << 62;
/// Estimates below this are billions of bytes, as in NVMe's endurance group log.
const BILLIONS_BELOW: u64 = 1_000_000_000;
/// Estimates from this on are bytes: no data center drive wears out after less than a terabyte.
const BYTES_FROM: u64 = 1_000_000_000_000;

impl MediaWear {
    pub(super) fn of(page: &ExtendedHealth) -> MediaWear {
        let (min, max) = (page.erases_min.count(), page.erases_max.count());
        let crossed = matches!((min, max), (Ok(min), Ok(max)) if min > max);
        let erases = |count: Result<u64, &'static str>| match crossed {
            true => Known::no("the fewest erases of a block are above the most"),
            false => Known::of(count, Source::Identify),
        };
        let free = page.free_percent.ok_or("more than all blocks are free");
        MediaWear {
            bytes: Known::of(media_bytes(page.media_bytes_written), Source::Identify),
            unaligned_writes: Known::of(page.unaligned_writes.count(), Source::Identify),
            endurance_bytes: Known::of(endurance_bytes(page.endurance), Source::Identify),
            free_percent: Known::of(free, Source::Identify),
            erases_min: erases(min),
            erases_max: erases(max),
        }
    }

    /// Bytes that the media still take: the estimate less those written, 0 where they exceed it.
    #[must_use]
    pub fn endurance_left_bytes(&self) -> Known<u64> {
        match (&self.endurance_bytes, &self.bytes) {
            (Known::No(reason), _) => Known::no(reason.clone()),
            (_, Known::No(reason)) => Known::no(format!("media bytes: {reason}")),
            (Known::Yes(all), Known::Yes(used)) => {
                Known::yes(all.value.saturating_sub(used.value), Source::Derived)
            }
        }
    }
}

fn media_bytes(counter: Counter) -> Result<u64, String> {
    match counter.count()? {
        0 => Err("the counter is 0: the drive does not keep it".to_owned()),
        bytes if bytes > MEDIA_BYTES_MAX => {
            Err(format!("{bytes} bytes are more than any drive takes in its life"))
        }
        bytes => Ok(bytes),
    }
}

fn endurance_bytes(counter: Counter) -> Result<u64, String> {
    match counter.count()? {
        0 => Err("the drive gives no estimate".to_owned()),
        billions if billions < BILLIONS_BELOW => Ok(billions * 1_000_000_000),
        bytes if (BYTES_FROM..=MEDIA_BYTES_MAX).contains(&bytes) => Ok(bytes),
        stored => Err(format!("{stored} is neither a number of bytes nor of billions of them")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endurance_estimate_is_in_billions_or_in_bytes() {
        let read = |stored| endurance_bytes(Counter::Count(stored));
        assert_eq!(read(14_000_000), Ok(14_000_000_000_000_000));
        assert_eq!(read(14_000_000_000_000_000), Ok(14_000_000_000_000_000));
        for unclear in [0, BILLIONS_BELOW, BYTES_FROM - 1, u64::MAX - 1] {
            assert!(read(unclear).is_err(), "{unclear}");
        }
        assert!(endurance_bytes(Counter::AllOnes).is_err());
    }

    #[test]
    fn media_bytes_of_none_or_too_many_are_unknown() {
        assert_eq!(media_bytes(Counter::Count(1 << 40)), Ok(1 << 40));
        for absurd in [Counter::Count(0), Counter::Count(u64::MAX - 1), Counter::AllOnes] {
            assert!(media_bytes(absurd).is_err(), "{absurd:?}");
        }
    }
}
