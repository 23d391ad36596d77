//! The checks on trees in memory: stacks that this machine need not have.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ::device::{KernelTree, MemoryTree};

use super::forbidden_uses::{Sought, Used, User};
use super::machine::LoopBacking;
use super::*;

const DISK: Number = (8, 0);
const PARTITION: Number = (8, 1);

/// A machine in memory. Paths in `/dev` lead to devices by name.
struct Fake {
    tree: MemoryTree,
    nodes: BTreeMap<PathBuf, PathIdentity>,
    behind: BTreeMap<u32, LoopBacking>,
    user: Result<Option<User>, String>,
}

impl ClaimWorld for Fake {
    fn tree(&self) -> &dyn KernelTree {
        &self.tree
    }

    fn identity(&self, path: &Path) -> Option<PathIdentity> {
        self.nodes.get(path).copied()
    }

    fn behind(&self, index: u32) -> io::Result<Option<LoopBacking>> {
        Ok(self.behind.get(&index).copied())
    }

    fn user(&self, sought: &Sought) -> Result<Option<User>, String> {
        let is_sought = |user: &User| match user.what {
            Used::Device(number) => sought.devices.contains(&number),
            Used::Character(number) => sought.characters.contains(&number),
            Used::File(file) => sought.files.contains(&file),
        };
        Ok(self.user.clone()?.filter(is_sought))
    }
}

fn block((major, minor): Number) -> PathIdentity {
    PathIdentity::Block { major, minor }
}

impl Fake {
    /// A disk `sda` of 8 sectors with partitions `sda1` and `sda2`; nothing uses them.
    fn new() -> Fake {
        let tree = MemoryTree::new()
            .with_file("/proc/thread-self/mountinfo", "1 0 0:20 / / rw - tmpfs none rw\n")
            .with_file("/proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n");
        let fake = Fake { tree, nodes: BTreeMap::new(), behind: BTreeMap::new(), user: Ok(None) };
        fake.disk("sda", DISK).partition("sda", 1, PARTITION).partition("sda", 2, (8, 2))
    }

    fn disk(self, name: &str, number: Number) -> Fake {
        let directory = format!("/sys/devices/{name}");
        let fake = self.device(name, &directory, number);
        fake.link(&format!("/sys/block/{name}"), &directory)
    }

    fn partition(self, disk: &str, index: u32, number: Number) -> Fake {
        let directory = format!("/sys/devices/{disk}/{disk}{index}");
        let fake = self.device(&format!("{disk}{index}"), &directory, number);
        let fake = fake.file(&format!("{directory}/size"), "2\n");
        let fake = fake.file(&format!("{directory}/start"), &(2 * index).to_string());
        fake.file(&format!("{directory}/partition"), &index.to_string())
    }

    fn device(self, name: &str, directory: &str, (major, minor): Number) -> Fake {
        let mut fake = self
            .file(&format!("{directory}/dev"), &format!("{major}:{minor}\n"))
            .file(&format!("{directory}/size"), "8\n")
            .file(&format!("{directory}/ro"), "0\n")
            .link(&format!("/sys/dev/block/{major}:{minor}"), directory)
            .link(&format!("/sys/class/block/{name}"), directory);
        fake.nodes.insert(PathBuf::from(format!("/dev/{name}")), block((major, minor)));
        fake
    }

    /// `above` is built on `below`, as device-mapper and md say it.
    fn built(self, above: &str, below: &str) -> Fake {
        let (over, under) = (format!("/sys/devices/{above}"), self.place(below));
        self.link(&format!("{under}/holders/{above}"), &over)
            .link(&format!("{over}/slaves/{below}"), &under)
    }

    /// A loop device, which shows all of `what`.
    fn shows(self, index: u32, what: PathIdentity) -> Fake {
        self.shows_part(index, LoopBacking { what, from_bytes: 0, limit_bytes: None })
    }

    fn shows_part(self, index: u32, what: LoopBacking) -> Fake {
        let directory = format!("/sys/devices/loop{index}/loop");
        let mut fake = self.disk(&format!("loop{index}"), (7, index));
        fake.behind.insert(index, what);
        fake.file(&format!("{directory}/backing_file"), "/somewhere")
    }

    fn tables(self, text: &str) -> Fake {
        let names = ["dm-0", "dm-1"].into_iter();
        let fake = names.fold(self, |fake, name| {
            fake.file(&format!("/sys/devices/{name}/dm/name"), &format!("{name}\n"))
        });
        fake.file(::device::answer::DM_TABLES, text)
    }

