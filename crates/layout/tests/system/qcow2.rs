//! Tables in qcow2 images, while the power is cut and while the image is damaged.

use std::collections::BTreeSet;
use std::rc::Rc;

use device::{Disk, MemoryDisk, ReadError, WritableDisk, disk};
use format::image::guest::Guest;
use layout::{Qcow2Disk, Side, write_table};
use testkit::{Scratch, need_tools, scratch, tool};

use crate::made::crash_model::{Asked, Held, Recorder, Sizes, Tear, every_outcome};
use crate::made::known::{Known, Single, single};
use crate::made::tables::{self, Case, DISK_BYTES};

/// Room for an image and what it grows by; the last sector holds the file's length.
const ROOM: u64 = 24 << 20;
const SIZES: Sizes = Sizes { logical: 512, physical: 512 };

/// Ways to make an image: its name, the size of its clusters, and how.
const KINDS: [(&str, u64, &str); 8] = [
    ("small clusters", 512, ""),
    ("plain", 4096, ""),
    ("usual clusters", 65_536, ""),
    ("large clusters", 2 << 20, ""),
    ("compressed", 4096, "-c"),
    ("snapshot", 4096, "snapshot"),
    ("snapshot of usual clusters", 65_536, "snapshot"),
    ("backing file", 65_536, "backing"),
];

/// A file on a drive: it has the length that its last sector says.
struct File<H>(H);

impl<H: std::borrow::Borrow<Held>> Disk for File<H> {
    fn length_bytes(&self) -> u64 {
        let length = disk::read_array(&self.0.borrow().bytes, ROOM - 512).expect("the length");
        u64::from_be_bytes(length)
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        disk::check_bounds(self.length_bytes(), offset_bytes, disk::length_of(buffer))?;
        self.0.borrow().read_at(offset_bytes, buffer)
    }
}

/// Such a file, and what is asked of its drive.
struct RecordedFile(Recorder);

impl RecordedFile {
    fn of(held: &Held) -> RecordedFile {
        RecordedFile(Recorder { held: held.clone(), log: Vec::new() })
    }
}

impl Disk for RecordedFile {
    fn length_bytes(&self) -> u64 {
        File(&self.0.held).length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        File(&self.0.held).read_at(offset_bytes, buffer)
    }
}

impl WritableDisk for RecordedFile {
    fn write_at(&mut self, offset_bytes: u64, bytes: &[u8]) -> Result<(), String> {
        assert!(offset_bytes.is_multiple_of(512) && bytes.len().is_multiple_of(512));
        let length = disk::length_of(bytes);
        disk::check_bounds(self.length_bytes(), offset_bytes, length)
            .map_err(|error| error.to_string())?;
        self.0.write_at(offset_bytes, bytes)
    }

    fn flush(&mut self) -> Result<(), String> {
        self.0.flush()
    }

    fn extend(&mut self, length_bytes: u64) -> Result<(), String> {
        assert!(length_bytes < ROOM - 512 && length_bytes > self.length_bytes());
        let sector = [&length_bytes.to_be_bytes()[..], &[0; 504]].concat();
        self.0.write_at(ROOM - 512, &sector)
    }
}

/// An image file in memory, and its backing file.
#[derive(Clone)]
struct Made {
    held: Held,
    backing: Option<Rc<dyn Disk>>,
}

