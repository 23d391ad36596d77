//! Drives that others measured, or whose makers publish rates: one set of values for each.

use std::sync::LazyLock;

use drive::published::{PublishedNumber, validation};

static LINES: LazyLock<Vec<PublishedNumber>> = LazyLock::new(|| validation(1));

#[track_caller]
fn all_within(lines: &[&PublishedNumber]) {
    for line in lines {
        let (what, error) = (line.what, line.error_percent());
        let shown =
            format!("{}, {what}: {:.1} for {:.1}", line.profile, line.model, line.published);
        assert!(line.is_within() || !line.outside.is_empty(), "{shown}: {error:+.1} %");
    }
}

#[test]
fn an_st2000dm006_reads_as_was_measured_at_every_depth_and_writes_flushes_and_retries_so() {
    let lines: Vec<_> = LINES.iter().filter(|line| line.profile == "st2000dm006").collect();
    let depths = lines.iter().filter(|line| line.bound_percent <= 10.0);
    assert_eq!((lines.len(), depths.count()), (11, 6));
    all_within(&lines);
}

#[test]
fn drives_do_what_their_data_sheets_say() {
    let lines: Vec<_> = LINES.iter().filter(|line| line.profile != "st2000dm006").collect();
    assert!(lines.len() > 100 && lines.iter().all(|line| line.bound_percent <= 15.0));
    all_within(&lines);
    let outside = lines.iter().filter(|line| !line.is_within());
    assert_eq!(outside.count(), 3, "bursts of writes that are quicker than reads");
}

#[test]
fn an_ultrastar_reads_as_published_from_its_sheet_alone() {
    let own = LINES.iter().filter(|line| line.profile == "ultrastar-7k8");
    let lines: Vec<_> = own.filter(|line| line.unit != "us").collect();
    assert_eq!(lines.len(), 4);
    all_within(&lines);
}
