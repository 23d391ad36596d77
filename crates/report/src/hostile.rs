//! Readers of files as a function of raw bytes, shared by the fuzz targets and the plain
//! tests: whatever the bytes are it answers, and what it promises is checked.

use crate::probe::{GRANULE_BYTES_MAX, SavedFault, saved_json, saved_parse};

/// Reads `bytes` as what was kept of a probe.
///
/// # Panics
/// When what is read is not what [`saved_parse`] promises.
pub fn measured(bytes: &[u8]) {
    let saved = match saved_parse(bytes) {
        Ok(saved) => saved,
        Err(fault) => {
            let said = fault.to_string();
            assert!(!said.contains(char::is_control), "a fault is one harmless line: {said}");
            assert!(said.len() < 1000, "a fault is short: {said}");
            assert!(fault != SavedFault::Long || bytes.len() > 64 << 10);
            return;
        }
    };
    let granule = &saved.granule;
    let is_granule =
        |bytes: u64| bytes.is_power_of_two() && (1024..=GRANULE_BYTES_MAX).contains(&bytes);
    assert!(is_granule(granule.alignment_bytes) && granule.origin_bytes < granule.alignment_bytes);
    assert!(granule.size_bytes.is_none_or(is_granule));
    assert!(granule.slower_low.is_finite() && granule.slower_low > 1.0);
    assert!(saved.measured.bytes().all(|byte| b"0123456789TZ:.+-".contains(&byte)));
    assert_eq!(saved_parse(saved_json(&saved).as_bytes()).as_ref(), Ok(&saved));
}
