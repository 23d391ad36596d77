//! The plan for people.

use report::Look;
use report::plan::{Layout, LayoutPartition, table};
use unicode_width::UnicodeWidthStr as _;

#[test]
fn sentences_and_names_of_wide_characters_fit_their_columns() {
    let sentence = "\u{65e5}\u{672c}\u{8a9e} ".repeat(40);
    let partition = LayoutPartition {
        number: 1,
        kind: String::new(),
        name: Some("\u{65e5}".repeat(20)),
        content: None,
        old_start_bytes: 0,
        old_length_bytes: 0,
        new_start_bytes: 0,
        new_length_bytes: 0,
        fix_ups: Vec::new(),
        why: sentence.clone(),
        gain: String::new(),
    };
    let plan = Layout {
        table: Some("gpt".into()),
        partitions: vec![partition],
        unmended: vec![sentence],
        ..Layout::default()
    };
    let text = table(&plan, &[], &Look { width: Some(60), ..Look::default() });
    let widest = text.lines().map(|line| line.width()).max();
    assert!(widest.is_some_and(|columns| columns <= 60), "{text}");
}
