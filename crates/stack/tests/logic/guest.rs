//! Arrays and volumes that a real kernel made: bytes read through the stack are the bytes that were
//! written through the kernel.
//!
//! The sample (`crates/format/tests/heads/guest`) has a stamp `straddle:NAME:OFFSET` at every 64
//! KiB of the first 2 MiB of each array and volume, so any wrong address is recognized without a
//! copy.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::rc::Rc;

use device::{Disk, FileIdentity, MemoryDisk, NoFiles, pack};
use serde_json::Value;
use stack::assemble::{Start, StartKind, assemble};
use stack::judge::{self, Verdict};
use stack::layer_bytes::LayerView;
use stack::{LayerKind, Mapping, Stack};

/// The disks of the sample by name.
fn disks() -> BTreeMap<String, MemoryDisk> {
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
            (name.clone(), pack::unpack(&packed).expect("it is packed"))
        })
        .collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let (pairs, _) = hex.as_bytes().as_chunks::<2>();
    let digits = pairs.iter().map(|pair| std::str::from_utf8(pair).expect("digits are ASCII"));
    digits.map(|pair| u8::from_str_radix(pair, 16).expect("they are digits")).collect()
}

/// The stack on all of the disks at once.
fn stack() -> Stack {
    stack_on(disks())
}

fn stack_on(disks: BTreeMap<String, MemoryDisk>) -> Stack {
    let starts = disks
        .into_iter()
        .zip(0..)
        .map(|((name, disk), inode)| Start {
            kind: StartKind::File {
                path: name.clone().into_bytes(),
                identity: FileIdentity { device: 1, inode },
            },
            name,
            bytes: Some(Ok(Rc::new(disk) as Rc<dyn Disk>)),
        })
        .collect();
    let told = "512e".parse().expect("it is a kind of disk");
    let assembled = assemble(starts, &NoFiles, Some(&told));
    assert!(assembled.incomplete.is_empty(), "{:?}", assembled.incomplete);
    assembled.stack
}

/// Returns what stands at a byte of a layer, up to the first NUL.
fn stamp(view: &LayerView, at: u64) -> Result<String, String> {
    let mut sector = [0; 512];
    view.read_at(at, &mut sector).map_err(|error| error.to_string())?;
    let end = sector.iter().position(|&byte| byte == 0).unwrap_or(sector.len());
    Ok(String::from_utf8_lossy(&sector[..end]).into_owned())
}

#[test]
fn every_stamp_of_every_array_and_volume_is_read_through_the_stack() {
    let stack = Rc::new(stack());
    let mut read = Vec::new();
    let mut unread = Vec::new();
    for (id, layer) in stack.iter() {
        let arrayed = matches!(layer.kind, LayerKind::MdArray(_));
        let volume = matches!(&layer.kind, LayerKind::LvmLogical(volume) if volume.visible);
        if !arrayed && !volume {
            continue;
        }
        let Some(view) = LayerView::new(Rc::clone(&stack), id) else {
            unread.push(format!("{}: length unknown", layer.name));
            continue;
        };
        let first = match stamp(&view, 0) {
            Ok(first) => first,
            Err(reason) => {
                unread.push(format!("{}: {reason}", layer.name));
                continue;
            }
        };
        let Some(name) = first.strip_prefix("straddle:").and_then(|rest| rest.strip_suffix(":0"))
        else {
            unread.push(format!("{}: no stamp at 0 but `{first}`", layer.name));
            continue;
        };
        let written = layer.length().unwrap().min(2 << 20);
        for at in (0..written).step_by(65536) {
            let expected = format!("straddle:{name}:{at}");
            assert_eq!(stamp(&view, at), Ok(expected), "{} at {at}", layer.name);
        }
        read.push(name.to_owned());
    }
    println!("read: {read:?}\nunread: {unread:#?}");
    assert!(read.len() >= 18, "read {read:?}, unread {unread:#?}");
    // What is not read says why: thin and cached data, and copies that lie elsewhere.
    for line in &unread {
        assert!(
            ["thin", "cache", "snapshot", "no stamp", "older"]
                .iter()
                .any(|word| line.contains(word)),
            "{line}"
        );
    }
}

#[test]
fn every_array_and_volume_that_the_tools_made_by_default_is_aligned() {
    let stack = stack();
    for (id, layer) in stack.iter() {
        if matches!(layer.kind, LayerKind::MdArray(_) | LayerKind::LvmLogical(_))
            && !matches!(layer.mapping, Mapping::Opaque { .. } | Mapping::Unknown { .. })
        {
            let judgment = judge::judge(&stack, id);
            let fine = matches!(judgment.verdict, Verdict::Aligned | Verdict::NotExpressible);
            assert!(fine, "{}: {judgment:?}", layer.name);
        }
    }
}

#[test]
fn what_a_thin_volume_holds_is_not_found_on_its_pool() {
    let mut disks = disks();
    let stamp = b"straddle:thin:0\0";
    let mut sector = [0; 512];
    let mut written = 0;
    for disk in disks.values_mut() {
        for at in (0..disk.length_bytes()).step_by(65536) {
            disk.read_at(at, &mut sector).unwrap();
            if sector.starts_with(stamp) {
                // An MBR with a partition of 1 MiB at sector 63.
                let mut mbr = [0; 512];
                mbr[446 + 4] = 0x83;
                mbr[446 + 8..446 + 16].copy_from_slice(&[63, 0, 0, 0, 0, 8, 0, 0]);
                mbr[510..].copy_from_slice(&[0x55, 0xaa]);
                disk.put(at, &mbr);
                written += 1;
            }
        }
    }
    assert!(written > 0, "the thin volume's first chunk is on a disk");
    let stack = stack_on(disks);
    let partitions =
        stack.iter().filter(|(_, layer)| matches!(layer.kind, LayerKind::Partition(..)));
    let names: Vec<&str> = partitions.map(|(_, layer)| layer.name.as_str()).collect();
    assert!(names.is_empty(), "{names:?}");
}
