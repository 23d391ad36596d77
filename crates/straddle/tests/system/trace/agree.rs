//! Extents are those of `filefrag -v` and `xfs_bmap -v`.

use std::os::unix::fs::FileExt as _;
use std::path::Path;

use testkit::{need_loops, need_tools, scratch::text, tool};

use super::run::{list, number, straddle, table, trace};
use super::volume::{Plan, directory, writable};

/// Start in the file, start on the volume and length, in units of 512 bytes, and the flags.
type Extent = (u64, u64, u64, Vec<String>);

/// Returns what `filefrag -v` prints.
fn filefrag(file: &Path) -> Vec<Extent> {
    let printed = tool::run("filefrag", &["-v", "-b512", text(file)]);
    let is_row =
        |line: &&str| line.split(':').next().is_some_and(|n| n.trim().parse::<u64>().is_ok());
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(':').map(str::trim).collect();
        let first = |field: &str| {
            field
                .split("..")
                .next()
                .expect("as the test made it")
                .trim()
                .parse()
                .expect("as the test made it")
        };
        let flags = fields[fields.len() - 1].split_whitespace().last().unwrap_or_default();
        let flags = flags.split(',').filter(|flag| !flag.is_empty() && *flag != "eof");
        let flags = flags.map(str::to_owned).collect();
        (first(fields[1]), first(fields[2]), fields[3].parse().expect("as the test made it"), flags)
    };
    let rows = printed.lines().filter(is_row).map(row).collect::<Vec<Extent>>();
    assert!(!rows.is_empty(), "{printed}");
    rows
}

/// Returns what we say of the same.
fn ours(file: &Path) -> Vec<Extent> {
    // What is allocated past the end counts, too.
    let document = trace(file, &["--length", "1G"]);
    let extents = list(&document["extents"]).iter();
    extents
        .filter(|extent| extent["state"] != "hole")
        .map(|extent| {
            let flags = list(&extent["flags"]).iter();
            let flags =
                flags.map(|flag| flag.as_str().expect("as the test made it").to_owned()).collect();
            let unit = |key: &str| number(&extent[key]).div_ceil(512);
            (unit("offset_bytes"), unit("physical_bytes"), unit("length_bytes"), flags)
        })
        .collect()
}

/// Returns what `xfs_bmap -v` prints: start in the file, start on the volume, length, each in 512 bytes.
fn bmap(file: &Path) -> Vec<(u64, u64, u64)> {
    let printed = tool::run("xfs_bmap", &["-v", text(file)]);
    let row = |line: &str| {
        let (_, rest) = line.split_once(": [")?;
        let (at, rest) = rest.split_once("..")?;
        let (_, rest) = rest.split_once("]:")?;
        let mut words = rest.split_whitespace();
        let (start, _) = words.next()?.split_once("..")?;
        let length = rest.split(')').nth(1)?.split_whitespace().next()?;
        Some((at.trim().parse().ok()?, start.parse().ok()?, length.parse().ok()?))
    };
    printed.lines().filter_map(row).collect()
}

/// A file with data, holes and unwritten runs, in many pieces, up to a block's end.
fn ragged(path: &Path) {
    std::fs::File::create(path).expect("as the test made it");
    let file = writable(path);
    let mut random = testkit::random(21);
    for _ in 0..200 {
        let at = random.below(2000) * 8192;
        file.write_all_at(&[7; 4096], at).expect("as the test made it");
    }
    file.write_all_at(&[7; 4096], 2000 * 8192).expect("as the test made it");
    let unwritten = ["--keep-size", "--offset", "1MiB", "--length", "1MiB", text(path)];
    tool::run("fallocate", &unwritten);
    file.sync_all().expect("as the test made it");
}

#[test]
fn ext4_extents_are_those_of_filefrag() {
    need_loops!();
    need_tools!("filefrag", "mkfs.ext4", "fallocate");
    for sector_bytes in [512, 4096] {
        let directory = directory();
        let volume = Plan { sector_bytes, ..Plan::EXT4 }.mounted(directory.path());
        let file = volume.path("ragged");
        ragged(&file);
        let found = filefrag(&file);
        assert!(found.len() > 100, "{}", found.len());
        assert!(found.iter().any(|extent| extent.3.contains(&"unwritten".to_owned())));
        assert_eq!(ours(&file), found, "sectors of {sector_bytes}");
    }
}

