//! Every captured machine and the answer that was reviewed for it: `NAME.expected` beside
//! `NAME.sysroot` in `crates/stack/tests/sysroots`, and its picture: `NAME.drawing`.
//!
//! `STRADDLE_UPDATE_EXPECTED=1 cargo test -p straddle --test system captured` writes the answers
//! anew; read the difference before it is committed.

use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::Xml;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../stack/tests/sysroots")
}

fn captures() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory()).expect("captures are in the repository");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let mut found: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|kind| kind == "sysroot")).collect();
    found.sort();
    found
}

/// Returns what is printed of a capture, without how long it took, and the exit code.
fn answer(path: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_straddle"))
        .args(["check", "--explain", "--color", "never", "--sysroot"])
        .arg(path)
        .env("COLUMNS", "110")
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("the binary runs");
    let text = String::from_utf8(output.stdout).expect("it prints UTF-8");
    let lines = text.lines().map(|line| match line.split_once(" in ") {
        Some((counts, _)) if line.ends_with("nothing was written.") => counts,
        _ => line,
    });
    let code = output.status.code().expect("it ends by itself");
    let text: Vec<&str> = lines.collect();
    format!("{}\nexit code {code}\n", text.join("\n"))
}

/// Compares with the reviewed text beside each capture, in a file that ends in `extension`, what
/// `answer` gives; or writes that file.
#[track_caller]
fn is_reviewed(extension: &str, answer: impl Fn(&Path) -> String) {
    let captures = captures();
    assert!(captures.len() >= 19, "{}", captures.len());
    for path in captures {
        let expected = path.with_extension(extension);
        let answer = answer(&path);
        if std::env::var_os("STRADDLE_UPDATE_EXPECTED").is_some() {
            std::fs::write(&expected, &answer).expect("it can be written");
        }
        let reviewed = std::fs::read_to_string(&expected).unwrap_or_default();
        assert!(answer == reviewed, "{}:\n{answer}", path.display());
    }
}

#[test]
fn every_captured_machine_gets_its_reviewed_answer() {
    is_reviewed("expected", answer);
}

/// The picture of a capture, as text of 80 columns or with `words`.
fn drawing(path: &Path, words: &[&str]) -> String {
    let mut straddle = Command::new(env!("CARGO_BIN_EXE_straddle"));
    straddle.args(["draw", "--color", "never", "--sysroot"]).arg(path).args(words);
    let output = straddle.env("COLUMNS", "80").env("LC_ALL", "C.UTF-8").output();
    let output = output.expect("the binary runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).expect("it prints UTF-8")
}

#[test]
fn every_captured_machine_has_its_reviewed_picture_of_80_columns() {
    is_reviewed("drawing", |path| {
        let text = drawing(path, &[]);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        text
    });
}

/// Left, top, right and bottom of each text of an image, in its own units.
fn texts(xml: &Xml) -> Vec<[u32; 4]> {
    let number = |text: &str| text.parse::<u32>().expect("a number");
    let mut moved = [0, 0];
    let mut texts = Vec::new();
    for (name, attributes) in &xml.0 {
        let value = |key| &attributes.iter().find(|(found, _)| found == key).expect("there").1;
        match name.as_str() {
            "g" => {
                let place = value("transform").strip_prefix("translate(").expect("it is moved");
                let (x, y) = place.trim_end_matches(')').split_once(' ').expect("two numbers");
                moved = [number(x), number(y)];
            }
            "text" => {
                let [left, base] = [moved[0] + number(value("x")), moved[1] + number(value("y"))];
                // Letters of 13 pixels reach less far up and down than this.
                texts.push([left, base - 13, left + number(value("textLength")), base + 4]);
            }
            _ => {}
        }
    }
    texts
}

#[test]
fn no_text_of_the_image_of_a_captured_machine_overlaps_another_or_leaves_it() {
    for path in captures() {
        let image = Xml::parse(&drawing(&path, &["-o", "-"]));
        let size = ["width", "height"].map(|key| image.attribute("svg", key).parse::<u32>());
        let [Ok(wide), Ok(high)] = size else { panic!("{}: {size:?}", path.display()) };
        let texts = texts(&image);
        assert!(texts.len() > 3, "{}", path.display());
        for (at, &[left, top, right, bottom]) in texts.iter().enumerate() {
            let name = path.display();
            assert!(right <= wide && bottom <= high, "{name}: {:?}", texts[at]);
            let meets = |other: &&[u32; 4]| {
                left < other[2] && other[0] < right && top < other[3] && other[1] < bottom
            };
            let met = texts[at + 1..].iter().find(meets);
            assert_eq!(met, None, "{name}: {:?}", texts[at]);
        }
    }
}

#[test]
fn the_image_of_an_array_that_starts_off_a_granule_is_the_reviewed_one() {
    let path = directory().join("md-raid5-p63.k6.12.sysroot");
    let (expected, image) = (path.with_extension("svg"), drawing(&path, &["-o", "-"]));
    if std::env::var_os("STRADDLE_UPDATE_EXPECTED").is_some() {
        std::fs::write(&expected, &image).expect("it can be written");
    }
    assert!(std::fs::read_to_string(&expected).unwrap_or_default() == image, "{image}");
}

/// The document of `straddle check --json` with `words`.
fn document(words: &[&std::ffi::OsStr]) -> serde_json::Value {
    let mut straddle = Command::new(env!("CARGO_BIN_EXE_straddle"));
    let output = straddle.args(["check", "--json"]).args(words).output().expect("it runs");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn a_document_names_the_machine_that_was_looked_at_and_never_this_one_for_another() {
    let path = directory().join("qemu-all.k6.12.sysroot");
    let captured = document(&["--sysroot".as_ref(), path.as_os_str()]);
    assert_eq!(captured["kernel"], "6.12.117+deb12-amd64");
    assert_eq!(captured["host"], serde_json::Value::Null, "a capture tells no host");
    assert_eq!(captured["command"][1], "check");
    assert!(captured["started"].as_str().is_some_and(|text| text.ends_with('Z')));

    let tree = testkit::Scratch::new();
    let machine = || document(&["--sysroot".as_ref(), tree.path().as_os_str()])["machine"].clone();
    let tell = |name: &str, text: &str| {
        let directory = tree.path().join("sys/class/dmi/id");
        std::fs::create_dir_all(&directory).expect("it can be made");
        std::fs::write(directory.join(name), text).expect("it can be written");
    };
    std::fs::create_dir_all(tree.path().join("sys/block")).expect("it can be made");
    assert_eq!(machine(), serde_json::Value::Null, "no table of the firmware");
    tell("sys_vendor", "Amazon EC2\n");
    assert_eq!(machine(), "Amazon EC2");
    tell("product_name", "m5.large\n");
    assert_eq!(machine(), "Amazon EC2 m5.large");

    let scratch = testkit::Scratch::new();
    let own = document(&[scratch.image("disk.raw", 8 << 20).as_os_str()]);
    let told = |name| std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).expect("it is");
    assert_eq!(own["kernel"], told("osrelease").trim());
    assert_eq!(own["host"], told("hostname").trim());
}
