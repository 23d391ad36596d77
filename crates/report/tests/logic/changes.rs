//! Two looks side by side, and baselines that are none.

use std::collections::HashSet;

use report::{
    Baseline, Change, Digest, LayerReport, Look, Note, ResultFault, Target, TargetChange, Trend,
    changes_closing, changes_headline, changes_json, changes_tree,
};
use stack::{LayerType, Severity, UnitKind, Verdict};
use units::Source;

use crate::made::sample::{
    array, broken, document, drive, hostile, image, layer, old_image, plain, same, shifted_disk,
    target, unit, unknowns,
};
use crate::made::whole::json;

fn samples() -> Vec<Target> {
    vec![shifted_disk(), array(), unknowns(), broken(), old_image("b.raw"), hostile()]
}

/// Returns what a look at `after` says where a look at `before` was saved, file and all.
fn change(before: &Target, after: &Target) -> Option<TargetChange> {
    let saved = json(&document(vec![before.clone()]));
    Baseline::read(saved.as_bytes()).expect("a baseline").compare(after).change
}

/// Each change in a few words.
fn words(changes: &[Change]) -> Vec<String> {
    let value = |seen: &Option<report::SeenValue>| {
        let seen = seen.as_ref().and_then(|seen| seen.value.clone());
        seen.unwrap_or_else(|| "-".to_owned())
    };
    let one = |change: &Change| {
        let layer = change.layer.as_deref().unwrap_or("target");
        let (before, after) = (value(&change.before), value(&change.after));
        format!("{} {layer} {} {before} {after}", change.trend.word(), change.key)
    };
    changes.iter().map(one).collect()
}

#[test]
fn a_document_that_was_written_reads_back_as_it_was() {
    let written = json(&document(samples()));
    let read: report::Document = serde_json::from_str(&written).expect("it reads back");
    assert_eq!(read.targets.len(), 6);
    same(&json(&read), &written);
}

#[test]
fn what_is_the_same_has_not_changed() {
    for target in [shifted_disk(), array(), old_image("b.raw"), image("a.raw")] {
        assert_eq!(change(&target, &target), None, "{}", target.target);
    }
    // Names that had to be escaped are the same ones again.
    assert_eq!(change(&hostile(), &hostile()), None);
}

#[test]
fn a_partition_that_moved_is_that_change_and_no_other() {
    let found = change(&image("b.raw"), &old_image("b.raw")).expect("a change");
    assert_eq!(
        words(&found.changes),
        [
            "worse target verdict aligned misaligned",
            "worse b.raw/b.raw#1 verdict aligned misaligned",
            "changed b.raw/b.raw#1 start-bytes 1048576 32256",
            "worse b.raw/b.raw#1 ST101 - warning",
        ]
    );
    assert_eq!(found.trend, Trend::Worse);
    for (least, matters) in [
        (Some(Severity::Info), true),
        (Some(Severity::Warning), true),
        (Some(Severity::Error), false),
        (None, false),
    ] {
        assert_eq!(found.answer(least).found.is_some(), matters, "{least:?}");
    }
    let back = change(&old_image("b.raw"), &image("b.raw")).expect("a change");
    assert_eq!(back.trend, Trend::Better);
    assert_eq!(back.answer(Some(Severity::Warning)), report::MonitorAnswer::default());
}

#[test]
fn a_sector_size_that_changed_is_told_with_both_values_and_sources() {
    let before = target("sda", Verdict::Aligned, vec![drive(0, "sda", "a disk", 1 << 30)]);
    let mut after = before.clone();
    after.layers[0].units[1] = unit(UnitKind::Granule, 512, Source::Identify, true);
    let found = change(&before, &after).expect("a change");
    assert_eq!(words(&found.changes), ["changed sda granule-bytes 4096 512"]);
    let one = &found.changes[0];
    let source = |seen: &Option<report::SeenValue>| seen.as_ref().unwrap().source.clone().unwrap();
    assert_eq!((source(&one.before), source(&one.after)), ("sysfs".into(), "identify".into()));
    assert_eq!((found.trend, one.severity), (Trend::Changed, Severity::Info));
    let text = plain(&changes_tree(&found, &Look::default()));
    assert!(text.contains("sda: granule 4 KiB (sysfs) -> 512 B (identify)"), "{text}");
}

