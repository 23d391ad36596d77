//! Damaged images: every cut and single-byte changes of their metadata give an answer or an error,
//! in bounded work.

#![expect(clippy::unwrap_used, reason = "the helpers belong to tests as well")]

use std::cell::Cell;
use std::ops::ControlFlow;

use device::{Disk, ReadError, disk};
use format::image::guest::Guest;
use format::image::{self, ImageLayout};
use format::named::NAMED;
use testkit::{Scratch, need_tools, tool};
use units::{ByteRange, Unit};

/// The bytes of a file that counts what is read of it.
struct Counted<'a> {
    bytes: &'a [u8],
    reads: Cell<u64>,
    read_bytes: Cell<u64>,
}

impl Disk for Counted<'_> {
    fn length_bytes(&self) -> u64 {
        disk::length_of(self.bytes)
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.reads.set(self.reads.get() + 1);
        self.read_bytes.set(self.read_bytes.get() + disk::length_of(buffer));
        self.bytes.read_at(offset_bytes, buffer)
    }
}

/// Everything that can be asked of an image, of the file `bytes`.
fn exercise(bytes: &[u8]) {
    let file = Counted { bytes, reads: Cell::new(0), read_bytes: Cell::new(0) };
    let Some(parsed) = image::read(&file) else { return };
    // One small read for each mark of what is only named: a disk's cache makes them one.
    let few = 30 + u64::try_from(NAMED.len()).unwrap();
    assert!(file.reads.get() < few && file.read_bytes.get() < 4 << 20, "headers take few reads");
    let image = parsed.value;
    for address in [0, 511, image.virtual_bytes / 2, image.virtual_bytes.saturating_sub(1)] {
        if let Ok(Some(extent)) = image.locate(&file, address) {
            assert_eq!(extent.guest.start_bytes(), address);
            assert!(extent.guest.length_bytes() > 0);
            assert!(extent.guest.end_bytes() <= image.virtual_bytes);
        }
    }
    assert_eq!(image.locate(&file, image.virtual_bytes).ok(), Some(None));
    let all = ByteRange::new(0, u64::MAX).unwrap();
    let mut end = 0;
    let walked = image.extents(&file, all, &mut |extent| {
        assert_eq!(extent.guest.start_bytes(), end, "extents are in order, without gaps");
        end = extent.guest.end_bytes();
        ControlFlow::Continue(())
    });
    assert!(end <= image.virtual_bytes);
    assert!(walked.is_err() || walked.unwrap().end_bytes == end);
    let shifts = image.shifts(&file, all, Unit::new(4096).unwrap());
    let counted = shifts.here.values().chain(shifts.references.values()).sum::<u64>()
        + shifts.other_bytes
        + shifts.compressed_bytes
        + shifts.zero_bytes
        + shifts.backing_bytes
        + shifts.unknown_bytes;
    assert_eq!(counted, shifts.walked.end_bytes, "each byte is counted once");
    let none: Vec<Option<&dyn Disk>> = Vec::new();
    let guest = Guest::new(&image, &file as &dyn Disk, none);
    let mut buffer = [0; 6000];
    for address in [0, 1 << 16, image.virtual_bytes.saturating_sub(6000)] {
        let _ = guest.read_at(address, &mut buffer);
    }
    assert!(file.reads.get() < 5_000, "{} reads", file.reads.get());
    assert!(file.read_bytes.get() < 64 << 20, "{} bytes", file.read_bytes.get());
}

/// A small image with some of everything, and where its metadata are.
fn small(scratch: &Scratch, format: &str, options: &str, packed: bool) -> Vec<u8> {
    let mut content = vec![0; 200 * 1024];
    for (number, byte) in content.iter_mut().enumerate() {
        // Runs of 8 KiB, every third of them zeros.
        if number / 8192 % 3 != 0 {
            *byte = u8::try_from(number / 512 % 251).unwrap();
        }
    }
    let raw = scratch.file("raw", &content);
    let out = scratch.path().join("image");
    let mut arguments = vec!["convert", "-f", "raw", "-O", format];
    if !options.is_empty() {
        arguments.extend(["-o", options]);
    }
    if packed {
        arguments.push("-c");
    }
    arguments.extend([raw.to_str().unwrap(), out.to_str().unwrap()]);
    tool::run("qemu-img", &arguments);
    std::fs::read(out).unwrap()
}

