//! Disks as distributions make theirs: their tables, file systems and boot files.

use testkit::{Scratch, scratch, tool};

use super::Disk;

/// A kind of disk. Places are in MiB: start and length.
pub(super) struct Kind {
    pub(super) name: &'static str,
    length_bytes: u64,
    /// A script of sfdisk; of sgdisk, its words.
    table: &'static str,
    /// The FAT, its number in the table, and words for mkfs.fat.
    pub(super) fat: (u64, u64),
    mkfs: &'static [&'static str],
    /// All else that is made: words of mkfs, and the place.
    made: &'static [(&'static [&'static str], u64, u64)],
    /// Parts that must not change.
    pub(super) kept: &'static [(u64, u64)],
    /// Partitions, and the program that checks each.
    pub(super) systems: &'static [(u32, &'static str)],
    pub(super) is_gpt: bool,
    /// True if the end of one partition is not on 4096 bytes.
    pub(super) has_odd_end: bool,
}

pub(super) const KINDS: [Kind; 5] = [
    Kind {
        name: "Debian: BIOS boot, ESP, ext4",
        length_bytes: 128 << 20,
        table: "label: gpt\nfirst-lba: 2048\n\
            start=2048, size=6144, type=21686148-6449-6E6F-744E-656564454649\n\
            start=8192, size=126976, type=U\nstart=135168, type=L, name=\"root\"\n",
        fat: (4, 62),
        mkfs: &["-F", "16", "-n", "ESP"],
        made: &[(&["mkfs.ext4", "-q", "-b", "4096"], 66, 61)],
        kept: &[(1, 3), (66, 61)],
        systems: &[(2, "fsck.fat"), (3, "e2fsck")],
        is_gpt: true,
        has_odd_end: false,
    },
    Kind {
        name: "Ubuntu: root up to the last usable sector, numbers out of order",
        length_bytes: 160 << 20,
        table: "-a 2048 -n 14:2048:10239 -t 14:ef02 -n 15:10240:227327 -t 15:ef00 -n 1:227328:0",
        fat: (5, 106),
        mkfs: &["-F", "32", "-n", "UEFI", "-i", "1234abcd"],
        made: &[(&["mkfs.ext4", "-q", "-b", "4096"], 111, 48)],
        kept: &[(1, 4), (111, 49)],
        systems: &[(15, "fsck.fat"), (1, "e2fsck")],
        is_gpt: true,
        has_odd_end: true,
    },
    Kind {
        name: "Fedora: ESP, ext4 for /boot, btrfs",
        length_bytes: 320 << 20,
        table: "label: gpt\nsize=100M, type=U\nsize=60M, type=L\nsize=150M, type=L\n",
        fat: (1, 100),
        mkfs: &["-F", "16", "-s", "4"],
        made: &[(&["mkfs.ext4", "-q", "-b", "4096"], 101, 60), (&["mkfs.btrfs", "-q"], 161, 150)],
        kept: &[(101, 60), (161, 150)],
        systems: &[(1, "fsck.fat"), (2, "e2fsck"), (3, "btrfs")],
        is_gpt: true,
        has_odd_end: false,
    },
    Kind {
        name: "XFS with 4096-byte sectors, FAT12 as the ESP",
        length_bytes: 330 << 20,
        table: "label: gpt\nsize=8M, type=U\nsize=310M, type=L\n",
        fat: (1, 8),
        mkfs: &["-F", "12"],
        made: &[(&["mkfs.xfs", "-q", "-s", "size=4096"], 9, 310)],
        kept: &[(9, 310)],
        systems: &[(1, "fsck.fat"), (2, "xfs_repair")],
        is_gpt: true,
        has_odd_end: false,
    },
    Kind {
        name: "Raspberry Pi: MBR, FAT, ext4 as a logical partition",
        length_bytes: (100 << 20) + 1024,
        table: "label: dos\nlabel-id: 0x1234\nstart=8192, size=81920, type=c, bootable\n\
            start=90112, size=114688, type=5\nstart=92160, size=112640\n",
        fat: (4, 40),
        mkfs: &["-F", "32", "-s", "1"],
        made: &[(&["mkfs.ext4", "-q", "-b", "4096"], 45, 55)],
        kept: &[(45, 55)],
        systems: &[(1, "fsck.fat"), (5, "e2fsck")],
        is_gpt: false,
        has_odd_end: false,
    },
];