#[test]
fn counters_and_sources_are_no_change() {
    let mut after = shifted_disk();
    after.layers[0].units[1].source = Some(Source::Identify);
    let counter = report::Fact {
        key: "sequence".into(),
        value: Some("8".to_owned()),
        source: Some(Source::OnDisk),
        reason: None,
    };
    after.layers[2].facts.push(counter);
    assert_eq!(change(&shifted_disk(), &after), None);
}

#[test]
fn layers_that_appear_and_vanish_are_named_by_their_path() {
    let mut after = image("a.raw");
    after.layers.pop();
    let swap = layer(1, &[0], LayerType::Swap, "swap", "4 KiB pages");
    after.layers.push(swap);
    let found = change(&image("a.raw"), &after).expect("a change");
    assert_eq!(
        words(&found.changes),
        ["appeared a.raw/swap swap - aligned", "vanished a.raw/a.raw#1 partition aligned -"]
    );
    assert_eq!(found.trend, Trend::Changed);
    assert!(!found.answered && found.reason.is_some_and(|it| it.ends_with(" is gone")));
}

#[test]
fn a_finding_that_goes_with_its_content_is_vanished_and_never_better() {
    let mut empty = old_image("b.raw");
    empty.verdict = Verdict::Empty;
    empty.layers.truncate(1);
    empty.layers[0].verdict = Verdict::Empty;
    empty.findings.clear();
    let found = change(&old_image("b.raw"), &empty).expect("a change");
    let words = words(&found.changes);
    assert!(words.contains(&"changed target verdict misaligned empty".to_owned()), "{words:?}");
    assert!(words.iter().any(|line| line.starts_with("vanished b.raw/b.raw#1 ST101")), "{words:?}");
    assert!(words.iter().all(|line| !line.starts_with("better")), "{words:?}");
    // The target itself is still there, and every view says so.
    assert_eq!(found.trend, Trend::Changed);
    let gone = "b.raw: changed: the partition b.raw#1 (gpt \"root\") is gone";
    let text = plain(&changes_tree(&found, &Look::default()));
    assert!(text.starts_with(&gone.replacen(":", " ", 1)), "{text}");
    let mut digest = Digest::default();
    digest.take(Note::of_change(&found, Some(Severity::Warning), &Look::default()));
    assert!(report::npd("1 changed", digest, 4096).contains(gone));
    let answer = found.answer(Some(Severity::Warning));
    assert!(answer.found.is_none() && answer.unknown, "{answer:?}");
    // That it is gone is not what became worse.
    let mut bad = old_image("b.raw");
    bad.layers[1].title = "dos, Linux".to_owned();
    let worse = change(&image("b.raw"), &bad).expect("a change");
    let text = plain(&changes_tree(&worse, &Look::default()));
    assert!(text.starts_with("b.raw  worse, and the partition b.raw#1 ("), "{text}");
    // The same where the layers stay and nothing is on them.
    let mut emptied = old_image("b.raw");
    emptied.verdict = Verdict::Empty;
    emptied.findings.clear();
    let found = change(&old_image("b.raw"), &emptied).expect("a change");
    assert_eq!((found.trend, found.answered), (Trend::Changed, false), "{found:?}");
    let lost = |change: &Change| matches!(change.trend, Trend::Vanished | Trend::Changed);
    assert!(found.changes.iter().all(lost), "{found:?}");
}

#[test]
fn a_layer_that_is_called_otherwise_now_has_not_vanished() {
    let mut after = image("a.raw");
    after.layers[1].name = "a.raw#7".to_owned();
    let found = change(&image("a.raw"), &after).expect("a change");
    assert_eq!((found.trend, found.answered), (Trend::Changed, true), "{found:?}");
}

#[test]
fn targets_joined_or_named_in_another_order_are_the_ones_of_the_baseline() {
    let joined = |names: &[&str]| {
        let joined = names.iter().map(|&name| name.to_owned()).collect();
        Target { joined, target: names.join(" + "), ..image("a.raw") }
    };
    let both = joined(&["a.raw", "b.raw"]);
    assert_eq!(change(&both, &joined(&["b.raw", "a.raw"])), None);
    assert_eq!(change(&both, &image("a.raw")), None, "one of them stands for both");
    assert_eq!(change(&image("a.raw"), &both), None);
    let baseline = Baseline::of(document(vec![both]));
    assert!(baseline.knows("b.raw") && !baseline.knows("c.raw"));
    let asked = ["b.raw".to_owned()];
    assert_eq!(baseline.vanished(&HashSet::new(), &asked).0.len(), 1);
    let seen = HashSet::from([baseline.compare(&image("a.raw")).target]);
    assert_eq!(baseline.vanished(&seen, &asked), (Vec::new(), Vec::new()), "it was seen");
}