/// The image of `guest` in `scratch`, as QEMU makes it.
fn made(scratch: &Scratch, guest: &MemoryDisk, (_, cluster, how): (&str, u64, &str)) -> Made {
    let bytes = disk::read_vec(guest, 0, guest.length_bytes()).expect("it is read");
    let raw = scratch.file("guest.raw", &bytes);
    let image = scratch.path().join("disk.qcow2");
    let (raw, name) = (scratch::text(&raw), scratch::text(&image));
    let clusters = format!("cluster_size={cluster}");
    match how {
        "backing" => {
            let over = ["create", "-q", "-f", "qcow2", "-F", "raw", "-b", raw, "-o", &clusters];
            tool::run("qemu-img", &[&over[..], &[name]].concat());
        }
        how => {
            let more: &[&str] = if how == "-c" { &["-c"] } else { &[] };
            let made = ["convert", "-f", "raw", "-O", "qcow2", "-o", &clusters];
            tool::run("qemu-img", &[&made[..], more, &[raw, name]].concat());
        }
    }
    if how == "snapshot" {
        tool::run("qemu-img", &["snapshot", "-c", "one", name]);
    }
    let file = std::fs::read(&image).expect("the image is read");
    let mut held = MemoryDisk::with_head(ROOM, &file);
    held.put(ROOM - 512, &disk::length_of(&file).to_be_bytes());
    let backing = (how == "backing").then(|| Rc::new(guest.clone()) as Rc<dyn Disk>);
    Made { held: Held::new(held, 512), backing }
}

/// Calls `look` with the guest's disk as the reader of images sees it; false where it sees none.
fn guest(file: &dyn Disk, made: &Made, look: &mut dyn FnMut(&dyn Disk) -> bool) -> bool {
    let Some(image) = format::image::read(file) else { return false };
    if image.value.virtual_bytes != DISK_BYTES {
        return false;
    }
    let backing = image.value.references.iter().map(|_| made.backing.as_deref()).collect();
    look(&Guest::new(&image.value, file, backing))
}

/// Requests of the writer to a drive that holds `held`, towards table `side`.
fn log_of(case: &Case, made: &Made, held: &Held, side: Side) -> (Vec<Asked>, Held) {
    let file = RecordedFile::of(held);
    let mut disk = Qcow2Disk::open(file, made.backing.clone()).expect("an image that is written");
    write_table(&case.change, &mut disk, side).expect("a drive that takes every write");
    let file = disk.into_file();
    (file.0.log, file.0.held)
}

/// Sectors of the file that hold its tables, in `held`: each exists once.
fn table_sectors(held: &Held, into: &mut BTreeSet<u64>) {
    let word = |at: u64| {
        let bytes = disk::read_array(&held.bytes, at).expect("it is read");
        u64::from_be_bytes(bytes)
    };
    let half = |at: u64| word(at) >> 32;
    let cluster = 1_u64 << half(20);
    let mut add = |at: u64, length: u64| into.extend(at / 512..(at + length).div_ceil(512));
    add(ROOM - 512, 512);
    add(0, cluster);
    add(word(40), half(36) * 8);
    add(word(48), half(56) * cluster);
    let mask = 0x00ff_ffff_ffff_fe00;
    let entries = (0..half(36)).map(|index| word(40) + index * 8);
    let slots = (0..half(56) * cluster / 8).map(|index| word(48) + index * 8);
    for at in entries.chain(slots).map(|at| word(at) & mask).filter(|&at| at != 0) {
        add(at, cluster);
    }
}

fn is_single(tables: &BTreeSet<u64>, tear: Tear) -> bool {
    match tear {
        Tear::Whole => false,
        // The head of a file is read at once; as garbage, these sectors are tried too.
        Tear::Unreadable(sector) if sector < 128 => true,
        Tear::Bytes(sector) | Tear::Garbage(sector) | Tear::Unreadable(sector) => {
            tables.contains(&sector)
        }
    }
}

fn cases() -> Vec<Case> {
    let is_plain = |case: &Case| case.drives.iter().any(|sizes| sizes.physical == 512);
    tables::cases().into_iter().filter(is_plain).collect()
}

