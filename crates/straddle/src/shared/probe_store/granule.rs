//! Granule that a file gives, with its date, unless that cannot be.

use jiff::{Timestamp, ToSpan as _};
use report::probe::Saved;
use stack::drive::MeasuredGranule;

/// Hours by which clocks may differ: one that was set to local time.
const CLOCK_HOURS: i64 = 24;

/// Why `saved` cannot have been measured by `now`; `None` where it can.
pub(super) fn misdated(saved: &Saved, now: Timestamp) -> Option<String> {
    let Ok(measured) = saved.measured.parse::<Timestamp>() else {
        return Some("its date cannot be read".to_owned());
    };
    let latest = now.checked_add(CLOCK_HOURS.hours()).unwrap_or(Timestamp::MAX);
    (measured > latest).then(|| {
        format!(
            "it was measured on {}, which is in the future: set the clock, or probe again",
            date(saved)
        )
    })
}

/// The granule that was kept, as the stack takes it.
pub(super) fn granule(saved: &Saved) -> MeasuredGranule {
    let text = |text: &str| units::text::escape(text.as_bytes());
    let found = &saved.granule;
    MeasuredGranule {
        alignment_bytes: found.alignment_bytes,
        origin_bytes: found.origin_bytes,
        size_bytes: found.size_bytes,
        date: date(saved),
        note: format!(
            "straddle {} probe, {}, misaligned at least {:.2} times as long",
            text(&saved.version),
            text(&saved.measured),
            found.slower_low
        ),
    }
}

/// The day, harmless to print.
fn date(saved: &Saved) -> String {
    units::text::escape(saved.measured.split('T').next().unwrap_or_default().as_bytes())
}