#[test]
fn the_working_directory_holds_every_relative_name_of_the_baseline() {
    let targets = ["a.raw", "z/b.raw", "../c.raw", "/d.raw"].map(image).to_vec();
    let vanished = |asked: &str| {
        let baseline = Baseline::of(document(targets.clone()));
        let (gone, others) = baseline.vanished(&HashSet::new(), &[asked.to_owned()]);
        (gone.into_iter().map(|it| it.target).collect::<Vec<_>>(), others)
    };
    let others = ["../c.raw", "/d.raw"].map(str::to_owned).to_vec();
    assert_eq!(vanished("."), (vec!["a.raw".to_owned(), "z/b.raw".to_owned()], others));
}

#[test]
fn a_partition_in_whose_place_another_one_is_did_not_vanish_without_trace() {
    let mut after = image("a.raw");
    after.layers[1].title = "gpt \"other\"".to_owned();
    after.layers[1].start_bytes = Some(8 << 20);
    let reason =
        change(&image("a.raw"), &after).expect("a change").reason.expect("it has a reason");
    assert!(
        reason.starts_with("the partition a.raw#1 (") && reason.ends_with("is another one now")
    );
}

#[test]
fn an_array_with_other_members_is_still_that_array() {
    let mut after = array();
    after.layers.retain(|layer| layer.id != 6 && layer.id != 7);
    let array = after.layers.iter_mut().find(|layer| layer.name == "md127").unwrap();
    array.below = vec![1, 3, 5];
    let found = change(&crate::made::sample::array(), &after).expect("a change");
    let vanished = ["vanished sdd drive aligned -", "vanished sdd/sdd1 partition aligned -"];
    assert_eq!(words(&found.changes), vanished);
}

#[test]
fn a_finding_whose_severity_changed_is_better_or_worse() {
    let mut milder = shifted_disk();
    milder.findings[0].severity = Severity::Warning;
    let found = change(&shifted_disk(), &milder).expect("a change");
    assert_eq!(words(&found.changes), ["better sda/sda1 ST101 error warning"]);
    let found = change(&milder, &shifted_disk()).expect("a change");
    assert_eq!(words(&found.changes), ["worse sda/sda1 ST101 warning error"]);
    assert_eq!(found.answer(Some(Severity::Error)).state(), report::MonitorState::Critical);
}

#[test]
fn a_code_that_another_of_its_subject_took_the_place_of_is_one_change() {
    let coded = |code: &'static str, severity| {
        let mut target = shifted_disk();
        target.findings[0].code = code.into();
        target.findings[0].severity = severity;
        target
    };
    let assumed = coded("ST102", Severity::Warning);
    for (after, expected, fails) in [
        (coded("ST101", Severity::Warning), "changed sda/sda1 ST102 warning ST101 warning", false),
        (coded("ST101", Severity::Error), "worse sda/sda1 ST102 warning ST101 error", true),
        (coded("ST103", Severity::Info), "better sda/sda1 ST102 warning ST103 info", false),
    ] {
        let found = change(&assumed, &after).expect("a change");
        assert_eq!(words(&found.changes), [expected]);
        assert_eq!(found.answer(Some(Severity::Warning)).found.is_some(), fails, "{expected}");
    }
    let found = change(&assumed, &coded("ST101", Severity::Warning)).expect("a change");
    let text = plain(&changes_tree(&found, &Look::default()));
    assert!(text.contains("  changed  sda/sda1: ST102 warning -> ST101 warning: "), "{text}");
    // Another subject is another matter.
    let found = change(&assumed, &coded("ST303", Severity::Warning)).expect("a change");
    let both = ["worse sda/sda1 ST303 - warning", "better sda/sda1 ST102 warning -"];
    assert_eq!(words(&found.changes), both);
}

#[test]
fn what_cannot_be_judged_now_is_unanswered_and_says_why() {
    let mut before = broken();
    before.refusal = None;
    before.layers = shifted_disk().layers;
    before.verdict = Verdict::Aligned;
    let found = change(&before, &broken()).expect("a change");
    assert_eq!(words(&found.changes), ["unknown target verdict aligned unknown"]);
    assert!(found.reason.as_ref().unwrap().contains("Permission denied"));
    assert_eq!(found.answer(Some(Severity::Warning)).state(), report::MonitorState::Unknown);
    // Unknown at both looks: nothing changed that anyone could see, and nobody can tell.
    let still = change(&broken(), &broken()).expect("it is told");
    assert_eq!((still.trend, still.changes.len(), still.answered), (Trend::Unknown, 0, false));
    // A look that sees again what an earlier one did not.
    let again = change(&broken(), &before).expect("a change");
    assert_eq!(words(&again.changes), ["changed target verdict unknown aligned"]);
}

