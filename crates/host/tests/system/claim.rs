//! Claims on real loop devices: each refusal leaves every byte as it was.

#![expect(clippy::unwrap_used, reason = "in a test, unwrap is an assertion")]

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use host::claim::{ClaimRefusal, IdentityWords, Relation, identity_words};
use host::{Claim, ClaimPlan, Contents, FileDisk, Pinned};
use testkit::running_program::until;
use testkit::{Loop, Scratch, need_loops, need_tools, tool};

const LENGTH_BYTES: u64 = 8 << 20;

/// Nothing that is known, which may be written over.
const NOTHING: &dyn Fn(FileDisk) -> Contents = &|_| Contents::default();

fn pinned(node: &Path) -> Pinned {
    Pinned::at(node).unwrap()
}

/// Returns the words to type for `node`.
fn words(node: &Path) -> String {
    identity_words(&pinned(node)).map(|words| words.to_string()).unwrap_or_default()
}

/// A claim of `node`, for which `confirm` was typed.
fn claim(node: &Path, confirm: &str) -> Result<Claim, ClaimRefusal> {
    let node = pinned(node);
    taken(plan(&node, confirm, NOTHING))
}

/// A claim once nobody has the device: a child that another test starts has all descriptors of this
/// process, those of a claim before this one too, until it runs its own program.
fn taken(plan: ClaimPlan<'_>) -> Result<Claim, ClaimRefusal> {
    let mut answer = None;
    until("nobody has the device", || {
        answer = Some(Claim::take(plan));
        let held = |refusal: &ClaimRefusal| {
            matches!(refusal, ClaimRefusal::HeldElsewhere { .. } | ClaimRefusal::Used { .. })
        };
        !answer.as_ref().is_some_and(|answer| answer.as_ref().is_err_and(held))
    });
    answer.unwrap()
}

