//! A FAT made again: sound, and with the same files; of a damaged one, a refusal.

use std::path::Path;
use std::rc::Rc;

use device::{Disk, MemoryDisk, disk};
use layout::RebuiltFat;
use testkit::{Scratch, need_tools, scratch, tool};

use crate::made::tables;

fn volume(bytes: &[u8]) -> Rc<dyn Disk> {
    let mut volume = MemoryDisk::new(disk::length_of(bytes));
    for (page, at) in bytes.chunks(4096).zip((0..).step_by(4096)) {
        if !disk::is_filled_with(page, 0) {
            volume.put(at, page);
        }
    }
    Rc::new(volume)
}

fn bytes_of(volume: &dyn Disk) -> Vec<u8> {
    disk::read_vec(volume, 0, volume.length_bytes()).expect("it is read")
}

/// Paths and contents as mtools lists and reads them.
fn files(image: &Path) -> (String, Vec<u8>) {
    let image = scratch::text(image);
    let list = tool::run("mdir", &["-/", "-b", "-i", image, "::"]);
    let mut bytes = Vec::new();
    for name in ["::/EFI/BOOT/a long name.efi", "::/second"] {
        let read = tool::output("mtype", &["-i", image, name]);
        assert!(read.status.success(), "{read:?}");
        bytes.extend(read.stdout);
    }
    (list, bytes)
}

