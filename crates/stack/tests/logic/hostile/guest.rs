//! The disks of a whole machine, with one byte of one disk changed: what damaged members do to
//! arrays and volume groups that lie on several disks.

use std::io::Read as _;
use std::path::Path;
use std::rc::Rc;
use std::sync::Mutex;

use device::{MemoryDisk, pack};
use serde_json::Value;
use units::ByteRange;
use units::random::Random;

use super::watched::{Bytes, Changed, Recording, answer, few_instead_of, soak};

/// Number of bytes of each disk that everyday runs change.
const FEW: u64 = 4;

#[test]
fn a_machine_with_any_byte_of_any_disk_changed_is_answered() {
    let seed = testkit::random(20_250_607).next_u64();
    let ahead = Mutex::new(0..samples().len());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let samples = samples();
                while let Some(number) = { ahead.lock().expect("no thread panicked").next() } {
                    change(&samples, number, seed);
                }
            });
        }
    });
}

/// Changes bytes of disk `number`: those that `seed` chooses, or all.
fn change(samples: &[Sample], number: usize, seed: u64) {
    let sample = &samples[number];
    let mut whole: Vec<Bytes> =
        samples.iter().map(|sample| Rc::clone(&sample.disk) as Bytes).collect();
    let recording = Rc::new(Recording::new(Rc::clone(&sample.disk)));
    whole[number] = Rc::clone(&recording) as Bytes;
    drop(answer(&whole, || sample.name.clone()));
    let telling = recording.telling_bytes(&sample.held);
    let mut random = Random::new(seed ^ u64::try_from(number).expect("a few disks"));
    let few = (0..FEW).filter(|_| !telling.is_empty()).map(|_| *random.choose(&telling)).collect();
    for (at_bytes, before) in if soak() { telling } else { few } {
        for value in few_instead_of(before) {
            let below = Rc::clone(&sample.disk);
            whole[number] = Rc::new(Changed { below, at_bytes, value });
            answer(&whole, || format!("{} with {value:#x} at {at_bytes}", sample.name));
        }
    }
}

/// A disk of the machine.
struct Sample {
    name: String,
    disk: Rc<MemoryDisk>,
    held: Vec<ByteRange>,
}

fn samples() -> Vec<Sample> {
    let heads = Path::new(env!("CARGO_MANIFEST_DIR")).join("../format/tests/heads/guest");
    let file = std::fs::File::open(heads.join("lvm.json.gz")).expect("the sample is there");
    let mut json = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut json).expect("it is gzip");
    let sample: Value = serde_json::from_str(&json).expect("it is JSON");
    let disks = sample["disks"].as_object().expect("it has disks");
    disks
        .iter()
        .map(|(name, hex)| {
            let packed = bytes(hex.as_str().expect("hexadecimal digits"));
            let disk = Rc::new(pack::unpack(&packed).expect("it is packed"));
            Sample { name: name.clone(), disk, held: pack::ranges(&packed) }
        })
        .collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let (pairs, _) = hex.as_bytes().as_chunks::<2>();
    let digits = pairs.iter().map(|pair| std::str::from_utf8(pair).expect("hexadecimal digits"));
    digits.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal digits")).collect()
}
