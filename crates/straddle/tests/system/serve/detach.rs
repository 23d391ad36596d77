//! `straddle drive detach`.

use testkit::running_program::Ran;
use testkit::scratch::text;
use testkit::{Scratch, need_tools};

use super::{detaching_alone, interrupted, served, straddle};

#[test]
fn detaching_has_its_codes_and_says_why() {
    let _one = detaching_alone();
    let ran = Ran::of(straddle(&["detach"]).arg("--stale"));
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.out.contains("detach"), "{ran:?}");
    let ran = Ran::of(&mut straddle(&["detach"]));
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.errors.contains("--stale"), "{ran:?}");
}

#[test]
fn a_drive_that_is_served_is_not_detached() {
    need_tools!("fusermount3");
    if std::fs::File::options().read(true).write(true).open("/dev/fuse").is_err() {
        testkit::skip("needs FUSE");
        return;
    }
    let scratch = Scratch::new();
    let [point, counts] = ["point", "counts"].map(|name| scratch.path().join(name));
    std::fs::create_dir(&point).expect("a new directory");
    let words = ["--profile", "m4-256", "--as", "file", "--mount", text(&point)];
    let mut going = served(&[&words[..], &["--counts", text(&counts)]].concat());
    going.until("it is mounted", || counts.exists());
    for _ in 0..3 {
        let ran = Ran::of(straddle(&["detach"]).arg("--stale"));
        assert_eq!(ran.status, Some(0), "{ran:?}");
        assert!(!ran.out.contains(" 0 still served"), "{ran:?}");
        assert!(point.join("disk").exists(), "it is still there");
    }
    interrupted(going);
}
