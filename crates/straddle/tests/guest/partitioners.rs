//! Partitions that sfdisk, sgdisk, parted and straddle make on disks of many sizes and kinds: whose
//! are aligned. The page `docs/partitioners.md` lists those that are not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Granule of a disk that reports no larger physical sector, in bytes: assumed.
const GRANULE_BYTES: u64 = 4096;
/// The name of straddle among the tools.
const OWN: &str = "straddle";

struct Disk {
    bytes: u64,
    granule: u64,
    /// Remainder of aligned addresses modulo the granule.
    remainder: u64,
    /// The full stripe that the disk reports, where it is one.
    stripe: Option<u64>,
}

/// Start and end in bytes, and whether a length was asked for in sectors.
struct Place {
    start: u64,
    end: u64,
    is_end_asked: bool,
}

impl Disk {
    fn of(line: &str) -> (String, Disk) {
        let (name, facts) = line.split_once(' ').expect("a line has a name");
        let fact = |key: &str| -> u64 {
            let value = facts.split(' ').find_map(|fact| fact.strip_prefix(key));
            value.unwrap_or_else(|| panic!("{line}")).parse().expect("a number")
        };
        let granule = fact("queue/physical_block_size=").max(GRANULE_BYTES);
        let optimal = fact("queue/optimal_io_size=");
        let bytes = fact("size=") * 512;
        let is_stripe = optimal > 0 && optimal.is_multiple_of(granule) && bytes > 64 * optimal;
        let stripe = is_stripe.then_some(optimal);
        let remainder = fact("alignment_offset=") % granule;
        (name.to_owned(), Disk { bytes, granule, remainder, stripe })
    }

    /// The units that a place misses, in words.
    fn misses(&self, place: &Place) -> Vec<String> {
        let is_off = |at: u64| at % self.granule != self.remainder;
        let mut found = Vec::new();
        if is_off(place.start) {
            found.push("start off the granule".to_owned());
        } else if self.stripe.is_some_and(|stripe| !place.start.is_multiple_of(stripe)) {
            found.push("start off the stripe".to_owned());
        }
        if !place.is_end_asked && is_off(place.end) {
            found.push("end off the granule".to_owned());
        }
        found
    }
}

/// Rows of the page: kind of disk, tool, layout and miss; the sizes of disks.
type Rows = BTreeMap<(String, String, String, String), Vec<String>>;

fn result() -> Option<PathBuf> {
    let Some(directory) = std::env::var_os("STRADDLE_GUEST_PARTITION").map(PathBuf::from) else {
        testkit::skip("needs STRADDLE_GUEST_PARTITION, a result of guest/run … partition");
        return None;
    };
    assert!(directory.join("done").exists(), "{} is no whole run", directory.display());
    Some(directory.join("out/partition"))
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Places that straddle plans for a disk; `None` where it refuses.
fn planned(directory: &Path, disk: &str, layout: &str) -> Option<Vec<Place>> {
    let path = directory.join(format!("plans/{disk}-{layout}.json"));
    let plan: Value = serde_json::from_str(&text(&path)).expect("it is JSON");
    let number = |value: &Value| value.as_u64().expect("a number of bytes");
    let place = |row: &Value| {
        let start = number(&row["new_start_bytes"]);
        Place { start, end: start + number(&row["new_length_bytes"]), is_end_asked: false }
    };
    let rows = plan["partitions"].as_array().expect("a list");
    (!rows.is_empty()).then(|| rows.iter().map(place).collect())
}

#[test]
fn straddle_aligns_what_can_be_and_the_page_lists_each_case_where_others_do_not() {
    let Some(directory) = result() else { return };
    let disks: BTreeMap<String, Disk> =
        text(&directory.join("disks.txt")).lines().map(Disk::of).collect();
    assert!(disks.len() >= 30, "{} disks", disks.len());
    let least = disks.values().map(|disk| disk.bytes).min();
    let most = disks.values().map(|disk| disk.bytes).max();
    assert_eq!((least, most), (Some(1 << 20), Some(64 << 40)), "from 1 MiB to 64 TiB");
    let mut rows = Rows::new();
    let mut counts: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    let mut take = |disk: &str, tool: &str, layout: &str, places: &[Place]| {
        let (kind, size) = disk.split_once('-').expect("a kind and a size");
        let count = counts.entry(tool.to_owned()).or_default();
        count.0 += 1;
        let mut misses: Vec<String> =
            places.iter().flat_map(|place| disks[disk].misses(place)).collect();
        misses.sort();
        misses.dedup();
        count.1 += u32::from(!misses.is_empty());
        for miss in misses {
            let row = (kind.to_owned(), tool.to_owned(), layout.to_owned(), miss);
            rows.entry(row).or_default().push(size.to_owned());
        }
    };
    let mut made: BTreeMap<(String, String, String), Vec<Place>> = BTreeMap::new();
    for line in text(&directory.join("places.txt")).lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [disk, tool, layout, _, start, length] = words[..] else { panic!("{line}") };
        let [start, length] = [start, length].map(|word| word.parse::<u64>().expect("sectors"));
        let is_end_asked = layout == "three" && tool != "parted";
        let place = Place { start: start * 512, end: (start + length) * 512, is_end_asked };
        let key = (disk.to_owned(), tool.to_owned(), layout.to_owned());
        made.entry(key).or_default().push(place);
    }
    for ((disk, tool, layout), places) in &made {
        take(disk, tool, layout, places);
    }
    for disk in disks.keys() {
        for layout in ["whole", "two"] {
            let places = planned(&directory, disk, layout);
            take(disk, OWN, layout, &places.unwrap_or_else(|| panic!("{disk} {layout}: no plan")));
        }
    }
    page(&rows, &counts, disks.len());
    // Nothing is moved for a size that is a hint.
    let is_hint = |layout: &str, miss: &str| layout == "two" && miss == "start off the stripe";
    // Large disks repeat their bytes, so that nobody can tell that a partition is blank.
    let is_kept = |layout: &str, miss: &str, sizes: &[String]| {
        let is_large = sizes.iter().all(|size| size.ends_with('G'));
        layout == "two" && miss == "end off the granule" && is_large
    };
    let own = rows.iter().filter(|((_, tool, ..), _)| tool == OWN);
    let own: Vec<_> = own
        .filter(|((.., layout, miss), sizes)| {
            !is_hint(layout, miss) && !is_kept(layout, miss, sizes)
        })
        .collect();
    assert!(own.is_empty(), "{own:#?}");
    for tool in ["sfdisk", "sgdisk", "parted"] {
        assert!(counts[tool].1 > 0, "{tool} is the canary: {counts:?}");
    }
}

