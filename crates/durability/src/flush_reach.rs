//! Arrival of flushes at a layer, from its counts.
//!
//! A sync waits for a flush of its own, so syncs that are made one after the other complete at
//! least as many flushes. Others' flushes only add to a counter: too few in one window show that
//! none are sent, whatever others do. Enough of them show something where others were quiet in
//! the time before.

use super::evidence::{CountedWindow, LayerCounts};

/// Number of quiet windows that must agree.
const QUIET_MIN: usize = 2;

/// Fate of flushes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FlushReach {
    /// They come, so many for each sync.
    Reached {
        /// The fewest of any quiet window.
        per_sync: f64,
    },
    /// They do not come.
    Missed {
        /// The writes that came for each sync, others' included: where none did, the sync itself
        /// did nothing.
        writes_per_sync: f64,
    },
    /// It cannot be told: others flush as often.
    Unclear,
    /// It cannot be told: there are too few windows, whatever others do.
    TooFew,
}

/// Returns the fate of the flushes of syncs that had something to write. `None` where nothing was
/// counted.
#[must_use]
pub fn reach(counts: &LayerCounts) -> Option<FlushReach> {
    let windows = || counts.overwrites.iter().chain(&counts.appends).filter(|it| it.syncs > 0);
    let missed = windows().filter(|it| it.flushes.saturating_mul(2) < it.syncs);
    let fewest = missed.min_by_key(|window| window.writes);
    if let Some(window) = fewest {
        let writes_per_sync = ratio(window.writes, window.syncs);
        return Some(FlushReach::Missed { writes_per_sync });
    }
    match windows().count() {
        0 => return None,
        count if count < QUIET_MIN => return Some(FlushReach::TooFew),
        _ => {}
    }
    let quiet: Vec<&CountedWindow> = windows().filter(|it| is_quiet(it)).collect();
    let all = quiet.iter().all(|it| it.flushes >= it.syncs);
    if quiet.len() < QUIET_MIN || !all {
        return Some(FlushReach::Unclear);
    }
    let per_sync = fewest_per_sync(&counts.overwrites).unwrap_or(1.0);
    Some(FlushReach::Reached { per_sync })
}

/// Returns whether others flushed at most half as often as we did.
#[must_use]
pub fn is_quiet(window: &CountedWindow) -> bool {
    window.idle_flushes.saturating_mul(2) <= window.syncs
}

/// The fewest flushes for each sync of any quiet window; of any window where none was quiet. `None`
/// without windows.
#[must_use]
pub fn fewest_per_sync(windows: &[CountedWindow]) -> Option<f64> {
    let counted = || windows.iter().filter(|window| window.syncs > 0);
    let quiet = counted().filter(|window| is_quiet(window)).map(|it| ratio(it.flushes, it.syncs));
    let any = counted().map(|window| ratio(window.flushes, window.syncs));
    quiet.reduce(f64::min).or_else(|| any.reduce(f64::min))
}

fn ratio(count: u64, of: u64) -> f64 {
    let real = |number: u64| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    real(count) / real(of).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(windows: &[(u64, u64)]) -> Option<FlushReach> {
        let windows = windows.iter();
        let overwrites = windows.map(|&(flushes, idle_flushes)| CountedWindow {
            syncs: 8,
            flushes,
            writes: 8,
            idle_flushes,
        });
        reach(&LayerCounts { overwrites: overwrites.collect(), ..LayerCounts::default() })
    }

    #[test]
    fn one_window_with_too_few_flushes_shows_that_none_are_sent_whatever_others_do() {
        assert_eq!(of(&[(0, 0), (0, 0)]), Some(FlushReach::Missed { writes_per_sync: 1.0 }));
        assert_eq!(
            of(&[(40, 40), (30, 0), (3, 40)]),
            Some(FlushReach::Missed { writes_per_sync: 1.0 })
        );
    }

    #[test]
    fn enough_flushes_count_only_where_others_were_quiet() {
        assert_eq!(of(&[(8, 0), (9, 1), (17, 4)]), Some(FlushReach::Reached { per_sync: 1.0 }));
        assert_eq!(of(&[(16, 0), (16, 0)]), Some(FlushReach::Reached { per_sync: 2.0 }));
        assert_eq!(of(&[(8, 8), (90, 80), (9, 0)]), Some(FlushReach::Unclear));
        assert_eq!(of(&[(5, 0), (8, 0), (8, 0)]), Some(FlushReach::Unclear));
        assert_eq!(of(&[(8, 0)]), Some(FlushReach::TooFew), "nobody else is blamed");
    }

    #[test]
    fn nothing_counted_says_nothing() {
        assert_eq!(of(&[]), None);
        let nothing = vec![CountedWindow::default(); 4];
        assert_eq!(reach(&LayerCounts { overwrites: nothing, ..LayerCounts::default() }), None);
    }

    #[test]
    fn syncs_of_nothing_are_not_counted_since_a_file_system_may_skip_them() {
        let quiet = CountedWindow { syncs: 8, flushes: 16, writes: 8, idle_flushes: 0 };
        let empty = CountedWindow { syncs: 8, ..CountedWindow::default() };
        let counts =
            LayerCounts { overwrites: vec![quiet; 3], appends: Vec::new(), empty: vec![empty; 3] };
        assert_eq!(reach(&counts), Some(FlushReach::Reached { per_sync: 2.0 }));
    }
}
