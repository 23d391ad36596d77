//! Destination of the page, and files that are never written over.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use testkit::{Scratch, scratch::text, tool};

use super::run::{Ran, checked, command, report};

#[test]
fn the_page_is_the_same_on_standard_output_in_a_file_and_from_standard_input() {
    let scratch = Scratch::new();
    let check = checked(&scratch);
    let out = report(&[&check]);
    assert_eq!((out.status, out.errors.as_str()), (Some(0), ""));
    assert!(out.out.starts_with("<!DOCTYPE html>") && out.out.ends_with("</html>"));
    assert_eq!(report(&[&check]).out, out.out, "the same bytes for the same files");

    let page = scratch.path().join("page.html");
    let filed = report(&["-o", text(&page), &check]);
    assert_eq!((filed.status, filed.out.as_str(), filed.errors.as_str()), (Some(0), "", ""));
    assert_eq!(fs::read_to_string(&page).unwrap(), out.out);

    let mut child = command(&["report", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&fs::read(&check).unwrap()).unwrap();
    let ran: Ran = child.wait_with_output().unwrap().into();
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.out.contains("From standard input"));
}

#[test]
fn a_page_is_replaced_and_nothing_else_is() {
    let scratch = Scratch::new();
    let check = checked(&scratch);
    // Nothing is lost of an empty file, as mktemp(1) makes.
    let page = scratch.file("page.html", b"");
    for _ in 0..2 {
        assert_eq!(report(&["-o", text(&page), &check]).status, Some(0));
    }
    let before = fs::read(&page).unwrap();
    for (name, content) in
        [("precious.html", "<!DOCTYPE html><html>mine</html>"), ("check.json", "")]
    {
        let path = scratch.path().join(name);
        if !path.exists() {
            fs::write(&path, content).unwrap();
        }
        let held = fs::read(&path).unwrap();
        let ran = report(&["-o", text(&path), &check]);
        assert_eq!((ran.status, ran.out.as_str()), (Some(3), ""), "{name}");
        assert!(ran.errors.contains("cannot replace"), "{ran:?}");
        assert!(ran.errors.contains("hint: name a new file"), "{ran:?}");
        assert_eq!(fs::read(&path).unwrap(), held, "{name}");
    }
    let link = scratch.path().join("link.html");
    std::os::unix::fs::symlink(&page, &link).unwrap();
    for path in [text(&link), text(scratch.path())] {
        let ran = report(&["-o", path, &check]);
        assert_eq!(ran.status, Some(3), "{path}");
        assert!(ran.errors.contains("not a regular file"), "{ran:?}");
    }
    assert_eq!(fs::read(&page).unwrap(), before);
}

#[test]
fn what_cannot_be_written_leaves_nothing_behind() {
    let scratch = Scratch::new();
    let check = checked(&scratch);
    let nowhere = scratch.path().join("nowhere/page.html");
    let ran = report(&["-o", text(&nowhere), &check]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.errors.contains("cannot write the page to"), "{ran:?}");
    // The page's place is taken by nobody until there is a page.
    let page = scratch.path().join("page.html");
    assert_eq!(report(&["-o", text(&page), "/nonexistent"]).status, Some(2));
    let left: Vec<_> = fs::read_dir(scratch.path()).unwrap().flatten().collect();
    let mut names: Vec<String> =
        left.iter().map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["check.json", "disk.raw"]);
    // A terminal shows no page.
    if tool::find("script").is_some() {
        let what = format!("{} report {check}", env!("CARGO_BIN_EXE_straddle"));
        let ran: Ran =
            tool::output("script", &["--quiet", "--return", "--command", &what, "/dev/null"])
                .into();
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.out.contains("-o page.html") && !ran.out.contains("DOCTYPE"), "{ran:?}");
    }
    // A full disk, as the device that is always full says.
    let mut full = command(&["report", &check]);
    full.stdout(fs::File::options().write(true).open("/dev/full").unwrap());
    let ran: Ran = full.output().unwrap().into();
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.errors.contains("cannot write to standard output"), "{ran:?}");
}
