//! Unknown values never look good.

use durability::Grade;
use report::fsync::{Fsync, Honesty, ProcessWord};
use report::html::{FileContent, Report, ResultFile, page};
use report::trace::{Trace, TraceCost, TraceEffort, TraceTotal, TraceUnknown, TraceUntold};
use stack::{LayerType, Verdict};

use crate::made::sample::{document, image, layer, target};
use crate::made::trace::sample;

/// The first line of the page that `content` gets.
fn row(content: FileContent) -> String {
    let source = ResultFile { name: "one.json".to_owned(), content };
    let page = page(&Report { sources: vec![source], unread: Vec::new() });
    let from = page.find("<h1>").expect("there is a verdict");
    let to = from + page[from..].find("</h1>").expect("it ends");
    page[from..to].to_owned()
}

#[test]
fn a_check_of_a_good_and_an_unknown_target_is_not_good() {
    let mut drive = layer(0, &[], LayerType::Drive, "sdb", "USB bridge");
    drive.verdict = Verdict::Unknown;
    let unknown = target("/dev/sdb", Verdict::Unknown, vec![drive]);
    let mut good = image("disk.raw");
    good.verdict = Verdict::Aligned;
    good.findings.clear();
    let row = row(FileContent::Check(Box::new(document(vec![good, unknown]))));
    assert!(row.contains("1 unknown") && !row.contains("verdict good"), "{row}");
}

#[test]
fn a_trace_that_knows_no_address_is_not_called_aligned() {
    let traced = |total: TraceTotal| {
        let trace = Trace { total, extents: Vec::new(), ..sample() };
        row(FileContent::Trace(Box::new(trace)))
    };
    let total = TraceTotal { extents: 32, alignment: Vec::new(), ..sample().total };
    let reason = "compressed by the file system".to_owned();
    let unknown = vec![TraceUnknown { bytes: 4 << 20, reason }];
    let row = traced(TraceTotal { unknown, unvisited_bytes: 0, ..total.clone() });
    assert!(row.contains("4 MiB unknown") && row.contains("verdict unknown"), "{row}");
    let row = traced(TraceTotal { unknown: Vec::new(), unvisited_bytes: 0, ..total.clone() });
    assert!(row.contains("nothing to judge") && !row.contains("verdict good"), "{row}");
    let row = traced(TraceTotal { unknown: Vec::new(), unvisited_bytes: 1 << 20, ..total });
    assert!(row.contains("1 MiB unknown") && row.contains("verdict unknown"), "{row}");
}

#[test]
fn what_bytes_without_a_place_cost_is_not_known() {
    let reason = "not on the drive yet, only in the page cache";
    let untold = || TraceEffort {
        told_ios: 0,
        granules_read: 0,
        granules_written: 0,
        rmws: 0,
        parity_updates: 0,
        untold: vec![TraceUntold { ios: 80, reason: reason.to_owned() }],
    };
    let cost = TraceCost {
        io_bytes: 16384,
        ios: 80,
        counted_ios: 80,
        read: untold(),
        write: untold(),
        writes_with_rmw: 0,
        writes_with_parity_rmw: 0,
    };
    let said = |cost: TraceCost| {
        let trace = Trace { cost: Some(cost), ..sample() };
        let content = FileContent::Trace(Box::new(trace));
        let source = ResultFile { name: "late.json".to_owned(), content };
        let page = page(&Report { sources: vec![source], unread: Vec::new() });
        let from = page.find("Granules that are read and written").expect("the cost is shown");
        page[from..].to_owned()
    };
    let page = said(cost.clone());
    assert!(
        page.contains("0 of 80") && page.contains("for 80 writes in place: not on the drive yet")
    );
    let table = &page[..page.find("</table>").expect("it ends")];
    assert!(!table.contains(">0<"), "what is not known is no 0: {table}");
    let told = TraceEffort { told_ios: 60, granules_read: 7, ..untold() };
    let page = said(TraceCost { write: told, writes_with_rmw: 3, ..cost });
    assert!(page.contains("60 of 80") && page.contains(">7<") && page.contains(">3<"), "{page}");
}

#[test]
fn a_process_of_which_not_all_could_be_seen_is_not_called_clean() {
    let process = ProcessWord {
        pid: 7,
        name: "etcd".to_owned(),
        unknown: vec!["its maps may not be read".to_owned()],
        ..ProcessWord::default()
    };
    let honesty =
        Honesty { grade: Grade::Consistent, process: Some(process), ..Honesty::default() };
    let fsync = Fsync { honesty: Some(honesty), ..Fsync::default() };
    let content = FileContent::Fsync(Box::new(fsync));
    let source = ResultFile { name: "one.json".to_owned(), content };
    let page = page(&Report { sources: vec![source], unread: Vec::new() });
    assert!(page.contains("its maps may not be read"), "{page}");
}
