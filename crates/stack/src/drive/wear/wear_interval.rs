//! Rates between two readings of a drive's wear.

use units::number::real;
use units::{Known, Source};

use super::coarse_bytes::moved;
use super::{AMPLIFICATION_LEAST, CoarseBytes, WearBounds, WearReading};

/// The longest time for which a page may stay as it is while its counters move on: OCP asks for a
/// refresh every ten minutes at least. In nanoseconds.
pub const REFRESH_NS: u64 = 600 * 1_000_000_000;

/// Nanoseconds of a second.
const SECOND_NS: f64 = 1e9;

const YEAR_SECONDS: f64 = 365.25 * 86_400.0;
/// The largest step in which media counters are taken to move: 2^30 times 5^9.
const MEDIA_STEP_MAX: u64 = (1 << 30) * 1_953_125;

/// Rates between two readings, each within the bounds that the counters' units and the age of the
/// pages allow. The age is accounted for as if the load were even.
#[derive(Clone, Debug, PartialEq)]
pub struct WearInterval {
    /// Bytes that hosts wrote, per second.
    pub host_bytes_per_second: Known<WearBounds>,
    /// Bytes written to the media, per second.
    pub media_bytes_per_second: Known<WearBounds>,
    /// Bytes written to the media for each byte that hosts wrote.
    pub write_amplification: Known<WearBounds>,
    /// Years until the media have taken what they are made for, at this rate.
    pub years_left: Known<WearBounds>,
    /// Writes of hosts that started off the drive's indirection unit.
    pub unaligned_writes: Known<u64>,
}

/// The least and the most bytes that a counter's move can mean.
#[derive(Clone, Copy)]
struct Moved {
    low: u64,
    high: u64,
    /// The step in which the counter moves.
    step: u64,
}

impl WearInterval {
    /// Returns the rates between `before` and `after`, read `elapsed_ns` apart from pages that
    /// may be up to `refresh_ns` old: [`REFRESH_NS`], or 0 where the drive is known to count as it
    /// is read.
    ///
    /// A rate is unknown, with the reason, where a counter is, goes backward or stands still, where
    /// its unit is too coarse for the bytes counted, and where the interval is shorter than
    /// three times `refresh_ns`.
    #[must_use]
    pub fn between(
        before: &WearReading,
        after: &WearReading,
        elapsed_ns: u64,
        refresh_ns: u64,
    ) -> WearInterval {
        let host = host_moved(before, after);
        let media = media_moved(before, after);
        let (seconds, refresh) = (real(elapsed_ns) / SECOND_NS, real(refresh_ns) / SECOND_NS);
        // The times that the counters' moves can have taken.
        let spans = (seconds - refresh, seconds + refresh);
        let is_long = spans.0 > 0.0 && spans.1 <= 2.0 * spans.0;
        let long = || match is_long {
            true => Ok(()),
            false => Err(format!(
                "{seconds:.0} s are too short: the drive may refresh its counters only every \
                 {refresh:.0} s"
            )),
        };
        let rate = |moved: &Result<Moved, String>| -> Result<WearBounds, String> {
            let moved = moved.clone()?;
            long()?;
            let bounds = WearBounds::new(real(moved.low) / spans.1, real(moved.high) / spans.0);
            bounds.ok_or_else(|| coarse(moved))
        };
        let (host_rate, media_rate) = (rate(&host), rate(&media));
        let amplification = host.and_then(|host| {
            let media = media?;
            long()?;
            let ratio = WearBounds::new(
                real(media.low) / real(host.high) * (spans.0 / spans.1),
                real(media.high) / real(host.low) * (spans.1 / spans.0),
            );
            let is_host = real(host.high) * real(media.low) >= real(media.high) * real(host.low);
            let ratio = ratio.ok_or_else(|| coarse(if is_host { host } else { media }));
            ratio.and_then(|ratio| match ratio.high < AMPLIFICATION_LEAST {
                true => {
                    Err("fewer than half of the host bytes: another unit, or compression".into())
                }
                false => Ok(ratio),
            })
        });
        let years = media_rate.clone().and_then(|rate| {
            let left = after.media.value().map(super::MediaWear::endurance_left_bytes);
            match left {
                Some(Known::Yes(left)) => {
                    let years = |rate: f64| real(left.value) / rate / YEAR_SECONDS;
                    let bounds = WearBounds::new(years(rate.high), years(rate.low));
                    bounds.ok_or_else(|| "the media have taken what they are made for".to_owned())
                }
                Some(Known::No(reason)) => Err(reason),
                None => Err(after.media.reason().unwrap_or_default().to_owned()),
            }
        });
        WearInterval {
            host_bytes_per_second: Known::of(host_rate, Source::Derived),
            media_bytes_per_second: Known::of(media_rate, Source::Derived),
            write_amplification: Known::of(amplification, Source::Derived),
            years_left: Known::of(years, Source::Derived),
            unaligned_writes: Known::of(unaligned(before, after), Source::Derived),
        }
    }
}

