//! Converted disks boot: UEFI firmware, a boot loader and Linux on a 4Kn disk in QEMU.

use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::running_program::{Going, Ran};
use testkit::{Scratch, need_full_tier, need_tools, scratch, skip, tool};

const ROOT_TEXT: &str = "straddle: root is read";

/// Runs straddle in `directory`.
fn straddle(directory: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_straddle"));
    Ran::of(command.args(arguments).current_dir(directory).env("LC_ALL", "C.UTF-8"))
}

/// A disk of 512-byte sectors with these files in its ESP and one in its root, converted to
/// `4k.raw`.
fn disk(files: &[(&str, Vec<u8>)]) -> Scratch {
    let scratch = Scratch::new();
    let root = scratch.path().join("root");
    std::fs::create_dir(&root).expect("a directory");
    std::fs::write(root.join("marker"), format!("{ROOT_TEXT}\n")).expect("it is written");
    let volume = scratch.image("volume", 20 << 20);
    let words = ["-q", "-b", "4096", "-L", "root", "-d", scratch::text(&root)];
    tool::run("mkfs.ext4", &[&words[..], &[scratch::text(&volume)]].concat());
    disk_with(scratch, files, 20)
}

/// The same with the file `volume` of `scratch`, of so many MiB, for its root.
fn disk_with(scratch: Scratch, files: &[(&str, Vec<u8>)], root_mib: u64) -> Scratch {
    let image = scratch.image("disk.raw", (110 + root_mib) << 20);
    let name = scratch::text(&image);
    let table = format!("label: gpt\nsize=100M, type=U\nsize={root_mib}M\n");
    tool::run_with_input("sfdisk", &["-q", name], &table);
    let esp = scratch.image("esp", 100 << 20);
    tool::run("mkfs.fat", &["-F", "32", scratch::text(&esp)]);
    let tree = scratch.path().join("tree");
    for (name, bytes) in files {
        let path = tree.join(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("it is made");
        std::fs::write(path, bytes).expect("it is written");
    }
    for entry in std::fs::read_dir(&tree).expect("it is listed").flatten() {
        let path = entry.path();
        tool::run("mcopy", &["-s", "-i", scratch::text(&esp), scratch::text(&path), "::/"]);
    }
    for (volume, at) in [(esp, 1), (scratch.path().join("volume"), 101)] {
        let [from, to] = [format!("if={}", scratch::text(&volume)), format!("of={name}")];
        let at = format!("seek={at}");
        tool::run("dd", &[&from[..], &to, &at, "bs=1M", "conv=notrunc,sparse"]);
    }
    let ran =
        straddle(scratch.path(), &["convert", "disk.raw", "--sector", "4096", "-o", "4k.raw"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    scratch
}

/// Boots `image` as a disk of 4096-byte sectors until one of `ends` is on the console; returns it.
fn booted(scratch: &Scratch, image: &str, ends: &[&str]) -> String {
    let file = |name: &str| scratch::text(&scratch.path().join(name)).to_owned();
    let console = file(&format!("console-{image}"));
    let firmware = |unit: u8, name: &str| {
        let path = tool::find(name).expect("it was looked for");
        let path = scratch::text(&path).to_owned();
        format!("if=pflash,unit={unit},format=raw,readonly=on,file={path}")
    };
    let serial = format!("file:{console}");
    let node = format!("driver=raw,node-name=d,file.driver=file,file.filename={}", file(image));
    let device = "virtio-blk-pci,drive=d,logical_block_size=4096,physical_block_size=4096";
    let (code, variables) = (firmware(0, "OVMF_CODE.fd"), firmware(1, "OVMF_VARS.fd"));
    let mut command = tool::command("qemu-system-x86_64");
    command.args(["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-machine"]);
    command.args(["q35", "-smp", "1", "-m", "512", "-accel", "tcg", "-cpu", "max"]);
    command.args(["-drive", &code, "-drive", &variables, "-serial", &serial]);
    command.args(["-blockdev", &node, "-device", device]);
    let text = || -> String {
        let bytes = std::fs::read(&console).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let mut going = Going::with(&mut command);
    going.until("an end of the boot", || ends.iter().any(|end| text().contains(end)));
    text()
}

#[test]
fn grub_starts_from_a_converted_disk_and_reads_its_root_and_not_from_the_old_one() {
    need_full_tier!();
    need_tools!("sfdisk", "mkfs.fat", "mkfs.ext4", "mcopy", "qemu-system-x86_64", "OVMF_CODE.fd");
    need_tools!("grub-mkstandalone", "x86_64-efi/moddep.lst");
    let own = Scratch::new();
    let lines = "serial\nterminal_output serial\ninsmod part_gpt\ninsmod ext2\n\
                 search --label root --set=root\ncat /marker\n";
    let config = own.file("grub.cfg", lines.as_bytes());
    let loader = own.path().join("grub.efi");
    let place = format!("boot/grub/grub.cfg={}", scratch::text(&config));
    let words = ["-O", "x86_64-efi", "--fonts=", "--locales=", "--themes=", "-o"];
    tool::run("grub-mkstandalone", &[&words[..], &[scratch::text(&loader), &place]].concat());
    let loader = std::fs::read(loader).expect("it is read");
    let scratch = disk(&[("EFI/BOOT/BOOTX64.EFI", loader)]);
    let said = booted(&scratch, "4k.raw", &[ROOT_TEXT, "No bootable", "Shell>"]);
    assert!(said.contains(ROOT_TEXT), "{said}");
    // The canary: what was not converted does not start there.
    let said = booted(&scratch, "disk.raw", &[ROOT_TEXT, "No bootable", "Not Found", "Shell>"]);
    assert!(!said.contains(ROOT_TEXT), "{said}");
}

#[test]
fn systemd_boot_starts_linux_from_a_converted_disk() {
    need_full_tier!();
    need_tools!("sfdisk", "mkfs.fat", "mkfs.ext4", "mcopy", "qemu-system-x86_64", "OVMF_CODE.fd");
    need_tools!("systemd-bootx64.efi");
    let Some(kernel) = kernel() else {
        return skip("needs the kernel of a guest: guest/README.md");
    };
    let loader = tool::find("systemd-bootx64.efi").expect("it was looked for");
    let entry = "title linux\nlinux /vmlinuz\noptions console=ttyS0 panic=-1\n";
    let scratch = disk(&[
        ("EFI/BOOT/BOOTX64.EFI", std::fs::read(loader).expect("it is read")),
        ("loader/loader.conf", b"timeout 0\ndefault linux.conf\n".to_vec()),
        ("loader/entries/linux.conf", entry.as_bytes().to_vec()),
        ("vmlinuz", std::fs::read(kernel).expect("it is read")),
    ]);
    // Without an initrd it finds no root: it has started all the same.
    let said = booted(&scratch, "4k.raw", &["Linux version", "No bootable", "Shell>"]);
    assert!(said.contains("Linux version"), "{said}");
}

/// Each file system that Linux has its root on, and a command that fills the file `volume` with
/// the directory `root`, or with the prototype of mkfs.xfs(8).
const ROOTS: [(&str, &[&str]); 3] = [
    ("ext4", &["mkfs.ext4", "-q", "-b", "4096", "-d", "root", "volume"]),
    ("xfs", &["mkfs.xfs", "-q", "-s", "size=4096", "-p", "prototype", "volume"]),
    ("btrfs", &["mkfs.btrfs", "-q", "--rootdir", "root", "volume"]),
];

/// The first program of a root: says where it is.
const INIT: &str = "#!/bin/busybox sh
bb=/bin/busybox
$bb mount -t proc proc /proc; $bb mount -t sysfs sys /sys
kind=$($bb awk '$2 == \"/\" && $1 != \"rootfs\" { print $3 }' /proc/mounts)
echo \"straddle: $kind root on $($bb cat /sys/block/vda/queue/logical_block_size)-byte sectors\"
$bb poweroff -f
";

/// Prototype from which `mkfs.xfs -p` makes the same root.
const PROTOTYPE: &str = "/
0 0
d--755 0 0
bin d--755 0 0
busybox ---755 0 0 root/bin/busybox
$
sbin d--755 0 0
init ---755 0 0 root/sbin/init
$
proc d--755 0 0
$
sys d--755 0 0
$
dev d--755 0 0
$
$
";

#[test]
fn linux_mounts_its_root_from_a_converted_disk_and_runs_it() {
    need_full_tier!();
    need_tools!("sfdisk", "mkfs.fat", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mcopy");
    need_tools!("qemu-system-x86_64", "OVMF_CODE.fd", "systemd-bootx64.efi");
    let Some(work) = guests() else {
        return skip("needs the kernel of a guest: guest/README.md");
    };
    let read = |path: PathBuf| std::fs::read(path).expect("it is read");
    let loader = tool::find("systemd-bootx64.efi").expect("it was looked for");
    for (kind, make) in ROOTS {
        let scratch = Scratch::new();
        let root = scratch.path().join("root");
        for name in ["bin", "sbin", "proc", "sys", "dev"] {
            std::fs::create_dir_all(root.join(name)).expect("a directory");
        }
        let busybox = root.join("bin/busybox");
        std::fs::copy(work.join("tools/bin/busybox"), busybox).expect("it is copied");
        let init = root.join("sbin/init");
        std::fs::write(&init, INIT).expect("it is written");
        tool::run("chmod", &["755", scratch::text(&init)]);
        let _ = scratch.file("prototype", PROTOTYPE.as_bytes());
        let _ = scratch.image("volume", 320 << 20);
        let mut command = tool::command(make[0]);
        let made = command.args(&make[1..]).current_dir(scratch.path()).output();
        let made = made.expect("it runs");
        assert!(made.status.success(), "{kind}: {made:?}");
        let entry = format!(
            "title linux\nlinux /vmlinuz\ninitrd /initrd\noptions console=ttyS0 panic=-1 \
             rdinit=/boot-root root=/dev/vda2 rootfstype={kind}\n"
        );
        let files = [
            ("EFI/BOOT/BOOTX64.EFI", read(loader.clone())),
            ("loader/loader.conf", b"timeout 0\ndefault linux.conf\n".to_vec()),
            ("loader/entries/linux.conf", entry.into_bytes()),
            ("vmlinuz", read(kernel().expect("a guest has one"))),
            ("initrd", read(work.join("lvm.cpio"))),
        ];
        let scratch = disk_with(scratch, &files, 320);
        let wanted = format!("straddle: {kind} root on 4096-byte sectors");
        let said = booted(&scratch, "4k.raw", &[&wanted, "No bootable", "Shell>", "Power down"]);
        assert!(said.contains(&wanted), "{said}");
    }
}

/// The directory of the guests that were booted for the tests.
fn guests() -> Option<PathBuf> {
    let result = PathBuf::from(std::env::var_os("STRADDLE_GUEST_LIVE")?);
    Some(result.parent()?.to_owned())
}

/// Their kernel.
fn kernel() -> Option<PathBuf> {
    let list = |path: PathBuf| std::fs::read_dir(path).into_iter().flatten().flatten();
    let boots = list(guests()?).map(|entry| entry.path().join("boot")).filter(|path| path.is_dir());
    let mut files = boots.flat_map(list).map(|entry| entry.path());
    files.find(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("vmlinuz"))
    })
}