/// Compares the page with the rows, or writes it.
fn page(rows: &Rows, counts: &BTreeMap<String, (u32, u32)>, disks: usize) {
    let mut page = format!(
        "# Partitions of straddle and of partitioners\n\n\
         <!-- Written by crates/straddle/tests/guest/partitioners.rs from a run of guest/run. -->\n\n\
         sfdisk, sgdisk, parted and straddle partition {disks} disks of a real kernel, from 1 MiB to \
         64 TiB.\nA partition is aligned if it starts on the disk's granule, and on the full stripe \
         where the disk\nreports one; and if it ends on the granule, unless its length was asked for \
         in sectors.\nWhat a tool refused is not counted.\n\n\
         | kind of disk | is |\n|---|---|\n\
         | 512n | reports 512-byte sectors alone, so that 4096 bytes are assumed |\n\
         | 512e | 512-byte sectors in physical ones of 4096 bytes |\n\
         | jumper | 512e whose first aligned sector is number 7 |\n\
         | 4Kn | sectors of 4096 bytes |\n\
         | stripe | 512e with an optimal I/O size of 768 KiB |\n\
         | odd | 512n with an optimal I/O size of 65535 sectors, as USB bridges report |\n\n\
         | layout | is |\n|---|---|\n\
         | whole | one partition on all of a blank disk |\n\
         | three | three partitions: sfdisk and sgdisk are given odd lengths, parted percentages |\n\
         | two | two partitions without content, back to back at odd sectors, as straddle plan moves them |\n\n\
         straddle takes a reported optimal I/O size as a hint: a new partition starts on it, and \
         nothing is\nmoved for it. `--on stripe=` makes it a unit. Disks above 100 MiB hold their \
         first 16 MiB over\nand over, so that the partitions of `two` are not blank there: their \
         content is not recognized,\nand they keep their lengths.\n\n\
         | tool | layouts | misaligned |\n|---|---|---|\n"
    );
    for (tool, (all, off)) in counts {
        page += &format!("| {tool} | {all} | {off} |\n");
    }
    page += "\n## What is misaligned\n\n| disk | tool | layout | what | sizes |\n|---|---|---|---|---|\n";
    for ((kind, tool, layout, miss), sizes) in rows {
        page += &format!("| {kind} | {tool} | {layout} | {miss} | {} |\n", sizes.join(" "));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/partitioners.md");
    if std::env::var_os("STRADDLE_UPDATE_DOCS").is_some() {
        std::fs::write(&path, page).expect("the page is written");
        return;
    }
    assert_eq!(text(&path), page, "STRADDLE_UPDATE_DOCS=1 writes it");
}
