//! `cargo xtask fleet`: files of `fleet/` and many results, with the programs that sites run.
//!
//! | file | what it holds |
//! |---|---|
//! | `sandbox` | namespaces in which root acts the scenes, so that nothing outlives the chore |
//! | `room` | the directory of a run: images, results, straddle itself |
//! | `playbook` | one run of Ansible, and what it left |
//! | `hosts`, `network`, `throttle`, `scrape`, `peers` | scenes of many hosts |
//! | `faults`, `killed`, `plan`, `lint` | scenes of what goes wrong, of a fix, of checkers |

mod faults;
mod hosts;
mod killed;
mod lint;
mod network;
mod peers;
mod plan;
mod playbook;
mod room;
mod sandbox;
mod scrape;
#[cfg(test)]
mod tests;
mod throttle;

use std::path::Path;

use testkit::tool;

use crate::cargo;
use crate::options::Options;
use room::Room;

/// Hosts of the largest scene, where no option says how many.
const HOSTS: u64 = 1000;

/// Most characters of a reason.
const CHARACTERS_MAX: usize = 2000;

/// One scene: its name, the tools that it takes, whether only root can act it, and how it is acted;
/// that gives back what is worth a word when all went well.
type Scene = (&'static str, &'static [&'static str], bool, fn(&Room) -> anyhow::Result<String>);

const ANSIBLE: &[&str] = &["ansible-playbook", "python3", "ssh"];
const PLAN: &[&str] = &["ansible-playbook", "python3", "ssh", "sfdisk"];
const PROMETHEUS: &[&str] = &["prometheus", "prometheus-node-exporter"];
const NETWORK: &[&str] = &["ansible-playbook", "python3", "ssh", "ssh-keygen", "sshd", "ip"];

const SCENES: [Scene; 19] = [
    ("one slow host among 20 is named", &[], false, peers::one_slow),
    ("20 slow hosts: nobody is named", &[], false, peers::all_slow),
    ("corrupt JSON", &[], false, faults::corrupt),
    ("a kept result that is too old", &[], false, faults::too_old),
    ("a kept result of the future", &[], false, faults::of_the_future),
    ("two checks that keep at once", &[], false, faults::two_at_once),
    ("a host with an old binary", ANSIBLE, false, faults::old_binary),
    ("a host that is unreachable", ANSIBLE, false, faults::unreachable),
    ("results on a full disk", ANSIBLE, true, faults::full_disk),
    ("measurements ended by a signal", ANSIBLE, false, killed::act),
    ("a directory that is mounted read-only", ANSIBLE, true, killed::read_only),
    ("a plan, its script, and nothing to do", PLAN, false, plan::fix),
    ("a host without a plan stops the next", ANSIBLE, false, plan::stops),
    ("the collection by ansible-test sanity", &["ansible-test", "python3"], false, lint::ansible),
    ("manifests by kubernetes-validate", &["kubernetes-validate"], false, lint::kubernetes),
    ("at most two measurements at once", ANSIBLE, false, throttle::act),
    ("alerts of a real Prometheus", PROMETHEUS, true, scrape::act),
    ("20 hosts over ssh", NETWORK, true, network::act),
    ("many local hosts", &["ansible-playbook", "python3", "time"], false, hosts::act),
];

/// Debian's packages of those tools that have another name.
const PACKAGES: [(&str, &str); 7] = [
    ("ansible-playbook", "ansible-core"),
    ("ansible-test", "ansible-core"),
    ("ip", "iproute2"),
    ("sfdisk", "fdisk"),
    ("ssh", "openssh-client"),
    ("ssh-keygen", "openssh-client"),
    ("sshd", "openssh-server"),
];

/// Tools that Debian does not have.
const PYPI: [&str; 1] = ["kubernetes-validate"];

/// Acts all scenes; true if none failed.
///
/// # Errors
/// When an option is wrong, straddle cannot be built, or there is no place for the scenes.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
    let options = Options::parse(words, &["--hosts", "--program"])?;
    let hosts = options.count("--hosts", HOSTS)?;
    let program = cargo::program(&options)?;
    anyhow::ensure!(program.is_file(), "no {}", program.display());
    if host::is_root() {
        return sandbox::run(&program, hosts);
    }
    let directory = tempfile::Builder::new().prefix("straddle-fleet-").tempdir()?;
    Ok(act(directory.path(), &program, hosts))
}

/// Acts all scenes in `directory`; true if none failed.
pub(crate) fn act(directory: &Path, program: &Path, hosts: u64) -> bool {
    let room = Room::new(directory, program, hosts);
    let mut is_good = true;
    for scene in &SCENES {
        let outcome = outcome(scene, &room);
        println!("{}", line(scene.0, &outcome));
        is_good &= !matches!(outcome, Outcome::Failed(_));
    }
    is_good
}

/// End of a scene: with what is worth a word, or the reason.
enum Outcome {
    Good(String),
    Failed(String),
    Skipped(String),
}

fn outcome((_, tools, is_for_root, act): &Scene, room: &Room) -> Outcome {
    if *is_for_root && !host::is_root() {
        return Outcome::Skipped("only root may".to_owned());
    }
    if let Some(name) = tools.iter().find(|name| tool::find(name).is_none()) {
        if PYPI.contains(name) {
            return Outcome::Skipped(format!("needs {name}, of PyPI: pipx install {name}"));
        }
        let package = PACKAGES.iter().find(|(tool, _)| tool == name);
        let package = package.map_or(*name, |(_, package)| package);
        return Outcome::Skipped(format!("needs {name}, of Debian's package {package}"));
    }
    match act(room) {
        Ok(more) => Outcome::Good(more),
        Err(error) => Outcome::Failed(format!("{error:#}")),
    }
}

/// Returns the one line of a scene, however long the reason.
fn line(name: &str, outcome: &Outcome) -> String {
    let (word, more) = match outcome {
        Outcome::Good(more) => ("ok", more),
        Outcome::Failed(why) => ("FAILED", why),
        Outcome::Skipped(why) => ("skipped", why),
    };
    let more: Vec<&str> = more.split_whitespace().collect();
    let colon = if more.is_empty() { "" } else { ": " };
    let more: String = more.join(" ").chars().take(CHARACTERS_MAX).collect();
    format!("{word:<8} {name}{colon}{more}")
}
