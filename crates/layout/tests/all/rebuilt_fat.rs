//! A FAT made again: sound, and with the same files; of a damaged one, a refusal.

use std::path::Path;
use std::rc::Rc;

use device::{Disk, MemoryDisk, disk};
use layout::RebuiltFat;
use testkit::{Scratch, need_tools, scratch, tool};

use crate::tables;

fn volume(bytes: &[u8]) -> Rc<dyn Disk> {
    let mut volume = MemoryDisk::new(disk::length_of(bytes));
    for (page, at) in bytes.chunks(4096).zip((0..).step_by(4096)) {
        if page.iter().any(|&byte| byte != 0) {
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
                let old = volume(&std::fs::read(&image).expect("it is read"));
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
                    let new = scratch.file("new", &bytes_of(&found));
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