#[test]
fn targets_appear_with_what_was_found_and_vanish_unanswered() {
    let baseline = Baseline::of(document(vec![image("a.raw"), image("b.raw")]));
    let new = baseline.compare(&old_image("c.raw")).change.expect("it is new");
    assert_eq!(
        words(&new.changes),
        ["appeared target verdict - misaligned", "appeared c.raw#1 ST101 - warning"]
    );
    assert_eq!(new.answer(Some(Severity::Warning)).found, Some(Severity::Warning));
    let seen = HashSet::from(["b.raw".to_owned(), "c.raw".to_owned()]);
    let (gone, others) = baseline.vanished(&seen, &[]);
    assert_eq!((gone.len(), others.len()), (1, 0));
    let (asked, others) = baseline.vanished(&seen, &["b.raw".to_owned()]);
    assert_eq!((asked.len(), others.len()), (0, 1), "a.raw was not asked for");
    assert_eq!((gone[0].target.as_str(), gone[0].trend), ("a.raw", Trend::Vanished));
    assert!(gone[0].answer(Some(Severity::Warning)).unknown);
}

#[test]
fn bytes_that_are_no_baseline_are_refused_with_what_they_are() {
    let good = json(&document(samples()));
    let other = good.replace("straddle.check/1", "straddle.check/2\\u001b");
    let read = |bytes: &[u8]| Baseline::read(bytes).expect_err("no baseline");
    for bytes in [&b""[..], b"\0\xff\xfe", b"[]", b"{}", b"null", b"{\"schema\":1}", b"\"x\""] {
        assert!(matches!(read(bytes), ResultFault::NotOurs(_)), "{bytes:?}");
    }
    let ResultFault::OtherVersion(schema) = read(other.as_bytes()) else { panic!("other") };
    assert_eq!(schema, "straddle.check/2\\u{1b}");
    let broken = |from: &str, to: &str| {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from} is there");
        let fault = read(text.as_bytes());
        assert!(matches!(fault, ResultFault::Broken(_)), "{fault}");
        assert!(fault.to_string().len() < 260 && !fault.to_string().contains('\u{1b}'), "{fault}");
    };
    broken("\"misaligned\"", "\"crooked\\u001b[31m\"");
    broken("\"id\": 0", "\"id\": -1");
    broken("\"id\": 0", "\"id\": 99999999999");
    broken("\"targets\": [", "\"targets\": [1,");
    broken("\"findings\"", "\"found\"");
    let deep = format!("{{\"schema\":\"straddle.check/1\",\"x\":{}", "[".repeat(100_000));
    read(deep.as_bytes());
    let half = &good.as_bytes()[..good.len() / 2];
    assert!(matches!(read(half), ResultFault::Broken(_)));
}

#[test]
fn every_cut_and_every_flipped_byte_of_a_baseline_is_survived() {
    let good = json(&document(vec![shifted_disk()])).into_bytes();
    let after = shifted_disk();
    let mut random = testkit::random(7);
    for _ in 0..2000 {
        let mut bytes = good.clone();
        for _ in 0..=random.below(3) {
            let at = usize::try_from(random.below(good.len() as u64)).unwrap();
            bytes[at] = u8::try_from(random.below(256)).unwrap();
        }
        if let Ok(baseline) = Baseline::read(&bytes) {
            let change = baseline.compare(&after).change;
            let text = change.map(|change| plain(&changes_tree(&change, &Look::default())));
            assert!(!text.unwrap_or_default().contains('\u{1b}'));
        }
    }
}

