//! Claims on real loop devices: each refusal leaves every byte as it was.

#![expect(clippy::unwrap_used, reason = "in a test, unwrap is an assertion")]

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use host::claim::{ClaimRefusal, IdentityWords, Relation, identity_words};
use host::{Claim, ClaimPlan};
use testkit::run::until;
use testkit::{Loop, Scratch, need_loops, need_tools, tool};

const LENGTH_BYTES: u64 = 8 << 20;

/// A loop device over a file of its own, filled with a pattern.
struct Bare {
    device: Loop,
    file: PathBuf,
    scratch: Scratch,
}

impl Bare {
    fn new() -> Bare {
        let scratch = Scratch::new();
        let bytes = vec![0xa5; usize::try_from(LENGTH_BYTES).unwrap()];
        let file = scratch.file("disk", &bytes);
        let device = Loop::attach(&file, 512);
        Bare { device, file, scratch }
    }

    fn node(&self) -> &Path {
        self.device.path()
    }

    /// What is refused on `node` with the right words, or with `confirm`; asserts that nothing of
    /// the disk changes.
    fn refusal(&self, node: &Path, confirm: Option<&str>, signatures: &[String]) -> ClaimRefusal {
        let before = std::fs::read(&self.file).unwrap();
        let right = identity_words(node).map(|words| words.to_string()).unwrap_or_default();
        let confirm = confirm.unwrap_or(&right);
        let refusal =
            Claim::take(ClaimPlan { node, confirm: Some(confirm), signatures }).unwrap_err();
        assert!(before == std::fs::read(&self.file).unwrap(), "bytes changed");
        assert!(refusal.hint().is_some(), "{refusal}");
        refusal
    }
}

