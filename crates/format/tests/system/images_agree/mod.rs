//! Images made by qemu-img, read by us: header, extents and every guest byte against what QEMU
//! says.
//!
//! Contents are seeded. Where we differ from QEMU on purpose, the test says why.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "the helpers belong to tests as well"
)]

mod opened;
mod peer;

use format::image::{GuestPlace, ImageKind, ImageLayout};
use opened::{Opened, bytes_of, extents_of};
use testkit::{Scratch, need_tools, tool};
use units::ByteRange;
use units::random::Random;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// One way to make an image: format, options, further arguments of `qemu-img convert`.
struct Way {
    format: &'static str,
    options: &'static str,
    more: &'static [&'static str],
}

const fn way(format: &'static str, options: &'static str, more: &'static [&'static str]) -> Way {
    Way { format, options, more }
}

const QCOW2: &[Way] = &[
    way("qcow2", "compat=0.10", &[]),
    way("qcow2", "compat=1.1", &[]),
    way("qcow2", "compat=1.1,cluster_size=512", &[]),
    way("qcow2", "compat=0.10,cluster_size=4k", &[]),
    way("qcow2", "cluster_size=2M", &[]),
    way("qcow2", "cluster_size=16k,extended_l2=on", &[]),
    way("qcow2", "cluster_size=128k,extended_l2=on", &[]),
    way("qcow2", "cluster_size=64k", &["-c"]),
    way("qcow2", "cluster_size=2M", &["-c"]),
    way("qcow2", "cluster_size=512", &["-c"]),
    way("qcow2", "cluster_size=32k,extended_l2=on", &["-c"]),
    way("qcow2", "preallocation=metadata", &[]),
    way("qcow2", "preallocation=falloc,cluster_size=32k", &[]),
    way("qcow2", "preallocation=full", &[]),
    way("qcow2", "refcount_bits=1,lazy_refcounts=off", &[]),
];

const OTHERS: &[Way] = &[
    way("vpc", "subformat=dynamic", &[]),
    way("vpc", "subformat=dynamic,force_size=on", &[]),
    way("vpc", "subformat=fixed,force_size=on", &[]),
    way("vpc", "subformat=fixed", &[]),
    way("vdi", "static=off", &[]),
    way("vdi", "static=on", &[]),
    way("vmdk", "subformat=monolithicSparse", &[]),
    way("vmdk", "subformat=monolithicSparse,zeroed_grain=on", &[]),
    way("vmdk", "subformat=monolithicSparse,compat6=on", &[]),
    way("vmdk", "subformat=streamOptimized", &["-c"]),
    way("vmdk", "subformat=twoGbMaxExtentSparse", &[]),
    way("vmdk", "subformat=twoGbMaxExtentFlat", &[]),
    way("vmdk", "subformat=monolithicFlat", &[]),
    way("vhdx", "subformat=dynamic,block_size=1M", &[]),
    way("vhdx", "subformat=dynamic,block_size=8M,block_state_zero=off", &[]),
    way("vhdx", "subformat=fixed,block_size=2M", &[]),
    way("vhdx", "subformat=dynamic", &[]),
];

/// Sparse content: runs of noise, of text and of zeros at sectors of all kinds.
fn content(random: &mut Random, length: u64) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(length).unwrap()];
    let sectors = length / 512;
    for _ in 0..24 {
        let start = random.below(sectors) * 512;
        let most = *random.choose(&[1, 8, 200, 700]);
        let run = (512 * (1 + random.below(most))).min(length - start);
        let (start, run) = (usize::try_from(start).unwrap(), usize::try_from(run).unwrap());
        let kind = random.below(3);
        for (number, byte) in bytes[start..start + run].iter_mut().enumerate() {
            *byte = match kind {
                0 => random.next_u64().to_le_bytes()[0],
                1 => b"straddle "[number % 9],
                _ => 0,
            };
        }
    }
    bytes
}

/// Makes an image of `raw` in one way; its path.
fn convert(scratch: &Scratch, raw: &std::path::Path, way: &Way, number: usize) -> String {
    let out = scratch.path().join(format!("{number}.{}", way.format));
    let out = out.to_str().unwrap().to_owned();
    let mut arguments = vec!["convert", "-f", "raw", "-O", way.format, "-o", way.options];
    arguments.extend(way.more);
    arguments.extend([raw.to_str().unwrap(), &out]);
    tool::run("qemu-img", &arguments);
    out
}

