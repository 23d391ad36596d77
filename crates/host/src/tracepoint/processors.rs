//! Processors that are running.

/// The most that are taken from the kernel's answer.
const PROCESSORS_MAX: usize = 8192;

/// Numbers of the processors that are running now; at least one.
///
/// Source: Linux `Documentation/admin-guide/cputopology.rst`.
pub(super) fn online() -> Vec<u32> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let found = parse(&text);
    if found.is_empty() { vec![0] } else { found }
}

/// Parses a list such as `0-3,8`.
fn parse(text: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) else { continue };
        found.extend((first..=last).take(PROCESSORS_MAX.saturating_sub(found.len())));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_ranges_are_read_and_garbage_is_left_out() {
        assert_eq!(parse("0-3,8\n"), [0, 1, 2, 3, 8]);
        assert_eq!(parse("0"), [0]);
        assert_eq!(parse("x,5-4,2"), [2]);
        assert_eq!(parse("0-4294967295").len(), PROCESSORS_MAX);
    }
}