/// Runs a tool when dropped.
struct Undo(&'static str, PathBuf);

impl Drop for Undo {
    fn drop(&mut self) {
        let _ = tool::output(self.0, &[self.1.to_str().unwrap()]);
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Mounts `device` on a directory of `scratch` until the value is dropped: read-only, so that the
/// file system writes nothing by itself.
fn mounted(device: &Path, scratch: &Scratch) -> Undo {
    let point = scratch.path().join("mounted here");
    std::fs::create_dir(&point).unwrap();
    tool::run("mount", &["-o", "ro", text(device), text(&point)]);
    Undo("umount", point)
}

#[test]
fn a_bare_device_is_claimed_for_writing_and_a_second_claim_is_refused() {
    need_loops!();
    let bare = Bare::new();
    let words = format!("{}={LENGTH_BYTES}", text(bare.node()));
    assert_eq!(identity_words(bare.node()).unwrap(), IdentityWords::PathAndBytes(words.clone()));
    let plan = ClaimPlan { node: bare.node(), confirm: Some(&words), signatures: &[] };
    let claim = Claim::take(plan).unwrap();
    assert_eq!(claim.length_bytes(), LENGTH_BYTES);
    assert_eq!(claim.number().0, 7);
    let second = bare.refusal(bare.node(), None, &[]);
    assert!(matches!(second, ClaimRefusal::HeldElsewhere { .. }), "{second}");

    // It is open for writing, past the page cache, and the claim outlives its first descriptor.
    let clone = claim.try_clone().unwrap();
    let flags = rustix::fs::fcntl_getfl(&clone).unwrap();
    assert!(flags.contains(rustix::fs::OFlags::RDWR | rustix::fs::OFlags::DIRECT));
    drop(claim.into_fd());
    assert!(Claim::take(plan).is_err());
    drop(clone);
    // A child that another test starts has all descriptors until it runs its own program.
    until("the claim is free again", || Claim::take(plan).is_ok());
}

#[test]
fn a_mounted_device_is_refused_through_a_link_and_through_a_second_node() {
    need_loops!();
    need_tools!("mkfs.ext4", "mount", "umount", "mknod");
    let bare = Bare::new();
    tool::run("mkfs.ext4", &["-q", "-F", text(bare.node())]);
    let _mount = mounted(bare.node(), &bare.scratch);
    let link = bare.scratch.path().join("link");
    symlink(bare.node(), &link).unwrap();
    let second = bare.scratch.path().join("node");
    let (_, minor) = number(bare.node());
    tool::run("mknod", &[text(&second), "b", "7", &minor.to_string()]);
    for node in [bare.node(), &link, &second] {
        match bare.refusal(node, None, &[]) {
            ClaimRefusal::Mounted { relation: Relation::Itself, device, point, .. } => {
                assert_eq!(device, text(bare.node()));
                assert!(point.ends_with("/mounted here"), "{point}");
            }
            other => panic!("{}: {other}", node.display()),
        }
    }
}

/// The number of the device behind a node.
fn number(node: &Path) -> (u32, u32) {
    match host::identity(node).unwrap() {
        host::Identity::Block { major, minor } => (major, minor),
        host::Identity::File { .. } => panic!("{} is a file", node.display()),
    }
}

#[test]
fn the_parent_disk_of_a_mounted_partition_is_refused() {
    need_loops!();
    need_tools!("sfdisk", "partx", "mkfs.ext4", "mount", "umount");
    let scratch = Scratch::new();
    let file = scratch.image("disk", LENGTH_BYTES);
    tool::run_with_input("sfdisk", &["--quiet", text(&file)], "label: gpt\n,2M\n,2M\n");
    let bare = Bare { device: Loop::attach(&file, 512), file, scratch };
    let first = bare.device.partition(1);
    let other = bare.device.partition(2);
    tool::run("mkfs.ext4", &["-q", "-F", text(&first)]);
    {
        let _mount = mounted(&first, &bare.scratch);
        match bare.refusal(bare.node(), None, &[]) {
            ClaimRefusal::Mounted { relation: Relation::Partition, device, .. } => {
                assert_eq!(device, text(&first));
            }
            other => panic!("{other}"),
        }
        // Its neighbour shares no byte with it.
        let words = identity_words(&other).unwrap().to_string();
        let claim = Claim::take(ClaimPlan { node: &other, confirm: Some(&words), signatures: &[] });
        assert_eq!(claim.unwrap().length_bytes(), 2 << 20);
    }
    // What a claim holds is held above and below it, too.
    let words = identity_words(&other).unwrap().to_string();
    let plan = ClaimPlan { node: &other, confirm: Some(&words), signatures: &[] };
    let _claim = Claim::take(plan).unwrap();
    let refusal = bare.refusal(bare.node(), None, &[]);
    assert!(matches!(refusal, ClaimRefusal::HeldElsewhere { .. }), "{refusal}");
}

#[test]
fn a_device_that_the_kernel_swaps_to_is_refused() {
    need_loops!();
    need_tools!("mkswap", "swapon", "swapoff");
    let bare = Bare::new();
    tool::run("mkswap", &[text(bare.node())]);
    let on = tool::output("swapon", &["--priority", "0", text(bare.node())]);
    if !on.status.success() {
        return testkit::skip("the kernel does not swap to a loop device here");
    }
    let _off = Undo("swapoff", bare.node().to_owned());
    let refusal = bare.refusal(bare.node(), None, &[]);
    assert!(matches!(refusal, ClaimRefusal::Swap { relation: Relation::Itself, .. }), "{refusal}");
}

#[test]
fn a_device_that_a_loop_shows_is_refused_and_so_is_a_loop_over_a_shared_file() {
    need_loops!();
    let bare = Bare::new();
    {
        let above = Loop::attach(bare.node(), 512);
        match bare.refusal(bare.node(), None, &[]) {
            ClaimRefusal::BacksLoop { by, .. } => assert_eq!(by, text(above.path())),
            other => panic!("{other}"),
        }
    }
    let beside = Loop::attach(&bare.file, 512);
    match bare.refusal(bare.node(), None, &[]) {
        ClaimRefusal::SharedFile { other, .. } => assert_eq!(other, text(beside.path())),
        other => panic!("{other}"),
    }
}

#[test]
fn a_recognised_signature_is_refused_and_named() {
    need_loops!();
    let bare = Bare::new();
    let found = ["LVM physical volume".to_owned(), "ext4 \x1b[31m".to_owned()];
    let refusal = bare.refusal(bare.node(), None, &found);
    assert!(matches!(refusal, ClaimRefusal::Signature { .. }));
    let said = refusal.to_string();
    assert!(said.ends_with("LVM physical volume, ext4 \\u{1b}[31m"), "{said}");
}

#[test]
fn words_that_do_not_name_the_device_are_refused_and_the_right_ones_are_not_told() {
    need_loops!();
    let bare = Bare::new();
    let right = identity_words(bare.node()).unwrap().to_string();
    let long = format!("{}={}", text(bare.node()), LENGTH_BYTES + 1);
    for typed in ["", "yes", text(bare.node()), "8388608", &long] {
        let refusal = bare.refusal(bare.node(), Some(typed), &[]);
        assert!(matches!(refusal, ClaimRefusal::NotConfirmed { .. }), "{refusal}");
        let said = format!("{refusal} {}", refusal.hint().unwrap());
        let said = said.replace(&format!("`{typed}` was given"), "");
        assert!(!said.contains(&right) && !said.contains("8388608"), "{said}");
    }
}

#[test]
fn a_device_that_somebody_holds_exclusively_is_refused() {
    need_loops!();
    let bare = Bare::new();
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::EXCL;
    let _held = rustix::fs::open(bare.node(), flags, rustix::fs::Mode::empty()).unwrap();
    let refusal = bare.refusal(bare.node(), None, &[]);
    assert!(matches!(refusal, ClaimRefusal::HeldElsewhere { .. }), "{refusal}");
}

#[test]
fn a_read_only_device_is_refused() {
    need_loops!();
    let scratch = Scratch::new();
    let file = scratch.image("disk", LENGTH_BYTES);
    let bare = Bare { device: Loop::attach_read_only(&file), file, scratch };
    let refusal = bare.refusal(bare.node(), None, &[]);
    assert!(matches!(refusal, ClaimRefusal::ReadOnly { .. }), "{refusal}");
}

#[test]
fn what_is_no_block_device_is_refused_and_named() {
    let scratch = Scratch::new();
    let file = scratch.file("disk", &[1; 512]);
    let claim = |node: &Path| Claim::take(ClaimPlan { node, confirm: Some(""), signatures: &[] });
    for (node, found) in [
        (file.as_path(), "a regular file"),
        (scratch.path(), "a directory"),
        (Path::new("/dev/null"), "a character device"),
    ] {
        match claim(node).unwrap_err() {
            ClaimRefusal::NotABlockDevice { found: said, .. } => assert_eq!(said, found),
            other => panic!("{other}"),
        }
    }
    let missing = claim(&scratch.path().join("missing")).unwrap_err();
    assert!(matches!(missing, ClaimRefusal::Kernel { .. }), "{missing}");
}

#[test]
fn what_is_written_through_a_claim_is_on_the_device() {
    need_loops!();
    let bare = Bare::new();
    let words = identity_words(bare.node()).unwrap().to_string();
    let claim =
        Claim::take(ClaimPlan { node: bare.node(), confirm: Some(&words), signatures: &[] });
    let claim = claim.unwrap();
    let clone = claim.try_clone().unwrap();
    let flags = rustix::fs::fcntl_getfl(&clone).unwrap();
    rustix::fs::fcntl_setfl(&clone, flags - rustix::fs::OFlags::DIRECT).unwrap();
    let mut file = File::from(clone);
    file.seek(SeekFrom::Start(4096)).unwrap();
    file.write_all(&[0x5a; 512]).unwrap();
    file.sync_all().unwrap();
    let mut found = [0; 512];
    let mut behind = File::open(&bare.file).unwrap();
    behind.seek(SeekFrom::Start(4096)).unwrap();
    behind.read_exact(&mut found).unwrap();
    assert_eq!(found, [0x5a; 512]);
}
