//! A VHDX after a crash of its writer: its block table is in its log alone. All commands say the
//! same of it, and what they print to type works.

use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::running_program::Ran;
use testkit::{Scratch, need_tools, scratch, tool};

/// Source of all offsets: [MS-VHDX] 2.2.2, 2.2.3 and 2.3.1.
const HEADERS: [usize; 2] = [64 << 10, 128 << 10];
const REGIONS: usize = 192 << 10;
const BLOCK_TABLE: [u8; 16] = [
    0x66, 0x77, 0xc2, 0x2d, 0x23, 0xf6, 0x00, 0x42, 0x9d, 0x64, 0x11, 0x5e, 0x9b, 0xfd, 0x4a, 0x08,
];
const SECTOR: usize = 4096;

fn number<const N: usize>(bytes: &[u8], at: usize) -> usize {
    let field: [u8; N] = bytes[at..at + N].try_into().expect("a field");
    let value = field.iter().rev().fold(0, |sum: u64, &byte| sum << 8 | u64::from(byte));
    usize::try_from(value).expect("it fits")
}

/// `bytes` with their CRC-32C, which is at byte 4.
fn sealed(bytes: &mut [u8]) {
    bytes[4..8].fill(0);
    let sum = bytes.iter().fold(u32::MAX, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| {
            if sum & 1 == 1 { (sum >> 1) ^ 0x82f6_3b78 } else { sum >> 1 }
        })
    });
    bytes[4..8].copy_from_slice(&(!sum).to_le_bytes());
}

/// Moves the first sector of the block table of a VHDX into its log.
fn unreplayed(image: &Path) {
    let mut file = std::fs::read(image).expect("it is read");
    let length = u64::try_from(file.len()).expect("it fits").to_le_bytes();
    let newest = HEADERS.into_iter().max_by_key(|&at| number::<8>(&file, at + 8));
    let log = number::<8>(&file, newest.expect("two headers") + 72);
    let count = number::<4>(&file, REGIONS + 8);
    let entry = (0..count).map(|index| REGIONS + 16 + 32 * index);
    let entry = entry.into_iter().find(|&at| file[at..at + 16] == BLOCK_TABLE);
    let table = number::<8>(&file, entry.expect("a block table") + 16);
    let sector = file[table..table + SECTOR].to_vec();
    file[table..table + SECTOR].fill(0);
    let id = [7; 16];
    let one = 1_u64.to_le_bytes();
    // One entry of two sectors: its head with one descriptor, and the data.
    let mut new = vec![0; 2 * SECTOR];
    new[..4].copy_from_slice(b"loge");
    new[8..12].copy_from_slice(&8192_u32.to_le_bytes());
    new[16..24].copy_from_slice(&one);
    new[24] = 1;
    new[32..48].copy_from_slice(&id);
    new[48..56].copy_from_slice(&length);
    new[56..64].copy_from_slice(&length);
    new[64..68].copy_from_slice(b"desc");
    new[68..72].copy_from_slice(&sector[SECTOR - 4..]);
    new[72..80].copy_from_slice(&sector[..8]);
    new[80..88].copy_from_slice(&u64::try_from(table).expect("it fits").to_le_bytes());
    new[88..96].copy_from_slice(&one);
    new[SECTOR..SECTOR + 4].copy_from_slice(b"data");
    new[SECTOR + 8..2 * SECTOR - 4].copy_from_slice(&sector[8..SECTOR - 4]);
    new[2 * SECTOR - 4..].copy_from_slice(&one[..4]);
    sealed(&mut new);
    file[log..log + new.len()].copy_from_slice(&new);
    for at in HEADERS {
        file[at + 48..at + 64].copy_from_slice(&id);
        sealed(&mut file[at..at + SECTOR]);
    }
    std::fs::write(image, file).expect("it is written");
}

fn vhdx(scratch: &Scratch, table: &str) -> PathBuf {
    let (raw, image) = (scratch.image("guest", 64 << 20), scratch.path().join("a b.vhdx"));
    tool::run_with_input("sfdisk", &["-q", scratch::text(&raw)], table);
    let options = "subformat=dynamic,block_size=32M";
    let words = ["convert", "-f", "raw", "-O", "vhdx", "-o", options];
    tool::run("qemu-img", &[&words[..], &[scratch::text(&raw), scratch::text(&image)]].concat());
    unreplayed(&image);
    image
}

fn run(scratch: &Scratch, program: &str, words: &[&str]) -> Ran {
    let mut command = Command::new(program);
    Ran::of(command.args(words).current_dir(scratch.path()).env("LC_ALL", "C.UTF-8"))
}

fn straddle(scratch: &Scratch, words: &[&str]) -> Ran {
    run(scratch, env!("CARGO_BIN_EXE_straddle"), words)
}

const REPLAY: &str = "qemu-img check -r all 'a b.vhdx'";

#[test]
fn a_copy_of_an_image_with_a_log_replays_it_first() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = Scratch::new();
    vhdx(&scratch, "label: dos\nstart=63,size=20000,type=83\n");
    let copied = run(&scratch, "qemu-img", &["convert", "-O", "raw", "a b.vhdx", "b.raw"]);
    assert_ne!(copied.status, Some(0), "QEMU reads it without a replay: {copied:?}");
    let checked = straddle(&scratch, &["check", "./a b.vhdx", "--json"]);
    assert!(checked.out.contains("qemu-img check -r all"), "{checked:?}");
    let planned = straddle(&scratch, &["plan", "./a b.vhdx"]);
    assert_eq!(planned.status, Some(0), "{planned:?}");
    let lines: Vec<&str> = planned.out.lines().collect();
    let copy = lines.iter().find_map(|line| line.find("test ! -e").map(|at| &line[at..]));
    let copy = copy.expect("a copy to plan");
    assert!(copy.contains("qemu-img check -r all "), "{copy}");
    let typed = run(&scratch, "sh", &["-c", copy]);
    assert_eq!(typed.status, Some(0), "{copy}: {typed:?}");
    let table = run(&scratch, "sfdisk", &["-d", "a b.vhdx.raw"]);
    assert!(table.out.contains("start=          63"), "{table:?}");
}

#[test]
fn convert_and_apply_write_nothing_of_an_image_with_a_log_and_name_its_replay() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = Scratch::new();
    let image = vhdx(&scratch, "label: gpt\nfirst-lba: 40\nstart=2048,size=20480\n");
    let before = std::fs::read(&image).expect("it is read");
    let convert = ["convert", "./a b.vhdx", "--sector", "4096", "-o", "new.raw"];
    let refused = straddle(&scratch, &convert);
    assert_eq!(refused.status, Some(3), "{refused:?}");
    let (_, replay) =
        refused.errors.split_once("hint: write them into the file: ").expect("a hint");
    assert!(std::fs::read(&image).expect("it is read") == before);
    let new = straddle(&scratch, &["plan", "--new", "./a b.vhdx", "-o", "plan.json"]);
    assert_ne!(new.status, Some(0), "it is not blank: {new:?}");
    assert!(!scratch.path().join("plan.json").exists());
    assert_eq!(replay.trim_end(), REPLAY);
    let typed = run(&scratch, "sh", &["-c", replay]);
    assert_eq!(typed.status, Some(0), "{typed:?}");
    let converted = straddle(&scratch, &convert);
    assert_eq!(converted.status, Some(0), "{converted:?}");
}
