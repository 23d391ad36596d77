//! Advice on what to type next where a run was too short to tell, or nothing counts.

use measure::durable::{RowSeen, SERIES_MAX};
use measure::engine_verdict::rounded;
use report::fsync::FsyncVerdict;
use workload::Profile;

use super::measured::FsyncMeasured;
use super::pace::Pace;
use super::session::Session;
use crate::arguments::FSYNC_SECONDS;
use crate::fsync::engine;

/// The verdict on `profile` with what to do next as something to type, where it was too short to
/// tell; where nothing counts, with the reason.
pub(super) fn advised(
    session: &Session<'_>,
    measured: &FsyncMeasured<'_>,
    profile: &Profile,
    verdict: FsyncVerdict,
) -> FsyncVerdict {
    let Some((plan, seen)) = measured.row(&engine::row_id(profile)) else { return verdict };
    if let Some(reason) = seen.errors.first().or(seen.unavailable.as_ref()) {
        return uncounted(seen, reason, verdict);
    }
    let pace = Pace {
        samples: seen.latencies.count(),
        rows_ns: measured.seen.elapsed_ns,
        beside_ns: measured.beside_ns,
        operation_bytes: plan.way.operation_bytes(),
        beside_bytes: measured.plan.beside_bytes(session),
        seconds: session.arguments.seconds.into(),
        bytes_max: session.arguments.bytes_max,
        stops_at: (profile.pattern.samples, profile.pattern.time_ns),
    };
    let next = match (verdict.samples_to_settle, pace.samples) {
        (Some(wanted), _) => longer(pace, wanted),
        (None, 0) => {
            let more = pace.seconds.saturating_mul(4).max(u64::from(FSYNC_SECONDS) + 1);
            format!("measure longer, with more bytes if you set --bytes-max: --seconds {more}")
        }
        (None, _) => return verdict,
    };
    FsyncVerdict { next, ..verdict }
}

/// The verdict where no durable write counts, for `reason`.
fn uncounted(seen: &RowSeen, reason: &str, verdict: FsyncVerdict) -> FsyncVerdict {
    let sentence = format!("No durable write counts: {reason}.");
    let next = match seen.has_no_room {
        true => "free space there, or get a larger quota, and measure again",
        false => "name a directory whose file system supports that, or look for errors: dmesg -T",
    };
    FsyncVerdict { sentence, next: next.to_owned(), ..verdict }
}

/// Returns how to reach `wanted` durable writes at this pace.
fn longer(pace: Pace, wanted: u64) -> String {
    let is_beyond_a_run = usize::try_from(wanted).is_ok_and(|wanted| wanted > SERIES_MAX);
    let (options, wanted) = (pace.options(wanted), rounded(wanted));
    match options {
        Some(options) => {
            format!(
                "measure longer, for about {wanted} durable writes even at half this pace: \
                 {options}"
            )
        }
        None if is_beyond_a_run => format!(
            "treat it as WARN: about {wanted} durable writes are needed, more than a run can judge"
        ),
        None => format!(
            "treat it as WARN: about {wanted} durable writes are needed, which takes more than a \
             day here"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_longer_run_settles_says_whether_the_drive_or_the_run_is_the_limit() {
        let fast = Pace {
            samples: 47_730,
            rows_ns: 10_000_000_000,
            beside_ns: 0,
            operation_bytes: 2300,
            beside_bytes: 0,
            seconds: 15,
            bytes_max: 1 << 30,
            stops_at: (10_000, 8_000_000_000),
        };
        assert!(longer(fast, 60_000).contains("--seconds 26"), "{}", longer(fast, 60_000));
        let said = longer(fast, 66_000);
        assert!(said.contains("more than a run can judge") && !said.contains("a day"), "{said}");
        let slow = Pace { samples: 1, ..fast };
        let said = longer(slow, 60_000);
        assert!(said.contains("more than a day here"), "{said}");
    }

    #[test]
    fn what_is_needed_stands_before_options_that_reach_it_at_half_the_pace() {
        // 60 durable writes in 1.5 s, 40 a second: 560 of them are 14 s.
        let seen = Pace {
            samples: 60,
            rows_ns: 1_500_000_000,
            beside_ns: 3_000_000_000,
            operation_bytes: 8192,
            beside_bytes: 9 << 20,
            seconds: 5,
            bytes_max: 8 << 20,
            stops_at: (20_000, 8_000_000_000),
        };
        assert_eq!(
            longer(seen, 560),
            "measure longer, for about 560 durable writes even at half this pace: --seconds 31 \
             --bytes-max 27M"
        );
    }
}
