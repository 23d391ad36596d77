//! Results of drive models, for people and for programs.

use crate::made::bench::{disk, penalty};
use crate::made::drive::{compared, cut, line, shifted, stacked, text};
use crate::made::sample::envelope;
use drive::published::LineOrigin;
use report::bench::{
    Bench, Experiment, OperationDirection, Sync, Workload, WorkloadOrder, bench_json,
};
use report::drive::{
    DRIVES_SCHEMA, DriveText, DriveValue, Drives, Published, PublishedLine, Simulation, drive_text,
    drives_json, measured_lines, published_json, published_table, simulation_json,
    simulation_table,
};
use report::probe::probe_json;
use report::{Look, Run};
use serde_json::Value;
use testkit::schema;

const DRIVES: &str = include_str!("../../schema/straddle.drives.1.schema.json");

const SIMULATION: &str = include_str!("../../schema/straddle.simulation.1.schema.json");

const PUBLISHED: &str = include_str!("../../schema/straddle.published.1.schema.json");

/// The schemas of all of them.
pub(crate) const ALL: [&str; 3] = [DRIVES, SIMULATION, PUBLISHED];

fn drives() -> Drives {
    let value = DriveValue {
        key: text("cache"),
        value: text("16 MiB"),
        label: text("calibrated"),
        by: text("fsync of the raw disk"),
        source: text("data sheet"),
    };
    let drive = DriveText {
        name: text("hdd-7200-512e"),
        title: text("disk of 7200 rpm"),
        kind: text("hard-disk"),
        member: None,
        notes: vec![text("one of many")],
        values: vec![value],
    };
    Drives { envelope: envelope(DRIVES_SCHEMA, Run::default()), drives: vec![drive] }
}

fn faults(schema: &str, document: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    let document: Value = serde_json::from_str(document).expect("valid JSON");
    schema::faults(&schema, &document)
}

#[test]
fn drives_and_what_they_say_are_valid_and_wholly_described() {
    assert_eq!(faults(DRIVES, &drives_json(&drives())), Vec::<String>::new());
    for simulation in [shifted(), stacked(), Simulation::default()] {
        assert_eq!(faults(SIMULATION, &simulation_json(&simulation)), Vec::<String>::new());
    }
    assert_eq!(faults(PUBLISHED, &published_json(&compared())), Vec::<String>::new());
    // A check that accepts everything would prove nothing.
    let broken = simulation_json(&stacked()).replace("\"start_bytes\": 32256", "\"start\": 1");
    assert_eq!(faults(SIMULATION, &broken).len(), 2, "one is missing, one is not known");
}

#[test]
fn a_layer_is_shown_with_its_place_on_the_drive_and_what_it_is_compared_with() {
    let look = Look { width: Some(120), ..Look::default() };
    let page = anstream::adapter::strip_str(&simulation_table(&stacked(), &look)).to_string();
    for said in [
        "reference for disk.raw#1 ext4, at 1 MiB",
        "disk.raw#1 ext4 at 31.5 KiB",
        "relative to the aligned place above",
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
    let page = anstream::adapter::strip_str(&simulation_table(&shifted(), &look)).to_string();
    assert!(!page.contains("promises broken"), "nobody cut the power");
    for said in ["unshifted", "512 B off", "hdd-7200-512e rmw=serial", "7 of 10000 operations"] {
        assert!(page.contains(said), "{said}\n{page}");
    }
}

#[test]
fn costs_that_are_relative_to_several_rows_say_so() {
    let mut several = shifted();
    several.arms[1].against = 1;
    let table = simulation_table(&several, &Look::default());
    let page = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("relative to the first row of each drive"), "{page}");
}

#[test]
fn what_power_cuts_left_is_shown_for_the_arms_that_were_cut() {
    for width in [60, 140] {
        let look = Look { width: Some(width), ..Look::default() };
        let page = anstream::adapter::strip_str(&simulation_table(&cut(), &look)).to_string();
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        for said in ["0 of 100", "31 of 100", "73 of 51234", "62 of 50017", "may lose all others"] {
            assert!(page.contains(said), "{said}\n{page}");
        }
    }
    let document = simulation_json(&cut());
    assert_eq!(faults(SIMULATION, &document), Vec::<String>::new());
    assert!(!simulation_json(&shifted()).contains("\"cuts\""), "as before");
    let broken = document.replace("\"broken_cuts\": 31", "\"broken_cuts\": \"many\"");
    assert_eq!(faults(SIMULATION, &broken).len(), 1);
}

#[test]
fn what_is_outside_its_bound_is_shown_with_its_reason() {
    let look = Look { width: Some(120), ..Look::default() };
    let page = anstream::adapter::strip_str(&published_table(&compared(), &look)).to_string();
    for said in ["(allowed: 10 %)", "fitted", "the writeback of metadata", "118.5 to 160 IOPS"] {
        assert!(page.contains(said), "{said}\n{page}");
    }
    let verdict = "3 of 4 numbers are within bounds: 2 of 3 single numbers, 1 of 1 ranges\n\
                   outside: 1 for a reason that was found\n\
                   predicted: 2 (set no value of a drive); calibrated: 1 (these set values of \
                   drives; without them 3 of 3 are within);\n  fitted: 1 (not counted)\n\n";
    assert!(page.starts_with(verdict), "{page}");
    let mut unexplained = compared();
    unexplained.lines.iter_mut().for_each(|line| line.note = None);
    let page = anstream::adapter::strip_str(&published_table(&unexplained, &look)).to_string();
    assert!(page.contains("\noutside: 1 without a stated reason\n"), "{page}");
}