    /// Process 12 uses `what`.
    fn used(mut self, what: Used, how: Use) -> Fake {
        let who = "process 12 (qemu)".to_owned();
        self.user = Ok(Some(User { who, pid: Some(12), what, how }));
        self
    }

    fn mounted(self, device: &str, source: &str) -> Fake {
        let line = format!("2 1 {device} / /my\\040data rw shared:1 - ext4 {source} rw\n");
        self.file("/proc/thread-self/mountinfo", &line)
    }

    fn swap(self, path: &str, kind: &str) -> Fake {
        let text = format!("Filename\tType\tSize\tUsed\tPriority\n{path}   {kind}\t4\t0\t-2\n");
        self.file("/proc/swaps", &text)
    }

    fn file(mut self, path: &str, content: &str) -> Fake {
        self.tree = self.tree.with_file(path, content);
        self
    }

    fn link(mut self, path: &str, target: &str) -> Fake {
        self.tree = self.tree.with_link(path, target);
        self
    }

    fn place(&self, name: &str) -> String {
        self.tree.link(&format!("/sys/class/block/{name}")).unwrap()
    }

    fn refusal(&self, number: Number) -> ClaimRefusal {
        let refusal = look(self, number, None).unwrap_err();
        assert!(refusal.hint().is_some(), "{refusal}");
        refusal
    }

    fn says(&self, number: Number, expected: &str) {
        assert_eq!(self.refusal(number).to_string(), expected);
    }

    fn is_free(&self, number: Number) {
        let seen = look(self, number, None);
        assert!(matches!(seen, Ok(DeviceState { length_bytes: 1024.., .. })), "{seen:?}");
    }
}

const FILE: PathIdentity = PathIdentity::File { device: 0xfe, inode: 12 };

#[test]
fn a_device_that_nobody_uses_is_free_and_so_are_its_partitions() {
    Fake::new().is_free(DISK);
    Fake::new().is_free(PARTITION);
}

#[test]
fn a_mount_is_known_by_its_number_whatever_its_source_is_called() {
    let fake = Fake::new().mounted("8:0", "/dev/another-name");
    fake.says(DISK, "/dev/sda is in use: /dev/sda is mounted on /my data");
}

#[test]
fn a_mount_on_a_partition_is_refused_for_its_disk_and_not_for_its_neighbor() {
    let fake = Fake::new().mounted("8:1", "/dev/sda1");
    fake.says(DISK, "/dev/sda is in use: its partition /dev/sda1 is mounted on /my data");
    fake.is_free((8, 2));
}

#[test]
fn a_mount_of_the_disk_is_refused_for_its_partitions() {
    let fake = Fake::new().mounted("8:0", "/dev/sda");
    fake.says(PARTITION, "/dev/sda1 is in use: its disk /dev/sda is mounted on /my data");
}

#[test]
fn a_mount_with_a_number_of_its_own_is_known_by_its_source() {
    let fake = Fake::new().mounted("0:50", "/dev/sda1");
    assert!(matches!(fake.refusal(PARTITION), ClaimRefusal::Mounted { .. }));
    let several = Fake::new().mounted("0:50", "/dev/nowhere:/dev/sda1");
    assert!(matches!(several.refusal(PARTITION), ClaimRefusal::Mounted { .. }));
}

#[test]
fn a_member_of_a_mounted_btrfs_is_refused_where_mountinfo_names_another() {
    let fake = Fake::new().mounted("0:50", "/dev/sda2");
    let fake = fake.link("/sys/fs/btrfs/9f-2a/devices/sda1", "/sys/devices/sda/sda1");
    assert!(matches!(fake.refusal(PARTITION), ClaimRefusal::Mounted { .. }));
}

#[test]
fn a_mount_two_layers_above_is_found() {
    let fake = Fake::new().disk("md0", (9, 0)).disk("dm-0", (252, 0));
    let fake = fake.built("md0", "sda1").built("dm-0", "md0").mounted("252:0", "/dev/mapper/v");
    let expected = "/dev/sda1 is in use: what is built on it, /dev/dm-0 is mounted on /my data";
    fake.says(PARTITION, expected);
}

#[test]
fn a_mount_that_only_the_first_process_sees_is_found() {
    let fake = Fake::new().file("/proc/1/mountinfo", "2 1 8:0 / /x rw - ext4 /dev/sda rw\n");
    assert!(matches!(fake.refusal(DISK), ClaimRefusal::Mounted { .. }));
}

