//! Refusals of what cannot be traced, which say why, and what to do.

use testkit::{Loop, Mount, need_loops, need_tools, scratch::text, tool};

use super::run::{list, straddle, trace};
use super::volume::{Plan, directory};

/// Returns what is said of a file that is refused; its JSON holds the same.
fn refusal(path: &str) -> String {
    let output = straddle(&["trace", "--json", path]);
    assert_eq!(output.status.code(), Some(2), "{path}");
    let document: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("as the test made it");
    let message = document["refusal"]["message"].as_str().expect("as the test made it").to_owned();
    let said = String::from_utf8(output.stderr).expect("as the test made it");
    // Numbers of errors are for programs.
    let words = message.split(" (os error ").next().unwrap_or_default();
    assert!(said.starts_with(&format!("error: {words}")), "{said}");
    let plain = straddle(&["trace", path]);
    assert!(plain.stdout.is_empty(), "errors are no data");
    said
}

#[test]
fn a_directory_a_missing_file_and_a_device_are_refused_with_what_to_do() {
    let directory = directory();
    assert!(refusal(text(directory.path())).contains("not a file\nhint: name a file"));
    let missing = directory.path().join("none");
    assert!(refusal(text(&missing)).contains("hint: check the path"));
    assert!(refusal("/dev/null").contains("character device"));
}

#[test]
fn a_block_device_is_sent_to_check() {
    need_loops!();
    let directory = directory();
    let device = Loop::attach(&directory.image("x", 1 << 20), 512);
    assert!(
        refusal(text(device.path())).contains("hint: check the device: straddle check /dev/loop")
    );
}

#[test]
fn a_file_in_memory_is_refused() {
    need_loops!();
    need_tools!("mount");
    let directory = directory();
    let point = directory.path().join("memory");
    let _mount = Mount::new("tmpfs", "", "none", &point);
    std::fs::write(point.join("x"), b"x").expect("as the test made it");
    assert!(refusal(text(&point.join("x"))).contains("it is on tmpfs"));
}

#[test]
fn a_file_on_an_overlay_is_sent_to_where_it_lies() {
    need_loops!();
    need_tools!("mount");
    let directory = directory();
    let base = directory.path().join("base");
    // An upper directory needs more than some file systems below /tmp give.
    let _base = Mount::new("tmpfs", "", "none", &base);
    for part in ["lower", "upper", "work"] {
        std::fs::create_dir(base.join(part)).expect("as the test made it");
    }
    std::fs::write(base.join("lower/deep"), b"x").expect("as the test made it");
    let at = text(&base);
    let options = format!("lowerdir={at}/lower,upperdir={at}/upper,workdir={at}/work");
    let point = directory.path().join("merged");
    let _overlay = Mount::new("overlay", &options, "none", &point);
    std::fs::write(point.join("fresh"), b"x").expect("as the test made it");
    let fresh = refusal(text(&point.join("fresh")));
    assert!(fresh.contains(&format!("hint: straddle trace {at}/upper/fresh")), "{fresh}");
    let deep = refusal(text(&point.join("deep")));
    assert!(deep.contains(&format!("hint: straddle trace {at}/lower/deep")), "{deep}");
}

#[test]
fn a_file_that_may_not_be_read_says_so() {
    need_loops!();
    need_tools!("setpriv");
    let directory = directory();
    let path = directory.file("secret", b"x");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&path, mode).expect("as the test made it");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(directory.path(), open).expect("as the test made it");
    let mut command = tool::command("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    let output = command.arg(env!("CARGO_BIN_EXE_straddle")).args(["trace", text(&path)]).output();
    let output = output.expect("setpriv runs");
    let said = String::from_utf8(output.stderr).expect("as the test made it");
    if said.contains("setpriv:") {
        return testkit::skip("the binary cannot be run by another user here");
    }
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("Permission denied") && said.contains("hint: "), "{said}");
}

#[test]
fn a_loop_over_a_file_in_memory_is_traced_to_the_loop_and_says_what_is_unknown() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let directory = directory();
    let base = directory.path().join("memory");
    let _base = Mount::new("tmpfs", "size=700M", "none", &base);
    let volume = Plan::EXT4.mounted(&base);
    let file = volume.file("x", 1 << 20);
    let document = trace(&file, &[]);
    let reason = document["total"]["unknown"][0]["reason"].as_str().expect("as the test made it");
    assert!(reason.contains("it is on tmpfs"), "{reason}");
    let copy = &document["extents"][0]["pieces"][0]["copies"][0];
    assert_eq!((&copy["end"], list(&copy["path"]).len()), (&"unknown".into(), 2), "{copy:#}");
}

#[test]
fn a_file_on_a_disk_that_cannot_be_read_has_addresses_all_the_same() {
    let directory = directory();
    let path = directory.file("x", &[1; 65536]);
    std::fs::File::open(&path)
        .expect("as the test made it")
        .sync_all()
        .expect("as the test made it");
    let output = straddle(&["trace", "--json", text(&path)]);
    if output.status.code() == Some(2) {
        return testkit::skip("what is below /tmp cannot be traced");
    }
    let document = trace(&path, &[]);
    assert_eq!(document["total"]["placed_bytes"], 65536, "{document:#}");
}

#[test]
fn a_loop_whose_file_was_deleted_is_unknown_and_never_aligned() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let directory = directory();
    let image = directory.image("disk", 64 << 20);
    tool::run("mkfs.ext4", &["-q", "-F", text(&image)]);
    let device = Loop::attach(&image, 512);
    std::fs::remove_file(&image).expect("it is there");
    let output = straddle(&["check", "--json", text(device.path())]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains("deleted"), "{said}");
}
