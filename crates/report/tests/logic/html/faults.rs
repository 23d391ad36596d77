//! Files that are no result, and results that are damaged, huge or hostile.

use report::ResultFault;
use report::html::{Draft, FileContent, PAGE_BYTES_MAX, Report, page, read};

use crate::made::pages::{sources, texts};

fn fault(text: &str) -> ResultFault {
    match read("x.json", text) {
        Err(fault) => fault,
        Ok(source) => panic!("it is read: {source:?}"),
    }
}

#[test]
fn what_is_no_result_is_told_apart_by_what_it_lacks() {
    for text in ["", "{", "[]", "null", "{}", "hello", "{\"schema\": 7}", "\u{0}"] {
        assert!(matches!(fault(text), ResultFault::NotOurs(_)), "{text:?}: {:?}", fault(text));
    }
    for (schema, expected) in [
        ("straddle.bench/2", ResultFault::OtherVersion("straddle.bench/2".to_owned())),
        ("straddle.check/99", ResultFault::OtherVersion("straddle.check/99".to_owned())),
        ("straddle.party/1", ResultFault::OtherSchema("straddle.party/1".to_owned(), None)),
        ("\u{202e}", ResultFault::OtherSchema("\\u{202e}".to_owned(), None)),
    ] {
        assert_eq!(fault(&format!("{{\"schema\": \"{schema}\"}}")), expected);
    }
    for (text, said) in [
        ("[]", "found a JSON list"),
        ("null", "found another JSON value"),
        ("7", "found another JSON value"),
        ("", "found an empty file"),
        (" \n", "found an empty file"),
        ("{}", "expected a `schema` field"),
        ("{\"schema\": \"straddle.check/1\"}\n{}", "more text after the first one (line 2)"),
        ("<!DOCTYPE html>", "found invalid JSON (expected value at line 1 column 1)"),
        ("{\"schema\": [7]}", "expected a `schema` field"),
        ("{\"schema\": ", "found one that is cut short"),
    ] {
        assert!(fault(text).to_string().contains(said), "{text:?}: {}", fault(text));
    }
    let long = format!("{{\"schema\": \"{}\"}}", "x".repeat(100_000));
    let ResultFault::OtherSchema(shown, None) = fault(&long) else { panic!("{long}") };
    assert!(shown.len() < 500, "{}", shown.len());
}

#[test]
fn a_result_cut_anywhere_or_with_wrong_types_is_damaged_and_never_a_panic() {
    for (name, text) in texts() {
        for length in (0..text.trim_end().len()).step_by(97).filter(|&at| text.is_char_boundary(at))
        {
            assert!(read(name, &text[..length]).is_err(), "{name} cut at {length}");
        }
        let cut = &text[..text.floor_char_boundary(text.len() / 2)];
        assert!(matches!(fault(cut), ResultFault::Broken(_)), "{name}: {:?}", fault(cut));
        // The schema alone is not the document.
        let schema = text.split('"').nth(3).expect("the schema comes first");
        let bare = format!("{{\"schema\": \"{schema}\"}}");
        assert!(matches!(fault(&bare), ResultFault::Broken(_)), "{name}: {:?}", fault(&bare));
        let deep = format!("{{\"schema\": \"{schema}\", \"targets\": {}", "[".repeat(1_000_000));
        assert!(read(name, &deep).is_err());
    }
    assert!(read("deep", &"[".repeat(1_000_000)).is_err());
    assert!(read("deep", &"{\"a\":".repeat(1_000_000)).is_err());
}

#[test]
fn no_fault_names_a_type_of_the_program() {
    let names = |fault: &ResultFault| {
        let text = fault.to_string();
        ["struct", "enum", "Head", "tuple", "u64", "u32", "f64"].iter().any(|it| text.contains(it))
            || text.split(' ').any(|word| word.ends_with("Target") || word.contains("::"))
    };
    for text in ["[]", "[{}]", "null", "\"x\"", "{\"schema\": {}}", "[", "{"] {
        assert!(!names(&fault(text)), "{text}: {}", fault(text));
    }
    // Each field of each document in turn is a list with something in it.
    for (name, text) in texts() {
        let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        for key in value.as_object().expect("an object").keys() {
            let mut other = value.clone();
            for wrong in [serde_json::json!([[7]]), serde_json::json!(true), serde_json::json!([])]
            {
                other[key] = wrong;
                if let Err(fault) = read(name, &other.to_string()) {
                    assert!(!names(&fault), "{name} {key}: {fault}");
                }
            }
        }
    }
}

