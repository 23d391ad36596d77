//! The head of a page: what is wrong in one sentence, and what to do next.

use durability::Grade;
use measure::durable::RowGroup;
use measure::engine_verdict::Fitness;
use report::fsync::{DataPath, EngineLimit, Evidence, Fsync, FsyncVerdict, Honesty};
use report::html::{FileContent, Report, ResultFile, Unread, page};
use report::{Envelope, Run};
use stack::Verdict;

use crate::made::bench::{disk, no_penalty};
use crate::made::fsync::row as fsync_row;
use crate::made::sample::{document, image, shifted_disk};

fn source(name: &str, content: FileContent) -> ResultFile {
    ResultFile { name: name.to_owned(), content }
}

fn check(targets: Vec<report::Target>) -> ResultFile {
    source("check.json", FileContent::Check(Box::new(document(targets))))
}

fn good() -> ResultFile {
    let mut target = image("good.raw");
    target.verdict = Verdict::Aligned;
    target.findings.clear();
    for layer in &mut target.layers {
        layer.verdict = Verdict::Aligned;
    }
    check(vec![target])
}

fn fsync(grade: Grade, verdict: Fitness) -> ResultFile {
    let text = |word: &str| word.to_owned();
    let honesty = Honesty {
        grade,
        sentence: text("what was seen is this"),
        would_change: vec![text("mount it with barriers")],
        ..Honesty::default()
    };
    let verdict = FsyncVerdict {
        engine: text("etcd"),
        verdict,
        sentence: text("too slow for it."),
        next: text("another drive"),
        ..FsyncVerdict::default()
    };
    let run = Run { host: Some(text("db-02")), ..Run::default() };
    let fsync = Fsync {
        envelope: Envelope { run, ..Envelope::default() },
        honesty: Some(honesty),
        verdict: Some(verdict),
        ..Fsync::default()
    };
    source("fsync.json", FileContent::Fsync(Box::new(fsync)))
}

/// The verdict at the top of the page of `sources` and what follows from it, without markup.
fn short(sources: Vec<ResultFile>, unread: Vec<Unread>) -> String {
    let page = page(&Report { sources, unread });
    let from = page.find("<h1>").expect("it begins with that");
    let end = if page.contains("id=\"short\"") { "</section>" } else { "</header>" };
    let to = from + page[from..].find(end).expect("it ends");
    let mut text = String::new();
    for part in page[from..to].split('<') {
        text += part.split_once('>').map_or(part, |(_, text)| text);
    }
    text
}

#[test]
fn what_may_lose_data_comes_before_what_is_slow_or_misaligned() {
    let sources =
        vec![good(), check(vec![shifted_disk()]), fsync(Grade::NotDurable, Fitness::Fail)];
    let text = short(sources, Vec::new());
    let first = text.find("A completed fsync is not durable: what was seen is this.");
    let second = text.find("ST101 on ");
    assert!(first.is_some() && first < second, "{text}");
    assert!(
        text.contains("data may be lost") && text.contains("Next: mount it with barriers."),
        "{text}"
    );
    assert!(text.contains("1 good, of 3 results"), "{text}");
}

#[test]
fn a_finding_is_said_with_its_cost_and_every_fix() {
    let disk = shifted_disk();
    let finding = disk.findings.first().expect("it has one").clone();
    let text = short(vec![check(vec![disk])], Vec::new());
    let cost = finding.cost.expect("it costs").sentence;
    assert!(text.contains(&*finding.title) && text.contains(cost.trim_end_matches('.')), "{text}");
    for fix in &finding.remedies {
        assert!(text.contains(&fix.replace('"', "&quot;")), "which one is right depends: {text}");
    }
}

#[test]
fn nothing_wrong_is_said_only_where_all_was_judged() {
    let text = short(vec![good()], Vec::new());
    assert!(text.starts_with("aligned: no findings"), "{text}");
    let text = short(vec![good(), fsync(Grade::Opaque, Fitness::Pass)], Vec::new());
    assert!(text.starts_with("1 without a verdict, 1 good, of 2 results"), "{text}");
    assert!(text.contains("Next: mount it with barriers."), "{text}");
    let text = short(vec![fsync(Grade::Consistent, Fitness::Pass)], Vec::new());
    assert!(text.starts_with("PASS for etcd: looks durable"), "{text}");
    let text = short(vec![good(), fsync(Grade::Consistent, Fitness::Pass)], Vec::new());
    assert!(text.starts_with("2 good, of 2 results"), "{text}");
    let unread = Unread { name: "x".to_owned(), reason: "y".to_owned(), hint: "z".to_owned() };
    let text = short(vec![good()], vec![unread]);
    assert!(text.contains("1 unreadable"), "{text}");
}