fn plan<'a>(
    node: &'a Pinned,
    confirm: &'a str,
    contents: &'a dyn Fn(FileDisk) -> Contents,
) -> ClaimPlan<'a> {
    ClaimPlan { node, confirm: Some(confirm), overwrites_data: false, contents }
}

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

    /// Returns the refusal of `node` with the right words, or with `confirm`; asserts that nothing
    /// of the disk changes.
    fn refusal(&self, node: &Path, confirm: Option<&str>, signatures: &[String]) -> ClaimRefusal {
        let before = std::fs::read(&self.file).unwrap();
        let right = words(node);
        let confirm = confirm.unwrap_or(&right);
        let contents = |_| Contents { signatures: signatures.to_vec(), data: None };
        let refusal = taken(plan(&pinned(node), confirm, &contents)).unwrap_err();
        self.is_unchanged(&before, &refusal);
        refusal
    }

    /// Asserts that it is refused because somebody holds it, and that nothing of the disk changes.
    fn is_held(&self) {
        let before = std::fs::read(&self.file).unwrap();
        let right = words(self.node());
        let refusal = Claim::take(plan(&pinned(self.node()), &right, NOTHING)).unwrap_err();
        self.is_unchanged(&before, &refusal);
        assert!(matches!(refusal, ClaimRefusal::HeldElsewhere { .. }), "{refusal}");
    }

    fn is_unchanged(&self, before: &[u8], refusal: &ClaimRefusal) {
        assert!(before == std::fs::read(&self.file).unwrap(), "bytes changed");
        assert!(refusal.hint().is_some(), "{refusal}");
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
    let said = identity_words(&pinned(bare.node())).unwrap();
    assert_eq!(said, IdentityWords::PathAndBytes(words.clone()));
    let held = claim(bare.node(), &words).unwrap();
    assert_eq!(held.length_bytes(), LENGTH_BYTES);
    assert_eq!(held.number().0, 7);
    bare.is_held();

    // It is open for writing, past the page cache.
    let clone = held.try_clone().unwrap();
    let flags = rustix::fs::fcntl_getfl(&clone).unwrap();
    assert!(flags.contains(rustix::fs::OFlags::RDWR | rustix::fs::OFlags::DIRECT));
    drop((held, clone));
    assert!(claim(bare.node(), &words).is_ok());
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
        host::PathIdentity::Block { major, minor } => (major, minor),
        host::PathIdentity::File { .. } => panic!("{} is a file", node.display()),
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
        // Its neighbor shares no byte with it.
        let held = claim(&other, &words(&other));
        assert_eq!(held.unwrap().length_bytes(), 2 << 20);
    }
    // What a claim holds is held above and below it, too.
    let _held = claim(&other, &words(&other)).unwrap();
    bare.is_held();
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
fn a_recognized_signature_is_refused_and_named() {
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
    let right = words(bare.node());
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
    bare.is_held();
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
    for (node, found) in [
        (file.as_path(), "a regular file"),
        (scratch.path(), "a directory"),
        (Path::new("/dev/null"), "a character device"),
    ] {
        match claim(node, "").unwrap_err() {
            ClaimRefusal::NotABlockDevice { found: said, .. } => assert_eq!(said, found),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn what_is_written_through_a_claim_is_on_the_device() {
    need_loops!();
    let bare = Bare::new();
    let claim = claim(bare.node(), &words(bare.node())).unwrap();
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

#[test]
fn bytes_that_nobody_recognizes_are_refused_unless_they_are_said_to_be_needless() {
    need_loops!();
    let bare = Bare::new();
    let (node, right) = (pinned(bare.node()), words(bare.node()));
    let found = |_| Contents { signatures: Vec::new(), data: Some("byte 5 is 0xa5".to_owned()) };
    let asked = plan(&node, &right, &found);
    let refusal = taken(asked).unwrap_err();
    assert!(matches!(refusal, ClaimRefusal::Data { .. }), "{refusal}");
    assert!(refusal.hint().unwrap().contains("--overwrite-data"));
    // It is no word for what is recognized.
    let known = |disk| Contents { signatures: vec!["ext4 data".to_owned()], ..found(disk) };
    let refusal = taken(ClaimPlan { overwrites_data: true, contents: &known, ..asked });
    assert!(matches!(refusal.unwrap_err(), ClaimRefusal::Signature { .. }));
    assert!(taken(ClaimPlan { overwrites_data: true, ..asked }).is_ok());
}

#[test]
fn a_number_that_is_given_to_another_file_after_it_was_pinned_is_what_is_looked_at() {
    need_loops!();
    let bare = Bare::new();
    let other = bare.scratch.file("other", &vec![0x5a; usize::try_from(LENGTH_BYTES).unwrap()]);
    let (node, right) = (pinned(bare.node()), words(bare.node()));
    bare.device.give_to(&other);
    let seen = std::cell::Cell::new(0);
    let look = |disk: FileDisk| {
        let mut first = [0];
        device::Disk::read_at(&disk, 0, &mut first).unwrap();
        seen.set(first[0]);
        Contents::default()
    };
    let held = taken(plan(&node, &right, &look)).unwrap();
    assert_eq!(seen.get(), 0x5a, "what is claimed is what was looked at");
    // As long as it is claimed it stays what it is.
    let _ = tool::output("losetup", &["--detach", text(bare.node())]);
    assert!(!tool::output("losetup", &[text(bare.node()), text(&bare.file)]).status.success());
    drop(held);
}

#[test]
fn the_nodes_are_locked_as_long_as_the_claim_lasts() {
    need_loops!();
    need_tools!("flock", "mknod");
    let bare = Bare::new();
    let second = bare.scratch.path().join("node");
    let (_, minor) = number(bare.node());
    tool::run("mknod", &[text(&second), "b", "7", &minor.to_string()]);
    let held = claim(&second, &words(&second)).unwrap();
    let is_locked =
        |node: &Path| !tool::output("flock", &["--nonblock", text(node), "true"]).status.success();
    assert!(is_locked(bare.node()) && is_locked(&second));
    drop(held);
    until("the locks are gone", || !is_locked(bare.node()) && !is_locked(&second));
}
