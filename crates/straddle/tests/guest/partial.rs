//! The machine as it looks to who may not read its disks, or has no /sys or no /proc.

use crate::answer::list;
use crate::result::Run;

#[test]
fn an_ordinary_user_is_told_the_same_of_partitions_and_that_disks_are_unknown() {
    let Some(run) = Run::named() else { return };
    let (root, user) = (run.answer("check"), run.answer("user"));
    let (count, diff) = root.compare(&user);
    assert!(diff.is_empty(), "--- root\n+++ user\n{diff}");
    assert!(count >= 10, "only {count} layers are told to a user");
    for kind in ["json", "txt"] {
        // No target is named, so what an unprivileged user cannot see is no failure.
        assert!(["0", "1"].contains(&run.status("user", kind).as_str()));
    }
    let document = run.document("user");
    let layers = list(&document["targets"]).iter().flat_map(|target| list(&target["layers"]));
    for layer in layers.filter(|layer| layer["verdict"] == "unknown") {
        assert_ne!(layer["reason"], "", "{layer:#}");
    }
}

#[test]
fn without_sys_nothing_is_claimed() {
    let Some(run) = Run::named() else { return };
    for kind in ["json", "txt"] {
        assert_eq!(run.status("nosys", kind), "0");
    }
    assert_eq!(run.answer("nosys").count(), 0);
    assert!(run.text("errors.txt").lines().all(|line| !line.contains("panicked")));
}

#[test]
fn without_proc_the_verdicts_are_the_same() {
    let Some(run) = Run::named() else { return };
    let (whole, without) = (run.answer("check"), run.answer("noproc"));
    let (count, diff) = whole.compare(&without);
    assert!(diff.is_empty(), "--- with /proc\n+++ without\n{diff}");
    let missing = whole.beyond(&without, "");
    assert!(missing.is_empty(), "of {count}, without /proc these are lost\n{}", missing.join("\n"));
}
