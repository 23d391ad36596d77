//! Manifests of captured trees: what is written is read back, links lead where the kernel's do, and
//! what is wrong is refused by its line.

use crate::{KernelTree, Manifest, TextTree, TreeError};
use testkit::memory::Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn tree(body: &str) -> TextTree {
    TextTree::parse(format!("straddle.sysroot/1\n{body}")).expect("the test writes a manifest")
}

fn refusal(text: &str) -> (usize, String) {
    let error = TextTree::parse(text.to_owned()).expect_err("the text is no manifest");
    (error.line, error.reason)
}

/// A disk with a partition, reached as in a real `/sys`.
const DISK: &str = "\
d /sys/block
l sda -> ../devices/pci0/block/sda
d /sys/dev/block
l 8:0 -> ../../devices/pci0/block/sda
l 8:1 -> ../../devices/pci0/block/sda/sda1
d /sys/devices/pci0/block/sda
l driver -> ../../../../drivers/gone/./x/../y
l out -> ../../../../../../..
f size: 2048
x wwid: Permission denied (os error 13)
d /sys/devices/pci0/block/sda/sda1
f start: 63
d /proc
m mdstat: 3
| Personalities :
|
|  indented \\x41\\t
";

#[test]
fn relative_links_are_followed_as_the_kernel_does() {
    let tree = tree(DISK);
    for way in ["/sys/block/sda", "/sys/dev/block/8:0", "/sys/dev/block/8:1/.."] {
        let read = tree.read(&format!("{way}/size"));
        match way.ends_with("..") {
            true => assert!(matches!(read, Err(TreeError::Unreadable { .. })), "{read:?}"),
            false => assert_eq!(read.unwrap(), "2048"),
        }
    }
    assert_eq!(tree.read("/sys/dev/block/8:1/start").unwrap(), "63");
    assert_eq!(tree.link("/sys/dev/block/8:1").unwrap(), "/sys/devices/pci0/block/sda/sda1");
    let names = ["driver", "out", "sda1", "size", "wwid"];
    assert_eq!(tree.list("/sys/block/sda").unwrap(), names);
    assert_eq!(tree.link("/sys/block/sda/driver").unwrap(), "/sys/drivers/gone/y");
}

#[test]
fn what_is_missing_unreadable_or_leads_out_says_so() {
    let tree = tree(DISK);
    let error = tree.read("/sys/block/sda/wwid").unwrap_err();
    assert_eq!(
        error.to_string(),
        "/sys/block/sda/wwid cannot be read: Permission denied (os error 13)"
    );
    for path in ["/sys/none", "/sys/block/sda/size/x", "/sys/block/sda/driver/z"] {
        assert!(matches!(tree.read(path), Err(TreeError::Missing { .. })), "{path}");
        assert!(matches!(tree.link(path), Err(TreeError::Missing { .. })), "{path}");
        assert!(matches!(tree.list(path), Err(TreeError::Missing { .. })), "{path}");
    }
    for path in ["/sys/block/sda/out", "/sys", "sys", "/sys/../sys", "/a\0"] {
        assert!(matches!(tree.read(path), Err(TreeError::Unreadable { .. })), "{path}");
    }
    assert!(matches!(tree.link("/sys/block/sda/out"), Err(TreeError::Unreadable { .. })));
    assert!(matches!(tree.link("/sys/block"), Err(TreeError::Unreadable { .. })));
    assert!(matches!(tree.list("/sys/block/sda/size"), Err(TreeError::Missing { .. })));
}

#[test]
fn lines_bytes_and_blanks_come_back_as_they_were() {
    let tree = tree(DISK);
    assert_eq!(tree.bytes("/proc/mdstat").unwrap(), b"Personalities :\n\n indented A\t\n");
    assert_eq!(tree.read("/proc/mdstat").unwrap(), "Personalities :\n\n indented A");
}

#[test]
fn circles_of_links_end() {
    let tree = tree("d /a\nl one -> two\nl two -> one\nl in -> in/in/in\nl up -> ../a/up/x\n");
    for name in ["one", "two", "in", "up"] {
        let path = format!("/a/{name}");
        for error in [tree.read(&path).unwrap_err(), tree.link(&path).unwrap_err()] {
            assert_eq!(
                error.to_string(),
                format!("{path} cannot be read: too many links lead on from it")
            );
        }
    }
}

#[test]
fn forty_links_on_one_way_are_followed_and_forty_one_are_not() {
    let chain = |links: usize| {
        let mut body = "d /a\nf end: yes\n".to_owned();
        for link in 1..=links {
            let target = if link == 1 { "end".to_owned() } else { format!("l{}", link - 1) };
            body.push_str(&format!("l l{link} -> ./{target}\n"));
        }
        tree(&body).read(&format!("/a/l{links}"))
    };
    assert_eq!(chain(40).unwrap(), "yes");
    assert!(matches!(chain(41), Err(TreeError::Unreadable { .. })));
}

