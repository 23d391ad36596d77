//! The examples for monitors that packages hold: each is run as its monitor runs it.

use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::{Scratch, need_tools, tool};

use super::monitors::image;
use super::run::{straddle, text};

/// The program that the examples run, where packages put it.
const PROGRAM: &str = "/usr/bin/straddle";

fn path(name: &str) -> PathBuf {
    let directory = "../xtask/packaging/monitors";
    Path::new(env!("CARGO_MANIFEST_DIR")).join(directory).join(name)
}

fn example(name: &str) -> String {
    std::fs::read_to_string(path(name)).expect("the example is there")
}

/// The words after the program in the command of `nagios.cfg`.
fn nagios_words() -> Vec<String> {
    let config = example("nagios.cfg");
    let line = config.lines().find_map(|line| line.trim().strip_prefix("command_line"));
    let command = line.expect("a command").trim().strip_prefix("/usr/bin/sudo -n ");
    let words = command.and_then(|command| command.strip_prefix(PROGRAM)).expect("the program");
    words.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn the_command_for_nagios_gives_the_states_that_its_plugins_tools_expect() {
    need_tools!("negate");
    let scratch = Scratch::new();
    let good = image(scratch.path(), "good.raw".as_ref(), 2048);
    let bad = image(scratch.path(), "bad.raw".as_ref(), 63);
    let gone = scratch.path().join("gone.raw");
    let words = nagios_words();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // OK becomes CRITICAL, WARNING becomes OK; both also in the text.
    let changed = ["--substitute", "--ok=CRITICAL", "--warning=OK", env!("CARGO_BIN_EXE_straddle")];
    for (target, code, state) in [(good, 2, "CRITICAL"), (bad, 0, "OK"), (gone, 3, "UNKNOWN")] {
        let output = tool::output("negate", &[&changed[..], &words, &[text(&target)]].concat());
        let said = String::from_utf8(output.stdout).expect("text");
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.starts_with(&format!("STRADDLE {state} - ")), "{said}");
    }
}

#[test]
fn sudo_allows_the_commands_of_nagios_and_icinga_and_no_others() {
    let mut allowed: Vec<String> = Vec::new();
    for line in example("sudoers").lines().filter(|line| !line.starts_with('#')) {
        let command = line.strip_prefix("nagios ALL=(root) NOPASSWD: ").expect("a rule");
        allowed.push(command.to_owned());
    }
    let command = format!("{PROGRAM} {}", nagios_words().join(" "));
    let watch = format!("{command} --watch /var/lib/straddle/base.json");
    assert_eq!(allowed, [command.clone(), watch]);
    let quoted: Vec<String> = command.split(' ').map(|word| format!("\"{word}\"")).collect();
    let icinga = format!("[ \"/usr/bin/sudo\", \"-n\", {} ]", quoted.join(", "));
    assert!(example("icinga2.conf").contains(&icinga), "{icinga}");
}

#[test]
fn sudo_reads_its_example() {
    need_tools!("visudo");
    tool::run("visudo", &["-cf", text(&path("sudoers"))]);
}