impl Kind {
    /// The byte from which on a backup GPT may be.
    pub(super) fn data_end(&self) -> usize {
        usize::try_from(self.length_bytes).expect("few") - if self.is_gpt { 20992 } else { 1024 }
    }

    /// A disk of this kind.
    pub(super) fn disk(&'static self) -> Disk {
        let scratch = Scratch::in_memory().unwrap_or_else(Scratch::new);
        let image = scratch.image("disk.raw", self.length_bytes);
        let name = scratch::text(&image).to_owned();
        if self.table.starts_with('-') {
            let words: Vec<&str> = self.table.split(' ').chain([name.as_str()]).collect();
            tool::run("sgdisk", &words);
        } else {
            tool::run_with_input("sfdisk", &["-q", &name], self.table);
        }
        let put = |volume: &std::path::Path, at: u64| scratch::place(volume, &image, at << 20);
        let volume = scratch.image("fat", self.fat.1 << 20);
        tool::run("mkfs.fat", &[self.mkfs, &[scratch::text(&volume)]].concat());
        boot_files(&scratch, scratch::text(&volume));
        put(&volume, self.fat.0);
        for (words, at, length) in self.made {
            let volume = scratch.image("made", length << 20);
            tool::run(words[0], &[&words[1..], &[scratch::text(&volume)]].concat());
            put(&volume, *at);
            std::fs::remove_file(volume).expect("it is removed");
        }
        if self.name.contains("BIOS") {
            // GRUB's core, and boot code in the first sector.
            put(&scratch.file("core", &[0x5a; 30_000]), 1);
        }
        Disk { scratch, image, kind: self }
    }
}

/// Files of systemd-boot and GRUB: long names, deep directories, an empty file, fragments.
fn boot_files(scratch: &Scratch, volume: &str) {
    let root = scratch.path().join("tree");
    let many = |seed: u64, length: usize| -> Vec<u8> {
        (0..length as u64).map(|at| (at.wrapping_mul(seed) >> 7).to_le_bytes()[0]).collect()
    };
    let id = "0123456789abcdef0123456789abcdef";
    let files = [
        ("EFI/BOOT/BOOTX64.EFI".to_owned(), many(77, 150_001)),
        ("EFI/systemd/systemd-bootx64.efi".to_owned(), many(78, 120_000)),
        ("EFI/debian/grub.cfg".to_owned(), b"search.fs_uuid 1234 root\n".to_vec()),
        ("loader/loader.conf".to_owned(), b"timeout 3\n".to_vec()),
        (format!("loader/entries/{id}-6.12.0-amd64.conf"), b"title Linux\n".to_vec()),
        (format!("{id}/6.12.0-amd64/linux"), many(991, 700_000)),
        (format!("{id}/6.12.0-amd64/initrd.img-6.12.0-amd64"), many(992, 400_000)),
        ("ümlaut ☃.txt".to_owned(), b"x".to_vec()),
        ("empty".to_owned(), Vec::new()),
    ];
    let more = (0..90).map(|index| (format!("many/Entry Number {index}.conf"), vec![b'e'; index]));
    for (name, bytes) in files.into_iter().chain(more) {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("it is made");
        std::fs::write(path, bytes).expect("it is written");
    }
    let mut words = vec!["-s", "-Q", "-m", "-i", volume];
    let names: Vec<String> = (std::fs::read_dir(&root).expect("it is listed").flatten())
        .map(|entry| scratch::text(&entry.path()).to_owned())
        .collect();
    words.extend(names.iter().map(String::as_str));
    words.push("::/");
    tool::run("mcopy", &words);
    // A gap in the middle, into which a longer file is then put in pieces.
    tool::run("mdel", &["-i", volume, "::/many/Entry Number 7.conf", "::/EFI/debian/grub.cfg"]);
    let piece = scratch.file("piece", &many(5, 60_000));
    tool::run("mcopy", &["-i", volume, scratch::text(&piece), "::/EFI/debian/grub.cfg"]);
    std::fs::remove_dir_all(root).expect("it is removed");
}