#[test]
fn xfs_extents_shared_ones_too_are_those_of_filefrag_and_xfs_bmap() {
    need_loops!();
    need_tools!("filefrag", "mkfs.xfs", "xfs_bmap", "fallocate", "cp");
    let directory = directory();
    let volume = Plan::XFS.mounted(directory.path());
    let (file, copy) = (volume.path("ragged"), volume.path("copy"));
    ragged(&file);
    tool::run("cp", &["--reflink=always", text(&file), text(&copy)]);
    writable(&copy).write_all_at(&[9; 4096], 2000 * 8192).expect("as the test made it");
    tool::run("sync", &[text(&copy)]);
    for file in [&file, &copy] {
        let (found, said) = (ours(file), filefrag(file));
        assert_eq!(found, said);
        assert!(found.iter().any(|extent| extent.3.contains(&"shared".to_owned())));
        let places: Vec<_> = found.iter().map(|extent| (extent.0, extent.1, extent.2)).collect();
        assert_eq!(places, bmap(file));
    }
    assert!(table(&file, &[]).contains("data, shared"));
}

#[test]
fn btrfs_extents_compressed_and_inline_ones_too_are_those_of_filefrag() {
    need_loops!();
    need_tools!("filefrag", "mkfs.btrfs", "fallocate");
    let directory = directory();
    let plan = Plan { options: "compress-force=zlib", ..Plan::BTRFS };
    let volume = plan.mounted(directory.path());
    let file = volume.path("compressed");
    std::fs::write(&file, vec![b'x'; 1 << 20]).expect("as the test made it");
    let inline = volume.path("inline");
    std::fs::write(&inline, b"few bytes").expect("as the test made it");
    tool::run("sync", &["--file-system", text(&file)]);
    assert_eq!(ours(&file), filefrag(&file));
    let document = trace(&file, &[]);
    let extent = &document["extents"][0];
    assert_eq!(extent["state"], "encoded");
    assert!(!list(&extent["starts_at"]).is_empty());
    assert_eq!(number(&document["total"]["placed_bytes"]), 0);
    let document = trace(&inline, &[]);
    assert_eq!(document["extents"][0]["state"], "inline");
    assert!(document["extents"][0]["physical_bytes"].is_null());
    assert_eq!(document["total"]["unknown"][0]["bytes"], 9);
}

#[test]
fn a_file_that_is_inline_or_wholly_compressed_has_no_address_and_ends_with_5() {
    need_loops!();
    need_tools!("mkfs.btrfs");
    let directory = directory();
    let plan = Plan { options: "compress-force=zlib", ..Plan::BTRFS };
    let volume = plan.mounted(directory.path());
    let (compressed, inline) = (volume.path("compressed"), volume.path("inline"));
    let holes = volume.path("holes");
    std::fs::write(&compressed, vec![b'x'; 1 << 20]).expect("as the test made it");
    std::fs::write(&inline, b"few bytes").expect("as the test made it");
    std::fs::File::create(&holes).and_then(|file| file.set_len(1 << 20)).expect("it is made");
    tool::run("sync", &["--file-system", text(&inline)]);
    for (file, code) in [(&compressed, 5), (&inline, 5), (&holes, 0)] {
        let ran = straddle(&["trace", text(file)]);
        assert_eq!(ran.status.code(), Some(code), "{ran:?}");
    }
}

#[test]
fn a_swap_file_is_one_of_filefrag_s_extents_on_whole_granules() {
    need_loops!();
    need_tools!("filefrag", "mkfs.ext4", "mkswap");
    let directory = directory();
    let volume = Plan::EXT4.mounted(directory.path());
    let file = volume.file("swap", 8 << 20);
    tool::run("mkswap", &[text(&file)]);
    tool::run("sync", &[text(&file)]);
    assert_eq!(ours(&file), filefrag(&file));
    let document = trace(&file, &["--io", "4K"]);
    assert_eq!(document["cost"]["ios"], 2048);
    assert_eq!(document["cost"]["writes_with_rmw"], 0);
}

#[test]
fn what_waits_in_memory_has_no_place_until_sync_is_asked_for() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let directory = directory();
    let volume = Plan::EXT4.mounted(directory.path());
    let file = volume.path("fresh");
    // Who syncs all file systems of the machine places it at once.
    testkit::running_program::until("it waits in memory", || {
        std::fs::write(&file, vec![1; 1 << 20]).expect("as the test made it");
        let before = trace(&file, &[]);
        let is_told = table(&file, &[]).contains("--sync");
        let extent = &before["extents"][0];
        assert!(extent["state"] != "delayed" || extent["physical_bytes"].is_null());
        extent["state"] == "delayed" && is_told
    });
    let after = trace(&file, &["--sync"]);
    assert_eq!(after["extents"][0]["state"], "data");
    assert_eq!(after["total"]["hole_bytes"], 0);
}
