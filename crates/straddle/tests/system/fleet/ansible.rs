//! The collection: its modules, playbooks and role, on hosts that are this machine.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use testkit::scratch::text;
use testkit::{Scratch, need_tools, tool};

use super::file;
use crate::check::monitors::image;

const STRADDLE: &str = env!("CARGO_BIN_EXE_straddle");

/// Runs a tool of Ansible with the collection, in `scratch`.
fn run(scratch: &Scratch, name: &str, arguments: &[&str]) -> Output {
    let mut command = tool::command(name);
    command.args(arguments).current_dir(scratch.path());
    command.env("ANSIBLE_COLLECTIONS_PATH", file(""));
    command.env("ANSIBLE_HOME", scratch.path().join("home"));
    command.env("ANSIBLE_NOCOLOR", "1").env("LC_ALL", "C.UTF-8");
    command.output().expect("it can be started")
}

/// Runs a playbook, which must end as `is_good`; what it printed.
#[track_caller]
fn play(scratch: &Scratch, playbook: &str, more: &[&str], is_good: bool) -> String {
    let inventory = ["a", "b", "c"].map(|host| {
        format!("{host} ansible_connection=local ansible_python_interpreter=python3\n")
    });
    let inventory = scratch.file("hosts", inventory.concat().as_bytes());
    let program = format!("straddle_path={STRADDLE}");
    let arguments = ["-i", text(&inventory), "-e", &program, playbook];
    let ran = run(scratch, "ansible-playbook", &[&arguments[..], more].concat());
    let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(ran.status.success(), is_good, "{printed}{}", String::from_utf8_lossy(&ran.stderr));
    printed
}

fn document(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("it was kept");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn playbooks_put_the_result_of_each_host_into_one_folder_that_makes_a_page() {
    need_tools!("ansible-playbook", "python3");
    let scratch = Scratch::new();
    let shifted = image(scratch.path(), OsStr::new("disk.raw"), 63);
    let results = scratch.path().join("results");
    std::fs::create_dir(&results).expect("it can be made");
    let to = format!("straddle_results={}", text(&results));
    let look = format!("{{\"straddle_targets\": [\"{}\"]}}", text(&shifted));
    play(&scratch, "straddle.storage.check", &["-e", &to, "-e", &look], true);
    let place = format!("straddle_directory={}", text(scratch.path()));
    let more = ["-e", &to, "-e", &place, "-e", "straddle_engine=etcd straddle_seconds=1"];
    play(&scratch, "straddle.storage.fsync", &more, true);
    for host in ["a", "b", "c"] {
        let check = document(&results.join(format!("{host}.check.json")));
        assert_eq!(check["targets"][0]["verdict"], "misaligned", "{check}");
        let fsync = document(&results.join(format!("{host}.fsync.json")));
        assert_eq!(fsync["verdict"]["engine"], "etcd", "{fsync}");
    }
    let files: Vec<_> = std::fs::read_dir(&results).expect("a folder").flatten().collect();
    assert_eq!(files.len(), 6);
    let page = scratch.path().join("fleet.html");
    let mut report = std::process::Command::new(STRADDLE);
    report.args(["report", "-o", text(&page)]).args(files.iter().map(std::fs::DirEntry::path));
    let ran = report.output().expect("it runs");
    assert!(page.is_file(), "{ran:?}");
}

#[test]
fn modules_fail_with_what_is_wrong_and_in_check_mode_write_nothing() {
    need_tools!("ansible-playbook", "python3");
    let scratch = Scratch::new();
    let shifted = image(scratch.path(), OsStr::new("disk.raw"), 63);
    let before = std::fs::read(&shifted).expect("it is there");
    let (disk, plan) = (text(&shifted), scratch.path().join("plan.json"));
    let tasks = |module: &str, options: &str| {
        let playbook = format!(
            "- hosts: a\n  gather_facts: false\n  tasks:\n    - {module}:\n        \
             program: '{STRADDLE}'\n        {options}\n"
        );
        let path = scratch.file("play.yml", playbook.as_bytes());
        text(&path).to_owned()
    };
    let check = tasks("straddle.storage.straddle_check", &format!("targets: ['{disk}']"));
    assert!(play(&scratch, &check, &[], false).contains("findings: ST102"));
    let check = format!("targets: ['{disk}']\n        fail_on: error");
    play(&scratch, &tasks("straddle.storage.straddle_check", &check), &[], true);
    let gone = tasks("straddle.storage.straddle_info", "targets: ['/no/such/disk']");
    assert!(play(&scratch, &gone, &[], false).contains("/no/such/disk"));

    let planned = format!("target: '{disk}'\n        dest: '{}'", text(&plan));
    let planned = tasks("straddle.storage.straddle_plan", &planned);
    let looked = play(&scratch, &planned, &["--check", "--diff"], true);
    assert!(looked.contains("changed=1") && !plan.exists(), "{looked}");
    for line in ["-1: start 32256,", "+1: start 32768,"] {
        assert!(looked.contains(line), "{line}: {looked}");
    }
    assert!(play(&scratch, &planned, &[], true).contains("changed=1"));
    assert_eq!(document(&plan)["partitions"][0]["new_start_bytes"], 32768);
    assert!(play(&scratch, &planned, &[], true).contains("changed=0"), "it is there");
    assert!(std::fs::read(&shifted).expect("it is there") == before, "no module writes a disk");
}

#[test]
fn the_role_copies_the_binary_and_its_units_once() {
    need_tools!("ansible-playbook", "python3", "systemd-analyze");
    let scratch = Scratch::new();
    let place = text(scratch.path());
    let playbook = format!(
        "- hosts: a\n  gather_facts: false\n  roles:\n    - role: straddle.storage.straddle\n      \
         vars:\n        straddle_binary: '{STRADDLE}'\n        \
         straddle_unit_directory: '{place}'\n        straddle_enabled: false\n        \
         straddle_textfile_directory: '{place}'\n"
    );
    let playbook = scratch.file("play.yml", playbook.as_bytes());
    let installed = scratch.path().join("straddle");
    let path = format!("straddle_path={}", text(&installed));
    let more = ["-e", &path];
    play(&scratch, text(&playbook), &more, true);
    assert!(installed.is_file());
    let units = ["straddle-check.service", "straddle-check.timer"].map(|unit| {
        let path = scratch.path().join(unit);
        assert!(path.is_file(), "{unit}");
        text(&path).to_owned()
    });
    tool::run("systemd-analyze", &["verify", "--man=no", &units[0], &units[1]]);
    let again = play(&scratch, text(&playbook), &more, true);
    assert!(again.contains("changed=0"), "{again}");
}

#[test]
fn the_collection_has_no_fault_that_its_linter_knows() {
    need_tools!("ansible-lint");
    let scratch = Scratch::new();
    let collection = file("ansible_collections/straddle/storage");
    let settings = collection.join(".ansible-lint");
    let arguments = ["--offline", "--nocolor", "-c", text(&settings), text(&collection)];
    let ran = run(&scratch, "ansible-lint", &arguments);
    assert!(ran.status.success(), "{ran:?}");
}
