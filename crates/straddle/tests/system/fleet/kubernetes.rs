//! Manifests: the commands in them are commands of straddle.

use std::process::Command;

use testkit::Scratch;
use testkit::scratch::text;

use super::file;

/// The arguments of each container of a manifest.
fn arguments(manifest: &str) -> Vec<Vec<String>> {
    let manifest = std::fs::read_to_string(file(manifest)).expect("the manifest is there");
    let lists = manifest.lines().filter_map(|line| line.trim().strip_prefix("args: "));
    lists.map(|list| serde_json::from_str(list).expect("a list of texts")).collect()
}

#[test]
fn each_container_runs_a_command_that_straddle_takes() {
    let scratch = Scratch::new();
    let directory = text(scratch.path());
    let commands: Vec<Vec<String>> = ["kubernetes/preflight.yaml", "kubernetes/daemonset.yaml"]
        .iter()
        .flat_map(|manifest| arguments(manifest))
        .collect();
    assert_eq!(commands.len(), 4, "{commands:?}");
    for mut command in commands {
        for argument in &mut command {
            if ["/data", "/textfile"].contains(&argument.as_str()) {
                directory.clone_into(argument);
            }
        }
        // What measures or waits only says what it would do, or does it for a second.
        match command[0].as_str() {
            "fsync" => command.push("--dry-run".to_owned()),
            "watch" => *command.last_mut().expect("a time") = "1".to_owned(),
            _ => {}
        }
        let ran = Command::new(env!("CARGO_BIN_EXE_straddle"))
            .args(&command)
            .env("STATE_DIRECTORY", directory)
            .output()
            .expect("it runs");
        assert_eq!(ran.status.code(), Some(0), "{command:?}: {ran:?}");
    }
    for written in ["last-check.json", "straddle.prom", "straddle_watch.prom"] {
        assert!(scratch.path().join(written).is_file(), "{written}");
    }
}