fn host_moved(before: &WearReading, after: &WearReading) -> Result<Moved, String> {
    let host = |reading: &WearReading| -> Result<CoarseBytes, String> {
        known(&reading.host).map_err(|reason| format!("host bytes: {reason}"))
    };
    let (before, after) = (host(before)?, host(after)?);
    let (_, low, high) = after.since(before).map_err(|reason| format!("host bytes: {reason}"))?;
    Ok(Moved { low, high, step: after.unit_bytes() })
}

/// The media's move. Its unit is not told: both counts are multiples of it, so their common divisor
/// of the form 2^m times 5^n is taken, which is as large or larger.
fn media_moved(before: &WearReading, after: &WearReading) -> Result<Moved, String> {
    let media = |reading: &WearReading| -> Result<u64, String> {
        let media = reading.media.value();
        let media = media.ok_or_else(|| reading.media.reason().unwrap_or_default().to_owned())?;
        known(&media.bytes).map_err(|reason| format!("media bytes: {reason}"))
    };
    let (before, after) = (media(before)?, media(after)?);
    let bytes = moved(before, after).map_err(|reason| format!("media bytes: {reason}"))?;
    let step = common(common(before, after), MEDIA_STEP_MAX);
    Ok(Moved { low: bytes.saturating_sub(step), high: bytes.saturating_add(step), step })
}

fn unaligned(before: &WearReading, after: &WearReading) -> Result<u64, String> {
    let count = |reading: &WearReading| -> Result<u64, String> {
        let media = reading.media.value();
        let media = media.ok_or_else(|| reading.media.reason().unwrap_or_default().to_owned())?;
        known(&media.unaligned_writes)
    };
    let (before, after) = (count(before)?, count(after)?);
    let backward = || "the counter went backward: it starts at 0 at power-on".to_owned();
    after.checked_sub(before).ok_or_else(backward)
}

fn known<T: Copy>(known: &Known<T>) -> Result<T, String> {
    match known {
        Known::Yes(fact) => Ok(fact.value),
        Known::No(reason) => Err(reason.clone()),
    }
}

fn coarse(moved: Moved) -> String {
    let Moved { low, high, step } = moved;
    format!("{low} to {high} bytes, counted in steps of {step}: too coarse for this interval")
}

/// The greatest common divisor.
fn common(one: u64, other: u64) -> u64 {
    let (mut one, mut other) = (one, other);
    while let Some(rest) = one.checked_rem(other) {
        (one, other) = (other, rest);
    }
    one
}

#[cfg(test)]
mod tests {
    use format::identify::{nvme_health, ocp_health};

    use super::*;

    const HOUR: u64 = 3600 * 1_000_000_000;
    const GB: u64 = 1_000_000_000;

    /// A reading through the same parsers as a real drive's.
    fn reading(host_units: u64, media_bytes: u64, unaligned: u64) -> WearReading {
        let mut health = [0_u8; 512];
        health[3] = 100;
        health[48..56].copy_from_slice(&host_units.to_le_bytes());
        let mut page = [0_u8; 512];
        page[..8].copy_from_slice(&media_bytes.to_le_bytes());
        page[136..144].copy_from_slice(&unaligned.to_le_bytes());
        page[176..184].copy_from_slice(&(10_000 * 1000_u64).to_le_bytes());
        page[494] = 3;
        page[496..].copy_from_slice(&ocp_health::GUID);
        let health = nvme_health::health(&health).unwrap().value;
        let media = ocp_health::extended_health(&page).unwrap().value;
        WearReading::of_nvme(Ok(&health), Ok(&media))
    }

    fn told(known: &Known<WearBounds>) -> (f64, f64) {
        let bounds = known.value().unwrap_or_else(|| panic!("{:?}", known.reason()));
        (bounds.low, bounds.high)
    }