#[test]
fn icinga_makes_a_service_from_its_example() {
    need_tools!("icinga2", "id");
    let scratch = Scratch::new();
    let host = "object Host \"s\" { check_command = \"straddle\"; vars.os = \"Linux\" }\n";
    let config = [host, &example("icinga2.conf")].concat();
    let config = scratch.file("icinga2.conf", config.as_bytes());
    let directory = text(scratch.path());
    let mut icinga = tool::command("icinga2");
    icinga.args(["daemon", "--validate", "--config", text(&config)]);
    for name in ["DataDir", "CacheDir"] {
        icinga.arg(format!("-D{name}={directory}"));
    }
    icinga.arg(format!("-DVarsPath={directory}/vars"));
    // Otherwise it becomes the user of Debian's monitors, who may not write here.
    for (variable, word) in [("ICINGA2_USER", "-un"), ("ICINGA2_GROUP", "-gn")] {
        icinga.env(variable, tool::run("id", &[word]).trim());
    }
    let output = icinga.output().expect("icinga2 starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("Instantiated 1 Service."), "{said}");
}

#[test]
fn the_node_problem_detector_gets_its_codes_and_short_lines_from_its_example() {
    let config: Value = serde_json::from_str(&example("node-problem-detector.json")).expect("JSON");
    let rule = &config["rules"][0];
    assert_eq!(rule["condition"], config["conditions"][0]["type"]);
    assert_eq!(rule["path"], PROGRAM);
    let words = rule["args"].as_array().expect("a list");
    let words: Vec<&str> = words.iter().map(|word| word.as_str().expect("a word")).collect();
    let limit = config["pluginConfig"]["max_output_length"].to_string();
    assert!(words.windows(2).any(|two| two == ["--message-bytes", &limit]), "{words:?}");
    let limit: usize = limit.parse().expect("a number");
    let scratch = Scratch::new();
    let good = image(scratch.path(), "good.raw".as_ref(), 2048);
    let bad = image(scratch.path(), "bad.raw".as_ref(), 63);
    let gone = scratch.path().join("gone.raw");
    // OK, NonOK and Unknown, as the detector has them.
    for (target, code) in [(good, 0), (bad, 1), (gone, 2)] {
        let output = straddle(&[&words[..], &[text(&target)]].concat());
        assert_eq!(output.status.code(), Some(code), "{}", target.display());
        let line = String::from_utf8(output.stdout).expect("text");
        assert!((2..=limit + 1).contains(&line.len()) && line.lines().count() == 1, "{line}");
    }
}

/// Fields that the detector reads, by the place of their object; it ignores all others.
///
/// Source: kubernetes/node-problem-detector, `pkg/custompluginmonitor/types/{config,types}.go` and
/// `pkg/types/types.go`.
const DETECTOR_FIELDS: [(&str, &[&str]); 4] = [
    ("", &["plugin", "pluginConfig", "source", "conditions", "rules", "metricsReporting"]),
    (
        "/pluginConfig",
        &[
            "invoke_interval",
            "timeout",
            "max_output_length",
            "concurrency",
            "enable_message_change_based_condition_update",
            "skip_initial_status",
        ],
    ),
    ("/conditions/0", &["type", "reason", "message"]),
    ("/rules/0", &["type", "condition", "reason", "path", "args", "timeout", "invoke_interval"]),
];

/// Returns the seconds of a duration as Go writes it, with one unit.
fn go_seconds(text: &Value) -> u64 {
    let text = text.as_str().expect("a text");
    let (number, unit) = text.split_at(text.len() - 1);
    let unit = [("s", 1), ("m", 60), ("h", 3600)].iter().find(|(name, _)| *name == unit);
    number.parse::<u64>().expect("a number") * unit.expect("a unit").1
}

#[test]
fn the_example_for_the_node_problem_detector_is_one_that_its_own_checks_accept() {
    let config: Value = serde_json::from_str(&example("node-problem-detector.json")).expect("JSON");
    for (place, known) in DETECTOR_FIELDS {
        let object = config.pointer(place).and_then(Value::as_object).expect("an object");
        for field in object.keys() {
            assert!(known.contains(&field.as_str()), "{place}: no field {field}");
        }
    }
    assert_eq!(config["plugin"], "custom");
    for list in ["conditions", "rules"] {
        assert_eq!(config[list].as_array().map(Vec::len), Some(1), "{list}");
    }
    let rule = &config["rules"][0];
    assert!(["temporary", "permanent"].map(Value::from).contains(&rule["type"]), "{rule}");
    let global = &config["pluginConfig"];
    assert!(go_seconds(&rule["timeout"]) <= go_seconds(&global["timeout"]), "it is refused");
    assert!(go_seconds(&global["timeout"]) < go_seconds(&global["invoke_interval"]));
    assert!(global["concurrency"].as_u64() > Some(0), "{global}");
}
