//! Text that monitors read: a plugin's output, a condition's message.

use report::{
    Digest, Look, Metric, MonitorAnswer, MonitorState, NPD_BYTES, Note, Summary, Target, headline,
    metrics, nagios, nagios_failure, npd, npd_message,
};
use stack::Severity;

use crate::made::sample::{
    broken, document, hostile, image, old_image, same, shifted_disk, unknowns,
};

const WARNING: Option<Severity> = Some(Severity::Warning);

fn look() -> Look {
    Look::default()
}

/// The output for these targets.
fn output(targets: &[Target], least: Option<Severity>) -> (MonitorState, String) {
    let summary: Summary = document(targets.to_vec()).summary;
    let mut answer = MonitorAnswer::default();
    let mut digest = Digest::default();
    for target in targets {
        answer.merge(MonitorAnswer::of(target, least));
        Note::of(target, least, &look()).into_iter().for_each(|note| digest.take(note));
    }
    let state = answer.state();
    (state, nagios(state, &headline(&summary), digest, &metrics(&summary, least)))
}

/// The label, value and thresholds of each number behind the pipe, read as the guidelines say.
fn numbers(output: &str) -> Vec<(String, String, Vec<String>)> {
    let (_, numbers) = output.lines().next().expect("a line").split_once(" | ").expect("numbers");
    let one = |text: &str| {
        let (label, rest) = text.split_once('=').expect("label=value");
        assert!(label.bytes().all(|byte| byte.is_ascii_lowercase()), "{label} needs no quotes");
        let mut parts = rest.split(';').map(str::to_owned);
        let value = parts.next().expect("a value");
        let digits = value.trim_end_matches('s');
        assert!(digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'), "{value}");
        (label.to_owned(), value, parts.collect())
    };
    numbers.split(' ').map(one).collect()
}

#[test]
fn a_good_image_is_ok_on_one_line_with_its_numbers() {
    let (state, text) = output(&[image("a.raw")], WARNING);
    assert_eq!(state, MonitorState::Ok);
    same(
        &text,
        "STRADDLE OK - no findings in 1 target | targets=1;;;0 misaligned=0;;;0;1 \
         unknown=0;;;0;1 errors=0;;0;0 warnings=0;0;;0 infos=0;;;0 time=0.004s;;;0\n",
    );
}

#[test]
fn the_worst_target_is_named_first_and_each_has_a_line() {
    let (state, text) = output(&[old_image("b.raw"), broken(), shifted_disk()], WARNING);
    assert_eq!(state, MonitorState::Critical);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with(
            "STRADDLE CRITICAL - 1 error, 1 warning in 3 targets, 1 without a verdict; /dev/sda: ST101"
        ),
        "{text}"
    );
    let states: Vec<&str> = lines[1..].iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(states, ["[CRITICAL]", "[WARNING]", "[UNKNOWN]"]);
    assert!(lines[1].contains("misaligned by 1.5 KiB at sda1"), "{text}");
    assert!(lines[3].contains("Permission denied"), "{text}");
}

#[test]
fn known_bad_wins_over_unknown_and_unknown_over_good() {
    let cases: [(&[Target], MonitorState); 6] = [
        (&[image("a"), broken()], MonitorState::Unknown),
        (&[image("a")], MonitorState::Ok),
        (&[broken(), old_image("b")], MonitorState::Warning),
        (&[old_image("b"), shifted_disk(), broken()], MonitorState::Critical),
        (&[shifted_disk(), old_image("b")], MonitorState::Critical),
        (&[broken()], MonitorState::Unknown),
    ];
    for (targets, state) in cases {
        assert_eq!(output(targets, WARNING).0, state, "{targets:#?}");
    }
}

#[test]
fn what_is_below_the_least_severity_alerts_nobody_and_has_no_threshold() {
    for (least, state, warnings, errors) in [
        (Some(Severity::Info), MonitorState::Warning, "0", ""),
        (Some(Severity::Warning), MonitorState::Warning, "0", ""),
        (Some(Severity::Error), MonitorState::Ok, "", ""),
        (None, MonitorState::Ok, "", ""),
    ] {
        let (found, text) = output(&[old_image("b.raw")], least);
        assert_eq!(found, state, "{least:?}");
        let numbers = numbers(&text);
        let of = |label: &str| &numbers.iter().find(|one| one.0 == label).unwrap().2;
        assert_eq!(of("warnings")[0], warnings, "{least:?}: {text}");
        assert_eq!(of("errors")[0], errors, "an error is never a warning");
        assert_eq!(of("errors")[1] == "0", least.is_some(), "{least:?}: {text}");
    }
    assert_eq!(output(&[shifted_disk()], None).0, MonitorState::Ok);
}

