//! Checkers of other projects, without a network.

use std::path::Path;
use std::process::Command;

use anyhow::ensure;
use testkit::scratch::text;
use testkit::tool;

use super::room::Room;
use crate::bench::tools;
use crate::cargo;

/// Tests of `ansible-test sanity` that install packages first, for which it fetches a script from
/// a server of its own; and two whose tools are not Python's.
const ONLINE: [&str; 10] = [
    "action-plugin-docs",
    "ansible-doc",
    "import",
    "pep8",
    "pslint",
    "pylint",
    "runtime-metadata",
    "shellcheck",
    "validate-modules",
    "yamllint",
];
/// Directory of the collection, by which its names are found.
const COLLECTION: &str = "ansible_collections/straddle/storage";
/// Manifests, and a key of one that is made wrong.
const MANIFESTS: [&str; 2] = ["daemonset.yaml", "preflight.yaml"];
const KEY: (&str, &str) = ("restartPolicy", "restartPolice");

/// Acts the scene of `ansible-test sanity` on a copy. Fails when it finds a fault, or does not find
/// one that is put in.
pub(super) fn ansible(room: &Room) -> anyhow::Result<String> {
    let place = room.place("sanity")?;
    tools::answer(Command::new("cp").arg("-r").arg(fleet("ansible_collections")).arg(&place))?;
    let collection = place.join(COLLECTION);
    let output = tools::output(&mut sanity(room, &collection)?)?;
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{said}{errors}");
    let tests = said.matches("Running sanity test").count();
    ensure!(tests > 0, "no test ran: {said}{errors}");
    std::fs::write(collection.join("plugins/module_utils/bad.py"), "assert True\n")?;
    let found = tools::output(&mut sanity(room, &collection)?)?;
    ensure!(!found.status.success(), "a module with an assertion has no fault");
    Ok(format!("{tests} tests; not those that install packages: {}", ONLINE.join(", ")))
}

/// Returns the command, for the version of Python that is there.
fn sanity(room: &Room, collection: &Path) -> anyhow::Result<Command> {
    let version = "import sys; print('%d.%d' % sys.version_info[:2])";
    let version = tools::answer(tool::command("python3").args(["-c", version]))?;
    let mut command = tool::command("ansible-test");
    command.args(["sanity", "--color", "no", "--python", version.trim()]);
    command.args(ONLINE.iter().flat_map(|test| ["--skip-test", test]));
    command.current_dir(collection).env("HOME", room.path());
    Ok(command)
}

/// Acts the scene of `kubernetes-validate`. Fails when it finds a fault, or does not find one that
/// is put in.
pub(super) fn kubernetes(room: &Room) -> anyhow::Result<String> {
    let place = room.place("manifests")?;
    let validate = |path: &Path| {
        let mut command = tool::command("kubernetes-validate");
        tools::output(command.args(["--strict", text(path)]))
    };
    for name in MANIFESTS {
        let path = fleet(&format!("kubernetes/{name}"));
        let output = validate(&path)?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "{name}: {}{said}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
    let wrong = place.join("wrong.yaml");
    let whole = std::fs::read_to_string(fleet("kubernetes/preflight.yaml"))?;
    ensure!(whole.contains(KEY.0), "no {} in the manifest", KEY.0);
    std::fs::write(&wrong, whole.replace(KEY.0, KEY.1))?;
    ensure!(!validate(&wrong)?.status.success(), "a manifest with a wrong key passes");
    Ok(MANIFESTS.join(", "))
}

fn fleet(path: &str) -> std::path::PathBuf {
    cargo::root().join("fleet").join(path)
}
