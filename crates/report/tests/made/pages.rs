//! Pages of every kind of result, of plain and of hostile ones.

use std::sync::OnceLock;

use measure::probe::{PanelKind, Reading};
use measure::{Interval, PairStep};
use report::bench::{Bench, bench_json};
use report::compare::compare_json;
use report::drive::{published_json, simulation_json, torture_json};
use report::fsync::fsync_json;
use report::html::{Report, ResultFile, Unread, page, read};
use report::probe::{
    Answers, FoundAlignment, PROBE_SCHEMA, Probe, ProbeAnswer, ProbeComparison as Compared,
    ProbeTarget, Reported, ResultFate, Spent, ToolHost, probe_json, tools,
};
use report::{Document, Envelope, Run};
use serde_json::Value;

use crate::made::bench::whole as bench;
use crate::made::compare::{benches, two};
use crate::made::drive::{compared, cut, stacked};
use crate::made::fsync::whole as fsync;
use crate::made::sample::{
    array, broken, document, envelope, image, old_image, shifted_disk, unknowns,
};
use crate::made::trace::sample as trace;
use crate::made::whole;

/// A label that tries: to end a text, an attribute or the page, to run, to turn a line around, to
/// be no text at all, to be very long.
pub(crate) const HOSTILE: &str = "<script>window.pwned=1</script>\" onload=\"window.pwned=1' \
     onerror='window.pwned=1 --></title></style></textarea></svg><img src=x \
     onerror=window.pwned=1><a href=\"javascript:window.pwned=1\">&lt;b&gt;&#60;\u{202e}txet\u{0}\
     \u{1b}[31m\u{2066}\r\n]]>{{7*7}}";

/// A document of each kind, as its file holds it.
pub(crate) fn texts() -> Vec<(&'static str, String)> {
    let targets = vec![
        image("disk.raw"),
        shifted_disk(),
        array(),
        broken(),
        old_image("old.raw"),
        unknowns(),
    ];
    let check: Document = document(targets);
    let (before, after) = two();
    vec![
        ("check.json", whole::json(&check)),
        ("bench.json", bench_json(&narrowed())),
        ("fsync.json", fsync_json(&fsync())),
        ("compare.json", compare_json(&benches(&before, &after))),
        ("trace.json", trace().json()),
        ("probe.json", probe_json(&probe())),
        ("simulation.json", simulation_json(&cut())),
        ("stack.json", simulation_json(&stacked())),
        ("published.json", published_json(&compared())),
        ("torture.json", torture_json(&crate::made::torture::torture())),
    ]
}

/// A result of which the interval narrows over many pairs, and latencies scatter.
fn narrowed() -> Bench {
    let mut bench = bench();
    for experiment in &mut bench.experiments {
        let step = |pairs: u64| {
            let width = 1.0 + 12.0 / (pairs as f64);
            let high = if pairs > 12 { 3.0 * width } else { f64::INFINITY };
            PairStep { pairs, median: Interval { ratio: 3.0, low: 3.0 / width, high } }
        };
        experiment.narrowing = (1..80).map(|number| step(number * 4)).collect();
        for arm in &mut experiment.arms {
            let bucket = |at: u64| (arm.median_ns / 2 + arm.median_ns * at / 40, 1 + (at * 7) % 23);
            arm.histogram = (0..60).map(bucket).collect();
        }
    }
    bench
}