#[test]
fn a_drive_names_its_member_the_meaning_of_each_label_and_times_in_one_form() {
    let value = |key: &str, value: &str, label: &str, source: &str| DriveValue {
        key: text(key),
        value: text(value),
        label: text(label),
        by: String::new(),
        source: text(source),
    };
    let values = vec![
        value("chunk", "64 KiB", "known", "as named"),
        value("read", "30698 ns", "unconfirmed", "from memory"),
        value("seek", "14800 us", "assumed", "as named"),
    ];
    let drive = DriveText {
        kind: text("array"),
        member: Some(text("hdd-7200-512n")),
        values,
        ..drives().drives.remove(0)
    };
    let page = anstream::adapter::strip_str(&drive_text(&drive, &Look::default())).to_string();
    for said in [
        "  member: hdd-7200-512n (",
        "  read    30.7 µs   unconfirmed   [2]\n",
        "  seek    14.8 ms   assumed       [1]\n",
        "  known: its source says so\n",
        "  unconfirmed: from memory, or as others quote it; not compared with its source\n",
        "  [2] from memory\n",
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
    assert!(!page.contains("fitted") && !page.contains("predicted"), "{page}");
}

#[test]
fn a_number_in_its_range_is_inside_and_has_no_percentage() {
    let ranged = |model, error_percent| PublishedLine {
        published_max: 160.0,
        error_percent,
        ..line("a disk", LineOrigin::Predicted, model, true)
    };
    let lines = vec![ranged(150.0, 0.0), ranged(168.0, 5.0)];
    let published = Published { lines, ..compared() };
    let page = published_table(&published, &Look { width: Some(80), ..Look::default() });
    let page = anstream::adapter::strip_str(&page).to_string();
    assert!(page.contains(" inside ") && page.contains(" +5.0 % "), "{page}");
    assert!(!page.contains("0.0 %"), "{page}");
}

#[test]
fn each_article_has_its_author_and_address_under_its_title() {
    let article = "file system blocks alignment (RAID 0, raidtest)";
    let lines = [article, "samsung-980", "a disk"]
        .map(|article| line(article, LineOrigin::Predicted, 118.5, true));
    let published = Published { lines: lines.to_vec(), ..compared() };
    let page = published_table(&published, &Look::default());
    let page = anstream::adapter::strip_str(&page).to_string();
    for said in ["  Alexander Motin, 2009: https://lists.freebsd.org/", "  https://semiconductor.s"]
    {
        assert!(page.contains(said), "{said}\n{page}");
    }
}

#[test]
fn whole_turns_differ_by_turns_and_no_error_is_a_negative_zero() {
    let turns = |published, model| PublishedLine {
        published,
        published_max: published,
        unit: text("turns"),
        error_percent: (model / published - 1.0) * 100.0,
        bound_percent: 0.05,
        ..line("a disk", LineOrigin::Predicted, model, model == published)
    };
    let zero = PublishedLine { error_percent: -0.04, ..compared().lines[0].clone() };
    let lines = vec![turns(5.0, 1.0), turns(2.0, 3.0), turns(4.0, 4.0), zero];
    let published = Published { lines, ..compared() };
    let table = published_table(&published, &Look { width: Some(80), ..Look::default() });
    let page = anstream::adapter::strip_str(&table).to_string();
    for said in ["4 turns less ", "1 turn more ", "none ", "(allowed: none)", " 0.0 %"] {
        assert!(page.contains(said), "{said}\n{page}");
    }
    assert!(!page.contains("-0.0") && !page.contains("80.0 %"), "{page}");
}

#[test]
fn lines_that_share_a_note_are_named_together() {
    let note = |what: &str| PublishedLine {
        what: text(what),
        note: Some(text("seen in 2013")),
        ..line("a disk", LineOrigin::Predicted, 118.5, true)
    };
    let page = |lines| {
        let page = published_table(&Published { lines, ..compared() }, &Look::default());
        anstream::adapter::strip_str(&page).to_string()
    };
    let noted = vec![note("read"), note("write")];
    let all = page(noted.clone());
    assert!(all.contains("  all: seen in 2013\n"), "{all}");
    let bare = line("a disk", LineOrigin::Predicted, 118.5, true);
    let page = page([noted, vec![bare]].concat());
    assert!(page.contains("  read; write: seen in 2013\n"), "{page}");
    assert!(page.contains("a disk on hdd-7200-512e\n"), "{page}");
}

#[test]
fn results_of_probe_and_bench_give_lines_of_a_data_sheet() {
    let said = |text: &str| {
        let lines = measured_lines(text).expect("a result");
        lines.into_iter().map(|line| (line.key, line.amount)).collect::<Vec<_>>()
    };
    let probed = said(&probe_json(&crate::made::probe::platter()));
    assert_eq!(probed, [("unit", 4096), ("physical_sector", 4096), ("rpm", 7200)]);
    let of = |workload: Workload| {
        let experiment = Experiment { workload, ..penalty() };
        said(&bench_json(&Bench { experiments: vec![experiment], ..disk() }))
    };
    let alone = Workload {
        action: OperationDirection::Read,
        operation_bytes: Some(4096),
        depth: 1,
        order: Some(WorkloadOrder::Random),
        direct: true,
        ..Workload::default()
    };
    assert_eq!(of(alone.clone()), [("read_latency", 8_350_000)]);
    let writes = Workload { action: OperationDirection::Write, ..alone.clone() };
    assert_eq!(of(writes.clone()), [("write_latency", 8_350_000)]);
    for other in [
        Workload { sync: Sync::Fsync, ..writes },
        Workload { depth: 32, ..alone.clone() },
        Workload { operation_bytes: Some(65_536), ..alone },
    ] {
        assert_eq!(of(other), []);
    }
    assert!(measured_lines("{\"schema\": \"straddle.check/1\"}").is_err());
}