#[test]
fn swap_is_known_by_number_on_the_device_its_partition_and_its_disk() {
    let mut fake = Fake::new().swap("/dev/disk/by-label/my\\040swap", "partition");
    fake.nodes.insert("/dev/disk/by-label/my swap".into(), block(PARTITION));
    fake.says(DISK, "/dev/sda is in use: the kernel swaps to its partition /dev/sda1");
    fake.says(PARTITION, "/dev/sda1 is in use: the kernel swaps to /dev/sda1");
    fake.is_free((8, 2));
    let whole = Fake::new().swap("/dev/sda", "partition");
    whole.says(PARTITION, "/dev/sda1 is in use: the kernel swaps to its disk /dev/sda");
}

#[test]
fn a_swap_without_a_node_is_known_by_its_name_and_an_unknown_one_refuses_all() {
    let mut fake = Fake::new().swap("/dev/sda1", "partition");
    fake.nodes.clear();
    assert!(matches!(fake.refusal(PARTITION), ClaimRefusal::Swap { .. }));
    let unknown = Fake::new().swap("/old/node", "partition");
    assert!(matches!(unknown.refusal(PARTITION), ClaimRefusal::Unknown { .. }));
}

#[test]
fn a_loop_over_a_file_that_is_swapped_to_is_refused() {
    let mut fake = Fake::new().shows(3, FILE).swap("/swapfile", "file");
    fake.nodes.insert("/swapfile".into(), FILE);
    assert!(matches!(fake.refusal((7, 3)), ClaimRefusal::Swap { .. }));
    fake.is_free(DISK);
}

#[test]
fn a_holder_of_the_device_its_partition_or_its_disk_is_a_refusal() {
    let held = |name| Fake::new().disk("dm-0", (252, 0)).built("dm-0", name);
    held("sda").says(DISK, "/dev/sda is in use: /dev/dm-0 is built on /dev/sda");
    let expected = "/dev/sda is in use: /dev/dm-0 is built on its partition /dev/sda1";
    held("sda1").says(DISK, expected);
    let expected = "/dev/sda1 is in use: /dev/dm-0 is built on its disk /dev/sda";
    held("sda").says(PARTITION, expected);
    held("sda1").is_free((8, 2));
}

#[test]
fn what_stands_on_others_is_free_while_nobody_uses_it_itself() {
    let fake = Fake::new().disk("dm-0", (252, 0)).disk("dm-1", (252, 1));
    // Two volumes on one partition, of which the other is mounted.
    let fake = fake.built("dm-0", "sda1").built("dm-1", "sda1").mounted("252:1", "/dev/dm-1");
    assert!(matches!(fake.refusal((252, 0)), ClaimRefusal::Mounted { .. }), "they may overlap");
    let fake = fake.tables("dm-0: 0 1 linear 8:1 0\ndm-1: 0 1 linear 8:1 1\n");
    fake.is_free((252, 0));
    assert!(matches!(fake.refusal((252, 1)), ClaimRefusal::Mounted { .. }));
}

#[test]
fn a_holder_that_sysfs_does_not_describe_is_a_refusal() {
    let fake = Fake::new().link("/sys/devices/sda/holders/gone", "/sys/devices/gone");
    assert!(matches!(fake.refusal(DISK), ClaimRefusal::Unknown { .. }));
}

#[test]
fn a_loop_over_the_device_its_partition_or_its_disk_is_a_refusal() {
    let fake = Fake::new().shows(3, block(PARTITION));
    let expected = "/dev/sda1 is in use: the loop device /dev/loop3 shows /dev/sda1";
    fake.says(PARTITION, expected);
    let expected = "/dev/sda is in use: the loop device /dev/loop3 shows its partition /dev/sda1";
    fake.says(DISK, expected);
    fake.is_free((8, 2));
}

#[test]
fn a_loop_is_refused_while_the_device_behind_it_is_mounted_held_or_shown_by_another() {
    let fake = || Fake::new().shows(3, block(PARTITION));
    fake().is_free((7, 3));
    let mounted = fake().mounted("8:1", "/dev/sda1");
    let expected = "/dev/loop3 is in use: the device behind it, /dev/sda1 is mounted on /my data";
    mounted.says((7, 3), expected);
    let held = fake().disk("dm-0", (252, 0)).built("dm-0", "sda1");
    assert!(matches!(held.refusal((7, 3)), ClaimRefusal::Holder { .. }));
    let shown = fake().shows(4, block(PARTITION));
    assert!(matches!(shown.refusal((7, 3)), ClaimRefusal::BacksLoop { .. }));
}