fn every_way_agrees(ways: &[Way], seed: u64) {
    let scratch = Scratch::new();
    let mut random = testkit::random(seed);
    for (number, way) in ways.iter().enumerate() {
        println!("{} {} {:?}", way.format, way.options, way.more);
        // An odd number of sectors, so that the last cluster is cut.
        let bytes = content(&mut random, 5 * MIB + 37 * 512);
        let raw = scratch.file("raw", &bytes);
        let image = convert(&scratch, &raw, way, number);
        let opened = Opened::open(image.as_ref());
        let read = bytes_of(&opened);
        assert!(read.starts_with(&bytes), "the content as it was put in");
        agrees(&opened, &read, &image, way.format, &scratch);
    }
}

/// Holds one image against QEMU's header, extents and bytes.
fn agrees(opened: &Opened, read: &[u8], path: &str, format: &str, scratch: &Scratch) {
    assert_eq!(opened.problems, [], "a sound image has no problems");
    let info = peer::info(path, format);
    assert_eq!(opened.image.virtual_bytes, info.virtual_bytes);
    let described = matches!(opened.image.layout, ImageLayout::VmdkExtents(_));
    if format != "vpc" && !described {
        // QEMU does not tell the block size of a VPC image; for a descriptor, which has no blocks
        // itself, it tells that of an extent.
        assert_eq!(opened.image.block_bytes, info.cluster_bytes);
    }
    let expected = peer::raw_bytes(path, format, scratch);
    assert!(read == expected, "the bytes differ from those that QEMU reads");
    if opened.image.references.iter().any(|file| file.format == Some("vmdk".into()) && described) {
        // QEMU looks through a sparse extent to its file; our descriptor ends at the extent, which
        // is an image of its own. The bytes were compared through both.
        return;
    }
    peer::compare_map(&extents_of(opened), &peer::map(path, format), format);
}

#[test]
fn qcow2_images_agree_with_qemu_in_header_extents_and_bytes() {
    need_tools!("qemu-img");
    every_way_agrees(QCOW2, 1);
}

#[test]
fn other_images_agree_with_qemu_in_header_extents_and_bytes() {
    need_tools!("qemu-img");
    every_way_agrees(OTHERS, 2);
}

#[test]
fn a_fixed_vhd_is_recognized_by_its_footer_which_qemu_does_not_probe() {
    need_tools!("qemu-img");
    let scratch = Scratch::new();
    let path = scratch.path().join("fixed.vhd");
    let path = path.to_str().unwrap();
    let options = "subformat=fixed,force_size=on";
    tool::run("qemu-img", &["create", "-f", "vpc", "-o", options, path, "3M"]);
    let opened = Opened::open(path.as_ref());
    assert_eq!(opened.image.kind, ImageKind::VhdFixed);
    assert_eq!(opened.image.layout, ImageLayout::Flat { offset_bytes: 0 });
    // QEMU probes the head only; without being told the format it would take the footer for guest
    // bytes.
    let json = tool::run("qemu-img", &["info", "--output=json", path]);
    assert!(json.contains("\"format\": \"raw\""));
}

#[test]
fn images_written_piece_by_piece_agree() {
    need_tools!("qemu-img", "qemu-io");
    let scratch = Scratch::new();
    let mut random = testkit::random(3);
    let ways = [
        way("qcow2", "cluster_size=64k", &[]),
        way("qcow2", "cluster_size=4k", &[]),
        way("qcow2", "cluster_size=64k,extended_l2=on", &[]),
        way("qcow2", "cluster_size=16k,extended_l2=on", &[]),
        way("vpc", "subformat=dynamic,force_size=on", &[]),
        way("vdi", "static=off", &[]),
        way("vmdk", "subformat=monolithicSparse,zeroed_grain=on", &[]),
        way("vhdx", "block_size=1M", &[]),
    ];
    for (number, way) in ways.iter().enumerate() {
        println!("{} {}", way.format, way.options);
        let path = scratch.path().join(format!("{number}.{}", way.format));
        let path = path.to_str().unwrap();
        tool::run("qemu-img", &["create", "-f", way.format, "-o", way.options, path, "12M"]);
        write_pieces(&mut random, path, way.format, 12 * MIB, 16);
        let opened = Opened::open(path.as_ref());
        agrees(&opened, &bytes_of(&opened), path, way.format, &scratch);
    }
}