#[test]
fn every_shape_is_made_again_soundly_with_its_files() {
    need_tools!("mkfs.fat", "fsck.fat", "mcopy", "mmd", "mdir", "mtype");
    let scratch = Scratch::in_memory().unwrap_or_else(Scratch::new);
    let long =
        scratch.file("long", &(0..300_000_u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>());
    let mut kinds = std::collections::BTreeSet::new();
    for (kind, mebibytes) in
        [("12", 2), ("12", 8), ("16", 12), ("16", 300), ("32", 40), ("32", 300)]
    {
        for sector in ["512", "4096"] {
            for cluster in ["1", "2", "8"] {
                let image = scratch.image("fat", mebibytes << 20);
                let name = scratch::text(&image);
                let words = ["-F", kind, "-S", sector, "-s", cluster, "-i", "cafe1234", name];
                if !tool::output("mkfs.fat", &words).status.success() {
                    continue;
                }
                let [long, to] = [scratch::text(&long), "::/EFI/BOOT/a long name.efi"];
                let made = [
                    ("mmd", vec!["-i", name, "::/EFI", "::/EFI/BOOT"]),
                    ("mcopy", vec!["-i", name, long, to]),
                    ("mcopy", vec!["-i", name, long, "::/second"]),
                ];
                // A number of clusters that this kind of FAT does not have is not read.
                let works = |(program, words): &(&str, Vec<&str>)| {
                    tool::output(program, words).status.success()
                };
                if !made.iter().all(works) {
                    continue;
                }
                let before = files(&image);
                let old = volume(&scratch::sparse_bytes(&image));
                for wanted in [512, 4096] {
                    let about =
                        format!("FAT{kind} {mebibytes} MiB {sector} x {cluster} -> {wanted}");
                    let found = match RebuiltFat::new(&old, wanted) {
                        Ok(found) => found,
                        Err(reason) => {
                            assert!(
                                reason.contains("do not fit") && mebibytes < 8,
                                "{about}: {reason}"
                            );
                            continue;
                        }
                    };
                    kinds.insert(found.summary.clone());
                    let new = scratch.sparse_file("new", &bytes_of(&found));
                    let checked = tool::output("fsck.fat", &["-n", scratch::text(&new)]);
                    let said = String::from_utf8_lossy(&checked.stdout).into_owned();
                    assert!(checked.status.success(), "{about}: {said}");
                    assert_eq!(files(&new), before, "{about}");
                }
            }
        }
    }
    assert!(kinds.len() > 8, "{kinds:#?}");
}

/// Makes the second table of clusters equal to the first, as `tables::fat` has them.
fn mirror(bytes: &mut [u8]) {
    bytes.copy_within(512..1024, 1024);
}

#[test]
fn directories_of_more_than_64_mib_are_refused() {
    let (clusters, root) = (4200_u32, 18 * 512);
    let mut volume = MemoryDisk::new(u64::from(50 + clusters * 64) * 512);
    let mut boot = vec![0; 512];
    boot[11..17].copy_from_slice(&[0, 2, 64, 1, 0, 1]);
    boot[17..19].copy_from_slice(&512_u16.to_le_bytes());
    boot[21..24].copy_from_slice(&[0xf8, 17, 0]);
    boot[32..36].copy_from_slice(&(50 + clusters * 64).to_le_bytes());
    boot[510..].copy_from_slice(&[0x55, 0xaa]);
    volume.put(0, &boot);
    let mut table = [0xfff8_u16, 0xffff].to_vec();
    let long_name = [[0x41; 11].as_slice(), &[0x0f], &[0; 20]].concat();
    let full = long_name.repeat(1 << 16);
    for number in 0..33_u16 {
        let first = 2 + number * 64;
        table.extend((first + 1..first + 64).chain([0xffff]));
        let mut entry = vec![b'A'; 32];
        entry[11] = 0x10;
        entry[26..28].copy_from_slice(&first.to_le_bytes());
        volume.put(root + u64::from(number) * 32, &entry);
        volume.put(50 * 512 + u64::from(number) * (2 << 20), &full);
    }
    let table: Vec<u8> = table.into_iter().flat_map(u16::to_le_bytes).collect();
    volume.put(512, &table);
    let volume: Rc<dyn Disk> = Rc::new(volume);
    let wrong = RebuiltFat::new(&volume, 4096).err();
    assert_eq!(wrong.as_deref(), Some("its directories are longer than 64 MiB"));
}

#[test]
fn a_damaged_fat_is_refused_or_made_again_and_ends() {
    let mut random = testkit::random(0x0f47);
    let sound = tables::fat();
    let mut refused = 0;
    for round in 0..20_000 {
        let mut bytes = sound.clone();
        for _ in 0..1 + round % 6 {
            let at = usize::try_from(random.below(2048)).expect("few");
            bytes[at] = u8::try_from(random.below(256)).expect("a byte");
        }
        if round % 2 == 0 {
            mirror(&mut bytes);
        }
        match RebuiltFat::new(&volume(&bytes), 4096) {
            Ok(found) => assert_eq!(bytes_of(&found).len(), bytes.len()),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 500, "{refused}");
    // A chain that leads back to itself, and two files of one chain.
    let mut endless = sound.clone();
    endless[512 + 16] = 2;
    endless[512 + 17] &= 0xf0;
    mirror(&mut endless);
    let mut shared = sound;
    shared.copy_within(1536..1568, 1568);
    for bytes in [endless, shared] {
        let wrong = RebuiltFat::new(&volume(&bytes), 4096).err();
        assert_eq!(wrong.as_deref(), Some("a chain of clusters is damaged"));
    }
}

#[test]
fn sectors_that_no_disk_has_are_no_reason_to_fail_badly() {
    let old = volume(&tables::fat());
    for sector in [1024, 2048, 4096] {
        let found = RebuiltFat::new(&old, sector).expect("it fits");
        assert!(found.summary.ends_with(&format!("{sector}-byte sectors")), "{}", found.summary);
    }
}

#[test]
fn a_fat_that_is_not_sound_is_refused_with_the_way_to_repair_it() {
    need_tools!("mkfs.fat", "mcopy");
    let scratch = Scratch::in_memory().unwrap_or_else(Scratch::new);
    let small = scratch.file("small", b"timeout 3\n");
    for (kind, mebibytes) in [("12", 8), ("16", 40), ("32", 300)] {
        let image = scratch.image("fat", mebibytes << 20);
        let name = scratch::text(&image);
        tool::run("mkfs.fat", &["-F", kind, "-n", "LABEL", name]);
        tool::run("mcopy", &["-i", name, scratch::text(&small), "::/"]);
        let sound = scratch::sparse_bytes(&image);
        let refusal = |bytes: &[u8]| RebuiltFat::new(&volume(bytes), 4096).err();
        assert_eq!(refusal(&sound), None, "FAT{kind}");
        let field = |at: usize| usize::from(sound[at]) + (usize::from(sound[at + 1]) << 8);
        let table = field(14) * 512;
        let length = 512 * if kind == "32" { field(36) } else { field(22) };
        let wide = kind == "32";
        let label = sound.windows(11).rposition(|name| name == b"LABEL      ");
        let entry = label.expect("a label, after those of the boot sectors");
        // Its place, the bits that are turned, and the reason.
        let mut cases = vec![
            (if wide { 65 } else { 37 }, 1, "it was not unmounted"),
            (table + length + 3, 0x10, "its tables of clusters differ"),
            (entry + 26, 9, "its label has clusters"),
        ];
        let high = table + if wide { 7 } else { 3 };
        let bits = if wide { [8, 4] } else { [0x80, 0x40] };
        if kind != "12" {
            cases.extend(bits.map(|bit| (high, bit, "it was not unmounted")));
        }
        for (at, bits, reason) in cases {
            let mut bytes = sound.clone();
            bytes[at] ^= bits;
            let said = refusal(&bytes).unwrap_or_default();
            assert!(said.starts_with(reason), "FAT{kind} {at}: {said}");
            assert!(said.ends_with("run fsck.fat -a on the partition first"), "{said}");
        }
    }
}

#[test]
fn the_boot_sector_is_the_last_write_and_alone() {
    let old = volume(&tables::fat());
    for sector in [1024, 4096] {
        let found = RebuiltFat::new(&old, sector).expect("it fits");
        let writes = found.writes(&old, 1 << 20, "FAT", 1 << 20).expect("few");
        let last = writes.last().expect("it changes");
        assert_eq!((last.at_bytes, disk::length_of(&last.new)), (1 << 20, sector));
        assert!(writes.len() > 1);
    }
}
