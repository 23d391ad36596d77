//! A run of the guest: what the tools said, and the disks.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use device::{Disk, MemoryDisk};
use serde_json::Value;

/// So many stamps each array and volume has, at every so many bytes.
const STAMPS: u64 = 32;
const STAMP_BYTES: u64 = 65536;

/// A run: texts by their path in the result, disks by their name.
pub(crate) struct Run {
    pub(crate) texts: BTreeMap<String, String>,
    pub(crate) disks: BTreeMap<String, MemoryDisk>,
}

impl Run {
    /// The one in `heads/guest`.
    pub(crate) fn sample() -> Run {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/heads/guest/lvm.json.gz");
        let mut json = String::new();
        let file = std::fs::File::open(path).expect("the sample is there");
        flate2::read::GzDecoder::new(file).read_to_string(&mut json).unwrap();
        let sample: Value = serde_json::from_str(&json).unwrap();
        let pairs = |key: &str| {
            let pairs = sample[key].as_object().unwrap().clone().into_iter();
            pairs.map(|(name, value)| (name, value.as_str().unwrap().to_owned()))
        };
        Run {
            texts: pairs("files").collect(),
            disks: pairs("disks").map(|(name, hex)| (name, unpacked(&bytes(&hex)))).collect(),
        }
    }

    /// The one that `STRADDLE_GUEST_RESULT` names.
    pub(crate) fn of_environment() -> Option<Run> {
        let result = std::env::var_os("STRADDLE_GUEST_RESULT")?;
        let result = Path::new(&result);
        assert!(result.join("done").exists(), "{} is no complete run", result.display());
        let mut run = Run { texts: BTreeMap::new(), disks: BTreeMap::new() };
        let mut ahead = vec![result.join("out"), result.join("disks")];
        while let Some(directory) = ahead.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(result).unwrap().to_str().unwrap().to_owned();
                if path.is_dir() {
                    ahead.push(path);
                } else if let Some(disk) = name.strip_prefix("disks/") {
                    let disk = disk.trim_end_matches(".pack").to_owned();
                    run.disks.insert(disk, unpacked(&std::fs::read(path).unwrap()));
                } else {
                    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
                    run.texts.insert(name, text);
                }
            }
        }
        Some(run)
    }

    pub(crate) fn text(&self, path: &str) -> &str {
        self.texts.get(path).unwrap_or_else(|| panic!("the run has no {path}"))
    }

    /// The rows of an lvm2 report, which is named after its command.
    pub(crate) fn report(&self, command: &str) -> Vec<Value> {
        let text = self.text(&format!("out/lvm/{command}.json"));
        let report: Value = serde_json::from_str(text).unwrap();
        report["report"][0][command.trim_end_matches('s')].as_array().unwrap().clone()
    }

    /// Checks that `place` finds every stamp of the array or volume `name`: it gives the disk and
    /// the address for an offset.
    pub(crate) fn check_stamps(&self, name: &str, place: impl Fn(u64) -> (String, u64)) {
        for number in 0..STAMPS {
            let offset = number * STAMP_BYTES;
            let (disk, at_bytes) = place(offset);
            let mut sector = [0; 512];
            self.disks[&disk].read_at(at_bytes, &mut sector).unwrap();
            let end = sector.iter().position(|&byte| byte == 0).unwrap();
            let found = String::from_utf8_lossy(&sector[..end]).into_owned();
            let expected = format!("straddle:{name}:{offset}");
            assert_eq!(found, expected, "at {at_bytes} of {disk}");
        }
    }
}

/// The bytes that pairs of hexadecimal digits write.
fn bytes(hex: &str) -> Vec<u8> {
    let digit = |&digit: &u8| u8::try_from(char::from(digit).to_digit(16).unwrap()).unwrap();
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    assert!(rest.is_empty());
    pairs.iter().map(|[high, low]| digit(high) << 4 | digit(low)).collect()
}

/// The disk that is packed as `guest/sectors.py` says.
fn unpacked(mut packed: &[u8]) -> MemoryDisk {
    let mut take = |length: usize| {
        let (head, rest) = packed.split_at_checked(length)?;
        packed = rest;
        Some(head)
    };
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    let mut disk = MemoryDisk::new(number(take(8).unwrap()));
    while let Some(sector) = take(8) {
        let count = u16::from_le_bytes(take(2).unwrap().try_into().unwrap());
        disk.put(number(sector) * 512, take(usize::from(count) * 512).unwrap());
    }
    disk
}