/// Random writes, writes of zeros and discards.
fn write_pieces(random: &mut Random, path: &str, format: &str, length: u64, count: u64) {
    let mut arguments = vec!["-f".to_owned(), format.to_owned()];
    for _ in 0..count {
        let start = random.below(length / 512) * 512;
        let most = *random.choose(&[1, 16, 400, 3000]);
        let run = (512 * (1 + random.below(most))).min(length - start);
        let pattern = 1 + random.below(255);
        let command = match (random.below(5), format) {
            (0, "qcow2" | "vmdk") => format!("write -z {start} {run}"),
            (1, "qcow2") => format!("write -z -u {start} {run}"),
            (2, "qcow2") => format!("discard {start} {run}"),
            _ => format!("write -P {pattern} {start} {run}"),
        };
        arguments.extend(["-c".to_owned(), command]);
    }
    arguments.push(path.to_owned());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    tool::run("qemu-io", &arguments);
}

#[test]
fn chains_of_backing_files_agree() {
    need_tools!("qemu-img", "qemu-io");
    let scratch = Scratch::new();
    let mut random = testkit::random(4);
    for (format, options) in [
        ("qcow2", "cluster_size=64k"),
        ("qcow2", "cluster_size=32k,extended_l2=on"),
        ("vmdk", "subformat=monolithicSparse"),
    ] {
        println!("{format} {options}");
        let names = ["base", "middle", "top"].map(|name| {
            let path = scratch.path().join(format!("{name}.{format}"));
            path.to_str().unwrap().to_owned()
        });
        for (number, path) in names.iter().enumerate() {
            let _ = std::fs::remove_file(path);
            let mut arguments = vec!["create", "-f", format, "-o", options];
            // The overlay is longer than what backs it, so its tail reads as zeros. VMDK demands
            // one size.
            let size = if format == "vmdk" { "8M" } else { ["7M", "8M", "9M"][number] };
            if number > 0 {
                arguments.extend(["-F", format, "-b", &names[number - 1]]);
            }
            arguments.extend([path.as_str(), size]);
            tool::run("qemu-img", &arguments);
            write_pieces(&mut random, path, format, 7 * MIB, 6);
        }
        let opened = Opened::open(names[2].as_ref());
        assert_eq!(opened.references.len(), 1);
        agrees(&opened, &bytes_of(&opened), &names[2], format, &scratch);
    }
}

#[test]
fn an_external_data_file_holds_the_clusters() {
    need_tools!("qemu-img", "qemu-io");
    let scratch = Scratch::new();
    let mut random = testkit::random(5);
    for raw in ["off", "on"] {
        let (path, data) = (scratch.path().join(format!("{raw}.qcow2")), format!("{raw}.data"));
        let path = path.to_str().unwrap();
        let data = scratch.path().join(data);
        let options = format!("data_file={},data_file_raw={raw}", data.to_str().unwrap());
        tool::run("qemu-img", &["create", "-f", "qcow2", "-o", &options, path, "6M"]);
        write_pieces(&mut random, path, "qcow2", 6 * MIB, 8);
        let opened = Opened::open(path.as_ref());
        agrees(&opened, &bytes_of(&opened), path, "qcow2", &scratch);
        let in_file =
            |extent: &format::image::GuestExtent| matches!(extent.place, GuestPlace::Here(_));
        assert!(!extents_of(&opened).iter().any(in_file));
    }
}

#[test]
fn zstd_clusters_are_found_but_not_read() {
    need_tools!("qemu-img");
    let scratch = Scratch::new();
    let raw = scratch.file("raw", &content(&mut testkit::random(6), MIB));
    let way = way("qcow2", "compression_type=zstd", &["-c"]);
    let path = convert(&scratch, &raw, &way, 0);
    let opened = Opened::open(path.as_ref());
    let extents = extents_of(&opened);
    let compressed =
        extents.iter().find(|extent| matches!(extent.place, GuestPlace::Compressed(_)));
    let at = compressed.expect("a compressed cluster").guest.start_bytes();
    let error = device::Disk::read_at(opened.guest, at, &mut [0; 512]).unwrap_err();
    assert!(error.to_string().contains("zstd"), "{error}");
}