/// The images that are made, and the bytes from the start that hold metadata. VHDX has its metadata
/// far apart: those are changed in their own test.
const IMAGES: [(&str, &str, bool, usize); 9] = [
    ("qcow2", "cluster_size=512", false, 6 * 1024),
    ("qcow2", "cluster_size=4k,compat=0.10", false, 20 * 1024),
    ("qcow2", "cluster_size=16k,extended_l2=on", false, 66 * 1024),
    ("qcow2", "cluster_size=4k", true, 20 * 1024),
    ("vpc", "force_size=on", false, 3 * 1024),
    ("vdi", "", false, 1024),
    ("vmdk", "subformat=monolithicSparse", false, 24 * 1024),
    ("vmdk", "subformat=streamOptimized", true, 24 * 1024),
    ("vmdk", "subformat=monolithicFlat", false, 1024),
];

#[test]
fn every_cut_gives_an_answer_or_an_error() {
    need_tools!("qemu-img");
    let scratch = Scratch::new();
    for (format, options, packed, _) in IMAGES {
        let bytes = small(&scratch, format, options, packed);
        let mut lengths: Vec<usize> = (0..bytes.len()).step_by(512).collect();
        lengths.extend((0..600.min(bytes.len())).step_by(3));
        lengths.extend((bytes.len().saturating_sub(600)..bytes.len()).step_by(3));
        // A large file's blocks are cut at some of their sectors only.
        lengths.retain(|length| *length < 400 * 1024 || length % (64 * 1024) == 0);
        for &length in &lengths {
            exercise(&bytes[..length]);
        }
        println!("{format} {options}: {} cuts of {} bytes", lengths.len(), bytes.len());
    }
}

#[test]
fn every_changed_byte_of_the_metadata_gives_an_answer_or_an_error() {
    need_tools!("qemu-img");
    let scratch = Scratch::new();
    let mut random = testkit::random(11);
    for (format, options, packed, metadata) in IMAGES {
        let mut bytes = small(&scratch, format, options, packed);
        let length = metadata.min(bytes.len());
        let tail = bytes.len().saturating_sub(1536).max(length)..bytes.len();
        let mut changes = 0;
        for at in (0..length).chain(tail) {
            let before = bytes[at];
            // Long tables are sampled where they hold nothing; headers are changed in every way.
            let dull = at >= 1024 && before == 0;
            if at >= 1024 && random.below(2) == 0 {
                continue;
            }
            let mut changed = vec![0, 0xff, before ^ 1, before ^ 0x80];
            if at >= 1024 || (at >= 128 && before == 0) {
                changed = vec![*random.choose(&changed)];
            }
            for after in changed {
                if after == before || (dull && random.below(32) != 0) {
                    continue;
                }
                bytes[at] = after;
                exercise(&bytes);
                changes += 1;
            }
            bytes[at] = before;
        }
        println!("{format} {options}: {changes} changes");
    }
}

#[test]
fn a_damaged_vhdx_gives_an_answer_or_an_error() {
    need_tools!("qemu-img");
    let scratch = Scratch::new();
    let mut random = testkit::random(12);
    let mut bytes = small(&scratch, "vhdx", "block_size=1M", false);
    let image = image::read(&bytes).unwrap().value;
    let ImageLayout::Vhdx(tables) = &image.layout else { panic!("a table") };
    let table = usize::try_from(tables.table.start_bytes()).unwrap();
    // Identifier, headers, region tables, log and metadata lie in the first 3 MiB, mostly zeros.
    let mut places: Vec<usize> =
        (0..bytes.len().min(4 << 20)).filter(|&at| bytes[at] != 0).collect();
    places.extend(table..table + 64);
    for &at in &places {
        let before = bytes[at];
        bytes[at] = *random.choose(&[0, 0xff, before ^ 1, before ^ 0x80]);
        exercise(&bytes);
        bytes[at] = before;
    }
    for length in (0..bytes.len()).step_by(32 << 10) {
        exercise(&bytes[..length]);
    }
    println!("{} places of {} bytes", places.len(), bytes.len());
}

#[test]
fn noise_is_no_image() {
    let mut random = testkit::random(13);
    for _ in 0..2000 {
        let noise: Vec<u8> = (0..512).flat_map(|_| random.next_u64().to_le_bytes()).collect();
        assert!(image::read(&noise).is_none());
    }
    for length in [0, 1, 4, 511, 512, 513] {
        assert!(image::read(&vec![0; length]).is_none());
    }
}