#[test]
fn what_another_release_wrote_is_not_called_damaged() {
    let of = |version: &str| {
        fault(&format!("{{\"schema\": \"straddle.bench/1\", \"version\": \"{version}\"}}"))
    };
    let older = of("0.0.9");
    assert!(matches!(older, ResultFault::OtherRelease(..)), "{older:?}");
    assert!(older.to_string().starts_with("written by straddle 0.0.9"), "{older}");
    assert!(older.hint().contains("measure again"), "{}", older.hint());
    assert!(matches!(of(env!("CARGO_PKG_VERSION")), ResultFault::Broken(_)));
}

#[test]
fn every_fault_says_what_to_do() {
    for text in ["", "{\"schema\": \"straddle.bench/2\"}", "{\"schema\": \"straddle.bench/1\"}"] {
        let fault = fault(text);
        assert!(fault.hint().len() > 20, "{fault}");
        assert!(!fault.to_string().is_empty());
    }
    assert!(fault("{}").hint().contains("--json"), "it says what is expected");
}

#[test]
fn figures_beyond_all_reason_make_a_page_and_no_panic() {
    for (name, text) in texts() {
        let mut value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        for number in ["18446744073709551615", "0", "1"] {
            numbers(&mut value, &number.parse().expect("it is a number"));
            // Some fields hold 32 bits: a layer's number, which nothing is drawn by.
            if let Ok(source) = read(name, &value.to_string()) {
                let page = page(&Report { sources: vec![source], unread: Vec::new() });
                assert!(page.ends_with("</html>") && !page.contains("NaN"), "{name} {number}");
            }
        }
    }
}

fn numbers(value: &mut serde_json::Value, number: &serde_json::Number) {
    use serde_json::Value;
    match value {
        Value::Number(old) => *old = number.clone(),
        Value::Array(values) => values.iter_mut().for_each(|value| numbers(value, number)),
        Value::Object(fields) => {
            let fields = fields.iter_mut().filter(|(key, _)| *key != "id" && *key != "below");
            fields.for_each(|(_, value)| numbers(value, number));
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

#[test]
fn a_page_of_very_much_is_bounded_and_says_what_it_leaves_out() {
    let mut all = sources();
    for source in &mut all {
        match &mut source.content {
            FileContent::Check(document) => {
                let target = document.targets[1].clone();
                document.targets.extend(vec![target; 5000]);
            }
            FileContent::Bench(bench) => {
                let experiment = bench.experiments[0].clone();
                bench.experiments.extend(vec![experiment; 3000]);
            }
            FileContent::Fsync(fsync) => {
                let row = fsync.rows[0].clone();
                fsync.rows.extend(vec![row; 3000]);
            }
            FileContent::Simulation(simulation) => {
                let arm = simulation.arms[1].clone();
                simulation.arms.extend(vec![arm; 5000]);
                simulation.envelope.notes = vec!["x".repeat(1000); 10_000];
            }
            FileContent::Published(published) => {
                let line = published.lines[4].clone();
                published.lines.extend(vec![line; 5000]);
            }
            FileContent::Torture(torture) => {
                let failure = torture.failures[0].clone();
                torture.failures.extend(vec![failure; 5000]);
            }
            FileContent::Compare(_) | FileContent::Probe(_) | FileContent::Trace(_) => {}
        }
    }
    let mut many = Draft::default();
    (0..40).for_each(|_| all.iter().for_each(|source| many.add(source)));
    let text = many.page();
    assert!(text.len() < 3 * PAGE_BYTES_MAX, "{}", text.len());
    assert!(text.contains("in full, those that need attention first."));
    for (long, left_out) in all.into_iter().zip([
        "more targets",
        "more experiments",
        "more rows",
        "",
        "",
        "",
        "more rows",
        "more rows",
        "more numbers",
        "more cuts",
    ]) {
        let name = long.name.clone();
        let one = page(&Report { sources: vec![long], unread: Vec::new() });
        assert!(one.len() < 2 * PAGE_BYTES_MAX, "{name}: {}", one.len());
        assert!(one.contains(left_out), "{name}: {left_out}");
    }
}

#[test]
fn the_same_files_give_the_same_page() {
    let made = || page(&Report { sources: sources(), unread: Vec::new() });
    assert_eq!(made(), made());
}