#[test]
fn an_encrypted_image_tells_places_but_no_bytes() {
    need_tools!("qemu-img");
    let scratch = Scratch::new();
    let path = scratch.path().join("locked.qcow2");
    let path = path.to_str().unwrap();
    // AES, since the time that LUKS takes to stretch its key makes qemu-img fail on a busy machine.
    tool::run(
        "qemu-img",
        &[
            "create",
            "-f",
            "qcow2",
            "--object",
            "secret,id=key,data=sesame",
            "-o",
            "encrypt.format=aes,encrypt.key-secret=key,preallocation=metadata",
            path,
            "1M",
        ],
    );
    let opened = Opened::open(path.as_ref());
    assert!(opened.image.encrypted);
    assert!(matches!(extents_of(&opened)[0].place, GuestPlace::Here(_)));
    let error = device::Disk::read_at(opened.guest, 0, &mut [0; 512]).unwrap_err();
    assert!(error.to_string().contains("encrypted"), "{error}");
}

#[test]
fn a_dynamic_vhd_drifts_by_a_sector_with_each_block_and_others_keep_their_place() {
    need_tools!("qemu-img");
    let scratch = Scratch::new();
    let raw = scratch.file("raw", &vec![1; usize::try_from(32 * MIB).unwrap()]);
    let unit = units::Unit::new(4 * KIB).unwrap();
    let shifts = |way: Way, number| {
        let path = convert(&scratch, &raw, &way, number);
        let opened = Opened::open(path.as_ref());
        let all = ByteRange::new(0, u64::MAX).unwrap();
        (opened.image.shifts(opened.file, all, unit), opened.image.constant_shift(unit))
    };
    let (vhd, constant) = shifts(way("vpc", "force_size=on", &[]), 0);
    assert_eq!(constant, None);
    assert_eq!(vhd.here.len(), 8, "{vhd:?}");
    assert!(vhd.here.values().all(|&bytes| bytes == 4 * MIB), "{vhd:?}");
    assert!(vhd.walked.complete);
    let (qcow2, constant) = shifts(way("qcow2", "cluster_size=64k", &[]), 1);
    assert_eq!(qcow2.here.into_iter().collect::<Vec<_>>(), [(0, 32 * MIB)]);
    assert_eq!(constant, Some(0));
    let (vdi, constant) = shifts(way("vdi", "static=off", &[]), 2);
    assert_eq!(vdi.here.keys().copied().collect::<Vec<_>>(), [constant.unwrap()]);
}

#[test]
fn a_disk_of_64_tib_with_nothing_in_it_is_walked_at_once() {
    need_tools!("qemu-img");
    let scratch = Scratch::new();
    let started = std::time::Instant::now();
    for (format, options, size) in [
        ("qcow2", "cluster_size=64k", "64T"),
        ("qcow2", "cluster_size=64k,extended_l2=on", "32T"),
        ("vdi", "", "8T"),
        ("vhdx", "block_size=32M", "63T"),
        ("vmdk", "subformat=monolithicSparse", "2000G"),
        ("vpc", "force_size=on", "2000G"),
    ] {
        let path = scratch.path().join("huge");
        let path = path.to_str().unwrap();
        let mut arguments = vec!["create", "-f", format];
        if !options.is_empty() {
            arguments.extend(["-o", options]);
        }
        arguments.extend([path, size]);
        tool::run("qemu-img", &arguments);
        let opened = Opened::open(path.as_ref());
        let walk = std::time::Instant::now();
        let extents = extents_of(&opened);
        println!("{format} {options} {size}: {:?}", walk.elapsed());
        assert_eq!(extents.len(), 1, "{format}");
        assert_eq!(extents[0].guest.length_bytes(), opened.image.virtual_bytes);
    }
    println!("together with their making {:?}", started.elapsed());
}
