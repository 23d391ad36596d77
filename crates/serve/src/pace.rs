//! Simulated time as real time.

use std::time::{Duration, Instant};

/// Parts of a factor of 1.
const WHOLE: u32 = 1_000_000;

/// Pace of a served drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Requests are answered at once. The model still counts, in simulated time of its own.
    Off,
    /// Each nanosecond of the drive takes `millionths` of a millionth of one: 1,000,000 is the
    /// drive's own pace.
    Scaled {
        /// Above 0.
        millionths: u32,
    },
}

impl Pace {
    /// The drive's own pace.
    pub const REAL: Pace = Pace::Scaled { millionths: WHOLE };

    /// Returns the pace that `text` names: `off`, `real`, or a factor from 0.001 to 1000 by which
    /// each time of the drive is multiplied; `None` where it names none.
    #[must_use]
    pub fn read(text: &str) -> Option<Pace> {
        match text {
            "off" => return Some(Pace::Off),
            "real" => return Some(Pace::REAL),
            _ => {}
        }
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !is_digits(whole) || !is_digits(part) || part.len() > 6 {
            return None;
        }
        let whole: u32 = whole.parse().ok()?;
        let part: u32 = format!("{part:0<6}").parse().ok()?;
        let millionths = whole.checked_mul(WHOLE)?.checked_add(part)?;
        (WHOLE.div_euclid(1000)..=1000 * WHOLE)
            .contains(&millionths)
            .then_some(Pace::Scaled { millionths })
    }
}

/// A clock that shows a drive's time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DriveClock {
    begun: Instant,
    millionths: u32,
}

impl DriveClock {
    /// One that begins at 0 now; `None` where requests take no time.
    pub(crate) fn begin(pace: Pace) -> Option<DriveClock> {
        match pace {
            Pace::Off => None,
            Pace::Scaled { millionths } => Some(DriveClock { begun: Instant::now(), millionths }),
        }
    }

    /// The drive's time now, in nanoseconds.
    pub(crate) fn now_ns(&self) -> u64 {
        let real_ns = self.begun.elapsed().as_nanos();
        let ns = real_ns * u128::from(WHOLE) / u128::from(self.millionths.max(1));
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    /// The real moment of the drive's time `ns`; `None` where that is too far away.
    pub(crate) fn moment(&self, ns: u64) -> Option<Instant> {
        // Rounded up, so that the drive's time has come when the moment has.
        let real = (u128::from(ns) * u128::from(self.millionths)).div_ceil(u128::from(WHOLE));
        self.begun.checked_add(Duration::from_nanos(u64::try_from(real).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_off_real_or_a_factor_within_bounds() {
        assert_eq!(Pace::read("off"), Some(Pace::Off));
        assert_eq!(Pace::read("real"), Pace::read("1"));
        assert_eq!(Pace::read("0.25"), Some(Pace::Scaled { millionths: 250_000 }));
        assert_eq!(Pace::read("1000"), Some(Pace::Scaled { millionths: 1_000_000_000 }));
        for wrong in ["", "0", "0.0001", "1001", "-1", "1e3", "1.", ".5", "0.1234567", "real "] {
            assert_eq!(Pace::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_time_of_the_drive_has_come_at_its_moment() {
        for millionths in [1000, 333_333, WHOLE, 7_000_001] {
            let clock = DriveClock { begun: Instant::now(), millionths };
            for ns in [0, 1, 999, 8_333_333] {
                let real = clock.moment(ns).expect("it is near") - clock.begun;
                let shown = real.as_nanos() * u128::from(WHOLE) / u128::from(millionths);
                assert!(shown >= u128::from(ns), "{ns} at {millionths}");
            }
        }
    }
}