/// A drive that says 512 and has granules of 16 KiB.
pub(crate) fn probe() -> Probe {
    let text = |word: &str| word.to_owned();
    let found = |bytes| ProbeAnswer {
        value: Some(bytes),
        alpha: Some(0.01),
        said_by: Some(text("writes at 8 KiB take longer than those at 16 KiB")),
        why: None,
        reason: None,
    };
    let mut answers = Answers::not_tried("the drive does not rotate");
    answers.alignment = found(FoundAlignment { bytes: 16384, origin_bytes: 4096 });
    let tools = tools(&answers, &ToolHost::default());
    let run = Run {
        command: vec![text("straddle"), text("probe"), text("/data")],
        started: text("2026-03-01T12:00:00Z"),
        kernel: Some(text("6.12.0")),
        host: Some(text("web-3")),
        machine: None,
    };
    Probe {
        envelope: Envelope {
            notes: vec![text("the drive was quiet")],
            ..envelope(PROBE_SCHEMA, run)
        },
        seed: 3,
        elapsed_ns: 9_000_000_000,
        dry_run: false,
        target: ProbeTarget {
            path: text("/data"),
            layers: vec![text("ext4"), text("nvme0n1")],
            drive: Some(text("nvme0n1")),
            model: Some(text("SSD 960")),
            firmware: Some(text("2B6Q")),
            capacity_bytes: None,
            writes: true,
            length_bytes: 64 << 20,
        },
        spent: Spent { bytes_max: 1 << 30, written_bytes: 90 << 20, ..Spent::default() },
        answers,
        reported: Reported {
            logical_sector_bytes: Some(512),
            physical_sector_bytes: Some(512),
            physical_sector_lies: Some(true),
            granule_bytes: Some(512),
            granule_source: Some(units::Source::Sysfs),
        },
        comparisons: vec![Compared {
            panel: PanelKind::Alignment,
            arm: text("at 8 KiB"),
            against: text("at 16 KiB"),
            interval: Interval { ratio: 1.8, low: 1.7, high: 1.9 },
            blocks: 40,
            reading: Reading::Slower,
        }],
        tools,
        kept: ResultFate { file: Some(text("/var/lib/straddle/x.json")), reason: None },
    }
}

pub(crate) fn sources() -> Vec<ResultFile> {
    let read = |(name, text): (&str, String)| {
        read(name, &text).unwrap_or_else(|fault| panic!("{name}: {fault}"))
    };
    texts().into_iter().map(read).collect()
}

/// A page with everything on it.
pub(crate) fn full() -> String {
    let unread = vec![Unread {
        name: "cut.json".to_owned(),
        reason: "it is damaged".to_owned(),
        hint: "make it again".to_owned(),
    }];
    let mut sources = sources();
    sources.extend(crate::made::peers::fleet(
        20,
        |host| if host == 7 { 200_000_000 } else { 2_000_000 },
    ));
    page(&Report { sources, unread })
}

/// The same documents, every text of which that may be anything is `label`.
pub(crate) fn with_label(label: &str) -> Vec<ResultFile> {
    static FREE: OnceLock<Vec<(Value, Vec<String>)>> = OnceLock::new();
    let free = || texts().into_iter().map(|(_, text)| free(&text)).collect();
    let hostile = |(document, pointers): &(Value, Vec<String>)| {
        let mut value = document.clone();
        for pointer in pointers {
            *value.pointer_mut(pointer).expect("it was there") = label.into();
        }
        read(label, &value.to_string()).unwrap_or_else(|fault| panic!("{fault}"))
    };
    FREE.get_or_init(free).iter().map(hostile).collect()
}

/// A page of which every text is `label`.
pub(crate) fn labeled(label: &str) -> String {
    let text = || label.to_owned();
    let unread = vec![Unread { name: text(), reason: text(), hint: text() }];
    page(&Report { sources: with_label(label), unread })
}

/// Pages of which every text is `label`, each of few results: all are in full, however long it is.
pub(crate) fn labeled_pages(label: &str) -> Vec<String> {
    let sources = with_label(label);
    let page_of = |few: &[_]| page(&Report { sources: few.to_vec(), unread: Vec::new() });
    sources.chunks(3).map(page_of).collect()
}

/// A document, and the places of all its texts but those of a fixed list, without which it is none.
fn free(text: &str) -> (Value, Vec<String>) {
    let document: Value = serde_json::from_str(text).expect("it is JSON");
    let mut pointers = Vec::new();
    find_texts(&document, "", &mut pointers);
    pointers.retain(|pointer| {
        let mut changed = document.clone();
        *changed.pointer_mut(pointer).expect("it was found there") = "label".into();
        read("changed", &changed.to_string()).is_ok()
    });
    (document, pointers)
}

fn find_texts(value: &Value, at: &str, pointers: &mut Vec<String>) {
    match value {
        Value::String(_) => pointers.push(at.to_owned()),
        Value::Array(values) => {
            for (place, value) in values.iter().enumerate() {
                find_texts(value, &format!("{at}/{place}"), pointers);
            }
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                find_texts(value, &format!("{at}/{key}"), pointers);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
