//! Every reader on damaged files: it answers, without a panic and in little memory.

use std::fs;
use std::path::Path;

use testkit::memory;

/// The most memory that may be held at once, in bytes.
const MEMORY_BYTES_MAX: usize = 64 << 20;

type Reader = fn(&[u8]);

/// Each reader, with the directory of its seeds.
const READERS: [(&str, Reader); 6] = [
    ("job", workload::hostile::job),
    ("raidtest", workload::hostile::raidtest),
    ("profile", workload::hostile::profile),
    ("iolog", workload::hostile::iolog),
    ("blkparse", workload::hostile::blkparse),
    ("blktrace", workload::hostile::blktrace),
];

fn seeds(name: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seeds").join(name);
    let mut paths: Vec<_> = fs::read_dir(directory)
        .expect("the seeds are there")
        .map(|entry| entry.expect("the seeds can be listed").path())
        .collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a seed can be read")).collect()
}

#[test]
fn every_byte_of_every_seed_may_be_anything() {
    let is_soak = std::env::var_os("STRADDLE_SOAK").is_some();
    for (name, read) in READERS {
        for seed in seeds(name) {
            read(&seed);
            for at in 0..seed.len() {
                let all = [0, b'\n', b'=', b'9', 0xff];
                // Everyday runs try one of them by turns.
                for byte in if is_soak { &all[..] } else { &all[at % 5..][..1] } {
                    let mut damaged = seed.clone();
                    damaged[at] = *byte;
                    read(&damaged);
                }
                read(&seed[..at]);
                read(&seed[at..]);
            }
        }
    }
}

#[test]
fn lines_in_any_order_are_answered() {
    let mut random = testkit::random(21);
    let text = String::from_utf8(seeds("job").concat()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let pieces = ["\0", "=", "%", "${X}", "99999999999999999999", "k", ",", ":", " ", "é", "-"];
    for _ in 0..1500 {
        let mut file = String::from("[a]\n");
        for _ in 0..random.below(8) {
            file.push_str(random.choose::<&str>(&lines));
            if random.below(4) == 0 {
                file.push_str(random.choose::<&str>(&pieces));
            }
            file.push('\n');
        }
        workload::hostile::job(file.as_bytes());
    }
}

#[test]
fn the_longest_files_take_little_memory() {
    let bytes = workload::job::TEXT_BYTES_MAX;
    let name = format!("filename={}\n", "x".repeat(4000));
    for head in [String::new(), format!("[global]\n{name}"), "[a]\n".to_owned()] {
        for line in ["[a]\n", "hipri\n", "nice=1\n", "#\n", "\n", "[", "x", "bs=4KiB\n"] {
            let file = head.clone() + &line.repeat((bytes - head.len()) / line.len());
            let ((), peak_bytes) = memory::peak_of(|| workload::hostile::job(file.as_bytes()));
            assert!(peak_bytes < MEMORY_BYTES_MAX, "{head:.20} {line}: {peak_bytes}");
        }
    }
    let records = vec![1; 16 * workload::raidtest::COUNT_MAX];
    let ((), peak_bytes) = memory::peak_of(|| workload::hostile::raidtest(&records));
    assert!(peak_bytes < MEMORY_BYTES_MAX, "{peak_bytes}");
}

/// A trace of `count` operations, made while it is read.
fn feed(head: &'static str, line: &'static str, count: u32) -> impl FnMut(&mut [u8]) -> Fed {
    let (mut left, mut rest) = (count, head.as_bytes());
    move |buffer| {
        let mut filled = 0;
        while filled < buffer.len() && !(rest.is_empty() && left == 0) {
            if rest.is_empty() {
                (left, rest) = (left - 1, line.as_bytes());
            }
            let (piece, behind) = rest.split_at(rest.len().min(buffer.len() - filled));
            buffer[filled..][..piece.len()].copy_from_slice(piece);
            (filled, rest) = (filled + piece.len(), behind);
        }
        Ok(filled)
    }
}

type Fed = Result<usize, std::convert::Infallible>;

#[test]
fn a_long_trace_takes_no_more_memory_than_a_short_one() {
    let iolog = "fio version 3 iolog\n0 /srv/a file add\n";
    let event = "  8,0    0        1     0.000000000    77  D FWS 2049 + 8 [fio]\n";
    for (head, line) in [(iolog, "7 /srv/a file write 4096 512\n"), ("", event)] {
        let asked = |count: u32| {
            let read = || {
                let feed = feed(head, line, count);
                let stream = workload::TraceStream::open(feed, workload::Stage::Issued).unwrap();
                stream.map(Result::unwrap).count()
            };
            let ((entries, peak_bytes), allocations) =
                memory::allocations_of(|| memory::peak_of(read));
            assert!(entries >= count as usize && peak_bytes < 80 << 10, "{peak_bytes}");
            allocations
        };
        assert_eq!(asked(100), asked(100_000), "{line}");
    }
}