    #[test]
    fn an_hour_gives_rates_amplification_and_years_within_bounds() {
        // 3600 units of 512,000 bytes an hour, 2.5 times that on the media.
        let before = reading(1_000_000, 2_000 * GB + 4096, 10);
        let after = reading(1_003_600, 2_000 * GB + 4096 + 4_608_000_000, 110);
        let found = WearInterval::between(&before, &after, HOUR, 0);
        let (low, high) = told(&found.host_bytes_per_second);
        assert!(low < 512_000.0 && 512_000.0 < high && high - low < 300.0, "{low} {high}");
        let (low, high) = told(&found.write_amplification);
        assert!(low < 2.5 && 2.5 < high && high - low < 0.01, "{low} {high}");
        // 10 PB less 2 TB at 1.28 MB/s.
        let (low, high) = told(&found.years_left);
        assert!(low < 247.6 && 247.5 < high && high - low < 0.1, "{low} {high}");
        assert_eq!(found.unaligned_writes.value(), Some(&100));
        let old = WearInterval::between(&before, &after, HOUR, REFRESH_NS);
        let (low, high) = told(&old.host_bytes_per_second);
        assert!(low < 440_000.0 && high > 610_000.0, "{low} {high}");
        let (low, high) = told(&old.write_amplification);
        assert!(low < 1.8 && high > 3.4, "{low} {high}");
        let day = WearInterval::between(&before, &after, HOUR * 24, REFRESH_NS);
        let (low, high) = told(&day.write_amplification);
        assert!(low > 2.45 && high < 2.55, "{low} {high}");
    }

    #[test]
    fn every_true_amplification_is_within_its_bounds() {
        let mut random = units::random::Random::new(11);
        let mut known = 0;
        for _ in 0..10_000 {
            // True bytes, and what counters of coarse units say of them.
            let host = [0, 1 + random.below(4 * GB)].map(|more| 77 * GB + 123 + more);
            let percent = 100 + random.below(900);
            let media = host.map(|bytes| (bytes * percent).div_euclid(100));
            let step = 1 << random.below(26);
            let at = |index: usize| {
                let floor = media[index].div_euclid(step) * step;
                reading(host[index].div_ceil(512_000), floor, 0)
            };
            let found = WearInterval::between(&at(0), &at(1), HOUR, 0);
            let Some(bounds) = found.write_amplification.value() else { continue };
            known += 1;
            let truth = real(percent) / 100.0;
            assert!(bounds.low <= truth + 1e-6 && truth - 1e-6 <= bounds.high, "{bounds} {truth}");
        }
        assert!(known > 9_000, "{known}");
    }

    #[test]
    fn counters_that_cannot_be_right_give_the_reason() {
        let reason = |before: &WearReading, after: &WearReading, elapsed| {
            let found = WearInterval::between(before, after, elapsed, REFRESH_NS);
            let reason = found.write_amplification.reason();
            reason.unwrap_or_else(|| panic!("{found:?}")).to_owned()
        };
        let before = reading(1_000_000, 2_000 * GB, 10);
        let cases = [
            (reading(999_999, 2_001 * GB, 1), "host bytes: the counter went backward"),
            (reading(1_000_000, 2_001 * GB, 1), "host bytes: the counter stood still"),
            (reading(1_000_001, 1_999 * GB, 1), "media bytes: the counter went backward"),
            (reading(1_000_001, 2_000 * GB, 1), "media bytes: the counter stood still"),
            (reading(u64::MAX, 2_001 * GB, 1), "host bytes: 18446744073709551615 units"),
            (reading(0, 2_001 * GB, 1), "host bytes: the counter is 0"),
            (reading(1_000_001, 0, 1), "media bytes: the counter is 0"),
            (reading(1_000_001, 2_001 * GB, 1), "0 to 1024000 bytes, counted in steps"),
            (reading(2_000_000, 2_100 * GB, 1), "fewer than half of the host bytes"),
        ];
        for (after, expected) in cases {
            let found = reason(&before, &after, HOUR * 24);
            assert!(found.starts_with(expected), "{found}\n{expected}");
        }
        let after = reading(1_003_600, 2_005 * GB, 9);
        assert!(reason(&before, &after, 60 * 1_000_000_000).starts_with("60 s are too short"));
        let found = WearInterval::between(&before, &after, HOUR, REFRESH_NS);
        assert!(found.unaligned_writes.reason().unwrap().contains("power-on"));
        let none = WearReading::of_nvme(Err(&"gone".to_owned()), Err(&"gone".to_owned()));
        let found = WearInterval::between(&none, &none, HOUR, REFRESH_NS);
        assert_eq!(found.years_left.reason(), Some("gone"));
    }
}