#[test]
fn a_loop_over_the_same_file_as_another_is_a_refusal_and_its_mount_is_seen() {
    let fake = || Fake::new().shows(3, FILE).shows(4, FILE);
    let expected = "/dev/loop3 is in use: the loop device /dev/loop4 shows the same file";
    fake().says((7, 3), expected);
    let mounted = fake().mounted("7:4", "/dev/loop4");
    assert!(matches!(mounted.refusal((7, 3)), ClaimRefusal::Mounted { .. }));
}

#[test]
fn loops_over_other_parts_of_one_file_share_nothing() {
    let part = |from_bytes, limit| LoopBacking { what: FILE, from_bytes, limit_bytes: Some(limit) };
    let beside = |from_bytes| {
        let fake = Fake::new().shows_part(3, part(0, 4096)).shows_part(4, part(from_bytes, 4096));
        fake.mounted("7:4", "/dev/loop4")
    };
    beside(4096).is_free((7, 3));
    assert!(matches!(beside(4095).refusal((7, 3)), ClaimRefusal::Mounted { .. }));
}

#[test]
fn a_sibling_over_the_same_sectors_is_a_refusal_through_a_cipher_and_through_stripes() {
    let siblings = |tables: &str| {
        let fake = Fake::new().disk("dm-0", (252, 0)).disk("dm-1", (252, 1));
        fake.built("dm-0", "sda").built("dm-1", "sda").tables(tables)
    };
    let first = "dm-0: 0 4 linear 8:0 0\n";
    let fake = siblings(&format!("{first}dm-1: 0 4 linear 8:0 2\n"));
    fake.says((252, 0), "/dev/dm-0 is in use: /dev/dm-1 is built on the same sectors of /dev/sda");
    let mounted = fake.mounted("252:1", "/dev/mapper/v");
    let expected = "/dev/dm-0 is in use: what is built on it, /dev/dm-1 is mounted on /my data";
    mounted.says((252, 0), expected);
    for other in [
        "dm-1: 0 4 crypt aes-xts-plain64 - 0 8:0 2 1 allow_discards",
        "dm-1: 0 4 striped 2 2 8:0 5 8:0 3",
        "dm-1: 0 1 zero\ndm-1: 1 1 delay 8:0 6 0 8:0 3 0",
        "dm-1: 0 4 something 8:0 7",
    ] {
        let refusal = siblings(&format!("{first}{other}\n")).refusal((252, 0));
        assert!(matches!(refusal, ClaimRefusal::Holder { .. }), "{other}: {refusal}");
    }
    for other in ["dm-1: 0 4 linear 8:0 4", "dm-1: 0 4 crypt a - 0 8:0 4", "dm-1: 0 4 error"] {
        siblings(&format!("{first}{other}\n")).is_free((252, 0));
    }
}

#[test]
fn volumes_of_one_thin_pool_share_nothing_and_one_that_shows_another_does() {
    let fake = || {
        let fake = Fake::new().disk("dm-0", (252, 0)).disk("dm-1", (252, 1));
        fake.disk("dm-9", (252, 9)).built("dm-9", "sda").built("dm-0", "dm-9").built("dm-1", "dm-9")
    };
    let tables = "dm-0: 0 4 thin 252:9 1\ndm-1: 0 4 thin 252:9 2\n";
    fake().tables(tables).mounted("252:1", "/dev/dm-1").is_free((252, 0));
    let twice = "dm-0: 0 4 thin 252:9 1\ndm-1: 0 4 thin 252:9 1\n";
    assert!(matches!(fake().tables(twice).refusal((252, 0)), ClaimRefusal::Holder { .. }));
    // What is under the pool is in use by it.
    assert!(matches!(fake().tables(tables).refusal(DISK), ClaimRefusal::Holder { .. }));
}

#[test]
fn two_partitions_over_the_same_sectors_share_them() {
    let fake = Fake::new().file("/sys/devices/sda/sda2/start", "3\n");
    fake.is_free(PARTITION);
    let mounted = fake.mounted("8:2", "/dev/sda2");
    let expected =
        "/dev/sda1 is in use: which has the same sectors, /dev/sda2 is mounted on /my data";
    mounted.says(PARTITION, expected);
}

