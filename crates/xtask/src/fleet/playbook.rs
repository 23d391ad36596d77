//! One run of Ansible, and what it left.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::Value;
use testkit::scratch::text;
use testkit::tool;

use super::room::{self, Room};
use crate::cargo;

/// Hosts at once.
const FORKS: &str = "20";

/// Words of the inventory for a host that is this machine.
pub(super) const LOCAL: &str =
    "ansible_connection=local ansible_python_interpreter=/usr/bin/python3";

/// Counts of Ansible's last lines for one host, such as `ok` and `unreachable`.
pub(super) type Tally = BTreeMap<String, u64>;

/// A run of a playbook of the collection.
pub(super) struct Played {
    /// Standard output of Ansible.
    pub(super) said: String,
    /// Counts of each host.
    pub(super) recap: BTreeMap<String, Tally>,
    /// The folder with a result of each host.
    pub(super) results: PathBuf,
    /// Duration of the run.
    pub(super) time: Duration,
}

impl Played {
    /// Returns the files of results, in order. Fails when a host failed, or does not have its one
    /// result.
    pub(super) fn all(&self, hosts: usize) -> anyhow::Result<Vec<PathBuf>> {
        let bad = |(name, tally): &(&String, &Tally)| {
            (tally["failed"] + tally["unreachable"] > 0).then(|| (*name).clone())
        };
        let bad: Vec<String> = self.recap.iter().filter_map(|host| bad(&host)).collect();
        ensure!(bad.is_empty(), "failed: {}\n{}", bad.join(", "), self.said);
        let files = room::files(&self.results)?;
        ensure!(files.len() == hosts, "{} results of {hosts} hosts\n{}", files.len(), self.said);
        Ok(files)
    }
}

/// Runs playbook `name` of the collection for the scene called `scene`, with the lines of an
/// inventory, and with more variables than `straddle_results` and `straddle_path`. Fails when
/// Ansible cannot be started, or ends without its last lines.
pub(super) fn play(
    room: &Room,
    scene: &str,
    name: &str,
    inventory: &[String],
    variables: &Value,
) -> anyhow::Result<Played> {
    play_with(room, scene, &[name], inventory, variables)
}

/// Does the same with more words than the name of the playbook: `--check`.
pub(super) fn play_with(
    room: &Room,
    scene: &str,
    words: &[&str],
    inventory: &[String],
    variables: &Value,
) -> anyhow::Result<Played> {
    let place = room.place(scene)?;
    let hosts = place.join("hosts");
    std::fs::write(&hosts, inventory.concat())?;
    let given = variables["straddle_results"].as_str().map(PathBuf::from);
    let results = given.unwrap_or_else(|| place.join("results"));
    std::fs::create_dir_all(&results)?;
    let mut all = serde_json::json!({"straddle_results": results});
    for (key, value) in variables.as_object().into_iter().flatten() {
        all[key] = value.clone();
    }
    let mut command = tool::command("ansible-playbook");
    command.args(["-i", text(&hosts), "--forks", FORKS, "-e", &all.to_string()]);
    command.args(words).env("ANSIBLE_COLLECTIONS_PATH", cargo::root().join("fleet"));
    command.env("ANSIBLE_HOME", room.path().join("ansible")).env("HOME", room.path());
    command.env("ANSIBLE_REMOTE_TMP", room.path().join("ansible/tmp"));
    command.env("ANSIBLE_LOCAL_TEMP", room.path().join("ansible/local"));
    command.env("ANSIBLE_NOCOLOR", "1").env("ANSIBLE_PIPELINING", "1");
    command.current_dir(&place);
    let begun = Instant::now();
    // Ansible takes no locale but one of UTF-8.
    let output = command.env("LC_ALL", "C.UTF-8").stdin(std::process::Stdio::null()).output()?;
    let time = begun.elapsed();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let recap = recap(&said);
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(!recap.is_empty(), "ansible-playbook {}: {said}{errors}", output.status);
    Ok(Played { said, recap, results, time })
}

/// Returns the counts of each host in Ansible's last lines.
pub(super) fn recap(said: &str) -> BTreeMap<String, Tally> {
    let Some((_, lines)) = said.split_once("PLAY RECAP") else { return BTreeMap::new() };
    let counts = |words: &str| {
        let pairs = words.split_whitespace().filter_map(|word| word.split_once('='));
        pairs.filter_map(|(key, count)| Some((key.to_owned(), count.parse().ok()?))).collect()
    };
    let host = |line: &str| {
        let (name, words) = line.split_once(" : ")?;
        Some((name.trim().to_owned(), counts(words)))
    };
    lines.lines().filter_map(host).collect()
}

/// Returns the inventory's line of a host that is this machine, with more words.
pub(super) fn local(name: &str, more: &str) -> String {
    format!("{name} {LOCAL} {more}\n")
}
