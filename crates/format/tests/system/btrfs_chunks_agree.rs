//! The chunks that we read of a btrfs are those that `btrfs inspect-internal` prints, for every
//! profile; and what lies at a logical address is what knows that it lies there.

use device::Disk;
use format::filesystem::btrfs::{self, ChunkMap};
use testkit::{FileDisk, Scratch, need_tools, scratch, tool};

/// Profile of data and metadata, and how many devices it is tried on.
const PROFILES: [(&str, usize); 9] = [
    ("single", 1),
    ("dup", 1),
    ("raid0", 3),
    ("raid1", 3),
    ("raid1c3", 3),
    ("raid1c4", 4),
    ("raid10", 4),
    ("raid5", 3),
    ("raid6", 4),
];

struct Made {
    _scratch: Scratch,
    paths: Vec<String>,
}

fn made(profile: &str, devices: usize) -> Made {
    let scratch = Scratch::new();
    let image = |number| scratch.image(&format!("d{number}"), 512 << 20);
    let paths: Vec<_> = (0..devices).map(image).collect();
    let paths: Vec<String> = paths.iter().map(|path| scratch::text(path).to_owned()).collect();
    let mut arguments = vec!["-q", "-f", "-d", profile, "-m", profile];
    arguments.extend(paths.iter().map(String::as_str));
    tool::run("mkfs.btrfs", &arguments);
    Made { _scratch: scratch, paths }
}

impl Made {
    fn read(&self) -> ChunkMap {
        let disks: Vec<FileDisk> =
            self.paths.iter().map(|path| FileDisk::open(path.as_ref())).collect();
        let disks: Vec<&dyn Disk> = disks.iter().map(|disk| disk as &dyn Disk).collect();
        let found = btrfs::chunks(&disks).expect("it is a btrfs");
        assert_eq!(found.problems, []);
        found.value
    }

    fn inspected(&self, arguments: &[&str]) -> String {
        let mut all = vec!["inspect-internal"];
        all.extend(arguments);
        all.extend(self.paths.iter().map(String::as_str));
        tool::run("btrfs", &all)
    }
}

/// The number behind `word` in `text`.
fn number(text: &str, word: &str) -> u64 {
    let mut words = text.split_whitespace().skip_while(|&found| found != word);
    words.nth(1).and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{word}: {text}"))
}

/// Returns what dump-tree prints of the chunks, as one line each.
fn dumped(dump: &str) -> Vec<String> {
    dump.split("\titem ")
        .filter(|item| item.contains(" CHUNK_ITEM "))
        .map(|item| {
            let key = item.split_once("CHUNK_ITEM ").expect("it is there").1;
            let start: u64 = key.split(')').next().expect("a bracket").parse().expect("a number");
            let kind = item.split_once(" type ").expect("a type").1;
            let kind = kind.split_whitespace().next().expect("a word").to_lowercase();
            let profile = kind.rsplit('|').next().expect("a word");
            let profile = match profile {
                "data" | "metadata" | "system" => "single",
                other => other,
            };
            let stripes = item.lines().filter(|line| line.trim_start().starts_with("stripe "));
            let stripes = stripes.map(|line| (number(line, "devid"), number(line, "offset")));
            let stripes: Vec<(u64, u64)> = stripes.collect();
            let (length, stripe) = (number(item, "length"), number(item, "stripe_len"));
            format!("{start} {length} {stripe} {profile} {stripes:?}")
        })
        .collect()
}

fn told(map: &ChunkMap) -> Vec<String> {
    map.chunks()
        .map(|chunk| {
            let stripes: Vec<(u64, u64)> =
                chunk.stripes.iter().map(|stripe| (stripe.device, stripe.offset_bytes)).collect();
            format!(
                "{} {} {} {} {stripes:?}",
                chunk.logical.start_bytes(),
                chunk.logical.length_bytes(),
                chunk.stripe_bytes,
                chunk.profile.map_or("?", btrfs::Profile::word),
            )
        })
        .collect()
}

#[test]
fn chunks_of_every_profile_are_those_of_dump_tree() {
    need_tools!("mkfs.btrfs", "btrfs");
    for (profile, devices) in PROFILES {
        let made = made(profile, devices);
        let dump = dumped(&made.inspected(&["dump-tree", "-t", "chunk"]));
        let data = dump.iter().filter(|line| line.contains(&format!(" {profile} "))).count();
        assert!(data >= 2, "{profile} has chunks: {dump:?}");
        assert_eq!(told(&made.read()), dump, "{profile}");
    }
}

/// Every node of a tree holds its own logical address.
#[test]
fn the_roots_of_all_trees_lie_where_their_logical_addresses_lead() {
    need_tools!("mkfs.btrfs", "btrfs");
    for (profile, devices) in PROFILES {
        let made = made(profile, devices);
        let map = made.read();
        let dump = made.inspected(&["dump-tree", "-t", "root"]);
        let roots = dump.lines().filter(|line| line.contains(" bytenr "));
        let roots: Vec<u64> = roots.map(|line| number(line, "bytenr")).collect();
        assert!(roots.len() >= 4, "{profile}: {dump}");
        for root in roots {
            let (places, _) = map.places(root).expect("a chunk holds it");
            for place in places {
                let file = usize::try_from(place.device - 1).expect("a small number");
                let disk = FileDisk::open(made.paths[file].as_ref());
                let header: [u8; 56] = disk.read_array(place.at_bytes).expect("it is there");
                let own = u64::from_le_bytes(header[48..].try_into().expect("eight bytes"));
                assert_eq!(own, root, "{profile} at {place:?}");
            }
        }
    }
}

#[test]
fn a_device_that_is_missing_leaves_a_mirrored_chunk_tree_readable() {
    need_tools!("mkfs.btrfs", "btrfs");
    let mut made = made("raid1", 2);
    let whole = made.read();
    made.paths.remove(0);
    assert_eq!(made.read(), whole);
}

#[test]
fn a_chunk_tree_that_is_damaged_is_told_and_what_it_holds_is_missing() {
    need_tools!("mkfs.btrfs", "btrfs");
    let made = made("single", 1);
    let map = made.read();
    let root = made.inspected(&["dump-super"]);
    let root = number(&root, "chunk_root");
    let (places, _) = map.places(root).expect("the root is in a chunk");
    let file = std::fs::OpenOptions::new().write(true).open(&made.paths[0]).expect("it opens");
    std::os::unix::fs::FileExt::write_all_at(&file, &[0xaa; 16], places[0].at_bytes + 200)
        .expect("it is written");
    let disk = FileDisk::open(made.paths[0].as_ref());
    let found = btrfs::chunks(&[&disk]).expect("the superblock is sound");
    assert!(found.problems[0].detail.contains("checksum"), "{:?}", found.problems);
    assert_eq!(found.value.chunks().count(), 0);
}