#[test]
fn a_virtual_disk_is_never_called_good_without_its_host() {
    let mut source = fsync(Grade::Consistent, Fitness::Pass);
    let FileContent::Fsync(result) = &mut source.content else { panic!("it is one") };
    let honesty = result.honesty.as_mut().expect("it has one");
    honesty.evidence = vec![Evidence { code: "virtual-drive".to_owned(), ..Evidence::default() }];
    let one = page(&Report { sources: vec![source.clone()], unread: Vec::new() });
    assert!(one.contains("<span class=\"verdict unknown\">PASS for etcd</span>"), "{one}");
    assert!(one.contains("<span class=\"chip unknown\">looks durable from inside this VM</span>"));
    let FileContent::Fsync(result) = &mut source.content else { panic!("it is one") };
    result.verdict = None;
    let none = short(vec![source.clone()], Vec::new());
    assert!(none.starts_with("looks durable from inside this VM: 0 rows measured"), "{none}");
    let two = short(vec![source, good()], Vec::new());
    assert!(two.starts_with("1 good from inside the VM, 1 good, of 2 results"), "{two}");
}

#[test]
fn a_misaligned_partition_has_one_word_and_one_color() {
    let mut disk = shifted_disk();
    for finding in &mut disk.findings {
        finding.severity = stack::Severity::Warning;
    }
    let sources = vec![check(vec![disk]), good()];
    let page = page(&Report { sources, unread: Vec::new() });
    let body = &page[page.find("<body>").expect("a body")..];
    assert!(body.contains("verdict care\">1 with a warning</span>"), "{body}");
    assert!(body.contains("<span class=\"chip care\">misaligned</span>"), "{body}");
    assert!(!body.contains("chip bad") && !body.contains("verdict bad"), "{body}");
    assert!(!body.contains(">wrong<"), "{body}");
}

#[test]
fn no_penalty_says_within_which_margin() {
    let mut bench = disk();
    bench.experiments = vec![no_penalty()];
    let comparison = &mut bench.experiments[0].comparisons[0];
    comparison.interval = measure::Interval { ratio: 1.0, low: 0.995, high: 1.0141 };
    let text = short(vec![source("b.json", FileContent::Bench(Box::new(bench)))], Vec::new());
    let first = "No penalty within 1.5 %: ratio 1.00 (0.99 to 1.01); control 1.00 (0.98 to 1.02)";
    assert!(text.starts_with(first), "{text}");
}

#[test]
fn a_note_that_limits_the_verdict_stands_with_it_and_not_below() {
    let mut bench = disk();
    bench.experiments = vec![no_penalty()];
    let limits = "the journal may hide a part of the penalty";
    let title = &bench.experiments[0].title;
    bench.envelope.notes = vec![format!("{title}: {limits}"), "another note".to_owned()];
    let source = source("b.json", FileContent::Bench(Box::new(bench)));
    let text = short(vec![source.clone()], Vec::new());
    assert!(text.contains(" The journal may hide a part of the penalty."), "{text}");
    let page = page(&Report { sources: vec![source], unread: Vec::new() });
    assert!(!page.contains(limits) && page.contains("<li>another note</li>"), "{page}");
}

#[test]
fn of_one_rank_the_slower_result_comes_first() {
    let slow = |p99_ns: u64| {
        let mut source = fsync(Grade::Consistent, Fitness::Warn);
        let FileContent::Fsync(result) = &mut source.content else { panic!("it is one") };
        let verdict = result.verdict.as_mut().expect("it has one");
        verdict.quantile = Some(crate::made::fsync::tail(99.0, [p99_ns, p99_ns / 2, p99_ns * 2]));
        source
    };
    let sources = vec![slow(12_000_000), slow(17_000_000), good()];
    let page = page(&Report { sources, unread: Vec::new() });
    let table = &page[page.find("those that need attention first").expect("a table")..];
    assert!(table.find("p99 17.0 ms") < table.find("p99 12.0 ms"), "{table}");
    assert!(table.find("p99 12.0 ms") < table.find("good.raw"), "{table}");
}

#[test]
fn rows_without_a_verdict_name_the_usual_one_with_its_figures() {
    let label = |id, label| fsync_row(id, RowGroup::OneWrite, label, DataPath::Buffered);
    let rows = vec![label("pg.one.fsync", "fsync"), label("pg.one.fdatasync", "fdatasync")];
    let result = Fsync { rows, ..Fsync::default() };
    let text = short(vec![source("f.json", FileContent::Fsync(Box::new(result)))], Vec::new());
    let first = "fdatasync (one 8kB write) p50 160 µs, p99 400 µs: 2 rows measured";
    assert!(text.starts_with(first), "{text}");
}

