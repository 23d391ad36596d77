//! The documentation of job files says what the reader does: its tables are the reader's.
//!
//! With `STRADDLE_UPDATE_DOCS` set, this test writes them.

use std::fs;
use std::path::Path;

use workload::job;

/// First line of the tables.
const HEAD: &str = "## Honored\n";

#[test]
fn the_tables_of_the_page_are_those_of_the_reader() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/jobs.md");
    let page = fs::read_to_string(&path).expect("docs/jobs.md can be read");
    let words = &page[..page.find(HEAD).unwrap_or(page.len())];
    let wanted = format!("{words}{}", job::tables());
    if std::env::var_os("STRADDLE_UPDATE_DOCS").is_some() {
        fs::write(&path, &wanted).expect("docs/jobs.md can be written");
        return;
    }
    assert!(page == wanted, "docs/jobs.md is old: run this test with STRADDLE_UPDATE_DOCS=1");
}

#[test]
fn the_bounds_on_the_page_are_those_of_the_reader() {
    assert_eq!(job::TEXT_BYTES_MAX, 256 << 10);
    assert_eq!((job::LINE_BYTES_MAX, job::JOBS_MAX), (4096, 4096));
}
