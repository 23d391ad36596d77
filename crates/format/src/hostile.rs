//! The parsers as functions of raw bytes, shared by the fuzz targets and the plain tests.
//!
//! Whatever the bytes are, each of these must answer: without a panic, soon, and in little memory.
//! The caller watches time and memory; what a parser promised about its answer is checked here.

use std::hint::black_box;

use device::{Disk, disk, pack};
use units::{ByteRange, SectorSize, Unit};

use crate::filesystem::{self, btrfs};
use crate::heads::Heads;
use crate::identify::{
    ata, ata_health, ata_statistics, nvme, nvme_health, nvme_namespace_hints, ocp_health, scsi,
};
use crate::image::guest::Guest;
use crate::image::{self, Image, recognize};
use crate::member::{bcache, integrity, luks, lvm, md};
use crate::probe::{self, Hint};
use crate::table::bsd::{self, Counting};
use crate::table::{gpt, mbr, sfdisk_script, sgi_sun};
use crate::{Parsed, database_page};

/// A parser, with all that may be asked of it.
#[derive(Clone, Copy)]
pub struct Parser {
    name: &'static str,
    call: ParserCall,
}

/// The way to call a parser.
#[derive(Clone, Copy)]
enum ParserCall {
    Plain(fn(&dyn Disk)),
    FileSystem(filesystem::Reader),
    /// The image reader of the parser's name.
    Image,
}

/// The parsers that no table lists.
const PLAIN: [Parser; 20] = [
    Parser::new("mbr", |disk| both_sectors(disk, mbr::read)),
    Parser::new("gpt", |disk| both_sectors(disk, gpt::read)),
    Parser::new("bsd", |disk| {
        for slice_at_bytes in [0, 63 * 512, u64::MAX] {
            for counting in [Counting::Unknown, Counting::FreeBsd, Counting::Disk] {
                let slice = (slice_at_bytes, counting);
                both_sectors(disk, |disk, sector| bsd::read(disk, sector, slice));
            }
        }
    }),
    Parser::new("sgi", |disk| drop(black_box(sgi_sun::sgi(disk)))),
    Parser::new("sun", |disk| drop(black_box(sgi_sun::sun(disk)))),
    Parser::new("script", |disk| {
        let bytes = answer(disk);
        black_box(sfdisk_script::is_script(&bytes));
        match sfdisk_script::read(&bytes) {
            Ok(script) => {
                let ends = script.table.partitions.iter().map(|part| part.range.end_bytes());
                assert!(ends.max().is_some_and(|end| end <= script.disk_bytes));
            }
            Err(error) => {
                let said = error.to_string();
                assert!(!said.contains(char::is_control), "an error is one harmless line");
            }
        }
    }),
    Parser::new("md", |disk| {
        let found = md::read(disk);
        black_box(found.map(|found| found.value.data_members()));
    }),
    Parser::new("lvm", |disk| drop(black_box(lvm::read(disk)))),
    Parser::new("page", |disk| {
        let head = answer(disk);
        for read in [database_page::innodb, database_page::sqlite, database_page::postgresql] {
            let length = read(&head);
            assert!(length.is_none_or(|bytes| (512..=65_536).contains(&bytes)));
        }
    }),
    Parser::new("luks", |disk| drop(black_box(luks::read(disk)))),
    Parser::new("bcache", |disk| drop(black_box(bcache::read(disk)))),
    Parser::new("integrity", |disk| drop(black_box(integrity::read(disk)))),
    Parser::new("nvme", |disk| {
        let bytes = answer(disk);
        drop(black_box((nvme::namespace(&bytes), nvme::controller(&bytes))));
        // One answer's bytes are the other's too: every bit and size is met with every other.
        if let Ok(namespace) = nvme::namespace(&bytes) {
            let hints = nvme_namespace_hints::hints(&bytes, &namespace.value);
            let most = hints.ok().and_then(|hints| hints.value.read_granularity_bytes);
            assert!(most.is_none_or(|bytes| bytes <= 16 << 20), "what no drive means is unknown");
        }
    }),
    Parser::new("scsi", |disk| {
        let bytes = answer(disk);
        drop(black_box((scsi::capacity(&bytes), scsi::characteristics(&bytes))));
        for logical_bytes in [512, u64::MAX] {
            drop(black_box(scsi::block_limits(&bytes, logical_bytes)));
        }
    }),
    Parser::new("ata", |disk| drop(black_box(ata::identity(&answer(disk))))),
    Parser::new("health", |disk| {
        let bytes = answer(disk);
        drop(black_box((nvme_health::health(&bytes), ata_health::health(&bytes))));
    }),
    Parser::new("wear", |disk| {
        let bytes = answer(disk);
        drop(black_box(ata_statistics::statistics(&bytes)));
        let found = ocp_health::extended_health(&bytes);
        // A mutated GUID hides the fields, so they are read behind a right one too.
        let mut signed = bytes;
        if let Some(guid) = signed.get_mut(496..512) {
            guid.copy_from_slice(&ocp_health::GUID);
        }
        drop(black_box((found, ocp_health::extended_health(&signed))));
    }),
    Parser::new("chunks", placed),
    Parser::new("others", |disk| {
        let heads = Heads::new(disk);
        drop(black_box(filesystem::RARE.map(|read| read(&heads))));
    }),
    Parser::new("probe", |disk| {
        for sector in SECTORS {
            for start_bytes in [0, 63 * 512] {
                let counting = Counting::Unknown;
                let hint = Hint { sector, start_bytes, counting, tables: true };
                drop(black_box(probe::read(disk, hint)));
            }
        }
    }),
];

