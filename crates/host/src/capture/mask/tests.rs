//! Captures of a machine on which everything private says so.

use device::answer::{self, Question};
use device::{KernelTree, MemoryTree, TextTree};

use super::Mask;

/// A machine on which everything that should stay private says so.
fn machine() -> MemoryTree {
    let mut controller = vec![0_u8; 4096];
    controller[4..24].copy_from_slice(b"SECRETNVME12345     ");
    controller[24..34].copy_from_slice(b"Some Model");
    let mut namespace = vec![0_u8; 4096];
    namespace[104..120].copy_from_slice(&[0xab; 16]);
    namespace[120..128].copy_from_slice(&[0x00, 0x25, 0x38, 0x5b, 0x71, 0xb0, 0xc1, 0xf3]);
    let mut identify = vec![0_u8; 512];
    identify[20..40].copy_from_slice(b"ESRCTETA1A32        ");
    identify[510] = 0xa5;
    let text = |bytes: &[u8]| answer::to_text(bytes);
    MemoryTree::new()
        .with_link("/sys/block/nvme0n1", "/sys/devices/nvme0/nvme0n1")
        .with_file("/sys/devices/nvme0/nvme0n1/eui", "00 25 38 5b 71 b0 c1 f3\n")
        .with_file("/sys/devices/nvme0/nvme0n1/wwid", "eui.0025385b71b0c1f3\n")
        .with_file("/sys/devices/nvme0/nvme0n1/size", "1000\n")
        .with_link("/sys/devices/nvme0/nvme0n1/device", "/sys/devices/nvme0")
        .with_file("/sys/devices/nvme0/serial", "SECRETNVME12345     \n")
        .with_file("/sys/devices/nvme0/model", "Some Model\n")
        .with_link("/sys/block/dm-0", "/sys/devices/virtual/block/dm-0")
        .with_file(
            "/sys/devices/virtual/block/dm-0/dm/uuid",
            "CRYPT-LUKS2-5e8d38db1a1243129870c0a73d0a80eb-crypt0\n",
        )
        .with_file(
            "/sys/devices/virtual/block/dm-0/dm/name",
            "luks-5e8d38db-1a12-4312-9870-c0a73d0a80eb\n",
        )
        .with_file("/sys/fs/btrfs/11111111-2222-4333-8444-555555555555/label", "x")
        .with_file("/sys/fs/btrfs/11111111-2222-4333-8444-555555555555/devices/nvme0n1", "")
        .with_file(
            answer::DM_TABLES,
            "luks-5e8d38db-1a12-4312-9870-c0a73d0a80eb: 0 99 crypt aes-xts-plain64 \
             0123456789abcdef0123456789abcdef 0 259:0 32768\n",
        )
        .with_file(&answer::of_drive("nvme0n1", Question::NvmeController), &text(&controller))
        .with_file(&answer::of_drive("nvme0n1", Question::NvmeNamespace), &text(&namespace))
        .with_file(&answer::of_drive("nvme0n1", Question::AtaIdentify), &text(&identify))
        .with_file(
            "/proc/self/mountinfo",
            "1 0 259:1 / / rw - ext4 /dev/mapper/luks-5e8d38db-1a12-4312-9870-c0a73d0a80eb rw\n\
             2 1 259:2 /@private /data/private\\040name/x rw shared:1 - xfs /dev/nvme0n1p2 \
             rw,sunit=128,swidth=384\n\
             5 1 0:52 / /tmp rw - tmpfs alices-room rw\n\
             3 1 0:50 / /home/alice rw - nfs4 filer.private.example:/export/alice \
             rw,vers=4.2,addr=10.1.2.3\n\
             4 1 0:51 / /data/private\\040name/x/y rw - zfs tank/private rw\n",
        )
        .with_file("/proc/mounts", "//filer/alice /mnt/alice cifs rw,username=alice 0 0\n")
        .with_file(
            "/run/udev/data/b259:0",
            "S:disk/by-id/nvme-SECRETNVME12345\nE:ID_SERIAL=Some_Model_SECRETNVME12345\n\
             E:ID_SERIAL_SHORT=SECRETNVME12345\nE:ID_FS_TYPE=ext4\nE:ID_FS_LABEL=private\n\
             E:ID_PART_ENTRY_TYPE=0fc63daf-8483-4772-8e79-3d69d8477de4\n",
        )
}

fn masked(keep_paths: bool) -> (String, TextTree) {
    let capture = crate::capture::capture(&machine());
    let text = Mask::new(keep_paths).apply(&capture).to_text();
    let tree = TextTree::parse(text.clone()).expect("a masked manifest is one");
    (text, tree)
}

#[test]
fn nothing_private_is_left_in_a_capture() {
    let (text, tree) = masked(false);
    for secret in [
        "SECRET",
        "private",
        "alice",
        "filer",
        "10.1.2.3",
        "0025385b",
        "5e8d38db",
        "11111111",
        "0123456789abcdef",
        "00 25 38",
    ] {
        assert!(!text.contains(secret), "{secret} is left in\n{text}");
    }
    for question in [Question::NvmeController, Question::NvmeNamespace, Question::AtaIdentify] {
        let bytes = tree.read(&answer::of_drive("nvme0n1", question)).unwrap();
        let bytes = answer::to_bytes(&bytes).unwrap();
        let holds = |secret: &[u8]| bytes.windows(secret.len()).any(|window| window == secret);
        for secret in [&b"SECRET"[..], b"ESRC", &[0xab; 4], &[0x25, 0x38, 0x5b]] {
            assert!(!holds(secret), "{question:?}");
        }
        if question == Question::AtaIdentify {
            let sum = bytes.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
            assert_eq!(sum, 0, "the checksum holds");
        }
        assert_eq!(question == Question::NvmeController, holds(b"Some Model"));
    }
}