#[test]
fn a_penalty_is_what_misalignment_would_cost_and_not_said_to_be_there() {
    let bench = disk();
    assert_eq!(bench.experiments[0].verdict, measure::CostVerdict::Penalty);
    let path = bench.target.path.clone();
    let text = short(vec![source("b.json", FileContent::Bench(Box::new(bench)))], Vec::new());
    assert!(text.contains("not that anything is misaligned."), "{text}");
    assert!(text.contains(&format!("straddle check {path} says")), "{text}");
}

#[test]
fn an_engine_that_fails_is_named_with_what_to_do() {
    let text = short(vec![fsync(Grade::Consistent, Fitness::Fail)], Vec::new());
    assert!(
        text.contains("FAIL for etcd: looks durabletoo slow for it. Next: another drive."),
        "{text}"
    );
}

#[test]
fn what_is_the_same_of_many_results_is_said_once() {
    let sources =
        (0..20).map(|_| fsync(Grade::Consistent, Fitness::Warn)).chain([good()]).collect();
    let text = short(sources, Vec::new());
    assert_eq!(text.matches("WARN for etcd").count(), 1, "{text}");
    assert!(text.contains(" on db-02 and 14 more: too slow"), "{text}");
}

#[test]
fn those_without_a_verdict_follow_what_is_wrong_with_their_next_step() {
    let open = |reason: &str, next: &str| {
        let mut source = fsync(Grade::Consistent, Fitness::NotEnough);
        let FileContent::Fsync(result) = &mut source.content else { panic!("it is one") };
        let verdict = result.verdict.as_mut().expect("it has one");
        (verdict.sentence, verdict.next) = (reason.to_owned(), next.to_owned());
        source
    };
    let sources = vec![
        open("472 writes", "--seconds 16"),
        open("451 writes", "--seconds 16"),
        open("9 writes", "--seconds 8"),
        fsync(Grade::Consistent, Fitness::Warn),
    ];
    let text = short(sources.clone(), Vec::new());
    let found = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
    let both = found("on db-02, fsync in  on db-02: Next: --seconds 16.");
    assert!(found("WARN for etcd") < both, "{text}");
    found("on db-02: 9 writes. Next: --seconds 8.");
    let page = page(&Report { sources, unread: Vec::new() });
    assert!(page.contains("<span class=\"chip unknown\">not enough evidence for etcd</span>"));
    assert!(page.contains("<span class=\"chip care\">WARN for etcd</span>"), "amber is a warning");
}

#[test]
fn a_quantile_so_near_the_limit_that_no_run_settles_it_is_a_warning() {
    let mut source = fsync(Grade::Consistent, Fitness::NotEnough);
    let FileContent::Fsync(result) = &mut source.content else { panic!("it is one") };
    let verdict = result.verdict.as_mut().expect("it has one");
    verdict.quantile = Some(crate::made::fsync::tail(99.0, [9_900_000, 9_000_000, 11_000_000]));
    let near = short(vec![source.clone(), good()], Vec::new());
    assert!(near.starts_with("1 with a warning, 1 good, of 2 results"), "{near}");
    let FileContent::Fsync(result) = &mut source.content else { panic!("it is one") };
    result.verdict.as_mut().expect("it has one").samples_to_settle = Some(72_000);
    let open = short(vec![source, good()], Vec::new());
    assert!(open.starts_with("1 without a verdict, 1 good, of 2 results"), "{open}");
}

#[test]
fn the_verdict_and_the_figure_against_its_limit_come_first() {
    let mut source = fsync(Grade::Consistent, Fitness::Pass);
    let FileContent::Fsync(result) = &mut source.content else { panic!("it is one") };
    let verdict = result.verdict.as_mut().expect("it has one");
    verdict.quantile = Some(crate::made::fsync::tail(99.0, [1_800_000, 1_700_000, 1_900_000]));
    let limit = |grade, limit_ns| EngineLimit {
        grade,
        quantile_percent: 99.0,
        limit_ns,
        ..EngineLimit::default()
    };
    verdict.limits = vec![limit(Fitness::Warn, 10_000_000), limit(Fitness::Fail, 100_000_000)];
    let one = page(&Report { sources: vec![source.clone()], unread: Vec::new() });
    let body = &one[one.find("<body>").expect("a body")..];
    let verdict =
        body.find("<span class=\"verdict good\">PASS for etcd</span>").expect("a verdict");
    let figure = body.find("p99 1.80 ms, limit 10.0 ms").expect("a figure");
    let h2 = body.find("<h2>").expect("a heading");
    let machine = body.find("<summary>Machine and command").expect("the machine");
    assert!(verdict < figure && figure < h2 && h2 < machine);
    // Of several each has its own, large, before anything else of it.
    let two = page(&Report { sources: vec![source, good()], unread: Vec::new() });
    let part = &two[two.find("id=\"file-1\"").expect("a part")..];
    assert!(part.find("PASS for etcd") < part.find("<h3>"));
    assert!(two.contains("<h1><span class=\"verdict good\">2 good</span>"));
}
