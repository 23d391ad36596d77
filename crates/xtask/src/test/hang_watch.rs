//! Finds tests that hang, from the lines of the harness and the time at which each came.

use std::time::Duration;

use super::harness_output::EndedTest;

/// Longest time that a test may take, and that an executable may print nothing.
pub(super) const LONGEST: Duration = Duration::from_secs(600);
/// Time that a test has taken when the harness names it as slow.
const NAMED_AFTER: Duration = Duration::from_secs(60);

/// Lines that an executable printed, with their times, which are counted from its start.
#[derive(Debug, Default)]
pub(super) struct HangWatch {
    heard: Duration,
    /// Slow tests that run, and when the harness named them.
    slow: Vec<(String, Duration)>,
    /// Beginning of a line that has not ended.
    beginning: String,
}

impl HangWatch {
    /// Takes a line that came at `now`.
    pub(super) fn line(&mut self, line: &str, now: Duration) {
        self.heard = now;
        self.beginning.clear();
        if let Some(name) = slow_test(line) {
            self.slow.push((name.to_owned(), now));
        } else if let Some(ended) = EndedTest::read(line) {
            self.slow.retain(|(name, _)| *name != ended.name);
        }
    }

    /// Takes the beginning of a line that has not ended at `now`.
    pub(super) fn beginning(&mut self, text: &str, now: Duration) {
        if text != self.beginning {
            self.heard = now;
            text.clone_into(&mut self.beginning);
        }
    }

    /// Returns the name of the test that hangs at `now`, or words for one whose name is unknown.
    pub(super) fn hung(&self, now: Duration) -> Option<String> {
        let is_over = |named: Duration| now.saturating_sub(named) >= LONGEST - NAMED_AFTER;
        if let Some((name, _)) = self.slow.iter().find(|(_, named)| is_over(*named)) {
            return Some(name.clone());
        }
        if now.saturating_sub(self.heard) < LONGEST {
            return None;
        }
        let begun = self.beginning.strip_prefix("test ").and_then(|rest| rest.split_once(" ... "));
        let slow = self.slow.first().map(|(name, _)| name.as_str());
        let name = begun.map(|(name, _)| name).or(slow);
        Some(name.unwrap_or("a test that was not named").to_owned())
    }
}

/// Returns the name of the test that `line` calls slow.
fn slow_test(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" has been running for over 60 seconds")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[test]
    fn a_test_hangs_ten_minutes_after_its_start_also_where_others_go_on() {
        let mut watch = HangWatch::default();
        watch.line("test a::b has been running for over 60 seconds", seconds(70));
        watch.line("test other has been running for over 60 seconds", seconds(80));
        watch.line("test other ... ok <90.000s>", seconds(100));
        for second in [200, 400, 605] {
            watch.line(&format!("test c{second} ... ok"), seconds(second));
        }
        assert_eq!(watch.hung(seconds(609)), None);
        assert_eq!(watch.hung(seconds(610)), Some("a::b".to_owned()));
        watch.line("test a::b ... FAILED", seconds(609));
        assert_eq!(watch.hung(seconds(1000)), None);
    }

    #[test]
    fn an_executable_that_prints_nothing_hangs_in_the_test_whose_line_it_began() {
        let mut watch = HangWatch::default();
        assert_eq!(watch.hung(seconds(599)), None);
        assert_eq!(watch.hung(seconds(600)), Some("a test that was not named".to_owned()));
        watch.line("test a ... ok", seconds(30));
        watch.beginning("test b::c ... ", seconds(31));
        watch.beginning("test b::c ... ", seconds(500));
        assert_eq!(watch.hung(seconds(630)), None);
        assert_eq!(watch.hung(seconds(631)), Some("b::c".to_owned()));
    }
}