#[test]
fn what_is_equal_on_the_machine_is_equal_in_its_capture() {
    let (text, tree) = masked(false);
    let serial = tree.read("/sys/devices/nvme0/serial").unwrap();
    assert_eq!(serial.len(), "SECRETNVME12345".len());
    let controller = tree.read(&answer::of_drive("nvme0n1", Question::NvmeController)).unwrap();
    let controller = answer::to_bytes(&controller).unwrap();
    assert_eq!(&controller[4..4 + serial.len()], serial.as_bytes());
    assert_eq!(&controller[4 + serial.len()..24], b"     ");
    let udev = tree.read("/run/udev/data/b259:0").unwrap();
    assert!(udev.contains(&format!("E:ID_SERIAL_SHORT={serial}")), "{udev}");
    let wwid = tree.read("/sys/block/nvme0n1/wwid").unwrap();
    let namespace = tree.read(&answer::of_drive("nvme0n1", Question::NvmeNamespace)).unwrap();
    let eui: String = namespace.split_whitespace().collect::<String>()[240..256].to_owned();
    assert_eq!(wwid, format!("eui.{eui}"));
    let name = tree.read("/sys/block/dm-0/dm/name").unwrap();
    assert!(tree.read(answer::DM_TABLES).unwrap().starts_with(&format!("{name}: 0 99 crypt")));
    assert!(text.contains(&format!("/dev/mapper/{name} rw")), "{text}");
    let uuid = tree.read("/sys/block/dm-0/dm/uuid").unwrap();
    let digits = name.trim_start_matches("luks-").replace('-', "");
    assert_eq!(uuid, format!("CRYPT-LUKS2-{digits}-crypt0"));
}

#[test]
fn what_a_layout_is_judged_by_stays() {
    let (text, tree) = masked(false);
    assert_eq!(tree.read("/sys/block/nvme0n1/size").unwrap(), "1000");
    assert_eq!(tree.read("/sys/devices/nvme0/model").unwrap(), "Some Model");
    let mounts = tree.read("/proc/self/mountinfo").unwrap();
    let points: Vec<&str> =
        mounts.lines().map(|line| line.split(' ').nth(4).unwrap_or_default()).collect();
    assert_eq!(points[0], "/");
    assert_eq!(points[1].split('/').count(), 4, "{mounts}");
    assert!(points[4].starts_with(&format!("{}/", points[1])), "{mounts}");
    assert!(points[3].starts_with("/home/d"), "{mounts}");
    assert!(mounts.contains("rw,sunit=128,swidth=384"), "{mounts}");
    assert!(text.contains("ID_PART_ENTRY_TYPE=0fc63daf-8483-4772-8e79-3d69d8477de4"));
}

#[test]
fn paths_stay_where_that_is_asked_for() {
    let (_, tree) = masked(true);
    let mounts = tree.read("/proc/self/mountinfo").unwrap();
    assert!(mounts.contains(" /data/private\\040name/x "), "{mounts}");
    assert!(!mounts.contains("filer"), "{mounts}");
}

#[test]
fn a_second_mask_of_a_masked_capture_changes_no_shape() {
    let capture = crate::capture::capture(&machine());
    let mut mask = Mask::new(false);
    let once = mask.apply(&capture);
    assert!(mask.count() > 5);
    assert_eq!(mask.apply(&capture), once, "one mask masks alike");
    let twice = Mask::new(false).apply(&once);
    assert_eq!(twice.entries().count(), once.entries().count());
}

#[test]
fn pages_about_wear_keep_their_counters_and_nothing_that_makers_put_behind() {
    let mut page = vec![7_u8; 512];
    page[300..306].copy_from_slice(b"SECRET");
    let at = |question| answer::of_drive("nvme0n1", question);
    let captured = [Question::NvmeHealth, Question::NvmeOcpHealth, Question::AtaStatistics];
    let tree = captured
        .into_iter()
        .chain([Question::AtaHealth])
        .fold(machine(), |tree, it| tree.with_file(&at(it), &answer::to_text(&page)));
    let text = Mask::new(false).apply(&crate::capture::capture(&tree)).to_text();
    let tree = TextTree::parse(text).unwrap();
    for question in captured {
        let masked = answer::to_bytes(&tree.read(&at(question)).unwrap()).unwrap();
        let hidden = match question {
            Question::NvmeHealth => 232..512,
            Question::NvmeOcpHealth => 278..494,
            _ => 0..0,
        };
        assert!(masked[hidden.clone()].iter().all(|&byte| byte == 0), "{question:?}");
        assert_eq!(masked[..hidden.start], page[..hidden.start]);
        assert_eq!(masked[hidden.end..], page[hidden.end..]);
    }
    assert!(tree.read(&at(Question::AtaHealth)).is_err(), "makers' attributes are not captured");
}