#[test]
fn another_way_to_the_same_disk_is_the_same_disk() {
    let fake = || Fake::new().disk("sdb", (8, 16)).file("/sys/devices/sda/wwid", "naa.5000");
    let mounted = || fake().mounted("8:16", "/dev/sdb");
    mounted().is_free(DISK);
    let same = mounted().file("/sys/devices/sdb/wwid", "naa.5000");
    assert!(matches!(same.refusal(DISK), ClaimRefusal::Mounted { .. }));
    let long = same.file("/sys/devices/sdb/size", "16");
    long.is_free(DISK);
}

#[test]
fn a_process_that_has_the_device_or_what_shares_its_bytes_open_is_a_refusal() {
    let open = |what| Fake::new().shows(3, FILE).used(what, Use::Open);
    let expected = "/dev/sda is in use: process 12 (qemu) has /dev/sda open for writing";
    open(Used::Device(DISK)).says(DISK, expected);
    let expected =
        "/dev/sda is in use: process 12 (qemu) has its partition /dev/sda1 open for writing";
    open(Used::Device(PARTITION)).says(DISK, expected);
    let expected = "/dev/sda1 is in use: process 12 (qemu) has its disk /dev/sda open for writing";
    open(Used::Device(DISK)).says(PARTITION, expected);
    let expected =
        "/dev/loop3 is in use: process 12 (qemu) has the file behind it open for writing";
    open(Used::File(FILE)).says((7, 3), expected);
    open(Used::Device((8, 2))).is_free(PARTITION);
    open(Used::Device((7, 3))).is_free(DISK);
    let mut blind = Fake::new();
    blind.user = Err("process 12 (qemu) does not show its files".to_owned());
    let expected = "cannot tell who uses /dev/sda: process 12 (qemu) does not show its files";
    blind.says(DISK, expected);
}

#[test]
fn a_process_that_has_the_generic_device_of_a_disk_open_is_a_refusal() {
    let fake = |at: &str| Fake::new().file(at, "21:7\n").used(Used::Character((21, 7)), Use::Open);
    for at in ["scsi_generic/sg0", "bsg/0:0:0:0"] {
        let fake = fake(&format!("/sys/devices/sda/device/{at}/dev"));
        assert!(matches!(fake.refusal(DISK), ClaimRefusal::Used { .. }), "{at}");
        assert!(matches!(fake.refusal(PARTITION), ClaimRefusal::Used { .. }), "{at}");
    }
    let fake = fake("/sys/class/nvme-generic/ng0n1/dev").disk("nvme0n1", (259, 0));
    assert!(matches!(fake.refusal((259, 0)), ClaimRefusal::Used { .. }));
    fake.is_free(DISK);
}

#[test]
fn a_loop_over_a_file_that_others_may_write_unseen_is_a_refusal() {
    let on = |kind: &str| {
        let line = format!("2 1 0:254 / /m rw - {kind} source rw\n");
        Fake::new().shows(3, FILE).file("/proc/thread-self/mountinfo", &line)
    };
    let device = rustix::fs::makedev(0, 254);
    assert_eq!(FILE, PathIdentity::File { device, inode: 12 });
    for kind in ["fuse.sshfs", "overlay", "nfs4", "9p"] {
        assert!(matches!(on(kind).refusal((7, 3)), ClaimRefusal::Away { .. }), "{kind}");
    }
    on("xfs").is_free((7, 3));
}

#[test]
fn an_empty_and_a_read_only_device_are_refused() {
    let empty = Fake::new().file("/sys/devices/sda/size", "0\n");
    empty.says(DISK, "/dev/sda is empty: it is 0 bytes long");
    let held = empty.file("/sys/devices/sda/md/metadata_version", "external:imsm\n");
    held.says(DISK, "/dev/sda is a container of IMSM arrays and holds no data of its own");
    let hint = held.refusal(DISK).hint().expect("it says what to name instead");
    assert!(!hint.contains("medium") && hint.contains("/proc/mdstat"), "{hint}");
    let fixed = Fake::new().file("/sys/devices/sda/ro", "1\n");
    fixed.says(DISK, "/dev/sda is read-only");
}