#[test]
fn at_every_instant_the_old_or_the_new_table_is_read_in_a_sound_qcow2_image() {
    need_tools!("qemu-img");
    let scratch = Scratch::in_memory().unwrap_or_else(Scratch::new);
    let (mut checked, mut grown) = (0, 0);
    for kind in KINDS {
        // The refcounts of a blank disk that grows, in tables of 2 MiB, take long.
        for case in cases().iter().filter(|case| kind.1 < 2 << 20 || case.name != "a blank disk") {
            let known = Known::of(case);
            let made = made(&scratch, &case.disk, kind);
            let (log, after) = log_of(case, &made, &made.held, Side::New);
            grown += u32::from(log.len() > 12);
            let mut tables = BTreeSet::new();
            table_sectors(&made.held, &mut tables);
            table_sectors(&after, &mut tables);
            let (mut lost, mut unsound, mut cuts) = (Vec::new(), Vec::new(), 0_u32);
            let mut cut_short = Vec::new();
            every_outcome(&made.held, &log, SIZES, &mut |held, tear| {
                cuts += 1;
                // A sector of the image's own tables exists once.
                if is_single(&tables, tear) {
                    return;
                }
                let file = File(held);
                let is_read = guest(&file, &made, &mut |guest| {
                    let is_torn = tear != Tear::Whole && single(case, guest) != Single::Whole;
                    is_torn || known.is_read(guest)
                });
                if !is_read {
                    lost.push(tear);
                }
                if let Err(why) = Qcow2Disk::open(file, made.backing.clone()) {
                    unsound.push(why.reason);
                }
                if tear == Tear::Whole {
                    if cuts % 7 == 0 && checked < 150 {
                        check(&scratch, held);
                        checked += 1;
                    }
                    cut_short.push(held.clone());
                }
            });
            let name = (kind.0, case.name);
            assert_eq!((lost, unsound), (vec![], vec![]), "{name:?}");
            check(&scratch, &after);
            // Who goes on, or undoes, comes to the end from everywhere.
            for held in cut_short.iter().step_by(1 + cut_short.len() / 30) {
                for side in [Side::New, Side::Old] {
                    let (_, end) = log_of(case, &made, held, side);
                    let is_done = guest(&File(&end), &made, &mut |guest| {
                        case.change.standing(guest) == layout::Standing::Whole(side)
                    });
                    assert!(is_done, "{name:?} {side:?}");
                }
            }
            println!("{name:?}: {} requests, {cuts} cuts", log.len());
        }
    }
    assert!(checked > 50 && grown > 10, "{checked} {grown}");
}

/// Fails where `qemu-img check` finds more than clusters that nobody uses.
fn check(scratch: &Scratch, held: &Held) {
    let length = File(held).length_bytes();
    let bytes = disk::read_vec(&held.bytes, 0, length).expect("it is read");
    let image = scratch.file("cut.qcow2", &bytes);
    let ran = tool::output("qemu-img", &["check", scratch::text(&image)]);
    assert!(matches!(ran.status.code(), Some(0 | 3)), "{ran:?}");
}

#[test]
fn an_entry_that_is_written_before_its_data_loses_the_table() {
    need_tools!("qemu-img");
    let scratch = Scratch::new();
    let case = cases().into_iter().find(|case| case.name == "an MBR").expect("the case");
    let known = Known::of(&case);
    let made = made(&scratch, &case.disk, KINDS[4]);
    let (mut log, _) = log_of(&case, &made, &made.held, Side::New);
    let is_data = |one: &Asked| matches!(one, Asked::Write(at, _) if *at < ROOM - 512);
    // The counts, a flush, the data, a flush, the entry.
    let data =
        log.iter().rposition(|one| matches!(one, Asked::Write(_, bytes) if bytes.len() > 512));
    let data = data.expect("a cluster that is written elsewhere");
    assert!(log[data + 1] == Asked::Flush && is_data(&log[data + 2]), "{log:?}");
    log.swap(data, data + 2);
    let mut lost = 0;
    every_outcome(&made.held, &log, SIZES, &mut |held, tear| {
        let is_read = guest(&File(held), &made, &mut |guest| known.is_read(guest));
        lost += u32::from(tear == Tear::Whole && !is_read);
    });
    assert!(lost > 0);
}

