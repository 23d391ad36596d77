//! Seconds by the clock, and of the processors, that the runs of a lane take.

use std::time::Instant;

/// The time since a lane began.
pub(super) struct Stopwatch {
    begun: Instant,
    processor_seconds: f64,
}

impl Stopwatch {
    pub(super) fn start() -> Stopwatch {
        Stopwatch { begun: Instant::now(), processor_seconds: processor_seconds() }
    }

    /// Returns the seconds by the clock, and those of the processors.
    pub(super) fn seconds(&self) -> (f64, f64) {
        let processor_seconds = processor_seconds() - self.processor_seconds;
        (self.begun.elapsed().as_secs_f64(), processor_seconds)
    }
}

/// Returns the seconds of all processors that children of this process took, and theirs, as far as
/// they ended and somebody waited for them.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    children_ticks(&text).unwrap_or(0.0) / TICKS_A_SECOND
}

/// Of every architecture that straddle is built for (`USER_HZ`).
const TICKS_A_SECOND: f64 = 100.0;

/// Returns `cutime` and `cstime`, together, of a process's `stat` (`man 5 proc_pid_stat`).
fn children_ticks(stat: &str) -> Option<f64> {
    // The name before may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let ticks = |place: usize| fields.get(place)?.parse::<f64>().ok();
    Some(ticks(13)? + ticks(14)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ticks_of_children_are_read_after_the_name() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 5 6 0 0 11 12 130 240 20 0 1 0 99";
        assert_eq!(children_ticks(stat), Some(370.0));
        assert_eq!(children_ticks("7 (a"), None);
    }
}