#[test]
fn what_cannot_be_read_is_a_refusal_and_not_a_leave() {
    for path in ["/proc/thread-self/mountinfo", "/proc/swaps", "/sys/devices/sda/ro"] {
        let mut fake = Fake::new();
        fake.tree = fake.tree.with_unreadable(path, "no");
        assert!(matches!(fake.refusal(DISK), ClaimRefusal::Unknown { .. }), "{path}");
    }
}

/// Returns whether `typed` names the device.
fn confirms(fake: &Fake, number: Number, typed: &str) -> bool {
    let node = Path::new("/dev/x");
    match confirm::check(fake, node, number, &[], typed) {
        Ok(()) => true,
        Err(refusal @ ClaimRefusal::NotConfirmed { .. }) => {
            let said = format!("{refusal} {}", refusal.hint().unwrap());
            for words in confirm::accepted(fake, node, number).unwrap() {
                assert!(!said.contains(&words.to_string()), "{said}");
            }
            false
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_serial_or_a_wwn_names_a_disk_and_its_path_does_not() {
    let fake = Fake::new()
        .file("/sys/devices/sda/device/vpd_pg80", "\0\u{1}\0\u{8}  WD-42\n")
        .file("/sys/devices/sda/device/wwid", "naa.5000C500\n");
    for typed in ["WD-42", " WD-42 ", "naa.5000c500", "0x5000c500", "wwn-0x5000c500", "5000C500"] {
        assert!(confirms(&fake, DISK, typed), "{typed}");
    }
    for typed in ["", "WD-4", "wd-42", "/dev/x=4096", "0x"] {
        assert!(!confirms(&fake, DISK, typed), "{typed}");
    }
}

#[test]
fn words_that_do_not_fit_are_named_before_what_is_on_the_device_and_no_wipe_is_told() {
    let fake = Fake::new().file("/sys/devices/sda/serial", "WD-42");
    let ext4 = Contents { signatures: vec!["ext4 data".to_owned()], data: None };
    let node = Path::new("/dev/sda");
    let asked = |typed: Option<&str>| {
        let refusal = permitted(&fake, node, DISK, &ext4, typed, true).unwrap_err();
        (refusal.to_string(), refusal.hint().unwrap())
    };
    let (said, hint) = asked(Some("WD-4\x1b[2J"));
    assert_eq!(
        said,
        "--confirm does not name /dev/sda: `WD-4\\u{1b}[2J` was given, its serial number or WWN is \
         wanted; and there is data on it: ext4 data"
    );
    assert!(!hint.contains("wipefs"), "{hint}");
    for typed in [Some("WD-42"), None] {
        let (said, hint) = asked(typed);
        assert_eq!(said, "there is data on /dev/sda: ext4 data");
        assert_eq!(hint.contains("wipefs"), typed.is_some(), "{hint}");
    }
    let blank = |typed| permitted(&fake, node, DISK, &Contents::default(), typed, false);
    assert!(blank(None).is_ok());
    let said = blank(Some("")).unwrap_err().to_string();
    assert!(
        said.starts_with("--confirm is missing: type the serial number or WWN of /dev/sda"),
        "{said}"
    );
    // Where a blank is what is wrong, it is seen.
    for typed in [" WD-4 2", "/dev/sda=4096 ", "  "] {
        let said = blank(Some(typed)).unwrap_err().to_string();
        assert!(said.contains(&format!(": `{typed}` was given, its serial")), "{said}");
    }
}

#[test]
fn a_partition_is_named_by_its_path_and_exact_length_and_not_by_its_disks_serial() {
    let fake = Fake::new().file("/sys/devices/sda/serial", "WD-42");
    assert!(confirms(&fake, PARTITION, "/dev/x=1024"));
    for typed in ["WD-42", "/dev/x", "/dev/x=1023", "/dev/x=1 KiB", "/dev/y=1024", "1024"] {
        assert!(!confirms(&fake, PARTITION, typed), "{typed}");
    }
}

#[test]
fn a_serial_that_two_disks_have_names_neither() {
    let twins = Fake::new()
        .disk("sdb", (8, 16))
        .file("/sys/devices/sda/serial", "0123456789")
        .file("/sys/devices/sdb/serial", "0123456789");
    assert!(!confirms(&twins, DISK, "0123456789"));
    assert!(confirms(&twins, DISK, "/dev/x=4096"));
    // The other way to the same disk is hidden, and no second disk.
    let paths = twins.file("/sys/devices/sdb/hidden", "1");
    assert!(confirms(&paths, DISK, "0123456789"));
}
