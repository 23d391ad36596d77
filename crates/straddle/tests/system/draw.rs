//! `straddle draw`: the file of its image.

use std::fs;
use std::process::{Command, Output};

use testkit::scratch::text;
use testkit::{Scratch, Xml};

fn draw(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_straddle"))
        .arg("draw")
        .args(arguments)
        .output()
        .expect("the binary runs")
}

#[test]
fn an_image_is_replaced_and_nothing_else_is() {
    let scratch = Scratch::new();
    let disk = scratch.image("disk.raw", 8 << 20);
    let picture = scratch.path().join("stack.svg");
    for _ in 0..2 {
        let ran = draw(&["-o", text(&picture), text(&disk)]);
        assert_eq!((ran.status.code(), ran.stdout.as_slice()), (Some(0), &b""[..]), "{ran:?}");
    }
    let image = fs::read_to_string(&picture).expect("it is written");
    assert_eq!(Xml::parse(&image).count("svg"), 1);
    assert_eq!(draw(&["-o", "-", text(&disk)]).stdout, image.as_bytes(), "the same on a pipe");

    let other = scratch.file("mine.svg", b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
    let ran = draw(&["-o", text(&other), text(&disk)]);
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    assert_eq!(fs::read(&other).expect("it is still there").len(), 41);
}

#[test]
fn no_image_is_written_where_nothing_can_be_opened() {
    let scratch = Scratch::new();
    let picture = scratch.path().join("stack.svg");
    let ran = draw(&["-o", text(&picture), text(&scratch.path().join("none"))]);
    assert_eq!(ran.status.code(), Some(2), "{ran:?}");
    assert!(!picture.exists());
}

#[test]
fn several_targets_are_drawn_one_below_the_other() {
    let scratch = Scratch::new();
    let disks = ["a.raw", "b.raw"].map(|name| scratch.image(name, 8 << 20));
    let [a, b] = disks.each_ref().map(|path| text(path));
    let ran = draw(&["--color", "never", a, b]);
    let shown = String::from_utf8(ran.stdout).expect("it prints UTF-8");
    assert!(shown.matches("No bad boundary: nothing to magnify.\n").count() == 2, "{shown}");
    let image = String::from_utf8(draw(&["-o", "-", a, b]).stdout).expect("it prints UTF-8");
    assert!(image.contains("<title>2 storage stacks</title>"), "{image}");
}
