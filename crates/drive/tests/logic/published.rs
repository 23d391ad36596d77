//! Published figures of drives, beside what the models say of the same.

use std::sync::LazyLock;

use drive::published::{LineOrigin, PublishedNumber, published};

static LINES: LazyLock<Vec<PublishedNumber>> = LazyLock::new(|| published(1));

/// The model's number of a line of "advanced format disks": fio with `psync`, 4 KiB and an fsync
/// each, on a 7200 rpm 512e disk.
fn model(what: &str, unit: &str) -> f64 {
    let line = LINES.iter().find(|line| line.what == what && line.unit == unit);
    line.unwrap_or_else(|| panic!("no {what} in {unit}")).model
}

/// Checks that `found` is within so many percent of `wanted`.
#[track_caller]
fn near(found: f64, wanted: f64, percent: f64) {
    assert!((found - wanted).abs() * 100.0 <= wanted * percent, "{found} for {wanted}");
}

#[test]
fn every_line_that_counts_is_within_its_bound_or_says_why_it_is_not() {
    for line in LINES.iter() {
        let is_excused = line.standing == LineOrigin::Fitted || !line.outside.is_empty();
        let shown = format!(
            "{}: {} {} for {}: {:+.1} %",
            line.what,
            line.model,
            line.unit,
            line.published,
            line.error_percent()
        );
        assert!(line.is_within() || is_excused, "{shown}");
        assert!(line.outside.is_empty() || !line.is_within(), "within after all: {shown}");
    }
}

#[test]
fn a_synced_write_takes_one_turn_aligned_and_three_misaligned() {
    assert_eq!(model("raw, aligned, p50", "turns"), 1.0);
    assert_eq!(model("raw, misaligned, p50", "turns"), 3.0);
    near(model("raw, aligned, mean", "ms"), 8.421, 10.0);
    near(model("raw, misaligned, mean", "ms"), 25.85, 10.0);
}

#[test]
fn an_fsync_on_ext4_takes_four_turns_aligned_and_ten_misaligned_some_one_less() {
    let turns = |what: &str| model(what, "turns");
    assert_eq!((turns("ext4, aligned, p5"), turns("ext4, aligned, p50")), (3.0, 4.0));
    assert_eq!((turns("ext4, misaligned, p5"), turns("ext4, misaligned, p50")), (9.0, 10.0));
    near(model("ext4, aligned, mean", "ms"), 33.81, 10.0);
    near(model("ext4, misaligned, mean", "ms"), 89.16, 10.0);
}

#[test]
fn without_a_sync_it_makes_little_difference() {
    near(model("no sync, aligned/misaligned", "times"), 1.0, 5.0);
}
