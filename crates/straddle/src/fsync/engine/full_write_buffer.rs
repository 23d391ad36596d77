//! Point where the pace of a sustained run fell for good.

use measure::durable::SeriesPoint;
use measure::full_write_buffer::{NoKnee, Stretch};
use report::fsync::Knee;

/// Returns where the pace of a sustained run fell for good, and that as a sentence; `seed` decides
/// the random orders that it is held against.
pub(crate) fn knee(points: &[SeriesPoint], seed: u64) -> (Option<Knee>, String) {
    let stretch = |point: &SeriesPoint| Stretch {
        at_bytes: point.at_bytes,
        // A stretch's time for each MiB, so that a shorter last one is no faster.
        ns: per_mib(point.took_ns, point.bytes),
    };
    let run: Vec<Stretch> = points.iter().map(stretch).collect();
    let found = match measure::full_write_buffer::knee(&run, seed) {
        Ok(found) => found,
        Err(NoKnee::TooShort) => {
            let reason = format!(
                "{}: {} stretches were measured, {} are needed",
                NoKnee::TooShort.reason(),
                points.len(),
                measure::full_write_buffer::POINTS_LEAST
            );
            return (None, reason);
        }
        Err(none) => return (None, none.reason().to_owned()),
    };
    let pace = |ns: f64| f64::from(1_u32 << 20) * 1e9 / ns.max(1.0);
    let size = |bytes| units::prefix::Size(bytes).to_string();
    let reason = format!(
        "after {} ({} to {}) writes take {:.1} times as long, as when a write buffer is full",
        size(found.at_bytes),
        size(found.low_bytes),
        size(found.high_bytes),
        found.after_ns / found.before_ns.max(1.0)
    );
    let knee = Knee {
        at_bytes: found.at_bytes,
        low_bytes: found.low_bytes,
        high_bytes: found.high_bytes,
        before_bytes_per_second: pace(found.before_ns),
        after_bytes_per_second: pace(found.after_ns),
    };
    (Some(knee), reason)
}

/// Returns how long a MiB takes when `bytes` took `ns`.
fn per_mib(ns: u64, bytes: u64) -> u64 {
    let each = (u128::from(ns) << 20).checked_div(u128::from(bytes));
    each.and_then(|each| u64::try_from(each).ok()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_knee_is_told_with_its_bytes_and_paces() {
        let point = |place: u64| SeriesPoint {
            at_ns: 0,
            at_bytes: (place + 1) << 22,
            bytes: 1 << 22,
            took_ns: if place < 100 { 4_000_000 } else { 40_000_000 },
            operations: 4,
            median_ns: 1,
            greatest_ns: 1,
        };
        let points: Vec<SeriesPoint> = (0..256).map(point).collect();
        let (found, reason) = knee(&points, 1);
        let found = found.unwrap();
        assert_eq!(found.at_bytes, 400 << 20);
        assert!((found.before_bytes_per_second / found.after_bytes_per_second - 10.0).abs() < 1e-6);
        assert!(reason.starts_with("after 400 MiB (384 MiB to 416 MiB)"), "{reason}");
        assert!(reason.contains("10.0 times as long"));
        let (none, reason) = knee(&points[..3], 1);
        assert!(none.is_none() && reason.contains("3 stretches were measured, 128 are needed"));
    }
}