#[test]
fn hostile_names_leave_one_pipe_one_line_each_and_nothing_for_a_shell() {
    let mut target = hostile();
    target.target = "a|b='1';\n`$(reboot)`\u{1b}[31m|x\\xff".to_owned();
    let (_, text) = output(&[target.clone(), image("a.raw")], WARNING);
    assert_eq!(text.matches('|').count(), 1, "{text}");
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(!text.contains(['`', '$', '\'', '"', '<', '>', '&', '\u{1b}', '\u{202e}']), "{text}");
    assert!(text.contains("a\\u{7c}b=\u{2019}1\u{2019};\\u{a}"), "{text}");
    assert_eq!(numbers(&text).len(), 7);
    target.findings[0].title = "|".repeat(5000).into();
    let (_, text) = output(&[target], WARNING);
    assert_eq!(text.matches('|').count(), 1);
    assert!(text.len() < 8192);
}

#[test]
fn ten_thousand_targets_fit_and_those_that_do_not_are_counted() {
    let targets: Vec<Target> = (0..10_000).map(|one| old_image(&format!("{one}.raw"))).collect();
    let (state, text) = output(&targets, WARNING);
    assert_eq!(state, MonitorState::Warning);
    assert!((7000..8192).contains(&text.len()), "{} bytes", text.len());
    let shown = text.lines().filter(|line| line.starts_with("[WARNING]")).count();
    let last = text.lines().last().unwrap();
    assert!(last.starts_with(&format!("{} more;", 10_000 - shown)), "{last}");
    assert_eq!(numbers(&text)[0].1, "10000");
}

#[test]
fn all_lines_are_shown_where_they_just_fit() {
    for count in 1..80 {
        let targets: Vec<Target> = (0..count).map(|_| old_image("an-image.raw")).collect();
        let (_, text) = output(&targets, WARNING);
        let shown = text.lines().filter(|line| line.starts_with('[')).count();
        let more = text.lines().last().and_then(|line| line.split_once(" more; "));
        let more = more.map_or(0, |(count, _)| count.parse().unwrap());
        assert_eq!(shown + more, count, "{text}");
        assert!(text.len() < 8192, "{count}");
    }
}

#[test]
fn a_plugin_that_cannot_work_is_unknown_on_one_line() {
    let text = nagios_failure("cannot read the baseline a|b\n");
    same(&text, "STRADDLE UNKNOWN - cannot read the baseline a\\u{7c}b\n");
}

#[test]
fn seconds_are_rounded_up_to_the_millisecond() {
    for (nanoseconds, value) in [(0, "0.000"), (1, "0.001"), (61_000_000_000, "61.000")] {
        assert_eq!(Metric::seconds("time", nanoseconds).value, value);
    }
}

#[test]
fn a_message_for_a_condition_is_one_line_of_at_most_its_bytes() {
    let targets = [hostile(), unknowns(), broken()];
    for limit in [16, 17, 40, NPD_BYTES, 200, 4096] {
        let mut digest = Digest::default();
        for target in &targets {
            Note::of(target, WARNING, &look()).into_iter().for_each(|note| digest.take(note));
        }
        let text = npd(&headline(&document(targets.to_vec()).summary), digest, limit);
        assert!(text.trim_end().len() <= limit, "{limit}: {text}");
        assert_eq!(text.matches('\n').count(), 1);
        assert!(!text.trim_end().contains(|one: char| one.is_control()), "{text:?}");
    }
    assert_eq!(npd_message("日本語日本語", 16), "日本語日...\n");
}

#[test]
fn a_message_says_the_same_when_only_the_time_differs() {
    let of = |elapsed_ns| {
        let summary = Summary { elapsed_ns, ..document(vec![old_image("a")]).summary };
        npd(&headline(&summary), Digest::default(), NPD_BYTES)
    };
    assert_eq!(of(1), of(1_000_000_000));
    assert_eq!(of(1), "1 warning in 1 target\n");
}