/// The guest's bytes as the active table and each snapshot have them, and what of it is not read.
fn views(held: &Held, made: &Made) -> Vec<Vec<Option<Vec<u8>>>> {
    let word = |at: u64| disk::read_array::<8>(&File(held), at).map(u64::from_be_bytes).ok();
    let active = (word(40), word(36).map(|pair| pair >> 32));
    let snapshot = word(64).filter(|_| word(60).is_some_and(|pair| pair >> 32 != 0));
    let other = snapshot.map(|at| (word(at), word(at + 8).map(|pair| pair >> 32)));
    let mut all = Vec::new();
    for (at, count) in [Some(active), other].into_iter().flatten() {
        let (Some(at), Some(count)) = (at, count) else { continue };
        let mut view = held.clone();
        view.bytes.put(40, &at.to_be_bytes());
        view.bytes.put(36, &count.to_be_bytes()[4..]);
        let mut pages = Vec::new();
        guest(&File(&view), made, &mut |guest| {
            let read = |at| disk::read_vec(guest, at, 512).ok();
            pages = (0..DISK_BYTES).step_by(512).map(read).collect();
            true
        });
        all.push(pages);
    }
    all
}

#[test]
fn whatever_an_image_says_a_write_changes_what_was_asked_and_nothing_else() {
    need_tools!("qemu-img");
    let scratch = Scratch::in_memory().unwrap_or_else(Scratch::new);
    let mut random = testkit::random(20);
    let (mut written, mut refused) = (0, 0);
    let case = &cases()[1];
    for kind in [KINDS[0], KINDS[1], KINDS[4], KINDS[5]] {
        let made = made(&scratch, &case.disk, kind);
        let mut sectors = BTreeSet::new();
        table_sectors(&made.held, &mut sectors);
        sectors.remove(&(ROOM / 512 - 1));
        let places: Vec<u64> = sectors.into_iter().collect();
        for round in 0..150 {
            let mut held = made.held.clone();
            for _ in 0..=random.below(3) {
                let sector = places[index(random.below(places.len() as u64))] * 512;
                let at = if round % 3 == 0 {
                    random.below(14) * 8
                } else {
                    sector + random.below(64) * 8
                };
                let other = places[index(random.below(places.len() as u64))] * 512;
                let value = match random.below(5) {
                    0 => random.next_u64(),
                    1 => 1 << 63 | other,
                    2 => other,
                    3 => 1 << 62 | random.below(1 << 20),
                    _ => random.below(4),
                };
                let from = index(random.below(8));
                let bytes = value.to_be_bytes();
                held.bytes.put(at + from as u64, &bytes[from..]);
            }
            let file = RecordedFile::of(&held);
            let Ok(mut disk) = Qcow2Disk::open(file, made.backing.clone()) else {
                refused += 1;
                continue;
            };
            let before = views(&held, &made);
            let at = random.below(DISK_BYTES / 512 - 16) * 512;
            let bytes = vec![0x5a; 512 * index(1 + random.below(16))];
            let range = units::ByteRange::new(at, disk::length_of(&bytes)).expect("a range");
            if disk.takes(&[range]).is_err() || disk.write_at(at, &bytes).is_err() {
                refused += 1;
                continue;
            }
            let after = views(&disk.into_file().0.held, &made);
            written += 1;
            assert_eq!(before.len(), after.len());
            for (view, (before, after)) in before.iter().zip(&after).enumerate() {
                for (sector, (before, after)) in before.iter().zip(after).enumerate() {
                    let place = sector as u64 * 512;
                    let is_asked = view == 0 && (at..range.end_bytes()).contains(&place);
                    let wanted = if is_asked { Some(vec![0x5a; 512]) } else { before.clone() };
                    assert!(*after == wanted, "{} round {round}, sector {sector}", kind.0);
                }
            }
        }
    }
    println!("{written} written, {refused} refused");
    assert!(written > 50 && refused > 100, "{written} {refused}");
}

fn index(value: u64) -> usize {
    usize::try_from(value).expect("short")
}