#[test]
fn whatever_is_wrong_is_refused_with_its_line() {
    let first = "straddle.sysroot/1";
    for (body, line, says) in [
        ("d /a\nf b: 1\n\nf b: 2", 5, "`b` stands in this directory before"),
        ("d /a\nf b: 1\nd /a/b", 4, "`b` stands in this directory before"),
        ("d /a/b\nd /c\nd /a\nl b -> /c", 5, "`b` stands in this directory before"),
        ("d /a\nd /b\nd /a", 4, "the directory was stated before"),
        ("f a: 1", 2, "no line before it states a directory"),
        ("d a", 2, "starts with a slash"),
        ("d /a//b", 2, "no name of a file"),
        ("d /a/../b", 2, "no name of a file"),
        ("d /a/", 2, "no name of a file"),
        ("d /a\nf b\\x2fc: 1", 3, "no name of a file"),
        ("d /a\nf : 1", 3, "no name of a file"),
        ("d /a\nf b", 3, "NAME: VALUE"),
        ("d /a\nl b c", 3, "NAME -> TARGET"),
        ("d /a\nl b -> ", 3, "leads nowhere"),
        ("d /a\nf b: \\q", 3, "an escape"),
        ("d /a\nm b: 3\n| 1\n| 2", 3, "fewer than the 3 lines"),
        ("d /a\nm b: 99999999999999999999\n| 1", 3, "no count of lines"),
        ("d /a\nm b: 2\n| 1\nf c: 2", 3, "fewer than the 2 lines"),
        ("d /a\nm b: 1\n| \\", 4, "an escape"),
        ("d /a\r", 2, "carriage return"),
        ("d /a\nq b: 1", 3, "no line that starts with"),
        ("d /a\n| lost", 3, "no line that starts with"),
    ] {
        let (found, reason) = refusal(&format!("{first}\n{body}"));
        assert_eq!(found, line, "{body}: {reason}");
        assert!(reason.contains(says), "{body}: {reason}");
    }
    assert!(refusal("straddle.sysroot/2\n").1.contains("a newer straddle wrote it"));
    for text in ["", "\n", "d /a\n", "straddle"] {
        assert_eq!(refusal(text).0, 1, "{text}");
    }
    let deep = format!("{first}\nd {}", "/a".repeat(65));
    assert_eq!(refusal(&deep).0, 2);
    let error = TextTree::from_bytes(b"straddle.sysroot/1\nd /a\nf b: \xff\n".to_vec());
    assert_eq!(error.unwrap_err().line, 3);
}

/// A piece of a name or a value, odd ones often.
fn piece(random: &mut units::random::Random) -> String {
    let pieces = [
        "a", "b", ": ", " -> ", ":", " ", "\\", "\n", "\t", "é", "\u{202e}", "\u{7f}", "x", "|",
        "#",
    ];
    (0..1 + random.below(4)).map(|_| *random.choose(&pieces)).collect()
}

#[test]
fn any_tree_comes_back_from_its_text_and_the_text_from_the_tree() {
    let mut random = testkit::random(20);
    for _ in 0..300 {
        let mut manifest = Manifest::new();
        let mut files = Vec::new();
        for _ in 0..random.below(30) {
            let directory = format!("/{}", piece(&mut random));
            let path = format!("{directory}/{}", piece(&mut random));
            let mut content: Vec<u8> = piece(&mut random).into_bytes();
            content.extend((0..random.below(9)).map(|_| random.next_u64().to_le_bytes()[0]));
            if random.below(2) == 0 {
                content.push(b'\n');
            }
            manifest.file(&path, &content).unwrap();
            files.retain(|(other, _)| *other != path);
            files.push((path, content));
        }
        let text = manifest.to_text();
        let tree = TextTree::parse(text.clone()).unwrap();
        let mut again = Manifest::new();
        for (path, content) in files {
            assert_eq!(tree.bytes(&path).unwrap(), content, "{path}\n{text}");
            let (directory, name) = path.rsplit_once('/').unwrap();
            assert!(tree.list(directory).unwrap().iter().any(|each| each == name));
            again.file(&path, &tree.bytes(&path).unwrap()).unwrap();
        }
        assert_eq!(again.to_text(), text);
    }
}

#[test]
fn a_damaged_manifest_is_read_or_refused_in_little_memory() {
    let mut random = testkit::random(21);
    let whole = format!("straddle.sysroot/1\n{DISK}").into_bytes();
    for _ in 0..3000 {
        let mut text = whole.clone();
        for _ in 0..1 + random.below(4) {
            let at = usize::try_from(random.below(u64::try_from(text.len()).unwrap())).unwrap();
            match random.below(3) {
                0 => text[at] = *random.choose(b"\n :/.\\|dflmbx0\xff"),
                1 => drop(text.drain(at..(at + 9).min(text.len()))),
                _ => {
                    let again = text[at..(at + 40).min(text.len())].to_vec();
                    text.splice(at..at, again);
                }
            }
            if text.is_empty() {
                break;
            }
        }
        let ((), peak_bytes) = testkit::memory::peak_of(|| crate::captured_tree::hostile(&text));
        assert!(peak_bytes < 1 << 20, "{peak_bytes}");
    }
}

#[test]
fn a_text_that_was_cut_is_refused_wherever_it_was_cut() {
    let mut manifest = Manifest::new();
    for name in ["a", "b", "c", "d"] {
        manifest.file(&format!("/sys/{name}"), b"1\n").unwrap();
    }
    let text = manifest.to_text();
    assert!(TextTree::parse(text.clone()).is_ok());
    let ends = text.match_indices('\n').map(|(at, _)| at + 1);
    // The first line and the count have to be there: what is above them says nothing yet.
    for end in ends.skip(1).filter(|&end| end < text.len()) {
        let error = TextTree::parse(text[..end].to_owned()).unwrap_err();
        assert!(error.reason.contains("cut"), "{error}");
    }
    assert!(TextTree::parse(text[..text.len() - 1].to_owned()).is_err());
    assert!(TextTree::parse(text + "f e: 1\n").is_err());
}