#[test]
fn circles_long_chains_and_equal_layers_in_a_baseline_end() {
    let mut circle = shifted_disk();
    circle.layers[0].below = vec![2];
    circle.layers[1].below = vec![1];
    circle.findings[0].layer = 77;
    assert!(change(&circle, &shifted_disk()).is_some());
    let link = |id: u32| layer(id, &[id.saturating_sub(1)], LayerType::Partition, "p", "");
    let layers: Vec<LayerReport> = (0..20_000).map(link).collect();
    let chain = target("sda", Verdict::Aligned, layers.clone());
    assert_eq!(change(&chain, &chain), None);
    let found = change(&chain, &target("sda", Verdict::Aligned, layers[..19_999].to_vec()));
    let changes = found.expect("a change").changes;
    assert_eq!(changes.len(), 1);
    assert!(changes[0].layer.as_ref().unwrap().len() < 64);
    let same: Vec<LayerReport> =
        (0..20_000).map(|id| layer(id, &[], LayerType::Drive, "x", "")).collect();
    let twins = target("sda", Verdict::Aligned, same.clone());
    let fewer = target("sda", Verdict::Aligned, same[1..].to_vec());
    assert_eq!(change(&twins, &fewer).expect("a change").changes.len(), 1);
}

#[test]
fn text_of_a_hostile_baseline_is_printed_on_its_line() {
    let mut before = hostile();
    before.layers[1].kind = LayerType::Luks;
    before.layers[1].title = "evil\u{1b}[2J\ntitle".to_owned();
    let found = change(&before, &hostile()).expect("a change");
    let text = plain(&changes_tree(&found, &Look::default()));
    assert_eq!(text.lines().count(), 1 + found.changes.len(), "{text}");
    let controls = |text: &str| text.chars().any(|one| one.is_control() && one != '\n');
    assert!(!controls(&text) && !text.contains('\u{202e}'), "{text}");
    let mut digest = Digest::default();
    digest.take(Note::of_change(&found, Some(Severity::Warning), &Look::default()));
    let message = report::npd("1 changed", digest, 4096);
    assert!(!controls(&message), "{message:?}");
}

#[test]
fn the_counts_say_what_became_of_all_targets() {
    let mut summary = report::ChangeSummary::default();
    summary.add(None);
    summary.add(change(&image("b"), &old_image("b")).as_ref());
    summary.add(change(&broken(), &broken()).as_ref());
    assert_eq!(changes_headline(&summary), "1 worse, 1 unknown as before in 3 targets");
    let text = changes_closing(&summary, "0.1.0", &Look::default());
    let expected = "3 targets compared with a baseline of straddle 0.1.0: \
                    1 worse, 1 unknown as before, 1 as before. Done in 0 ns.\n";
    assert_eq!(text, expected);
    let quiet = report::ChangeSummary { targets: 1, unchanged: 1, ..Default::default() };
    assert_eq!(changes_headline(&quiet), "nothing changed in 1 target");
    let text = changes_closing(&quiet, "0.1.0", &Look::default());
    assert!(text.ends_with(": nothing changed. Done in 0 ns.\n"), "{text}");
}

#[test]
fn every_line_of_changes_fits_a_terminal_and_is_whole_in_a_pipe() {
    let found = change(&image("b.raw"), &old_image("b.raw")).expect("a change");
    let text = |width| {
        let look = Look { width, ..Look::default() };
        let summary = report::ChangeSummary { targets: 3, worse: 3, ..Default::default() };
        plain(&(changes_tree(&found, &look) + &changes_closing(&summary, "0.1.0", &look)))
    };
    assert!(text(Some(50)).lines().all(|line| line.len() <= 50), "{}", text(Some(50)));
    assert_eq!(text(None).lines().count(), found.changes.len() + 2, "{}", text(None));
}

/// Changes of every kind, for the schema.
pub(crate) fn all() -> report::Changes {
    let mut other = shifted_disk();
    other.layers[0].units[1].bytes = None;
    other.layers.pop();
    let targets = vec![
        change(&image("b.raw"), &old_image("b.raw")).expect("a change"),
        change(&broken(), &broken()).expect("a change"),
        change(&shifted_disk(), &other).expect("a change"),
    ];
    let mut summary = report::ChangeSummary::default();
    targets.iter().for_each(|one| summary.add(Some(one)));
    report::Changes {
        envelope: crate::made::sample::envelope(report::CHANGES_SCHEMA, report::Run::default()),
        baseline_version: "0.1.0".to_owned(),
        targets,
        summary,
    }
}

#[test]
fn changes_on_one_line_and_indented_are_the_same_document() {
    let value = |indented| -> serde_json::Value {
        serde_json::from_str(&changes_json(&all(), indented)).expect("JSON")
    };
    assert_eq!(value(true), value(false));
    assert_eq!(changes_json(&all(), false).lines().count(), 1);
}
