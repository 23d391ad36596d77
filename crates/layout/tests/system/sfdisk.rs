//! The table that sfdisk reads after a power cut at every instant.

use crate::made::crash_model::Sizes;
use crate::made::known::{Known, Places, Single, every_state, single};
use crate::made::tables::{self};
use device::{MemoryDisk, disk};
use testkit::{Scratch, need_tools, scratch};

/// The places that `sfdisk` reads; nothing where it reads no table.
fn sfdisk(image: &std::path::Path) -> Places {
    let ran = testkit::tool::output("sfdisk", &["--dump", scratch::text(image)]);
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    let field = |line: &str, name: &str| -> u64 {
        let rest = line.split(name).nth(1).unwrap_or_default();
        let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    };
    let row = |line: &str| {
        let (name, _) = line.split_once(" :")?;
        let digits = name.rsplit(|letter: char| !letter.is_ascii_digit()).next()?;
        let number = digits.parse().ok()?;
        Some((number, field(line, "start=") * 512, field(line, "size=") * 512))
    };
    text.lines().filter(|line| line.contains("start=")).filter_map(row).collect()
}

#[test]
fn at_every_instant_sfdisk_reads_the_old_or_the_new_table() {
    need_tools!("sfdisk");
    let scratch = Scratch::in_memory().unwrap_or_else(Scratch::new);
    for case in tables::cases().iter().filter(|case| case.change.new_sector_bytes == 512) {
        let image = scratch.image("disk.raw", tables::DISK_BYTES);
        let write = |held: &MemoryDisk| {
            let bytes = disk::read_vec(held, 0, tables::DISK_BYTES).expect("it is read");
            std::fs::write(&image, bytes).expect("it is written");
            sfdisk(&image)
        };
        let mut known = Known::of(case);
        let mut after = case.disk.clone();
        case.change.writes.iter().for_each(|one| after.put(one.at_bytes, &one.new));
        (known.old, known.new) = (write(&case.disk), write(&after));
        assert!(!known.new.is_empty() && known.new != known.old, "{}", case.name);
        let sizes = Sizes { logical: 512, physical: 512 };
        let (mut states, mut lost) = (0, Vec::new());
        every_state(case, sizes, &mut |held, tear| {
            // Nobody reads a table by a first sector that the drive itself lost.
            if single(case, held) != Single::Whole || !held.unreadable.is_empty() {
                return;
            }
            states += 1;
            if !known.holds(&write(&held.bytes)) {
                lost.push(tear);
            }
        });
        println!("{}: {states} contents", case.name);
        assert_eq!(lost, [], "{}", case.name);
    }
}