/// Every parser: tables and members, each common file system's, `others` for the rarer ones, each
/// image format's, and `probe`, which asks all but the images'.
#[must_use]
pub fn parsers() -> Vec<Parser> {
    let systems = filesystem::COMMON.into_iter();
    let systems = systems.map(|(name, read)| Parser { name, call: ParserCall::FileSystem(read) });
    let images = recognize::names().map(|name| Parser { name, call: ParserCall::Image });
    PLAIN.into_iter().chain(systems).chain(images).collect()
}

impl Parser {
    /// The parser that `call` is.
    #[must_use]
    pub const fn new(name: &'static str, call: fn(&dyn Disk)) -> Parser {
        Parser { name, call: ParserCall::Plain(call) }
    }

    /// Its name, which is its fuzz target's name too.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Asks it about `disk`.
    ///
    /// # Panics
    /// When the parser does, or breaks a promise about its answer: that is the finding.
    pub fn run(&self, disk: &dyn Disk) {
        match self.call {
            ParserCall::Plain(call) => call(disk),
            ParserCall::FileSystem(reader) => drop(black_box(reader(&Heads::new(disk)))),
            ParserCall::Image => {
                if let Some(found) = recognize::read_as(disk, |name| name == self.name) {
                    located(disk, &found.value);
                    walked(disk, &found.value);
                }
            }
        }
    }
}

/// The start of `disk` as what a drive answered.
fn answer(disk: &dyn Disk) -> Vec<u8> {
    let length = disk.length_bytes().min(4096);
    disk::read_vec(disk, 0, length).unwrap_or_default()
}

/// Both sizes of logical sectors in use.
const SECTORS: [SectorSize; 2] = [SectorSize::B512, SectorSize::B4096];

fn both_sectors<T>(disk: &dyn Disk, read: impl Fn(&dyn Disk, SectorSize) -> Option<Parsed<T>>) {
    for sector in SECTORS {
        drop(black_box(read(disk, sector)));
    }
}

/// Runs the parser called `name` on the disk that `packed` holds (see [`device::pack`]); bytes that
/// hold none are ignored.
///
/// # Panics
/// When there is no such parser, and as [`Parser::run`].
pub fn run(name: &str, packed: &[u8]) {
    let found = parsers().into_iter().find(|parser| parser.name == name);
    let parser = found.unwrap_or_else(|| panic!("no parser is called {name}"));
    if let Some(disk) = pack::unpack(packed) {
        parser.run(&disk);
    }
}

/// Asks where btrfs's logical addresses lie, at the ends of its chunks.
fn placed(disk: &dyn Disk) {
    let Some(found) = btrfs::chunks(&[disk, disk]) else { return };
    for chunk in found.value.chunks() {
        let (start, end) = (chunk.logical.start_bytes(), chunk.logical.end_bytes());
        for at in [start, start + (end - start).div_euclid(2), end - 1] {
            let Some((places, length)) = found.value.places(at) else { continue };
            assert!(!places.is_empty() && length > 0 && length <= end - at, "{chunk:?} at {at}");
        }
    }
}

/// Asks where guest bytes lie, at the ends, at powers of two and around blocks' ends.
fn located(file: &dyn Disk, image: &Image) {
    let block_bytes = image.block_bytes.unwrap_or(1 << 16);
    let last = image.virtual_bytes.saturating_sub(1);
    let ends = [0, 1, last, last.div_euclid(2), image.virtual_bytes, u64::MAX];
    let blocks = [1, 2, 3].map(|block: u64| block.saturating_mul(block_bytes));
    let around = blocks.into_iter().flat_map(|at| [at.saturating_sub(1), at]);
    let powers = (9..63).step_by(3).map(|power| 1 << power);
    for guest_bytes in ends.into_iter().chain(around).chain(powers) {
        let Ok(found) = image.locate(file, guest_bytes) else { continue };
        let Some(extent) = found else { continue };
        let guest = extent.guest;
        assert!(guest.length_bytes() > 0, "an extent at {guest_bytes} is empty");
        assert!(
            guest.start_bytes() <= guest_bytes && guest_bytes < guest.end_bytes(),
            "the extent {guest:?} does not hold {guest_bytes}"
        );
        assert!(guest.end_bytes() <= image.virtual_bytes, "{guest:?} ends behind the guest disk");
    }
}

/// Bytes of an image's tables that are walked: few, so that a fuzzer gets on.
const WALKED_BYTES_MAX: u64 = 1 << 20;

/// Asks how the guest's bytes are shifted, and reads the guest's first bytes and its last.
fn walked(file: &dyn Disk, image: &Image) {
    let whole = ByteRange::new(0, image.virtual_bytes).expect("a range from 0");
    let unit = Unit::new(4096).expect("a unit");
    let shifts = image.shifts_within(file, whole, unit, WALKED_BYTES_MAX);
    assert!(shifts.here.len() <= image::shift::SHIFTS_MAX, "{} shifts", shifts.here.len());
    let guest = Guest::new(image, file, image.references.iter().map(|_| None).collect());
    for at_bytes in [0, image.virtual_bytes.saturating_sub(4096)] {
        drop(black_box(disk::read_array::<4096>(&guest, at_bytes)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parser_answers_on_nothing_on_zeros_and_on_ones() {
        for parser in parsers() {
            run(parser.name, &[]);
            run(parser.name, &[0; 8]);
            run(parser.name, &[0xff; 4096]);
            parser.run(&Vec::new());
            parser.run(&vec![0xff_u8; 1 << 17]);
        }
    }

    #[test]
    fn no_two_parsers_share_a_name_and_each_name_is_one_short_word() {
        let mut names: Vec<&str> = parsers().iter().map(|parser| parser.name).collect();
        for name in &names {
            let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            assert!(name.bytes().all(plain), "{name}");
        }
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
