//! Superblocks that were cut or changed: there is an answer, it stays within bounds, and what
//! cannot be is said.

use device::{Disk as _, MemoryDisk};
use format::filesystem::{self, FileSystem};
use format::{Parsed, ProblemKind};
use testkit::{FileDisk, Scratch, need_tools, scratch, tool};

const MIB: u64 = 1 << 20;
/// All superblocks stand within this.
const HEAD_BYTES: usize = 128 << 10;

/// A real image's head, its length, and the parts of it that readers look at.
struct Sample {
    head: Vec<u8>,
    length_bytes: u64,
    parts: &'static [(usize, usize)],
}

/// An image of `mebibytes` that `name` with `arguments` makes.
fn sample(
    name: &str,
    arguments: &[&str],
    mebibytes: u64,
    parts: &'static [(usize, usize)],
) -> Sample {
    let scratch = Scratch::new();
    let image = scratch.image("image", mebibytes * MIB);
    tool::run(name, &[arguments, &[scratch::text(&image)]].concat());
    let disk = FileDisk::open(&image);
    let head = disk.read_array::<HEAD_BYTES>(0).expect("the image is longer").to_vec();
    Sample { head, length_bytes: disk.length_bytes(), parts }
}

fn samples() -> Vec<Sample> {
    vec![
        sample("mkfs.ext4", &["-q", "-F", "-O", "bigalloc"], 64, &[(1024, 2048)]),
        sample("mkfs.xfs", &["-q", "-f"], 300, &[(0, 512)]),
        sample("mkfs.btrfs", &["-q", "-f"], 128, &[(65536, 65536 + 700)]),
        sample("mkfs.f2fs", &["-q", "-f", "-O", "extra_attr,sb_checksum"], 64, &[(1024, 4096)]),
        sample("mkfs.vfat", &["-F", "12", "-n", "A"], 4, &[(0, 512), (3 * 512, 5 * 512)]),
        sample("mkfs.vfat", &["-F", "32", "-n", "A"], 64, &[(0, 512)]),
        sample("mkfs.exfat", &["-b", "4K"], 8, &[(0, 512), (5632, 5640)]),
        sample("mkntfs", &["-q", "-F", "-Q", "-L", "A"], 8, &[(0, 512), (19456, 20480)]),
        sample("mkswap", &["-q"], 1, &[(1024, 1100), (4080, 4096)]),
    ]
}

/// Checks what holds of any answer.
fn check(found: &[Parsed<FileSystem>], length_bytes: u64) {
    for Parsed { value, problems } in found {
        let sane = |bytes: Option<u64>, most: u64| {
            bytes.is_none_or(|bytes| bytes.is_power_of_two() && bytes <= most)
        };
        assert!(sane(value.sector_bytes, 65536), "{value:?}");
        assert!(sane(value.block_bytes, 1 << 29), "{value:?}");
        assert!(value.details.len() < 16, "{value:?}");
        let outside = value.size_bytes.is_some_and(|bytes| bytes > length_bytes);
        let said = problems.iter().any(|problem| problem.kind == ProblemKind::Outside);
        assert!(!outside || said, "{value:?} {problems:?}");
    }
}

#[test]
fn a_changed_byte_of_a_superblock_still_gives_an_answer() {
    need_tools!(
        "mkfs.ext4",
        "mkfs.xfs",
        "mkfs.btrfs",
        "mkfs.f2fs",
        "mkfs.vfat",
        "mkfs.exfat",
        "mkntfs",
        "mkswap"
    );
    for Sample { head, length_bytes, parts } in samples() {
        let mut disk = MemoryDisk::with_head(length_bytes, &head);
        let sound = filesystem::read(&disk);
        assert_eq!(sound.len(), 1, "{sound:?}");
        for at in parts.iter().flat_map(|&(start, end)| start..end) {
            let byte = head[at];
            let address = u64::try_from(at).expect("within the head");
            for value in [0, 0xff, byte ^ 1, byte ^ 0x80] {
                disk.put(address, &[value]);
                check(&filesystem::read(&disk), length_bytes);
            }
            disk.put(address, &[byte]);
        }
        assert_eq!(filesystem::read(&disk), sound);
    }
}

#[test]
fn a_volume_cut_anywhere_still_gives_an_answer() {
    need_tools!(
        "mkfs.ext4",
        "mkfs.xfs",
        "mkfs.btrfs",
        "mkfs.f2fs",
        "mkfs.vfat",
        "mkfs.exfat",
        "mkntfs",
        "mkswap"
    );
    for Sample { head, .. } in samples() {
        let ends = (0..6200).step_by(7).chain((6200..HEAD_BYTES).step_by(1009));
        for end in ends.chain([511, 512, 2047, 2048, 4095, 4096, 65536 + 4095, 65536 + 4096]) {
            let cut = &head[..end];
            check(&filesystem::read(&cut.to_vec()), cut.length_bytes());
        }
    }
}

#[test]
fn noise_is_no_file_system_even_with_a_magic_in_its_place() {
    let magics: [(usize, &[u8]); 8] = [
        (1080, b"\x53\xef"),
        (0, b"XFSB"),
        (65600, b"_BHRfS_M"),
        (1024, b"\x10\x20\xf5\xf2"),
        (3, b"NTFS    "),
        (3, b"EXFAT   "),
        (510, b"\x55\xaa"),
        (0x36, b"FAT16   "),
    ];
    let mut random = testkit::random(0x4015e);
    for round in 0..400 {
        let mut bytes: Vec<u8> = Vec::with_capacity(HEAD_BYTES);
        while bytes.len() < 70_000 {
            bytes.extend(random.next_u64().to_le_bytes());
        }
        let (at, magic) = magics[round % magics.len()];
        bytes[at..at + magic.len()].copy_from_slice(magic);
        bytes[0] = if at == 0 { bytes[0] } else { 0xeb };
        assert_eq!(filesystem::read(&bytes), [], "round {round}");
    }
}
