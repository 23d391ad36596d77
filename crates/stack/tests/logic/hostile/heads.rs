//! Heads of real disks and images, cut short and with every byte changed.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use device::{Disk, MemoryDisk, Window, pack};
use units::ByteRange;

use super::watched::{Bytes, Changed, Recording, answer, one_instead_of, soak};

/// Everyday runs change one of so many bytes of a head, other ones in the next head. Parsers are
/// tried with every byte in `format`.
const EVERY: u64 = 3;

#[test]
fn a_head_cut_at_any_length_is_answered() {
    for_each_head(|head| {
        for length_bytes in cuts(head) {
            let range = ByteRange::new(0, length_bytes).unwrap();
            let cut: Bytes = Rc::new(Window::new(Rc::clone(&head.disk), range));
            answer(&[cut], || format!("{} cut at {length_bytes}", head.name));
        }
    });
}

#[test]
fn a_head_with_any_byte_changed_is_answered() {
    let found = AtomicUsize::new(0);
    for_each_head(|head| {
        let recording = Rc::new(Recording::new(Rc::clone(&head.disk)));
        let bytes: Bytes = Rc::clone(&recording) as Bytes;
        let whole = answer(&[bytes], || head.name.clone());
        if whole.assembled.stack.len() > 1 {
            found.fetch_add(1, Ordering::Relaxed);
        }
        drop(whole);
        let telling = recording.telling_bytes(&head.held);
        let tried =
            |(at_bytes, _): &(u64, u8)| soak() || (at_bytes + head.number).is_multiple_of(EVERY);
        for (at_bytes, before) in telling.into_iter().filter(tried) {
            for value in one_instead_of(before, at_bytes) {
                let below = Rc::clone(&head.disk);
                let changed: Bytes = Rc::new(Changed { below, at_bytes, value });
                answer(&[changed], || format!("{} with {value:#x} at {at_bytes}", head.name));
            }
        }
    });
    let found = found.into_inner();
    assert!(found > 40, "something is found in {found} heads only");
}

/// A head: its place among all, its name, the disk, and where it holds something.
struct Head {
    number: u64,
    name: String,
    disk: Rc<MemoryDisk>,
    held: Vec<ByteRange>,
}

/// Calls `examine` with each head, on as many threads as there are processors.
fn for_each_head(examine: impl Fn(&Head) + Sync) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../format/tests/heads");
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .expect("the heads are there")
        .map(|entry| entry.expect("a directory can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pack"))
        .collect();
    files.sort();
    assert!(files.len() > 30, "only {} heads are there", files.len());
    let ahead = Mutex::new((0..).zip(files).collect::<Vec<_>>());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((number, file)) = { ahead.lock().expect("no thread panicked").pop() }
                {
                    let packed = std::fs::read(&file).expect("a head can be read");
                    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                    let disk = Rc::new(pack::unpack(&packed).expect("a head is a packed disk"));
                    examine(&Head { number, name, disk, held: pack::ranges(&packed) });
                }
            });
        }
    });
}

/// Lengths at which to cut: at each byte of what is held and of a sector around it, and at the ends.
/// Everyday runs take every 13th of them, which are at each place in a sector in turn, and those at
/// and beside the ends of sectors.
fn cuts(head: &Head) -> Vec<u64> {
    let length_bytes = head.disk.length_bytes();
    let mut cuts: Vec<u64> = (0..=1024).collect();
    for held in &head.held {
        let first = held.start_bytes().saturating_sub(512);
        cuts.extend(first..=held.end_bytes() + 512);
    }
    cuts.extend(length_bytes.saturating_sub(512)..=length_bytes);
    let is_tried = |cut: u64| soak() || cut.is_multiple_of(13) || (cut + 1) % 512 <= 2;
    cuts.retain(|cut| *cut <= length_bytes && is_tried(*cut));
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}
