//! What is not known never looks good.

use report::Verdict;
use report::html::{Content, Report, Source, page};
use report::trace::{Trace, TraceTotal, TraceUnknown};

use crate::sample::{document, image, layer, target};
use crate::trace::sample;

/// The row of the first table that `content` gets.
fn row(content: Content) -> String {
    let source = Source { name: "one.json".to_owned(), content };
    let page = page(&Report { sources: vec![source], unread: Vec::new() });
    let from = page.find("<tbody>").expect("there is a table");
    let to = from + page[from..].find("</tbody>").expect("it ends");
    page[from..to].to_owned()
}

#[test]
fn a_check_of_a_good_and_an_unknown_target_is_not_good() {
    let mut drive = layer(0, &[], "drive", "sdb", "USB bridge");
    drive.verdict = Verdict::Unknown;
    let unknown = target("/dev/sdb", Verdict::Unknown, vec![drive]);
    let mut good = image("disk.raw");
    good.verdict = Verdict::Aligned;
    good.findings.clear();
    let row = row(Content::Check(Box::new(document(vec![good, unknown]))));
    assert!(row.contains("1 unknown") && !row.contains("chip good"), "{row}");
}

#[test]
fn a_trace_that_knows_no_address_is_not_called_aligned() {
    let traced = |total: TraceTotal| {
        let trace = Trace { total, extents: Vec::new(), refusal: None, ..sample() };
        row(Content::Trace(Box::new(trace)))
    };
    let total = TraceTotal { extents: 32, alignment: Vec::new(), ..sample().total };
    let reason = "compressed by the file system".to_owned();
    let unknown = vec![TraceUnknown { bytes: 4 << 20, reason }];
    let row = traced(TraceTotal { unknown, unvisited_bytes: 0, ..total.clone() });
    assert!(row.contains("4 MiB unknown") && row.contains("chip care"), "{row}");
    let row = traced(TraceTotal { unknown: Vec::new(), unvisited_bytes: 0, ..total.clone() });
    assert!(row.contains("nothing to judge") && !row.contains("chip good"), "{row}");
    let row = traced(TraceTotal { unknown: Vec::new(), unvisited_bytes: 1 << 20, ..total });
    assert!(row.contains("1 MiB unknown") && row.contains("chip care"), "{row}");
}
